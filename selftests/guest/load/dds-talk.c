// SPDX-License-Identifier: GPL-2.0-only
/*
 * A participant that does what a script says.
 *
 *	dds-talk -n NODE -i FIFO [-c CONTROL] [-s SHARED] [-l LEASE] [-t TIMEOUT] [-k SAMPLES] [-b]
 *
 * It reads commands from the FIFO, a line each, and answers each with a line: "= ok", or "= no"
 * with the words of the library. Samples of all readers are printed as they come, a line each: name
 * of the reader, node, sequence, source time if it is not the clock's, key, flags, text.
 *
 *	writer NAME TOPIC [WORD=VALUE]...	words: type level own max depth keys part sub
 *	reader NAME TOPIC [WORD=VALUE]...
 *	write NAME COUNT			samples with the texts "0", "1" and so on
 *	text NAME TEXT [KEY [TIME]]		one sample, built in place
 *	bytes NAME LENGTH			one sample of so many bytes
 *	end NAME KEY dispose|unregister
 *	flush NAME
 *	have NAME COUNT				wait until the reader has printed so many in all
 *	match NAME COUNT			wait until so many match
 *	status NAME
 *	topics					a line of each
 *	find TOPIC
 *	close NAME
 *	quit
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <spindle/dds.h>

#define ENDS	32
#define WORDS	16
#define BATCH	7

/* A writer or a reader. */
struct end {
	char name[32];
	struct spindle_dds_writer *w;
	struct spindle_dds_reader *r;
	unsigned int keys;
	unsigned long count;
};

static struct spindle_dds *p;
static struct end ends[ENDS];
static int fifo;

static int no(void)
{
	printf("= no %s\n", spindle_dds_error(p));
	return 0;
}

static int yes(void)
{
	printf("= ok\n");
	return 0;
}

static void stop(const char *why)
{
	printf("= stopped: %s\n", why);
	fflush(stdout);
	exit(3);
}

/* ---- going on ---------------------------------------------------------------------------- */

static void print(struct end *e, const struct spindle_dds_sample *s)
{
	char bytes[256];
	uint32_t len = s->len < sizeof(bytes) ? s->len : sizeof(bytes) - 1;

	memcpy(bytes, s->data, len);
	printf("%s %u %llu %lld %u %u %.*s\n", e->name, s->node, (unsigned long long)s->sequence,
	       (long long)(s->time < 1000000 ? s->time : 0), s->key[0], s->flags, (int)len, bytes);
	e->count++;
}

static void drain(struct end *e)
{
	struct spindle_dds_sample s[BATCH];
	int n, i;

	while ((n = spindle_dds_take(e->r, s, BATCH)) > 0) {
		for (i = 0; i < n; i++)
			print(e, &s[i]);
		if (!spindle_dds_intact(e->r))
			stop("the history has overtaken a reader");
	}
	if (n < 0)
		stop(spindle_dds_error(p));
}

/* Wait for a moment, and look at all that has come. */
static void rest(int with_fifo, int ms)
{
	struct pollfd fd[ENDS + 2] = {
		{ .fd = spindle_dds_fd(p), .events = POLLIN },
		{ .fd = with_fifo ? fifo : -1, .events = POLLIN },
	};
	int i;

	for (i = 0; i < ENDS; i++)
		fd[i + 2] = (struct pollfd){
			.fd = ends[i].r ? spindle_dds_reader_fd(ends[i].r) : -1, .events = POLLIN,
		};
	fflush(stdout);
	poll(fd, ENDS + 2, ms);
	if (spindle_dds_work(p) < 0)
		stop(spindle_dds_error(p));
	for (i = 0; i < ENDS; i++)
		if (ends[i].r)
			drain(&ends[i]);
}

static struct end *find(const char *name)
{
	int i;

	for (i = 0; i < ENDS; i++)
		if ((ends[i].w || ends[i].r) && !strcmp(ends[i].name, name))
			return &ends[i];
	stop("there is no such name");
	return NULL;
}

/* ---- commands ---------------------------------------------------------------------------- */

static void set(struct spindle_dds_topic *t, struct spindle_dds_qos *q, struct end *e,
		const char *word, const char *value)
{
	uint32_t n = (uint32_t)strtoul(value, NULL, 0);

	if (!strcmp(word, "type"))
		snprintf(t->type, sizeof(t->type), "%s", value);
	else if (!strcmp(word, "level"))
		t->level = q->level = n;
	else if (!strcmp(word, "own"))
		q->level = n;
	else if (!strcmp(word, "max"))
		q->max_bytes = n;
	else if (!strcmp(word, "depth"))
		q->depth = n;
	else if (!strcmp(word, "keys"))
		t->keyed = 1, e->keys = n;
	else if (!strcmp(word, "part"))
		q->partitions = 1, snprintf(q->partition[0], sizeof(q->partition[0]), "%s", value);
	else if (!strcmp(word, "sub"))
		snprintf(t->subgroup, sizeof(t->subgroup), "%s", value);
	else
		stop("there is no such word");
}

