// SPDX-License-Identifier: GPL-2.0-only
/*
 * A participant with one writer, one reader, or both, of a topic.
 *
 *	dds-talk -n NODE -t TOPIC [-y TYPE] [-l LEVEL] [-d DEPTH] [-k KEYS] [-w COUNT] [-r COUNT]
 *		[-m READERS]
 *
 * -w writes so many samples, once READERS readers match (1). -r reads so many, and prints a line of
 * each: node, sequence, key and text. Without -r and -w it waits until it is killed.
 */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <spindle/dds.h>

static struct {
	struct spindle_dds_opts o;
	struct spindle_dds_topic topic;
	struct spindle_dds_qos qos;
	unsigned int keys, readers;
	unsigned long write, read;
} opts = {
	.topic.level = SPINDLE_DDS_ATOMIC,
	.qos = { .level = SPINDLE_DDS_ATOMIC, .max_bytes = 100 },
	.readers = 1,
};

static struct spindle_dds *p;

static void fail(void)
{
	fprintf(stderr, "%s\n", spindle_dds_error(p));
	exit(1);
}

static void parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "n:t:y:l:d:k:w:r:m:")) != -1) {
		switch (c) {
		case 'n':
			opts.o.node = (uint32_t)atoi(optarg);
			break;
		case 't':
			strncpy(opts.topic.name, optarg, sizeof(opts.topic.name) - 1);
			break;
		case 'y':
			strncpy(opts.topic.type, optarg, sizeof(opts.topic.type) - 1);
			break;
		case 'l':
			opts.topic.level = (uint32_t)atoi(optarg);
			opts.qos.level = opts.topic.level;
			break;
		case 'd':
			opts.qos.depth = (uint32_t)atoi(optarg);
			break;
		case 'k':
			opts.keys = (unsigned int)atoi(optarg);
			opts.topic.keyed = 1;
			break;
		case 'w':
			opts.write = strtoul(optarg, NULL, 0);
			break;
		case 'r':
			opts.read = strtoul(optarg, NULL, 0);
			break;
		case 'm':
			opts.readers = (unsigned int)atoi(optarg);
			break;
		default:
			exit(2);
		}
	}
}

static void rest(struct spindle_dds_reader *r)
{
	struct pollfd fd[2] = {
		{ .fd = spindle_dds_fd(p), .events = POLLIN },
		{ .fd = r ? spindle_dds_reader_fd(r) : -1, .events = POLLIN },
	};

	poll(fd, 2, 20);
	if (spindle_dds_work(p) < 0)
		fail();
}

static void print(const struct spindle_dds_sample *s)
{
	printf("%u %llu %u %.*s\n", s->node, (unsigned long long)s->sequence, s->key[0],
	       (int)s->len, (const char *)s->data);
}

static unsigned long take(struct spindle_dds_reader *r)
{
	struct spindle_dds_sample s[16];
	int n = spindle_dds_take(r, s, 16), i;

	if (n < 0)
		fail();
	for (i = 0; i < n; i++)
		print(&s[i]);
	fflush(stdout);
	return (unsigned long)n;
}

/* Return: whether the sample was sent. */
static int put(struct spindle_dds_writer *w, unsigned long i)
{
	uint8_t key[SPINDLE_DDS_HASH] = { 0 };
	char text[64];
	int err;

	key[0] = opts.keys ? (uint8_t)(i % opts.keys) : 0;
	snprintf(text, sizeof(text), "sample %lu", i);
	err = spindle_dds_write(w, text, (uint32_t)strlen(text), opts.keys ? key : NULL);
	if (err && err != -EAGAIN)
		fail();
	return !err;
}

static void talk(struct spindle_dds_writer *w, struct spindle_dds_reader *r)
{
	unsigned long sent = 0, got = 0;

	while (sent < opts.write || got < opts.read || !(w || r)) {
		if (w && sent < opts.write && spindle_dds_writer_matched(w) >= opts.readers)
			sent += (unsigned long)put(w, sent);
		else
			rest(r);
		if (r)
			got += take(r);
	}
}

int main(int argc, char **argv)
{
	struct spindle_dds_writer *w = NULL;
	struct spindle_dds_reader *r = NULL;

	parse(argc, argv);
	if (spindle_dds_open(&p, &opts.o))
		fail();
	if (opts.read && spindle_dds_reader_open(&r, p, &opts.topic, &opts.qos))
		fail();
	if (opts.write && spindle_dds_writer_open(&w, p, &opts.topic, &opts.qos))
		fail();
	fprintf(stderr, "ready\n");
	talk(w, r);
	spindle_dds_close(p);
	return 0;
}
