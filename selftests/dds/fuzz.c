// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hostile bytes: records, snapshots and heads of samples that were encoded well are broken at
 * random. Nothing may crash, and what is taken has to make sense.
 *
 *	fuzz [-s SEED] [-n RUNS]
 */
#include <endian.h>
#include <getopt.h>

#include "make.h"
#include "rng.h"
#include "tap.h"

static const struct spindle_dds_limits limits = { .topics = 5, .endpoints = 12, .own = 6 };
static struct spindle_dds_directory dir, other;
static uint8_t room[SPINDLE_DDS_SNAPSHOT_BYTES];
static u64 taken, refused;

static uint32_t odd_word(struct rng *rng)
{
	static const uint32_t words[] = { 0, 1, 2, 3, 4, 5, 16, 17, 31, 32, 64, 127, 128,
					  0x7fffffff, 0x80000000, 0xffffffff };

	return htole32(words[rng_below(rng, ARRAY_SIZE(words))]);
}

/* Break some bytes. Return: the length, which is broken now and then, too. */
static size_t spoil(struct rng *rng, uint8_t *bytes, size_t len)
{
	uint32_t n = rng_below(rng, 4), at, word;

	while (n--) {
		at = rng_below(rng, (u32)len);
		word = odd_word(rng);
		if (rng_chance(rng, 50))
			bytes[at] ^= (uint8_t)(1U << rng_below(rng, 8));
		else if (at + 4 <= len)
			memcpy(bytes + at, &word, sizeof(word));
	}
	return rng_chance(rng, 10) ? rng_below(rng, (u32)len) : len;
}

/* Exactly as long as the bytes, so that the sanitizer sees each read behind them. */
static uint8_t *own(const uint8_t *bytes, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);

	memcpy(copy, bytes, len);
	return copy;
}

static void count(bool good)
{
	taken += good;
	refused += !good;
}

static void check_text(const char *text, size_t size)
{
	if (!memchr(text, 0, size))
		die("a text without an end was taken");
}

static void check_qos(const struct spindle_dds_qos *qos)
{
	uint32_t i;

	if (qos->level >= SPINDLE_DDS_LEVELS || qos->partitions > SPINDLE_DDS_PARTITIONS)
		die("a QoS out of its ranges was taken");
	for (i = 0; i < qos->partitions; i++)
		check_text(qos->partition[i], SPINDLE_DDS_SHORT);
}

/* An endpoint meets no more of its topic than there are beside it. */
static void check_counts(const struct spindle_dds_directory *d,
			 const struct spindle_dds_endpoint *e)
{
	struct spindle_dds_counts n = spindle_dds_count(d, e->id);
	uint32_t most = e->gone ? 0 : d->topic[e->topic].endpoints.n - 1;

	if (n.matched + n.mismatched > most || !n.first != !n.mismatched)
		die("an endpoint meets others that are not there");
}

/* All lists and counts of a directory, from the outside. */
static void check_directory(const struct spindle_dds_directory *d)
{
	uint32_t i, n, topics = 0, live = 0, left = 0, in_topics = 0, own_ends = 0;

	for (i = 0; i < SPINDLE_DDS_TOPICS; i++) {
		if (!d->topic[i].id)
			continue;
		topics++;
		in_topics += d->topic[i].endpoints.n;
		check_text(d->topic[i].topic.name, SPINDLE_DDS_NAME);
		if (spindle_dds_find_topic(d, d->topic[i].topic.name) != &d->topic[i])
			die("a topic cannot be found");
	}
	for (i = 0; i < SPINDLE_DDS_PARTICIPANTS; i++)
		own_ends += d->participant[i].endpoints;
	for (i = 0; i < d->used; i++) {
		check_counts(d, &d->endpoint[i]);
		live += !d->endpoint[i].gone;
		check_qos(&d->endpoint[i].qos);
		if (spindle_dds_find_endpoint(d, d->endpoint[i].id) != &d->endpoint[i])
			die("an endpoint cannot be found");
	}
	for (i = d->left.first, n = 0; i != SPINDLE_DDS_NONE && n < d->used; n++)
		i = d->endpoint[i].all.next;
	left = n;
	if (topics != d->topics || live != d->live.n || left != d->left.n ||
	    live + left != d->used || in_topics != live || own_ends != live)
		die("the directory does not agree with itself");
}

static struct spindle_dds_record some_record(struct rng *rng)
{
	uint32_t dice = rng_below(rng, 10), topic = rng_below(rng, 6);
	struct spindle_dds_record r;

