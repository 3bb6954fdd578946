/* SPDX-License-Identifier: MIT */
/*
 * The hot path of an attachment: no system call while the engine is awake.
 *
 * Four pairs of barriers order the accesses of both sides. <linux/spindle.h> uses the same
 * letters, and so do the lines of code below:
 *
 *	process, sending			engine
 *
 *	LOAD ctl.tx_slot, tx_unit  (D)		LOAD desc.ready		    (A)
 *	STORE bytes, descriptor			LOAD descriptor, send bytes
 *	STORE desc.ready	   (A)		STORE ctl.tx_slot, tx_unit  (D)
 *
 *	process, reading			engine
 *
 *	LOAD ctl.dlv_tail	   (B)		LOAD usr.consumed	    (C)
 *	LOAD descriptor, bytes			STORE descriptor, bytes
 *	STORE usr.consumed	   (C)		STORE ctl.dlv_tail	    (B)
 *
 * Each load with a letter is an acquire, each store with a letter is a release.
 *
 * (A) Without it the engine could use a descriptor, or bytes, from before the commit.
 * (B) Without it the process could read a descriptor before the engine has written it.
 * (C) Without it the engine could reuse bytes that the process still reads.
 * (D) Without it the process could overwrite bytes that are still being sent, or
 *     read by a member that has not delivered them.
 *
 * The rings of a history are overwritten while processes read them (F). The engine stores
 * ctl.dlv_low, then has a write barrier, then overwrites. The process reads, then has an acquire
 * fence, then loads ctl.dlv_low: what it has read is whole if the entry is not below.
 *
 * ctl.state is stored with release after the last ctl.dlv_tail and loaded with
 * acquire: a reader that sees a final state sees everything that was delivered.
 *
 * Sleeping needs a store before a load on both sides, which only a full barrier
 * gives (E). The process stores desc.ready or usr.consumed, then loads need_wakeup. The
 * engine stores need_wakeup, then loads desc.ready and usr.consumed. At least one of
 * them sees the store of the other.
 *
 * Threads of one process share usr.reserve. The thread that advances it by compare-and-swap
 * owns the slot and the units in between. The kernel does not trust this word.
 */
#ifndef SPINDLE_RING_H
#define SPINDLE_RING_H

#include <errno.h>
#include <string.h>
#include <spindle/barrier.h>
#include <spindle/queue.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Units that a message of @len bytes takes. */
static inline uint32_t spindle_units(uint32_t len)
{
	return len / SPINDLE_UNIT + (len % SPINDLE_UNIT != 0);
}

/* Units that a slot for a message of @len bytes takes. */
static inline uint32_t spindle_slot_units(const struct spindle_queue *q, uint32_t len)
{
	return q->tx_slot_units ? q->tx_slot_units : spindle_units(len);
}

/* The word usr.reserve for a next slot and a next unit. */
static inline __u64 spindle_reserve_word(uint32_t slot, uint32_t unit)
{
	return (__u64)slot | (__u64)unit << 32;
}

/* Kick the engine if it sleeps. Call this after the store that gives the engine work. */
static inline int spindle_wake(struct spindle_queue *q)
{
	spindle_mb();					/* E */
	if (spindle_load_once32(q->ctl_need_wakeup))
		return spindle_kick(q);
	return 0;
}

/**
 * spindle_flush() - wake the engine for quiet commits
 * @q: attached
 *
 * Covers the quiet commits of all threads. One full barrier; a system call only if the
 * engine sleeps. Any thread.
 *
 * Return: 0 or a negative errno from spindle_kick().
 */
static inline int spindle_flush(struct spindle_queue *q)
{
	/*
	 * The thread that clears the mark must wake the engine for the commits of all threads
	 * that set it: the acquire pairs with the release of spindle_mark_quiet().
	 */
	if (spindle_load_once32(&q->tx_quiet))
		(void)__atomic_exchange_n(&q->tx_quiet, 0, __ATOMIC_ACQ_REL);
	return spindle_wake(q);
}

/* Tell spindle_wait() and spindle_drain() to flush. Call this after spindle_publish(). */
static inline void spindle_mark_quiet(struct spindle_queue *q)
{
	__atomic_store_n(&q->tx_quiet, 1, __ATOMIC_RELEASE);
}

