// SPDX-License-Identifier: GPL-2.0-only
/*
 * live-check: do the logs of live-load agree?
 *
 *	live-check LOG...
 *
 * The program knows only the promises of the protocol:
 *	- a view has the same members wherever it is installed; ids of views grow;
 *	- in each view all have delivered the same messages in the same order: a node that went
 *	  on to the next view, all of them; a node that did not, a beginning; a node that
 *	  attached in the middle, an end;
 *	- of each sender's life, each message comes once, in order, without a gap;
 *	- if a node is a member at its end and its log has the number of its committed messages,
 *	  all of these were delivered.
 *
 * A log may end anywhere: its node may have been killed. Exit status 0: they agree, and the last
 * line has the numbers of compared messages and views. 1: a sentence names the difference.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"

#define MAX_LOGS	1024

struct msg {
	uint32_t node;
	uint64_t life;
	uint64_t n;
};

/* The messages of one view in a log. */
struct part {
	uint64_t vid;
	char *members;
	struct msg *msg;
	size_t num, room;
	bool whole;	/* from the first message on */
	bool done;	/* the next view follows */
};

struct log {
	const char *name;
	struct part *part;
	size_t parts;
	bool ended;
	bool closed;
};

/* A sender's life as a log has it. */
struct life {
	uint32_t node;
	uint64_t life;
	uint64_t next;
};

static struct log logs[MAX_LOGS];
static int num_logs;

#define die(...) do { fprintf(stderr, "live-check: " __VA_ARGS__); exit(1); } while (0)

static void begin_part(struct log *log, const char *line, bool whole)
{
	size_t room = log->parts;
	struct part *part;
	char members[512];
	uint64_t vid;

	if (sscanf(line + 1, "%" SCNu64 " %511s", &vid, members) != 2)
		die("%s: what is '%s'?\n", log->name, line);
	if (log->parts) {
		part = &log->part[log->parts - 1];
		if (vid <= part->vid)
			die("%s: view %" PRIu64 " after view %" PRIu64 "\n", log->name, vid,
			    part->vid);
		part->done = true;
	}
	log->part = realloc(log->part, (room + 1) * sizeof(*part));
	part = &log->part[log->parts++];
	*part = (struct part){ .vid = vid, .members = strdup(members), .whole = whole };
}

static bool has_member(const char *members, uint32_t node)
{
	while (members) {
		if (strtoul(members, NULL, 10) == node)
			return true;
		members = strchr(members, ',');
		members += !!members;
	}
	return false;
}

static void check_life(const struct log *log, struct life **lives, size_t *num, size_t *room,
		       const struct msg *m)
{
	size_t i;

	for (i = 0; i < *num; i++) {
		struct life *l = &(*lives)[i];

		if (l->node != m->node || l->life != m->life)
			continue;
		if (m->n != l->next++)
			die("%s: message %" PRIu64 " of node %u instead of %" PRIu64 "\n",
			    log->name, m->n, m->node, l->next - 1);
		return;
	}
	/* A node that was there before the sender's node has all messages of that life. */
	if (m->n && !has_member(log->part[0].members, m->node))
		die("%s: the first message of node %u is %" PRIu64 "\n", log->name, m->node, m->n);
	*lives = grow(*lives, *num, room, sizeof(**lives));
	(*lives)[(*num)++] = (struct life){ m->node, m->life, m->n + 1 };
}

static void read_log(struct log *log)
{
	size_t lives = 0, room = 0, line_room = 0;
	struct life *life = NULL;
	FILE *in = fopen(log->name, "r");
	char *line = NULL;

	if (!in)
		die("cannot open %s\n", log->name);
	while (getline(&line, &line_room, in) > 0) {
		struct part *part;
		struct msg m;

		/* The last line of a killed process may be incomplete. */
		if (line[strlen(line) - 1] != '\n')
			break;
		switch (line[0]) {
		case 'a':
			begin_part(log, line, false);
			break;
		case 'v':
			begin_part(log, line, true);
			break;
		case 'm':
			if (sscanf(line + 1, "%u %" SCNx64 " %" SCNu64, &m.node, &m.life,
				   &m.n) != 3 || !log->parts)
				die("%s: what is '%s'?\n", log->name, line);
			part = &log->part[log->parts - 1];
			check_life(log, &life, &lives, &room, &m);
			part->msg = grow(part->msg, part->num, &part->room, sizeof(m));
			part->msg[part->num++] = m;
			break;
		case 'e':
			log->ended = true;
			break;
		case 's':
			log->closed = true;
			break;
		}
	}
	free(line);
	free(life);
	fclose(in);
}

static bool same(const struct msg *a, const struct msg *b)
{
	return a->node == b->node && a->life == b->life && a->n == b->n;
}

/*
 * Compare b with a: b begins with a's message number @at.
 */
static void compare(const struct log *la, const struct part *a, const struct log *lb,
		    const struct part *b)
{
	size_t at = 0, i;

	if (strcmp(a->members, b->members))
		die("view %" PRIu64 " is %s in %s and %s in %s\n", a->vid, a->members, la->name,
		    b->members, lb->name);
	if (!b->num)
		return;
	while (!b->whole && at < a->num && !same(&a->msg[at], &b->msg[0]))
		at++;
	/* Both attached in the middle, and this one later than the other. */
	if (at == a->num && !a->whole)
		return;
	for (i = 0; i < b->num; i++) {
		if (at + i == a->num) {
			/* A node must not have more messages than one that went on. */
			if (a->done)
				die("view %" PRIu64 ": %s has %zu messages more than %s, which went on\n",
				    a->vid, lb->name, b->num - i, la->name);
			return;
		}
		if (!same(&a->msg[at + i], &b->msg[i]))
			die("view %" PRIu64 ": %s and %s differ at message %zu: node %u %" PRIu64
			    ", node %u %" PRIu64 "\n", a->vid, la->name, lb->name, at + i,
			    a->msg[at + i].node, a->msg[at + i].n, b->msg[i].node, b->msg[i].n);
	}
	if (b->done && a->whole && at + i != a->num)
		die("view %" PRIu64 ": %s went on without %zu messages of %s\n", a->vid, lb->name,
		    a->num - at - i, la->name);
}

static const struct part *find(const struct log *log, uint64_t vid)
{
	size_t i;

	for (i = 0; i < log->parts; i++)
		if (log->part[i].vid == vid)
			return &log->part[i];
	return NULL;
}

int main(int argc, char **argv)
{
	size_t messages = 0, views = 0, p;
	int i, j;

	if (argc - 1 > MAX_LOGS)
		die("more than %d logs\n", MAX_LOGS);
	for (i = 1; i < argc; i++) {
		logs[num_logs].name = argv[i];
		read_log(&logs[num_logs++]);
	}
	for (i = 0; i < num_logs; i++) {
		for (p = 0; p < logs[i].parts; p++) {
			const struct part *a = &logs[i].part[p];

			messages += a->num;
			/* Each view counts once, with the first log that has it. */
			for (j = 0; j < i && !find(&logs[j], a->vid); j++)
				;
			views += j == i;
			for (j = 0; j < num_logs; j++) {
				const struct part *b = find(&logs[j], a->vid);

				/* A log that began in the middle cannot prove an error. */
				if (j != i && b && (a->whole || !b->whole))
					compare(&logs[i], a, &logs[j], b);
			}
		}
	}
	if (!messages)
		die("there are no messages\n");
	printf("%zu messages in %zu views agree\n", messages, views);
	return 0;
}