	if (dice < 2)
		return make_hello(2, rng_u64(rng));
	if (dice > 7)
		return make_id(SPINDLE_DDS_REMOVE + rng_below(rng, 4), rng_below(rng, 30));
	r = make_add(topic, topic % SPINDLE_DDS_LEVELS, rng_chance(rng, 50));
	r.qos.partitions = rng_below(rng, SPINDLE_DDS_PARTITIONS + 1);
	if (r.qos.partitions)
		strcpy(r.qos.partition[0], "part");
	return r;
}

/* A directory of records, some of which are broken. */
static void try_records(struct rng *rng)
{
	uint32_t i, n = rng_below(rng, 40);

	spindle_dds_directory_init(&dir, &limits);
	for (i = 0; i < n; i++) {
		struct spindle_dds_record r = some_record(rng);
		size_t len = spindle_dds_put_record(&r, room, SPINDLE_DDS_RECORD_BYTES);
		enum spindle_dds_outcome outcome;
		uint8_t *bytes;

		if (rng_chance(rng, 40))
			len = spoil(rng, room, len);
		bytes = own(room, len);
		outcome = spindle_dds_apply(&dir, i, rng_below(rng, 4), bytes, len);
		free(bytes);
		count(outcome == SPINDLE_DDS_DONE);
	}
	check_directory(&dir);
}

/* A broken snapshot of that directory. If it is taken, more records follow. */
static void try_snapshot(struct rng *rng)
{
	size_t len = spindle_dds_save(&dir, room, sizeof(room));
	struct spindle_dds_record r;
	uint8_t *bytes, one[SPINDLE_DDS_RECORD_BYTES];
	uint32_t i;
	bool good;

	len = spoil(rng, room, len);
	bytes = own(room, len);
	good = spindle_dds_load(&other, &limits, bytes, len);
	free(bytes);
	count(good);
	check_directory(&other);
	for (i = 0; good && i < 20; i++) {
		r = some_record(rng);
		len = spindle_dds_put_record(&r, one, sizeof(one));
		spindle_dds_apply(&other, other.position, rng_below(rng, 4), one, len);
	}
	check_directory(&other);
}

/* The head of a sample, broken, before a reader of the directory. */
static void try_head(struct rng *rng)
{
	struct spindle_dds_head h = { .topic = 1 + rng_below(rng, 20), .sequence = 1 }, back;
	uint8_t *bytes;
	bool good;
	size_t len;

	h.writer = 1 + rng_below(rng, 50);
	h.flags = rng_below(rng, 8);
	h.bytes = rng_below(rng, 3) * 8;
	memset(room, 0, 128);
	spindle_dds_put_head(&h, room);
	len = spindle_dds_head_bytes(h.flags & SPINDLE_DDS_KEYED) + h.bytes;
	len = spoil(rng, room, len);
	bytes = own(room, len);
	good = spindle_dds_get_head(&back, bytes, len);
	free(bytes);
	count(good);
	if (!good)
		return;
	if (back.bytes + spindle_dds_head_bytes(back.flags & SPINDLE_DDS_KEYED) != len)
		die("a head with a wrong length was taken");
	if (dir.live.n && spindle_dds_judge(&dir, &dir.endpoint[dir.live.first], 1, &back) ==
	    SPINDLE_DDS_TAKE && !spindle_dds_find_endpoint(&dir, back.writer)->writer)
		die("a sample without a writer was taken");
}

int main(int argc, char **argv)
{
	u64 seed = 1, n = 2000, i;
	struct rng rng;
	u32 k;
	int c;

	while ((c = getopt(argc, argv, "s:n:")) != -1) {
		if (c == 's')
			seed = strtoull(optarg, NULL, 0);
		else if (c == 'n')
			n = strtoull(optarg, NULL, 0);
		else
			return 2;
	}
	for (i = 0; i < n; i++) {
		rng = (struct rng){ .state = rng_mix(seed + i) };
		try_records(&rng);
		try_snapshot(&rng);
		for (k = 0; k < 20; k++)
			try_head(&rng);
	}
	printf("# %llu encodings taken, %llu refused\n", (unsigned long long)taken,
	       (unsigned long long)refused);
	ok(taken > n && refused > n, "hostile bytes, in %llu runs from seed %llu on",
	   (unsigned long long)n, (unsigned long long)seed);
	return tap_end();
}
