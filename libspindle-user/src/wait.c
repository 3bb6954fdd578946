// SPDX-License-Identifier: MIT
/*
 * Functions that wait or wake. They check the rings before they call the kernel, so that no
 * system call is needed if the event holds already.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>

#include "internal.h"

#define NSEC_PER_SEC	1000000000LL
#define NSEC_PER_MSEC	1000000LL

/* First and longest pause when there is no kernel event to wait for. */
#define PAUSE_MIN_NS	(50 * 1000LL)
#define PAUSE_MAX_NS	(5 * NSEC_PER_MSEC)

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

int64_t spindle_deadline(int timeout_ms)
{
	return timeout_ms < 0 ? INT64_MAX : now_ns() + timeout_ms * NSEC_PER_MSEC;
}

bool spindle_is_past(int64_t deadline)
{
	return deadline != INT64_MAX && now_ns() >= deadline;
}

int spindle_poll_until(int fd, short events, short *revents, int64_t deadline)
{
	struct timespec ts = { 0, 0 };
	int64_t left;

	if (deadline == INT64_MAX)
		return spindle_sys_poll(fd, events, revents, NULL);
	left = deadline - now_ns();
	if (left > 0) {
		ts.tv_sec = left / NSEC_PER_SEC;
		ts.tv_nsec = left % NSEC_PER_SEC;
	}
	return spindle_sys_poll(fd, events, revents, &ts);
}

/* Sleep for @pause, and double it; the sleep ends early when the state becomes final. */
static int pause_until(const struct spindle_queue *q, int64_t *pause, int64_t deadline)
{
	int64_t end = now_ns() + *pause;
	short revents;

	*pause = *pause * 2 < PAUSE_MAX_NS ? *pause * 2 : PAUSE_MAX_NS;
	return spindle_poll_until(q->fd, 0, &revents, end < deadline ? end : deadline);
}

/*
 * Flush quiet commits before sleeping. Without the check, a reader that waits for an idle
 * subgroup would wake the engine in every call.
 */
void spindle_flush_quiet(struct spindle_queue *q)
{
	if (spindle_load_once32(&q->tx_quiet))
		(void)spindle_flush(q);
}

static bool final(const struct spindle_queue *q)
{
	return spindle_state(q) > SPINDLE_STATE_ACTIVE;
}

static bool can_read(struct spindle_queue *q)
{
	if (q->rx_cursor == q->rx_tail)
		q->rx_tail = spindle_load_acquire(q->ctl_dlv_tail);	/* B */
	/* A reader that the history has overtaken is to find that out. */
	return q->rx_cursor != q->rx_tail || !spindle_is_whole(q, q->rx_cursor);
}

/* Is there room for the largest message? Only then any spindle_reserve() would succeed. */
static bool can_send(const struct spindle_queue *q)
{
	__u64 next = spindle_load_acquire(q->usr_reserve);
	__u64 tx_slot = spindle_load_acquire(q->ctl_tx_slot);	/* D */
	__u64 tx_unit = spindle_load_acquire(q->ctl_tx_unit);	/* D */
	uint32_t slots = (uint32_t)next - (uint32_t)tx_slot;
	uint32_t units = (uint32_t)(next >> 32) - (uint32_t)tx_unit;

	return slots < q->window && units <= q->tx_units - spindle_units(q->max_msg);
}

static int ready(struct spindle_queue *q, int events)
{
	int got = 0;

	if ((events & POLLIN) && can_read(q))
		got |= POLLIN;
	if ((events & POLLOUT) && !final(q) && can_send(q))
		got |= POLLOUT;
	return got;
}

int spindle_kick(struct spindle_queue *q)
{
	return spindle_sys_ioctl(q->fd, SPINDLE_IOC_KICK, NULL);
}

int spindle_silence(struct spindle_queue *q, uint64_t rounds)
{
	__u64 arg = rounds;

	return spindle_sys_ioctl(q->fd, SPINDLE_IOC_SILENCE, &arg);
}

