/* SPDX-License-Identifier: MIT */
/*
 * Replay: all messages of a subgroup from a position on, whether they are old or new.
 *
 *	spindle_replay_open(&r, &opts);
 *	for (;;) {
 *		while ((n = spindle_replay_next(r, &m)) == 1)
 *			m.len bytes at m.data, of position m.lsn
 *		if (n < 0 || spindle_replay_wait(r, -1) < 0)
 *			break;
 *	}
 *	spindle_replay_close(r);
 *
 * Where the history of the subgroup has the next message, a replay reads that, and new messages
 * come without end. Where it has forgotten the message, the replay reads the log that spindle-logd
 * writes at this node, until the history has the next message again. A replay that falls behind
 * goes back to the log. There is no gap, and no message comes twice.
 *
 * In a subgroup with SPINDLE_FEAT_GATE no message is handed out before it is durable, although the
 * log may have it.
 *
 * Conventions
 * -----------
 * Functions return 0 or a count on success and a negative errno on failure. They print nothing.
 *
 * Threads: the functions of one replay are for one thread at a time. Two replays have nothing in
 * common.
 *
 * Memory: that of a reader of a log (<spindle/log.h>), while it reads one, and one message.
 */
#ifndef SPINDLE_REPLAY_H
#define SPINDLE_REPLAY_H

#include <spindle/log.h>
#include <spindle/queue.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A replay; private to the library. */
struct spindle_replay;

/**
 * struct spindle_replay_opts - what to replay
 *
 * Set the whole structure to zero first, then the fields that are needed.
 */
struct spindle_replay_opts {
	/** @device: path of the device; NULL for SPINDLE_DEVICE */
	const char *device;
	/** @node: id of a node in the caller's network namespace */
	uint32_t node;
	/** @subgroup: id of an ordered subgroup with a history in its view; 0 with @name */
	uint32_t subgroup;
	/** @name: name of the subgroup; NULL: @subgroup has its id */
	const char *name;
	/**
	 * @dir: directory of the log that spindle-logd keeps for this subgroup; NULL: there is
	 * none. The caller needs to be able to read the directory and its files, and no more
	 */
	const char *dir;
	/**
	 * @from: the place to begin with, of spindle_replay_place() or spindle_place(). If its
	 * lineage and era are 0, they are not compared. NULL: the oldest message of the log or of
	 * the history
	 */
	const struct spindle_place *from;
	/**
	 * @event_fd: an eventfd to signal when spindle_replay_next() may have more; 0 or less:
	 * none. It means something after spindle_replay_next() has returned 0
	 */
	int32_t event_fd;
	/** @resv0: 0 */
	uint32_t resv0;
	/** @resv: 0 */
	uint64_t resv[3];
};

/**
 * spindle_replay_open() - begin a replay
 * @r: the replay; NULL after an error
 * @o: what to replay
 *
 * The strings and @o->from are copied. May take long, if the history has forgotten the first
 * message, because the whole log is read once then.
 *
 * Return: 0; the errors of spindle_attach() except -ESTALE; the errors of spindle_log_open() except
 * -ENODATA; or -EINVAL (an option), -EOPNOTSUPP (the subgroup has no history), -EXDEV (@o->from or
 * the log belongs to another lineage, or to another era, or the log to another subgroup), -ENOMEM.
 */
SPINDLE_API int spindle_replay_open(struct spindle_replay **r, const struct spindle_replay_opts *o);

/**
 * spindle_replay_close() - end a replay
 * @r: the replay, or NULL
 */
SPINDLE_API void spindle_replay_close(struct spindle_replay *r);

/**
 * spindle_replay_next() - the next message
 * @r: the replay
 * @m: filled
 *
 * Positions grow, and some are left out: those of messages for other members. @m->data is a copy,
 * valid until the next call. Does not wait for messages, but it may wait for the disk, and where
 * the replay goes from the history to the log it reads the whole log. @m->time is 0, and so is
 * @m->flags, if the message did not come from the log.
 *
 * After an error the replay stays where it was, and the next call tries again.
 *
 * Return: 1; 0: there is nothing now, see spindle_replay_wait(). On errors: -EUCLEAN: the messages
 * from @m->lsn up to @m->next are damaged in the log, and the history has forgotten them. -ESTALE:
 * neither the log nor the history has the message of @m->lsn, and the next one that is kept is that
 * of @m->next; a log that is being filled may get it. -EXDEV: the group has another lineage or era
 * now, or the log has messages that a restart of the group may have left behind. -ERANGE: the log
 * has more than the group, so one of them is not what it was. -EBUSY: the log or the history
 * changes faster than it can be read. -EPIPE: the state of the subgroup is final, and all was read.
 * Or the errors of spindle_attach(), spindle_peek() and spindle_log_open().
 */
SPINDLE_API int spindle_replay_next(struct spindle_replay *r, struct spindle_log_msg *m);

/**
 * spindle_replay_wait() - wait until there may be more
 * @r: the replay
 * @timeout_ms: milliseconds, 0 not to wait, -1 without limit
 *
 * Return: 1: spindle_replay_next() has a message or an error, or may have one; 0 when the time is
 * up; -EINTR on a signal.
 */
SPINDLE_API int spindle_replay_wait(struct spindle_replay *r, int timeout_ms);

/**
 * spindle_replay_place() - where a replay is, for a process that comes back
 * @r: the replay
 * @place: filled with the place behind the last message, for spindle_replay_opts.from
 */
SPINDLE_API void spindle_replay_place(const struct spindle_replay *r, struct spindle_place *place);

/**
 * spindle_replay_queue() - the attachment of a replay
 * @r: the replay
 *
 * For calls that ask about the attachment, like spindle_durable() and spindle_call_strerror(). The
 * replay attaches again now and then, so ask again behind each spindle_replay_next().
 *
 * Return: the attachment; NULL while the log is read.
 */
SPINDLE_API const struct spindle_queue *spindle_replay_queue(const struct spindle_replay *r);

/**
 * spindle_replay_strerror() - say what an error means
 * @err: what a function returned
 *
 * Return: a constant string.
 */
SPINDLE_API const char *spindle_replay_strerror(int err);

#ifdef __cplusplus
}
#endif

#endif /* SPINDLE_REPLAY_H */