/**
 * spindle_reserve() - take the next slot and room for a message
 * @q: attached with SPINDLE_ATTACH_SEND
 * @len: bytes, 0 to max_msg
 * @s: filled on success
 *
 * Fixes the place of the message in the sender's order. Slots reserved later wait for this
 * one, so commit or abandon it soon in any case. Never waits; any thread.
 *
 * Return: 0; -EAGAIN when no slot is free or the ring has no room for @len bytes,
 * -EMSGSIZE when @len is above max_msg, -EPIPE when the state is final, -EBADF
 * without SPINDLE_ATTACH_SEND.
 */
static inline int spindle_reserve(struct spindle_queue *q, uint32_t len, struct spindle_slot *s)
{
	uint32_t units = spindle_slot_units(q, len);
	uint32_t slot, unit;
	__u64 tx_slot, tx_unit, old, now;

	if (!q->tx_ring)
		return -EBADF;
	if (len > q->max_msg)
		return -EMSGSIZE;

	/*
	 * The order of the loads matters. usr.reserve is loaded first, so that tx_slot and
	 * tx_unit are at least as new. A stale @old is then detected: either its slot is behind
	 * tx_slot, or the compare-and-swap fails. It cannot make a full ring look free.
	 */
	old = spindle_load_acquire(q->usr_reserve);
	for (;;) {
		if (spindle_state(q) > SPINDLE_STATE_ACTIVE)
			return -EPIPE;
		tx_slot = spindle_load_acquire(q->ctl_tx_slot);	/* D */
		tx_unit = spindle_load_acquire(q->ctl_tx_unit);	/* D */
		slot = (uint32_t)old;
		unit = (uint32_t)(old >> 32);
		if (slot - (uint32_t)tx_slot >= q->window ||
		    unit + units - (uint32_t)tx_unit > q->tx_units) {
			now = spindle_load_acquire(q->usr_reserve);
			if (now == old)
				return -EAGAIN;
			old = now;
			continue;
		}
		if (spindle_cmpxchg(q->usr_reserve, &old,
				    spindle_reserve_word(slot + 1, unit + units)))
			break;
	}

	s->slot = tx_slot + (uint32_t)(slot - (uint32_t)tx_slot);
	s->data = q->tx_ring + (((uint64_t)unit << SPINDLE_UNIT_SHIFT) & q->tx_mask);
	s->len = len;
	s->unit = unit;
	return 0;
}

/* Publish a slot: the last step of a commit and of an abandon. */
static inline void spindle_publish(struct spindle_queue *q, const struct spindle_slot *s,
				   uint32_t len, uint32_t flags, uint64_t mask)
{
	struct spindle_tx_desc *d = &q->usr_desc[s->slot & (q->window - 1)];

	/* The units that were reserved, even if @len needs fewer: extents are back to back. */
	d->unit = s->unit;
	d->units = spindle_slot_units(q, s->len);
	d->len = len;
	d->flags = flags;
	d->mask = mask;
	spindle_store_release(&d->ready, s->slot + 1);	/* A */
}

/**
 * spindle_commit_quiet() - commit a slot, and leave it to a flush to wake the engine
 * @q: attached with SPINDLE_ATTACH_SEND
 * @s: a slot from spindle_reserve()
 * @len: bytes to send, 0 to s->len
 *
 * For batches: any number of these, then one spindle_flush(). An engine that is
 * awake may send the message before the flush. Any thread, and slots in any order.
 *
 * Return: 0: the message is committed and the bytes are no longer the caller's;
 * -EMSGSIZE: @len is above s->len, and the slot is still held.
 */
static inline int spindle_commit_quiet(struct spindle_queue *q, const struct spindle_slot *s,
				       uint32_t len)
{
	if (len > s->len)
		return -EMSGSIZE;
	spindle_publish(q, s, len, 0, 0);
	spindle_mark_quiet(q);
	return 0;
}

/**
 * spindle_commit() - commit a slot and wake the engine if it sleeps
 * @q: attached with SPINDLE_ATTACH_SEND
 * @s: a slot from spindle_reserve()
 * @len: bytes to send, 0 to s->len
 *
 * Any thread, and slots in any order; messages go out in the order of the slots.
 * A failed kick is not reported, because the message is committed and sending it again would
 * send it twice. The state of the attachment says what becomes of committed messages.
 *
 * Return: as spindle_commit_quiet().
 */
