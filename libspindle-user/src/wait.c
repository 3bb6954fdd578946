// SPDX-License-Identifier: MIT
/*
 * Everything that waits or wakes. The rings are looked at before the kernel is asked,
 * so that waiting for what is there already costs no system call.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>

#include "internal.h"

#define NSEC_PER_SEC	1000000000LL
#define NSEC_PER_MSEC	1000000LL

/* First and longest pause where the kernel has no event to wait for. */
#define PAUSE_MIN_NS	(50 * 1000LL)
#define PAUSE_MAX_NS	(5 * NSEC_PER_MSEC)

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static int64_t deadline_of(int timeout_ms)
{
	return timeout_ms < 0 ? INT64_MAX : now_ns() + timeout_ms * NSEC_PER_MSEC;
}

/* poll() until a point in time. Return: as poll(). */
static int poll_until(struct spindle_queue *q, short events, short *revents, int64_t deadline)
{
	struct timespec ts = { 0, 0 };
	int64_t left;

	if (deadline == INT64_MAX)
		return spindle_sys_poll(q->fd, events, revents, NULL);
	left = deadline - now_ns();
	if (left > 0) {
		ts.tv_sec = left / NSEC_PER_SEC;
		ts.tv_nsec = left % NSEC_PER_SEC;
	}
	return spindle_sys_poll(q->fd, events, revents, &ts);
}

/* Sleep a while; ends early when the state becomes final. */
static int pause_until(struct spindle_queue *q, int64_t *pause, int64_t deadline)
{
	int64_t end = now_ns() + *pause;
	short revents;

	*pause = *pause * 2 < PAUSE_MAX_NS ? *pause * 2 : PAUSE_MAX_NS;
	return poll_until(q, 0, &revents, end < deadline ? end : deadline);
}

/*
 * Before sleeping. Not unconditionally, or a reader that waits for an idle subgroup
 * would wake the engine each time it looks.
 */
static void flush_quiet(struct spindle_queue *q)
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
	return q->rx_cursor != q->rx_tail;
}

/* Room for the largest message; only then any spindle_reserve() would succeed. */
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
	deadline = deadline_of(timeout_ms);
	flush_quiet(q);
	for (;;) {
		/* State before rings: a final state vouches for the tail. */
		ended = final(q);
		got = ready(q, events);
		if (got)
			return got;
		if (ended)
			return -EPIPE;
		if ((events & POLLIN) && q->rx_cursor != q->rx_released)
			return -EBUSY;
		ret = poll_until(q, (short)events, &revents, deadline);
		if (ret <= 0)
			return ret;
		if (revents & POLLNVAL)
			return -EBADF;
		if ((revents & (POLLERR | POLLHUP)) && !final(q))
			return -EIO;
		/*
		 * The kernel does not know of slots that are reserved and not yet
		 * committed: believe it, or this would spin until they are.
		 */
		if (revents & events & POLLOUT)
			return (revents & events & POLLOUT) | ready(q, events & POLLIN);
		if (deadline != INT64_MAX && now_ns() >= deadline)
			return ready(q, events);
	}
}

int spindle_send_wait(struct spindle_queue *q, const void *buf, uint32_t len, int timeout_ms)
{
	int64_t deadline, pause = PAUSE_MIN_NS;
	bool told = false;
	short revents;
	int err, ret;

	err = spindle_send(q, buf, len);
	if (err != -EAGAIN || !timeout_ms)
		return err;
	deadline = deadline_of(timeout_ms);
	flush_quiet(q);
	do {
		/*
		 * poll() may say that there is room where there is none for this
		 * message, or none because other threads hold slots that the kernel
		 * does not know of. Then only time helps.
		 */
		if (told)
			ret = pause_until(q, &pause, deadline);
		else
			ret = poll_until(q, POLLOUT, &revents, deadline);
		if (ret < 0)
			return ret;
		told = !told && ret > 0;
		err = spindle_send(q, buf, len);
	} while (err == -EAGAIN && (deadline == INT64_MAX || now_ns() < deadline));
	return err;
}

int spindle_drain(struct spindle_queue *q, int timeout_ms)
{
	int64_t deadline, pause = PAUSE_MIN_NS;
	uint32_t goal;
	int ret;

	if (!q->tx_ring)
		return -EBADF;
	flush_quiet(q);
	deadline = deadline_of(timeout_ms);
	goal = (uint32_t)spindle_load_acquire(q->usr_reserve);
	for (;;) {
		ret = final(q) ? -EPIPE : -EAGAIN;
		/* Slots in flight are few, so the sign of the difference is safe. */
		if ((int32_t)((uint32_t)spindle_load_acquire(q->ctl_tx_slot) - goal) >= 0)
			return 0;
		if (ret == -EPIPE || (deadline != INT64_MAX && now_ns() >= deadline))
			return ret;
		ret = pause_until(q, &pause, deadline);
		if (ret < 0)
			return ret;
	}
}
