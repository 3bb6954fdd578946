// SPDX-License-Identifier: MIT
/*
 * The history of a newcomer: a donor sends the messages of its own history that are older than
 * those of the receiver, and the receiver gives them to its kernel.
 *
 * The messages go in batches behind the snapshot, from the newest one to the oldest one. All of
 * this is best effort: an error ends the history, and the state counts as if there had been none.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "internal.h"
#include "replica.h"

/*
 * Entries that one pass looks at, because the replica has messages to read, and messages of a
 * batch. A test takes few.
 */
#ifndef WALK
#define WALK		8192U
#endif
#ifndef BATCH_MSGS
#define BATCH_MSGS	SPINDLE_MAX_FILL_MSGS
#endif

static struct spindle_seat *seats_in(void *buf)
{
	return (void *)((struct batch_head *)buf + 1);
}

/* ---- the donor ----------------------------------------------------------------------- */

/* What has no meaning at another node is 0. */
static void put_seats(struct past *p, uint64_t vid, uint32_t members)
{
	struct spindle_seat *s = seats_in(p->buf);
	uint32_t i;

	for (i = 0; i < members; i++) {
		s[i].rx = 0;
		s[i].sst = 0;
		s[i].flags &= ~SPINDLE_SEAT_ME;
	}
	((struct batch_head *)p->buf)->members = members;
	p->seats_of = vid;
}

/* Ask for the members of the view that the next batch was delivered in. */
static int ask_members(struct spindle_replica *r)
{
	struct past *p = &r->donor.past;
	struct spindle_seats arg = {
		.vid = p->view, .count = SPINDLE_MAX_MEMBERS,
		.ptr = (uintptr_t)seats_in(p->buf),
	};
	int err;

	if (p->seats_of == p->view)
		return 0;
	err = spindle_sys_ioctl(r->q.fd, SPINDLE_IOC_SEATS, &arg);
	if (err || !arg.count || arg.count > SPINDLE_MAX_MEMBERS)
		return err < 0 ? err : -EPROTO;
	put_seats(p, p->view, arg.count);
	return 0;
}

/* The state has arrived everywhere. The walk begins with what this replica has read last. */
static bool past_begin(struct spindle_replica *r)
{
	struct past *p = &r->donor.past;
	struct spindle_view v;
	void *buf;

	if (spindle_view(&r->q, &v) || v.members > SPINDLE_MAX_MEMBERS)
		return false;
	buf = mmap(NULL, BATCH_MAX, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buf == MAP_FAILED)
		return false;
	/* The device reads this memory, so no child may share it copy-on-write. */
	madvise(buf, BATCH_MAX, MADV_DONTFORK);
	p->buf = buf;
	p->at = r->q.rx_cursor;
	p->view = v.vid;
	memcpy(seats_in(buf), v.seat, v.members * sizeof(*v.seat));
	put_seats(p, v.vid, v.members);
	return true;
}

/*
 * Read the next entry of the own history. Its word is looked at on both sides of that: the kernel
 * may have put the entry there only now. Return: false if the history has no such entry.
 */
static bool read_entry(const struct spindle_queue *q, uint64_t at, struct spindle_dlv *d)
{
	if (spindle_load_acquire(q->ctl_dlv_low) >= at)
		return false;
	*d = *spindle_dlv_at(q, at - 1);
	return spindle_is_whole(q, at - 1);
}

/* The entry is the beginning of a view: the messages below it had other members. */
static void pass_view(struct past *p, const struct spindle_dlv *d)
{
	if (!p->vid)
		p->vid = d->slot;
	/* An older module names only the view itself. */
	p->view = d->offset ? d->offset : d->slot - 1;
}

/* Does the message belong into a batch that has @bytes already? */
static bool fits(const struct spindle_queue *q, const struct spindle_dlv *d, uint32_t bytes)
{
	return d->len <= q->max_msg && d->offset < q->rx_bytes && bytes <= SPINDLE_MAX_FILL &&
	       d->len <= SPINDLE_MAX_FILL - bytes;
}

/*
 * Collect the descriptors of the next batch, which end at @end. Nothing older than the beginning of
 * a view comes into a batch with what is newer. Return: how many; 0: look again later; -ENODATA:
 * there is nothing that could be sent.
 */