static inline int spindle_commit(struct spindle_queue *q, const struct spindle_slot *s,
				 uint32_t len)
{
	if (len > s->len)
		return -EMSGSIZE;
	spindle_publish(q, s, len, 0, 0);
	(void)spindle_wake(q);
	return 0;
}

/**
 * spindle_commit_to() - commit a slot for some of the members, and wake the engine if it sleeps
 * @q: attached with SPINDLE_ATTACH_SEND, with SPINDLE_FEAT_DIRECT
 * @s: a slot from spindle_reserve()
 * @len: bytes to send, 0 to s->len, and at most SPINDLE_MAX_DIRECT
 * @to: the members, of spindle_destinations()
 *
 * The other members get the position of the message, and nothing else. The message takes its place
 * in the order like all others. Members that have gone by the time that it is sent are left out;
 * if none is left, it is given up. Any thread, and slots in any order.
 *
 * Return: 0 as spindle_commit_quiet(). On errors the slot is still held: -EMSGSIZE: @len is above
 * s->len or SPINDLE_MAX_DIRECT; -EINVAL: @to names no member; -EOPNOTSUPP: the module sends to all
 * members only.
 */
static inline int spindle_commit_to(struct spindle_queue *q, const struct spindle_slot *s,
				    uint32_t len, const struct spindle_dest *to)
{
	if (!(q->features & SPINDLE_FEAT_DIRECT))
		return -EOPNOTSUPP;
	/* Without a mask the message would be for all members. */
	if (!to->mask)
		return -EINVAL;
	if (len > s->len || len > SPINDLE_MAX_DIRECT)
		return -EMSGSIZE;
	spindle_publish(q, s, len, (uint32_t)to->vid << SPINDLE_TX_VIEW_SHIFT, to->mask);
	(void)spindle_wake(q);
	return 0;
}

/**
 * spindle_abandon() - give up a slot: nothing is sent for it
 * @q: attached with SPINDLE_ATTACH_SEND
 * @s: a slot from spindle_reserve()
 *
 * Any thread, and slots in any order. Wakes the engine if it sleeps, because later
 * slots may have waited for this one.
 */
static inline void spindle_abandon(struct spindle_queue *q, const struct spindle_slot *s)
{
	spindle_publish(q, s, 0, SPINDLE_TX_ABANDON, 0);
	(void)spindle_wake(q);
}

/**
 * spindle_send_quiet() - send a copy of a buffer, and leave the kick to a flush
 * @q: attached with SPINDLE_ATTACH_SEND
 * @buf: the bytes; may be NULL if @len is 0
 * @len: how many
 *
 * Return: as spindle_reserve(); any thread.
 */
static inline int spindle_send_quiet(struct spindle_queue *q, const void *buf, uint32_t len)
{
	struct spindle_slot s;
	int err = spindle_reserve(q, len, &s);

	if (err)
		return err;
	if (len)
		memcpy(s.data, buf, len);
	return spindle_commit_quiet(q, &s, len);
}

/**
 * spindle_send() - send a copy of a buffer; never waits
 * @q: attached with SPINDLE_ATTACH_SEND
 * @buf: the bytes; may be NULL if @len is 0
 * @len: how many
 *
 * Return: 0 once committed, else as spindle_reserve(); any thread. See
 * spindle_send_wait() for one that waits for room.
 */
static inline int spindle_send(struct spindle_queue *q, const void *buf, uint32_t len)
{
	struct spindle_slot s;
	int err = spindle_reserve(q, len, &s);

	if (err)
		return err;
	if (len)
		memcpy(s.data, buf, len);
	return spindle_commit(q, &s, len);
}

/* The descriptor at place @pos of the delivery ring. */
static inline const struct spindle_dlv *spindle_dlv_at(const struct spindle_queue *q,
						       uint64_t pos)
{
	return (const struct spindle_dlv *)
		(const void *)(q->dlv + (pos & (q->dlv_entries - 1)) * q->dlv_stride);
}

/* Is all that was read of entry @pos whole? The engine overwrites entries of a history. */
static inline int spindle_is_whole(const struct spindle_queue *q, uint64_t pos)
{
	if (!q->ctl_dlv_low)
		return 1;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);			/* F */
	return __atomic_load_n(q->ctl_dlv_low, __ATOMIC_RELAXED) <= pos;
}

/* Is what a descriptor stands for handed out? */
static inline int spindle_is_item(const struct spindle_queue *q, const struct spindle_dlv *d)
{
	return d->kind == SPINDLE_DLV_MSG ||
	       (d->kind == SPINDLE_DLV_VIEW && (q->want & SPINDLE_WANT_VIEWS));
}

