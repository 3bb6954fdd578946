// SPDX-License-Identifier: MIT
/*
 * Messages that a replica keeps aside while it gets a state: first in, first out, in a memfd.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "replica.h"

/* Memory of messages that were taken is given back by so many bytes. */
#define GIVE_BACK	(1U << 20)

/* In front of each message. */
struct record {
	uint64_t lsn;
	uint64_t slot;
	uint32_t node;
	uint32_t sender;
	uint32_t len;
	uint32_t resv;
};

static int open_file(struct spill *s)
{
	if (s->fd >= 0)
		return 0;
	s->fd = memfd_create("spindle-spill", MFD_CLOEXEC);
	return s->fd < 0 ? -errno : 0;
}

/* Add a message. Return: 0, -ENOBUFS if that would be more than the limit, or an errno. */
int spill_add(struct spill *s, const struct spindle_msg *m)
{
	struct record rec = {
		.lsn = m->lsn, .slot = m->slot, .node = m->node, .sender = m->sender, .len = m->len,
	};
	struct iovec v[2] = {
		{ .iov_base = &rec, .iov_len = sizeof(rec) },
		{ .iov_base = (void *)m->data, .iov_len = m->len },
	};
	uint64_t bytes = sizeof(rec) + m->len;
	ssize_t n;
	int err = open_file(s);

	if (err)
		return err;
	if (spill_bytes(s) + bytes > s->limit)
		return -ENOBUFS;
	n = pwritev(s->fd, v, 2, (off_t)s->end);
	if (n != (ssize_t)bytes)
		return n < 0 ? -errno : -ENOSPC;
	s->end += bytes;
	return 0;
}

static int make_room(struct spill *s, uint32_t len)
{
	void *buf;

	if (len <= s->room)
		return 0;
	buf = realloc(s->buf, len);
	if (!buf)
		return -ENOMEM;
	s->buf = buf;
	s->room = len;
	return 0;
}

static int read_at(const struct spill *s, void *buf, size_t len, uint64_t at)
{
	ssize_t n = pread(s->fd, buf, len, (off_t)at);

	if (n == (ssize_t)len)
		return 0;
	return n < 0 ? -errno : -EIO;
}

static void give_back(struct spill *s)
{
	uint64_t bytes = s->first - s->given_back;

	if (bytes < GIVE_BACK)
		return;
	/* Without this call the memory stays in use a little longer. */
	if (!fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)s->given_back,
		       (off_t)bytes))
		s->given_back = s->first;
}

/*
 * Take the oldest message. Its bytes are valid until the next call. Return: 1, 0 if there is none,
 * or a negative errno.
 */
int spill_take(struct spill *s, struct spindle_msg *m)
{
	struct record rec;
	int err;

	if (!spill_bytes(s)) {
		spill_clear(s);
		return 0;
	}
	err = read_at(s, &rec, sizeof(rec), s->first);
	if (!err)
		err = make_room(s, rec.len);
	if (!err)
		err = read_at(s, s->buf, rec.len, s->first + sizeof(rec));
	if (err)
		return err;
	s->first += sizeof(rec) + rec.len;
	give_back(s);
	*m = (struct spindle_msg){
		.lsn = rec.lsn, .slot = rec.slot, .node = rec.node, .sender = rec.sender,
		.len = rec.len, .data = s->buf, .kind = SPINDLE_DLV_MSG,
	};
	return 1;
}

/* Forget all messages, and give their memory back. */
void spill_clear(struct spill *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	s->first = 0;
	s->end = 0;
	s->given_back = 0;
}

void spill_free(struct spill *s)
{
	spill_clear(s);
	free(s->buf);
	s->buf = NULL;
	s->room = 0;
}
