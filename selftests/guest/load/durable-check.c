// SPDX-License-Identifier: GPL-2.0-only
/*
 * durable-check: is all there that durable-load has acknowledgements of?
 *
 *	durable-check DUMP... -- [ACKS]...
 *
 * A DUMP is what "spindle-ctl log dump" prints of the log of a node. ACKS are the files of
 * durable-load. All of them are of one subgroup. The program knows only these promises:
 *	- a log has each position once, in order, from 0 on, and none of them is damaged;
 *	- all logs have the same messages at the same positions;
 *	- of each life of a sender, each message comes once, in order, without a gap;
 *	- a message that was read and durable is where it was read; one that was sent and durable
 *	  is in the logs;
 *	- a reader has read each position once, in order, from its first one on.
 *
 * The last line of ACKS may be incomplete, because its process was killed. Exit status 0: all
 * holds, and a line has the numbers. 1: a sentence names the difference.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "durable.h"
#include "grow.h"

#define die(...) do { fprintf(stderr, "durable-check: " __VA_ARGS__); exit(1); } while (0)

struct dump {
	struct durable_text *at;
	size_t num, room;
};

/* How many messages of a sender's life the log has. */
struct life {
	uint32_t node;
	uint64_t life, next;
};

static struct life *lives;
static size_t num_lives;

static bool same(const struct durable_text *a, const struct durable_text *b)
{
	return a->node == b->node && a->life == b->life && a->n == b->n;
}

static FILE *open_file(const char *name)
{
	FILE *in = fopen(name, "r");

	if (!in)
		die("cannot open %s\n", name);
	return in;
}

static void parse_line(const char *name, char *line, struct dump *d)
{
	char *text = strchr(line, '"'), *end = text ? strrchr(text, '"') : NULL;
	struct durable_text t;
	uint64_t lsn;

	line[strcspn(line, "\n")] = '\0';
	if (!text || end == text || sscanf(line, "lsn %" SCNu64 " ", &lsn) != 1)
		die("%s: behind %zu messages: '%s'\n", name, d->num, line);
	if (lsn != d->num)
		die("%s: position %" PRIu64 " instead of %zu\n", name, lsn, d->num);
	if (!durable_parse(text + 1, end - text - 1, &t))
		die("%s: position %" PRIu64 " is no message that was sent\n", name, lsn);
	d->at = grow(d->at, d->num, &d->room, sizeof(*d->at));
	d->at[d->num++] = t;
}

static void read_dump(const char *name, struct dump *d)
{
	FILE *in = open_file(name);
	char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, in) > 0)
		parse_line(name, line, d);
	free(line);
	fclose(in);
}

static void compare(const struct dump *a, const struct dump *b, const char *name)
{
	size_t i;

	for (i = 0; i < a->num && i < b->num; i++)
		if (!same(&a->at[i], &b->at[i]))
			die("%s: position %zu has another message than the first log\n", name, i);
	if (a->num != b->num)
		die("%s: %zu messages, and %zu in the first log\n", name, b->num, a->num);
}

static struct life *life_of(const struct durable_text *t)
{
	size_t i;

	for (i = 0; i < num_lives; i++)
		if (lives[i].node == t->node && lives[i].life == t->life)
			return &lives[i];
	return NULL;
}

static void count_lives(const struct dump *d)
{
	size_t i, room = 0;

	for (i = 0; i < d->num; i++) {
		const struct durable_text *t = &d->at[i];
		struct life *l = life_of(t);

		if (!l) {
			lives = grow(lives, num_lives, &room, sizeof(*lives));
			l = &lives[num_lives++];
			*l = (struct life){ .node = t->node, .life = t->life };
		}
		if (t->n != l->next)
			die("position %zu: message %" PRIu64 " of node %" PRIu32 ", life %" PRIu64
			    ", instead of %" PRIu64 "\n", i, t->n, t->node, t->life, l->next);
		l->next++;
	}
}

/* @next: the position that the reader has to have read next; UINT64_MAX: any */
static void check_read(const char *name, const struct durable_text *t, uint64_t lsn,
		       uint64_t *next, const struct dump *d)
{
	if (*next != UINT64_MAX && lsn != *next)
		die("%s: position %" PRIu64 " was read, instead of %" PRIu64 "\n", name, lsn,
		    *next);
	if (lsn >= d->num)
		die("%s: position %" PRIu64 " was durable, and the logs end at %zu\n", name, lsn,
		    d->num);
	if (!same(&d->at[lsn], t))
		die("%s: position %" PRIu64 " was durable, and is another message\n", name, lsn);
	*next = lsn + 1;
}

static void check_ack(const char *name, const char *line, uint64_t *next, const struct dump *d)
{
	struct durable_text t;
	const struct life *l;
	uint64_t lsn;

	if (sscanf(line, "r %" SCNu64 " %" SCNu32 " %" SCNu64 " %" SCNu64 "\n", &lsn, &t.node,
		   &t.life, &t.n) == 4) {
		check_read(name, &t, lsn, next, d);
		return;
	}
	if (sscanf(line, "w %" SCNu32 " %" SCNu64 " %" SCNu64 "\n", &t.node, &t.life, &t.n) != 3)
		die("%s: what is '%s'?\n", name, line);
	l = life_of(&t);
	if (!l || t.n >= l->next)
		die("%s: message %" PRIu64 " of node %" PRIu32 ", life %" PRIu64
		    ", was durable and is lost\n", name, t.n, t.node, t.life);
}

static uint64_t check_acks(const char *name, const struct dump *d)
{
	uint64_t count = 0, next = UINT64_MAX;
	FILE *in = open_file(name);
	char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, in) > 0 && line[strlen(line) - 1] == '\n') {
		check_ack(name, line, &next, d);
		count++;
	}
	free(line);
	fclose(in);
	return count;
}

int main(int argc, char **argv)
{
	struct dump first = { 0 };
	uint64_t acks = 0;
	int i;

	if (argc < 3 || !strcmp(argv[1], "--"))
		die("DUMP... -- [ACKS]...\n");
	read_dump(argv[1], &first);
	for (i = 2; i < argc && strcmp(argv[i], "--"); i++) {
		struct dump d = { 0 };

		read_dump(argv[i], &d);
		compare(&first, &d, argv[i]);
		free(d.at);
	}
	count_lives(&first);
	for (i++; i < argc; i++)
		acks += check_acks(argv[i], &first);
	printf("%zu messages of %zu lives, %" PRIu64 " acknowledgements\n", first.num, num_lives,
	       acks);
	return 0;
}