/*
 * Handle a descriptor that is no message. A view has to be the first item of a batch, because
 * its senders replace those of the messages before it. Return: -EAGAIN to end the batch, else
 * as spindle_read_dlv().
 */
static inline int spindle_read_other(struct spindle_queue *q, const struct spindle_dlv *d,
				     struct spindle_msg *m, int first)
{
	if (d->kind != SPINDLE_DLV_VIEW)
		return 0;
	return first ? spindle_enter_view(q, d, m) : -EAGAIN;
}

/*
 * Read one descriptor. Return: 1 @m was filled, 0 nothing to hand out, -EBADMSG nonsense, -ESTALE
 * the history has forgotten it, or an error from spindle_read_other().
 */
static inline int spindle_read_dlv(struct spindle_queue *q, uint64_t pos, struct spindle_msg *m,
				   int first)
{
	const struct spindle_dlv d = *spindle_dlv_at(q, pos);
	const struct spindle_source *src;

	if (!spindle_is_whole(q, pos))
		return -ESTALE;
	if (d.kind != SPINDLE_DLV_MSG)
		return spindle_read_other(q, &d, m, first);
	/* The ring is mapped twice in a row, so a message that begins in it ends in the second. */
	if (d.sender >= q->senders || d.len > q->max_msg || d.offset >= q->rx_bytes)
		return -EBADMSG;
	src = &q->source[d.sender];
	m->lsn = d.lsn;
	m->slot = d.slot;
	m->data = src->ring + d.offset;
	m->len = d.len;
	m->sender = d.sender;
	m->node = src->node;
	m->kind = SPINDLE_DLV_MSG;
	return 1;
}

/* Give back all descriptors below @pos, which is above what was given back before. */
static inline void spindle_consume(struct spindle_queue *q, uint64_t pos)
{
	const struct spindle_dlv last = *spindle_dlv_at(q, pos - 1);

	/* A reader that was overtaken stays where it was. */
	if (spindle_is_whole(q, pos - 1))
		q->rx_lsn = last.lsn +
			    (last.kind == SPINDLE_DLV_MSG || last.kind == SPINDLE_DLV_OTHER);
	q->rx_released = pos;
	spindle_store_release(q->usr_consumed, pos);	/* C */
	if (q->left)
		spindle_unmap_left(q);
	/* Senders here and at other members may wait for what just became free. */
	(void)spindle_wake(q);
}

/**
 * spindle_next_batch() - take the next messages
 * @q: attached with SPINDLE_ATTACH_RECV
 * @msgs: filled
 * @n: room in @msgs
 *
 * Takes the messages that are there, in delivery order and without waiting. This only
 * moves a cursor of this process: the messages stay in the ring and their data valid until
 * spindle_release() or spindle_release_n() gives them back. Give back once per batch, and
 * soon: held messages hold up the senders' slots (or, with SPINDLE_ATTACH_COPY, fill up the
 * copy ring).
 *
 * All messages of a batch were delivered in one view. spindle_view(), spindle_sender_rank()
 * and similar calls are about that view until the next call. The beginning of a view is
 * skipped, unless the program asked for it with SPINDLE_WANT_VIEWS. Then it is the first item
 * of a batch, and counts and is given back like a message. Messages taken before stay valid.
 *
 * Return: how many were taken, 0 if there is nothing; -EPIPE when the state is final
 * and everything that was delivered has been read; -EBADMSG when the kernel wrote a
 * descriptor that points outside the mapped memory (permanent); -EBADF without
 * SPINDLE_ATTACH_RECV; -ESTALE when the history has overtaken this reader, which has to attach
 * again (permanent). Where a view begins also -ESTALE: this reader is so far behind that the
 * kernel does not remember the view (permanent); -ENOTCONN: the subgroup is gone, and with it
 * the rings of the view; -ENOENT: the node is not in the subgroup any more; -ENOMEM, after
 * which the next call tries again; -EPROTO: the kernel's list of members is invalid.
 */