static int do_open(char **word, int n)
{
	struct spindle_dds_topic t = { .level = SPINDLE_DDS_ATOMIC };
	struct spindle_dds_qos q = { .level = SPINDLE_DDS_ATOMIC, .max_bytes = 100 };
	struct end *e;
	char *value;
	int i, err;

	for (e = ends; e->w || e->r; e++)
		;
	*e = (struct end){ 0 };
	snprintf(e->name, sizeof(e->name), "%s", word[1]);
	snprintf(t.name, sizeof(t.name), "%s", word[2]);
	for (i = 3; i < n; i++) {
		value = strchr(word[i], '=');
		if (!value)
			stop("there is no value");
		*value = 0;
		set(&t, &q, e, word[i], value + 1);
	}
	if (word[0][0] == 'w')
		err = spindle_dds_writer_open(&e->w, p, &t, &q);
	else
		err = spindle_dds_reader_open(&e->r, p, &t, &q);
	return err ? no() : yes();
}

/* Send a sample, as soon as there is room. */
static int put(struct end *e, const void *bytes, uint32_t len, const struct spindle_dds_info *info)
{
	int err;

	while ((err = spindle_dds_write(e->w, bytes, len, info)) == -EAGAIN)
		rest(0, 20);
	return err;
}

static int do_write(char **word, int n)
{
	struct end *e = find(word[1]);
	unsigned long left = strtoul(word[2], NULL, 0);
	uint8_t key[SPINDLE_DDS_HASH] = { 0 };
	struct spindle_dds_info info = { .key = e->keys ? key : NULL };
	char text[32];

	(void)n;
	for (; left; left--, e->count++) {
		key[0] = e->keys ? (uint8_t)(e->count % e->keys) : 0;
		snprintf(text, sizeof(text), "%lu", e->count);
		if (put(e, text, (uint32_t)strlen(text), &info))
			return no();
	}
	return yes();
}

static int do_text(char **word, int n)
{
	struct end *e = find(word[1]);
	uint8_t key[SPINDLE_DDS_HASH] = { n > 3 ? (uint8_t)atoi(word[3]) : 0 };
	struct spindle_dds_info info = {
		.key = n > 3 ? key : NULL, .time = n > 4 ? atoll(word[4]) : 0,
	};
	uint32_t len = (uint32_t)strlen(word[2]);
	void *data;
	int err;

	/* More room than the sample needs. */
	while ((err = spindle_dds_loan(e->w, len + 8, &data)) == -EAGAIN)
		rest(0, 20);
	if (err)
		return no();
	memcpy(data, word[2], len);
	if (!spindle_dds_publish(e->w, len, &info))
		return yes();
	no();
	spindle_dds_abandon(e->w);
	return 0;
}

static int do_bytes(char **word, int n)
{
	static const char bytes[4096];

	(void)n;
	return put(find(word[1]), bytes, (uint32_t)atoi(word[2]), NULL) ? no() : yes();
}

static int do_end(char **word, int n)
{
	uint8_t key[SPINDLE_DDS_HASH] = { (uint8_t)atoi(word[2]) };
	struct spindle_dds_info info = {
		.key = key,
		.flags = word[3][0] == 'd' ? SPINDLE_DDS_DISPOSE : SPINDLE_DDS_UNREGISTER,
	};

	(void)n;
	return put(find(word[1]), NULL, 0, &info) ? no() : yes();
}

static int do_flush(char **word, int n)
{
	struct end *e = find(word[1]);
	int err;

	(void)n;
	/* Own readers hold the samples, too. */
	while ((err = spindle_dds_flush(e->w, 20)) == -EAGAIN)
		rest(0, 20);
	return err ? no() : yes();
}

static int do_have(char **word, int n)
{
	struct end *e = find(word[1]);

	(void)n;
	while (e->count < strtoul(word[2], NULL, 0))
		rest(0, 1000);
	return yes();
}

static struct spindle_dds_status status_of(const struct end *e)
{
	struct spindle_dds_status st;

	if (e->w)
		spindle_dds_writer_status(e->w, &st);
	else
		spindle_dds_reader_status(e->r, &st);
	return st;
}

static int do_match(char **word, int n)
{
	struct end *e = find(word[1]);

	(void)n;
	while (status_of(e).matched != strtoul(word[2], NULL, 0))
		rest(0, 1000);
	return yes();
}

