// SPDX-License-Identifier: MIT
/*
 * Named counters, the same on all nodes. A process that is killed and started again, and one on a
 * node that has joined, gets them from another node.
 *
 *	cc counters.c $(pkg-config --cflags --libs spindle) -o counters
 *	./counters NODE SUBGROUP [DIR]
 *
 * A line "apples 3" adds 3 to a counter at all nodes, and "apples" prints it at this one. In a durable
 * subgroup, DIR is the directory of the log of the node. Then "!" makes a snapshot there, and the
 * process that comes back gets its counters from that and the log.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <spindle/replica.h>

#define COUNTERS	1000

struct counter {
	char name[24];
	long value;
};

static struct counter counter[COUNTERS];

/* The counter of a name; the first unused one, if there is none; or NULL. */
static struct counter *find(const char *name)
{
	int i = 0;

	while (i < COUNTERS && counter[i].name[0] && strcmp(counter[i].name, name))
		i++;
	return i < COUNTERS ? &counter[i] : NULL;
}

static int save(void *ctx, int fd, uint64_t lsn)
{
	const char *at = (const char *)counter, *end = at + sizeof(counter);

	(void)ctx;
	(void)lsn;
	while (at < end) {
		ssize_t n = write(fd, at, (size_t)(end - at));

		if (n < 0)
			return -errno;
		at += n;
	}
	return 0;
}

static int load(void *ctx, int fd, uint64_t lsn)
{
	char *at = (char *)counter, *end = at + sizeof(counter);

	(void)ctx;
	(void)lsn;
	while (at < end) {
		ssize_t n = read(fd, at, (size_t)(end - at));

		if (n <= 0)
			return n ? -errno : -EIO;
		at += n;
	}
	return 0;
}

/* All replicas apply the same messages in the same order, so they do the same. */
static int apply(void *ctx, const struct spindle_msg *m)
{
	const struct counter *add = m->data;
	struct counter *c;

	(void)ctx;
	if (m->len != sizeof(*add) || !memchr(add->name, 0, sizeof(add->name)))
		return 0;
	c = find(add->name);
	if (c) {
		strcpy(c->name, add->name);
		c->value += add->value;
	}
	return 0;
}

static int command(struct spindle_replica *r, const char *line)
{
	struct counter add = { .value = 0 };
	const struct counter *c;
	int err = 0, n = sscanf(line, "%23s %ld", add.name, &add.value);

	if (n < 1)
		return 0;
	if (n == 1 && !strcmp(add.name, "!")) {
		err = spindle_replica_snapshot(r);
		return err == -EBUSY ? 0 : err;
	}
	if (n == 1) {
		c = find(add.name);
		printf("%s %ld\n", add.name, c ? c->value : 0);
		return fflush(stdout);
	}
	while ((err = spindle_replica_send(r, &add, sizeof(add))) == -EAGAIN) {
		err = spindle_replica_wait(r, POLLIN | POLLOUT, -1);
		if (err)
			break;
	}
	return err;
}

int main(int argc, char **argv)
{
	const struct spindle_replica_ops ops = { .save = save, .load = load, .apply = apply };
	struct spindle_replica_opts o = { .flags = 0 };
	struct spindle_replica *r;
	struct pollfd p[2] = { { .fd = 0, .events = POLLIN }, { .events = POLLIN } };
	char line[128];
	int err;

	setvbuf(stdin, NULL, _IONBF, 0); /* poll() does not see what stdio has read ahead */
	o.node = argc > 1 ? (uint32_t)atoi(argv[1]) : 0;
	o.subgroup = argc > 2 ? (uint32_t)atoi(argv[2]) : 0;
	o.dir = argc > 3 ? argv[3] : NULL;
	o.program = o.dir ? "counters" : NULL;
	err = spindle_replica_open(&r, &ops, NULL, &o);
	while (!err) {
		p[1].fd = spindle_replica_fd(r);
		if (poll(p, 2, -1) < 0)
			err = -errno;
		if (!err && p[0].revents && fgets(line, sizeof(line), stdin))
			err = command(r, line);
		else if (!err && p[0].revents)
			p[0].fd = -1; /* no more commands: go on to serve the others */
		if (!err)
			err = spindle_replica_dispatch(r);
	}
	fprintf(stderr, "counters: %s\n", spindle_replica_strerror(err));
	spindle_replica_close(r);
	return 1;
}