static inline int spindle_next_batch(struct spindle_queue *q, struct spindle_msg *msgs,
				     unsigned int n)
{
	uint64_t start = q->rx_cursor;
	unsigned int got = 0;
	int final, ret;

	if (!q->dlv)
		return -EBADF;
	while (got < n) {
		if (q->rx_cursor == q->rx_tail) {
			/* A tail that is loaded after a final state is the last one. */
			final = !got && spindle_state(q) > SPINDLE_STATE_ACTIVE;
			q->rx_tail = spindle_load_acquire(q->ctl_dlv_tail);	/* B */
			if (q->rx_tail - q->rx_released > q->dlv_entries) {
				q->rx_tail = q->rx_cursor;
				return got ? (int)got : -EBADMSG;
			}
			if (q->rx_cursor == q->rx_tail) {
				if (got)
					break;
				/* The history has forgotten what would have come next. */
				if (!spindle_is_whole(q, q->rx_cursor))
					return -ESTALE;
				/* Skipped kinds: the program cannot release them. */
				if (start == q->rx_released && start != q->rx_cursor)
					spindle_consume(q, q->rx_cursor);
				return final ? -EPIPE : 0;
			}
		}
		ret = spindle_read_dlv(q, q->rx_cursor, &msgs[got], !got);
		if (ret < 0)
			return got ? (int)got : ret;
		q->rx_cursor++;
		got += (unsigned int)ret;
	}
	return (int)got;
}

/**
 * spindle_peek() - take the next message
 * @q: attached with SPINDLE_ATTACH_RECV
 * @m: filled
 *
 * spindle_next_batch() of one: the next call takes the message after it.
 *
 * Return: 1, 0 if there is nothing, or a negative errno as spindle_next_batch().
 */
static inline int spindle_peek(struct spindle_queue *q, struct spindle_msg *m)
{
	return spindle_next_batch(q, m, 1);
}

/**
 * spindle_release() - give back all messages taken so far
 * @q: attached with SPINDLE_ATTACH_RECV
 *
 * Their data must not be touched any more: senders may overwrite it. Does nothing if
 * none is held.
 */
static inline void spindle_release(struct spindle_queue *q)
{
	if (q->rx_cursor != q->rx_released)
		spindle_consume(q, q->rx_cursor);
}

/**
 * spindle_lsn() - position of the next message that is not given back
 * @q: attached with SPINDLE_ATTACH_RECV
 *
 * Return: the position; the reading thread only.
 */
static inline uint64_t spindle_lsn(const struct spindle_queue *q)
{
	return q->rx_lsn;
}

/**
 * spindle_place() - where the reader is
 * @q: attached with SPINDLE_ATTACH_RECV
 * @place: filled, for spindle_attach_opts.from
 *
 * A process that has handled all messages that it gave back goes on from here when it comes back.
 * The reading thread only.
 */
static inline void spindle_place(const struct spindle_queue *q, struct spindle_place *place)
{
	place->lsn = q->rx_lsn;
	place->lineage[0] = q->lineage[0];
	place->lineage[1] = q->lineage[1];
	place->era = q->era;
}

/**
 * spindle_intact() - are the messages that were taken still whole?
 * @q: attached with SPINDLE_ATTACH_RECV
 *
 * A history waits for no reader. If this one falls behind by all that the history holds, the data
 * of messages that it has taken, and not given back, is overwritten. So a program that reads a
 * history calls this when it has read the data, and before it acts on the data. Without a history
 * the answer is always 1. The reading thread only.
 *
 * Return: 1: all of them are whole; 0: none of them may be believed, the next reading call fails
 */
static inline int spindle_intact(const struct spindle_queue *q)
{
	return q->rx_released == q->rx_cursor || spindle_is_whole(q, q->rx_released);
}

/**
 * spindle_release_n() - give back the oldest of the messages taken
 * @q: attached with SPINDLE_ATTACH_RECV
 * @n: how many
 *
 * Return: 0, or -EINVAL and nothing is given back if fewer than @n are held.
 */
static inline int spindle_release_n(struct spindle_queue *q, unsigned int n)
{
	uint64_t pos = q->rx_released;

	if (!n)
		return 0;
	for (; n; pos++) {
		if (pos == q->rx_cursor)
			return -EINVAL;
		/* Skipped descriptors do not count. They go with the message before them. */
		if (spindle_is_item(q, spindle_dlv_at(q, pos)))
			n--;
	}
	while (pos != q->rx_cursor && !spindle_is_item(q, spindle_dlv_at(q, pos)))
		pos++;
	spindle_consume(q, pos);
	return 0;
}

#ifdef __cplusplus
}
#endif

#endif /* SPINDLE_RING_H */