static int do_status(char **word, int n)
{
	struct spindle_dds_status st;

	(void)n;
	rest(0, 0);
	st = status_of(find(word[1]));
	printf("= ok matched %u mismatched %u wrong %llu oldest %llu %s\n", st.matched,
	       st.mismatched, (unsigned long long)st.wrong, (unsigned long long)st.oldest, st.why);
	return 0;
}

static void print_topic(const struct spindle_dds_topic_info *t)
{
	printf("topic %llu %s '%s' %s %u writers %u readers\n", (unsigned long long)t->id,
	       t->topic.name, t->topic.type, spindle_dds_level_string(t->topic.level), t->writers,
	       t->readers);
}

static int do_topics(char **word, int n)
{
	static struct spindle_dds_topic_info info[64];
	uint32_t i, have;

	(void)word;
	(void)n;
	rest(0, 0);
	have = spindle_dds_topics(p, info, 64);
	for (i = 0; i < have && i < 64; i++)
		print_topic(&info[i]);
	printf("= ok %u topics\n", have);
	return 0;
}

static int do_find(char **word, int n)
{
	struct spindle_dds_topic_info info;

	(void)n;
	if (spindle_dds_find(p, word[1], &info))
		return no();
	print_topic(&info);
	return yes();
}

static int do_close(char **word, int n)
{
	struct end *e = find(word[1]);

	(void)n;
	spindle_dds_writer_close(e->w);
	spindle_dds_reader_close(e->r);
	*e = (struct end){ 0 };
	return yes();
}

static int do_quit(char **word, int n)
{
	(void)word;
	(void)n;
	return 1;
}

static const struct {
	const char *name;
	int words;	/* at least */
	int (*fn)(char **word, int n);
} commands[] = {
	{ "writer", 3, do_open }, { "reader", 3, do_open }, { "write", 3, do_write },
	{ "text", 3, do_text }, { "bytes", 3, do_bytes }, { "end", 4, do_end },
	{ "flush", 2, do_flush }, { "have", 3, do_have }, { "match", 3, do_match },
	{ "status", 2, do_status }, { "topics", 1, do_topics }, { "find", 2, do_find },
	{ "close", 2, do_close }, { "quit", 1, do_quit },
};

/* Return: whether this was the last one. */
static int command(char *line)
{
	char *word[WORDS] = { 0 };
	size_t i;
	int n = 0;

	for (word[0] = strtok(line, " "); word[n] && n < WORDS - 1; word[n] = strtok(NULL, " "))
		n++;
	for (i = 0; n && i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(commands[i].name, word[0]) && n >= commands[i].words)
			return commands[i].fn(word, n);
	stop("there is no such command");
	return 1;
}

/* ---- main -------------------------------------------------------------------------------- */

static void parse(int argc, char **argv, struct spindle_dds_opts *o)
{
	int c;

	while ((c = getopt(argc, argv, "n:i:c:s:l:t:k:b")) != -1) {
		if (c == 'n')
			o->node = (uint32_t)atoi(optarg);
		else if (c == 'i')
			fifo = open(optarg, O_RDWR | O_CLOEXEC);
		else if (c == 'c')
			o->control = optarg;
		else if (c == 's')
			o->shared = (uint32_t)atoi(optarg);
		else if (c == 'l')
			o->lease_ms = (uint32_t)atoi(optarg);
		else if (c == 't')
			o->timeout_ms = (uint32_t)atoi(optarg);
		else if (c == 'k')
			o->late_samples = (uint32_t)atoi(optarg);
		else if (c == 'b')
			o->flags = SPINDLE_DDS_BEGIN;
		else
			exit(2);
	}
}

/* A command that has come whole, or NULL. */
static char *next_line(void)
{
	static char text[4096];
	static size_t len, done;
	struct pollfd fd = { .fd = fifo, .events = POLLIN };
	ssize_t n;
	char *end;

	memmove(text, text + done, len - done);
	len -= done;
	done = 0;
	if (!memchr(text, '\n', len) && poll(&fd, 1, 0) == 1) {
		n = read(fifo, text + len, sizeof(text) - len);
		len += n > 0 ? (size_t)n : 0;
	}
	end = memchr(text, '\n', len);
	if (!end)
		return NULL;
	*end = 0;
	done = (size_t)(end - text) + 1;
	return text;
}

int main(int argc, char **argv)
{
	struct spindle_dds_opts o = { .lease_ms = SPINDLE_DDS_NO_LEASE, .timeout_ms = 60000 };
	char *line;

	parse(argc, argv, &o);
	if (fifo <= 0)
		return 2;
	if (spindle_dds_open(&p, &o))
		stop(spindle_dds_error(p));
	yes();
	for (;;) {
		line = next_line();
		if (!line)
			rest(1, -1);
		else if (command(line))
			break;
	}
	spindle_dds_close(p);
	yes();
	return 0;
}