static int collect(struct spindle_replica *r, struct spindle_dlv *end, uint32_t *bytes)
{
	struct past *p = &r->donor.past;
	struct spindle_dlv d;
	uint32_t looked;
	int n = 0;

	*bytes = 0;
	for (looked = 0; looked < WALK && n < BATCH_MSGS; looked++, p->at--) {
		if (!read_entry(&r->q, p->at, &d))
			return n ? n : -ENODATA;
		if (d.kind == SPINDLE_DLV_VIEW) {
			if (n)
				break;
			pass_view(p, &d);
		} else if (d.kind != SPINDLE_DLV_MSG && d.kind != SPINDLE_DLV_OTHER) {
			continue;
		} else if (d.lsn >= p->below) {
			p->vid = 0;
		} else if (fits(&r->q, &d, *bytes)) {
			end[-++n] = d;
			*bytes += d.len;
		} else {
			return n ? n : -EMSGSIZE;
		}
	}
	return n;
}

/*
 * Build the batch of @n descriptors that end at @end. Return: its length; -ESTALE: the history has
 * overwritten something of it in the meantime, so nothing of it may be sent.
 */
static int64_t build(struct spindle_replica *r, const struct spindle_dlv *end, int n)
{
	struct past *p = &r->donor.past;
	struct batch_head *head = (void *)p->buf;
	struct spindle_dlv *d = (void *)(seats_in(p->buf) + head->members);
	unsigned char *data = (unsigned char *)(d + n);
	uint32_t bytes = 0;
	int i;

	memmove(d, end - n, (size_t)n * sizeof(*d));
	head->lsn = d[n - 1].lsn + 1;
	for (i = 0; i < n; i++) {
		memcpy(data + bytes, (unsigned char *)r->q.map_copy.addr + d[i].offset, d[i].len);
		d[i].offset = bytes;
		bytes += d[i].len;
	}
	if (!spindle_is_whole(&r->q, p->at))
		return -ESTALE;
	head->magic = BATCH_MAGIC;
	head->version = REPLICA_VERSION;
	head->vid = p->vid;
	head->before = p->vid ? p->view : 0;
	head->count = (uint32_t)n;
	head->bytes = bytes;
	return data + bytes - p->buf;
}

/* Send the next batch, if it is found now. Return: 0, or why no more are sent. */
static int send_batch(struct spindle_replica *r)
{
	struct past *p = &r->donor.past;
	/* Where the descriptors are when a batch has all members and no bytes. */
	struct spindle_dlv *end = (void *)(seats_in(p->buf) + SPINDLE_MAX_MEMBERS);
	uint32_t bytes;
	int64_t len;
	int n, err;

	end += SPINDLE_MAX_FILL_MSGS;
	n = collect(r, end, &bytes);
	replica_wake(r);
	if (n <= 0)
		return n;
	err = ask_members(r);
	if (err)
		return err;
	len = build(r, end, n);
	if (len < 0)
		return (int)len;
	err = spindle_rdmc_send(r->donor.group, p->buf, (uint64_t)len, BATCH | p->batches, NULL);
	if (err)
		return err;
	p->batches++;
	p->flying = true;
	p->vid = 0;
	return 0;
}

/* Go on with the history behind a snapshot. Return: false if no more of it is sent. */
bool past_run(struct spindle_replica *r)
{
	struct past *p = &r->donor.past;

	if (p->below && !p->flying && !p->buf && !past_begin(r))
		p->below = 0;
	if (p->below && !p->flying && send_batch(r))
		p->below = 0;
	return p->below;
}

/* A batch has ended. If one receiver refuses it, no more follow. */
void past_done(struct spindle_replica *r, const struct spindle_rdmc_event *ev)
{
	struct past *p = &r->donor.past;

	p->flying = false;
	if (ev->error != SPINDLE_RDMC_OK)
		p->below = 0;
}

void past_end(struct donor *d)
{
	if (d->past.buf)
		munmap(d->past.buf, BATCH_MAX);
	d->past.buf = NULL;
}

/* ---- the receiver -------------------------------------------------------------------- */

