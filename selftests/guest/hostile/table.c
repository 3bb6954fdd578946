// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connections for reads: the table of the connection, and our cells, which the node reads. See
 * table.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <linux/spindle_table.h>

#include "core/base/sst.h"
#include "hostile-peer.h"
#include "bulk.h"
#include "connection.h"
#include "hello.h"
#include "queues.h"
#include "table.h"

#define WORDS	(SPINDLE_MIN_CELL / sizeof(uint64_t))

bool reading;
uint32_t table_id;

/* Index of the table in the view, which may not have that id. */
static uint32_t table_index(void)
{
	uint32_t i;

	for (i = 0; i < view.num_subgroups; i++)
		if (view.subgroup[i].id == table_id)
			break;
	return i;
}

static uint64_t table_bytes(void)
{
	uint32_t i = table_index();

	return i < view.num_subgroups ? view.subgroup[i].ring : SPINDLE_PAGE;
}

uint64_t table_digest(void)
{
	return table_id | (uint64_t)table_index() << 32;
}

bool wants_reads(const char *step)
{
	/* A connection for blocks is for nothing else. */
	return (num(step, "flags", 0) & (HELLO_F_READ | HELLO_F_BULK)) == HELLO_F_READ;
}

void take_table(const char *step)
{
	reading = wants_reads(step);
	table_id = num(step, "table", 1);
}

uint64_t bytes_out(void)
{
	return bulk ? 0 : reading ? table_bytes() : out.size;
}

uint64_t bytes_in(void)
{
	return bulk ? 0 : reading ? table_bytes() : in.size;
}

/* ---- what we have read ---------------------------------------------------- */

static const char *say_cell(const uint64_t *word, char buf[32])
{
	if (word[WORDS - 1] != spindle_mix(word, WORDS - 1))
		return " torn";
	snprintf(buf, 32, " %" PRIu64, word[WORDS - 2]);
	return buf;
}

const char *say_cells(const unsigned char *data, uint64_t len)
{
	static char text[4096];
	uint64_t word[WORDS], at, end = len;
	char buf[32];

	while (end && !data[end - 1])
		end--;
	snprintf(text, sizeof(text), "%s", end ? "" : " zeroes");
	for (at = 0; at < end; at += sizeof(word)) {
		memset(word, 0, sizeof(word));
		memcpy(word, data + at, min(len - at, (uint64_t)sizeof(word)));
		strncat(text, say_cell(word, buf), sizeof(text) - strlen(text) - 1);
	}
	return text;
}

/* ---- our cells -------------------------------------------------------------- */

/* Words in the order in which a writer stores them: the seal is the last one. */
static void put_cell(uint64_t *to, const uint64_t *word)
{
	uint32_t i;

	for (i = 0; i < WORDS; i++)
		__atomic_store_n(&to[i], word[i], __ATOMIC_RELEASE);
}

void step_cells(const char *step)
{
	uint64_t version = num(step, "v", 1), word[WORDS], at;
	uint32_t i;

	for (at = 0; at + sizeof(word) <= table_bytes(); at += sizeof(word)) {
		for (i = 0; i < WORDS - 2; i++)
			word[i] = random64();
		word[WORDS - 2] = version;
		word[WORDS - 1] = spindle_mix(word, WORDS - 1) ^ !!find(step, "bad");
		if (find(step, "ones"))
			memset(word, 0xff, sizeof(word));
		put_cell((uint64_t *)(row + at), word);
	}
	printf("cells: put\n");
}

/* A word of ours of any value, and one cell of any version, again and again. */
static void churn_once(void)
{
	uint64_t words = table_bytes() / sizeof(uint64_t), word[WORDS] = { random64() };

	__atomic_store_n((uint64_t *)row + random64() % words, random64(), __ATOMIC_RELAXED);
	word[WORDS - 2] = random64() >> random64() % 64;
	word[WORDS - 1] = spindle_mix(word, WORDS - 1);
	put_cell((uint64_t *)row + random64() % (words / WORDS) * WORDS, word);
}

void step_churn(const char *step)
{
	uint64_t end = now_ms() + num(step, "ms", 1000);
	uint32_t i;

	while (now_ms() < end && !disconnected) {
		for (i = 0; i < 1000; i++)
			churn_once();
		next_event(1, NULL, NULL);
	}
	printf("churn: %s\n", disconnected ? "gone" : "done");
}