int spindle_report(const struct spindle_queue *q, const struct spindle_report *report)
{
	struct spindle_report arg = *report;

	return spindle_sys_ioctl(q->fd, SPINDLE_IOC_REPORT, &arg);
}

int spindle_wait(struct spindle_queue *q, int events, int timeout_ms)
{
	int64_t deadline;
	short revents;
	bool ended;
	int got, ret;

	if (!events || (events & ~(POLLIN | POLLOUT)))
		return -EINVAL;
	if (((events & POLLIN) && !q->dlv) || ((events & POLLOUT) && !q->tx_ring))
		return -EBADF;
	deadline = spindle_deadline(timeout_ms);
	spindle_flush_quiet(q);
	for (;;) {
		/* Load the state before the rings: a tail after a final state is the last. */
		ended = final(q);
		got = ready(q, events);
		if (got)
			return got;
		if (ended)
			return -EPIPE;
		if ((events & POLLIN) && q->rx_cursor != q->rx_released)
			return -EBUSY;
		ret = spindle_poll_until(q->fd, (short)events, &revents, deadline);
		if (ret <= 0)
			return ret;
		if (revents & POLLNVAL)
			return -EBADF;
		if ((revents & (POLLERR | POLLHUP)) && !final(q))
			return -EIO;
		/*
		 * The kernel and ready() may disagree while slots are reserved and not
		 * committed. Accept the kernel's answer, because this loop would spin otherwise.
		 */
		if (revents & events & POLLOUT)
			return (revents & events & POLLOUT) | ready(q, events & POLLIN);
		if (deadline != INT64_MAX && now_ns() >= deadline)
			return ready(q, events);
	}
}

int spindle_reserve_until(struct spindle_queue *q, uint32_t len, struct spindle_slot *s,
			  int64_t deadline)
{
	int64_t pause = PAUSE_MIN_NS;
	bool told = false;
	short revents;
	int err, ret;

	err = spindle_reserve(q, len, s);
	if (err != -EAGAIN || spindle_is_past(deadline))
		return err;
	spindle_flush_quiet(q);
	do {
		/*
		 * poll() may report room although this message does not fit, or although
		 * other threads hold slots that the kernel does not know of. No event tells
		 * when that changes, so pause.
		 */
		if (told)
			ret = pause_until(q, &pause, deadline);
		else
			ret = spindle_poll_until(q->fd, POLLOUT, &revents, deadline);
		if (ret < 0)
			return ret;
		told = !told && ret > 0;
		err = spindle_reserve(q, len, s);
	} while (err == -EAGAIN && !spindle_is_past(deadline));
	return err;
}

int spindle_send_wait(struct spindle_queue *q, const void *buf, uint32_t len, int timeout_ms)
{
	struct spindle_slot s;
	int err;

	err = spindle_send(q, buf, len);
	if (err != -EAGAIN || !timeout_ms)
		return err;
	err = spindle_reserve_until(q, len, &s, spindle_deadline(timeout_ms));
	if (err)
		return err;
	if (len)
		memcpy(s.data, buf, len);
	return spindle_commit(q, &s, len);
}

int spindle_freed_until(struct spindle_queue *q, uint32_t goal, int64_t deadline)
{
	int64_t pause = PAUSE_MIN_NS;
	int ret;

	for (;;) {
		ret = final(q) ? -EPIPE : -EAGAIN;
		/* At most a window of slots is in flight, so the sign is right. */
		if ((int32_t)((uint32_t)spindle_load_acquire(q->ctl_tx_slot) - goal) >= 0)
			return 0;
		if (ret == -EPIPE || spindle_is_past(deadline))
			return ret;
		ret = pause_until(q, &pause, deadline);
		if (ret < 0)
			return ret;
	}
}

int spindle_drain(struct spindle_queue *q, int timeout_ms)
{
	if (!q->tx_ring)
		return -EBADF;
	spindle_flush_quiet(q);
	return spindle_freed_until(q, (uint32_t)spindle_load_acquire(q->usr_reserve),
				   spindle_deadline(timeout_ms));
}