/*
 * May this batch come? A receiver that needs no more refuses it, so that the donor stops, unless
 * other nodes may need it. Messages that are kept aside are no less important than old ones.
 */
static int check_batch(const struct spindle_replica *r, uint64_t len)
{
	const struct joiner *j = &r->joiner;

	if (!j->history || j->batch || len < sizeof(struct batch_head) || len > BATCH_MAX)
		return -EPROTO;
	if (!j->oldest && !j->shared)
		return -ENOSPC;
	return spill_bytes(&r->spill) > r->spill.limit / 2 ? -ENOBUFS : 0;
}

void *batch_incoming(struct spindle_replica *r, const struct spindle_rdmc_event *ev,
		     uint32_t *reason)
{
	struct joiner *j = &r->joiner;
	void *buf;

	*reason = (uint32_t)-check_batch(r, ev->len);
	if (*reason)
		return NULL;
	buf = mmap(NULL, ev->len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buf == MAP_FAILED) {
		*reason = (uint32_t)errno;
		return NULL;
	}
	/* No child of the program may share memory that the device writes. */
	madvise(buf, ev->len, MADV_DONTFORK);
	j->batch = buf;
	j->batch_len = ev->len;
	return buf;
}

/* Check that a batch is what its head says. The kernel checks the descriptors. */
static bool read_batch(unsigned char *buf, uint64_t len, struct spindle_fill *f)
{
	const struct batch_head *head = (const void *)buf;
	uint64_t seats = sizeof(*head), dlv, data;

	if (head->magic != BATCH_MAGIC || head->version != REPLICA_VERSION ||
	    !head->members || head->members > SPINDLE_MAX_MEMBERS ||
	    !head->count || head->count > SPINDLE_MAX_FILL_MSGS || head->bytes > SPINDLE_MAX_FILL)
		return false;
	dlv = seats + head->members * sizeof(struct spindle_seat);
	data = dlv + head->count * sizeof(struct spindle_dlv);
	if (len != data + head->bytes)
		return false;
	f->lsn = head->lsn;
	f->vid = head->vid;
	f->before = head->before;
	f->seats = (uintptr_t)(buf + seats);
	f->dlv = (uintptr_t)(buf + dlv);
	f->data = (uintptr_t)(buf + data);
	f->members = head->members;
	f->count = head->count;
	f->bytes = head->bytes;
	return true;
}

/*
 * Drop the messages that the history has, because the donor begins where another receiver needs it.
 * The rest were delivered in the view of the oldest one that the history has.
 */
static void drop_newer(struct spindle_fill *f, uint64_t oldest)
{
	const struct spindle_dlv *d = (const void *)(uintptr_t)f->dlv;
	uint32_t count = f->count;

	while (f->count && d[f->count - 1].lsn >= oldest)
		f->count--;
	if (f->count == count)
		return;
	f->lsn = oldest;
	f->vid = 0;
	f->before = 0;
}

/* Put a batch into the own history. After an error this replica wants no more of them. */
static void fill(struct spindle_replica *r)
{
	struct joiner *j = &r->joiner;
	struct spindle_fill f = {
		.lineage = { r->q.lineage[0], r->q.lineage[1] }, .era = r->q.era,
	};
	uint64_t oldest = j->oldest;
	int err;

	if (!read_batch(j->batch, j->batch_len, &f)) {
		j->oldest = 0;
		return;
	}
	drop_newer(&f, oldest);
	if (!f.count)
		return;
	err = spindle_sys_ioctl(r->q.fd, SPINDLE_IOC_FILL, &f);
	/* With ENOSPC the newest messages are there. */
	if ((!err || err == -ENOSPC) && f.lsn < oldest)
		r->st.filled += oldest - f.lsn;
	j->oldest = err ? 0 : f.lsn;
}

/* A batch has ended, well or not. */
void batch_done(struct spindle_replica *r, const struct spindle_rdmc_event *ev)
{
	struct joiner *j = &r->joiner;

	if (j->batch && j->oldest && ev->error == SPINDLE_RDMC_OK)
		fill(r);
	batch_end(j);
}

void batch_end(struct joiner *j)
{
	if (j->batch)
		munmap(j->batch, j->batch_len);
	j->batch = NULL;
}
