/* SPDX-License-Identifier: MIT */
/*
 * Replicas: processes that keep equal copies of a state, by the messages of one subgroup.
 *
 * Every replica applies all messages of an ordered subgroup, in their order. A replica that comes
 * later, on a node that has joined or as a new process on an old node, gets a snapshot of the state
 * from another replica, and goes on from there. Nobody waits for it: the donor saves the state in a
 * child process, RDMC carries the snapshot, and the newcomer keeps aside the messages that arrive
 * in the meantime. Documentation/design/replica.rst has the protocol.
 *
 *	spindle_replica_open(&r, &ops, ctx, &opts);
 *	for (;;) {
 *		spindle_replica_send(r, ...);	now and then
 *		poll(spindle_replica_fd(r));	or spindle_replica_wait()
 *		spindle_replica_dispatch(r);	calls apply()
 *	}
 *	spindle_replica_close(r);
 *
 * Conventions
 * -----------
 * Functions return 0 or a count on success and a negative errno on failure. They print nothing,
 * and install no signal handler.
 *
 * Threads: spindle_replica_send() may be called by any number of threads at once. All other
 * functions are for one thread at a time. The functions of struct spindle_replica_ops run in that
 * thread, with two exceptions, save() and load().
 *
 * Members: each message of the subgroup begins with a head of 8 bytes, so only replicas send there.
 * A node has one replica of a subgroup at most, and has to be a sender.
 */
#ifndef SPINDLE_REPLICA_H
#define SPINDLE_REPLICA_H

#include <spindle/queue.h>

#ifdef __cplusplus
extern "C" {
#endif

/** SPINDLE_REPLICA_NO_FORK - in spindle_replica_opts.flags: save() runs in the calling process */
#define SPINDLE_REPLICA_NO_FORK		(1U << 0)

/** SPINDLE_REPLICA_HEAD - bytes that each message has in front of those of the program */
#define SPINDLE_REPLICA_HEAD		8U

/** SPINDLE_REPLICA_SPILL - default of spindle_replica_opts.spill_bytes */
#define SPINDLE_REPLICA_SPILL		(1ULL << 30)

/** SPINDLE_REPLICA_STATE - default of spindle_replica_opts.state_bytes */
#define SPINDLE_REPLICA_STATE		(1ULL << 32)

/** SPINDLE_REPLICA_TIMEOUT_MS - default of spindle_replica_opts.timeout_ms */
#define SPINDLE_REPLICA_TIMEOUT_MS	5000U

/* A replica; private to the library. */
struct spindle_replica;

/**
 * struct spindle_replica_stat - what a replica does
 */
struct spindle_replica_stat {
	/** @state: enum spindle_replica_state of <linux/spindle.h>, never NONE */
	uint32_t state;
	/**
	 * @donor: node that the last snapshot came from, or comes from; 0: none. A replica that was
	 * there from position 0 on, or went on from a place of its own, has none
	 */
	uint32_t donor;
	/**
	 * @error: why the last attempt to get or to give a state ended, a negative errno, or 0. In
	 * state FAILED: why the replica has failed
	 */
	int32_t error;
	/** @serving: nodes that this replica gives its state to now */
	uint32_t serving;
	/** @lsn: position of the next message to apply; without a state, to be looked at */
	uint64_t lsn;
	/** @received: bytes of the snapshot that have arrived */
	uint64_t received;
	/** @bytes: length of the snapshot, as the donor says; 0: not known yet */
	uint64_t bytes;
	/** @spilled: bytes of messages that are kept aside now */
	uint64_t spilled;
	/** @asked: how often this replica has asked for a state */
	uint64_t asked;
	/** @served: snapshots that this replica has given, one for each node */
	uint64_t served;
	/** @foreign: messages that do not come from a replica; they were passed over */
	uint64_t foreign;
	/**
	 * @filled: messages from before the history of this node began, which this replica has got
	 * with a state and put into that history; 0 if an administrator does not allow that
	 */
	uint64_t filled;
	/** @restored: states that this replica has got from its log, without another replica */
	uint64_t restored;
	/** @snapshots: of this replica that are on disk, see spindle_replica_snapshot() */
	uint64_t snapshots;
};

/**
 * struct spindle_replica_ops - what a program does with its state
 *
 * The first argument of each is that of spindle_replica_open(). None of them may call the library
 * with this replica, with one exception: apply() and changed() may call spindle_replica_send() and
 * spindle_replica_stat().
 */
struct spindle_replica_ops {
	/**
	 * @save: write the state to @fd, at its offset. All messages below position @lsn are in it,
	 * and no other. This runs in a child of fork(), so it must not need other threads or their
	 * locks, nor other files: all are closed but @fd and 0 to 2. The child is killed if the
	 * thread ends that has called the library. With SPINDLE_REPLICA_NO_FORK this runs in the
	 * dispatching thread. Returns 0, or a negative errno: then another replica is asked
	 */
	int (*save)(void *ctx, int fd, uint64_t lsn);
	/**
	 * @load: replace the state by what save() wrote, from the offset of @fd up to its end. This
	 * runs in a thread of its own, and no other function is called until it returns, except
	 * @changed if the replica fails. Returns 0, or a negative errno: then the replica has
	 * failed
	 */
	int (*load)(void *ctx, int fd, uint64_t lsn);
	/**
	 * @apply: apply a message, whose bytes are valid until this returns. Each position comes
	 * once, and in order; positions of other kinds of messages are left out. The bytes may lie
	 * in a ring that the sender can still write: where members may lie, read each byte once.
	 * With @dir this also runs in the thread of load(), while the state comes from the log, and
	 * then no other function is called. Returns 0, or a negative errno: then the replica has
	 * failed
	 */
	int (*apply)(void *ctx, const struct spindle_msg *m);
	/** @changed: the replica has another state, or an attempt has ended; may be NULL */
	void (*changed)(void *ctx, const struct spindle_replica_stat *st);
};

/**
 * struct spindle_replica_opts - parameters of a replica
 *
 * Set the whole structure to zero first, then the fields that are needed.
 */
struct spindle_replica_opts {
	/** @device: path of the device; NULL for SPINDLE_DEVICE */
	const char *device;
	/** @rdmc_device: path of the device of RDMC; NULL for SPINDLE_RDMC_DEVICE */
	const char *rdmc_device;
	/** @node: id of a node in the caller's network namespace */
	uint32_t node;
	/** @subgroup: id of an ordered subgroup in that node's view, or 0 with @name */
	uint32_t subgroup;
	/** @flags: SPINDLE_REPLICA_NO_FORK, or 0 */
	uint32_t flags;
	/**
	 * @timeout_ms: how long an offer is waited for before the next replica is asked, and how
	 * long a donor waits for those that it has offered its state; 0: the default. A transfer
	 * ends when nothing happens in it for six times as long: so save() has that time
	 */
	uint32_t timeout_ms;
	/**
	 * @from: the place of the state that the program has already, of spindle_replica_place();
	 * NULL: it has none. If the messages since then are not in a history of the subgroup, the
	 * replica gets a snapshot
	 */
	const struct spindle_place *from;
	/** @spill_bytes: messages that are kept aside, at most; 0: the default */
	uint64_t spill_bytes;
	/** @state_bytes: longest snapshot that is taken; 0: the default */
	uint64_t state_bytes;
	/** @name: name of the subgroup; NULL: @subgroup has its id */
	const char *name;
	/**
	 * @dir: directory of the log that spindle-logd keeps for this subgroup at this node, which
	 * the program may write to; NULL: there is none. A replica of a durable subgroup gets its
	 * state from the newest snapshot there and the log behind that, and no other replica is
	 * asked. It asks the others if that does not work for six timeouts, and at once if the log
	 * was trimmed and has no snapshot that counts. In a subgroup without logs this means
	 * nothing. The string is copied
	 */
	const char *dir;
	/** @program: name of the program for its snapshots in @dir, see <spindle/snapshot.h> */
	const char *program;
	/** @resv: 0 */
	uint64_t resv;
};

/**
 * spindle_replica_open() - begin to be a replica
 * @out: the replica; NULL after an error
 * @ops: functions of the program; save, load and apply must be given
 * @ctx: first argument of these functions
 * @o: which subgroup, and how
 *
 * A replica that reads the subgroup from position 0 on begins with an empty state, and is CURRENT
 * at once. So is a replica that goes on from @o->from; it becomes ASKING, and gets another state,
 * if one was declared in the meantime. Any other one is ASKING. Does not wait for other replicas.
 * May sleep.
 *
 * Return: 0, or with nothing left open: the errors of spindle_attach() but -ESTALE, -EINVAL (an
 * argument), -EOPNOTSUPP (the subgroup has no order), -EMSGSIZE (its messages are shorter than 64
 * bytes), -ENOMEM, -EMFILE. @dir without a good @program is -EINVAL.
 * spindle_replica_strerror() has words for them.
 */
SPINDLE_API int spindle_replica_open(struct spindle_replica **out,
				     const struct spindle_replica_ops *ops, void *ctx,
				     const struct spindle_replica_opts *o);

/**
 * spindle_replica_close() - end to be a replica
 * @r: the replica, or NULL
 *
 * Transfers that this replica takes part in end, and those that wait for it ask another one. Waits
 * for load(), if that runs; the replica holds up no sender any more in that time.
 */
SPINDLE_API void spindle_replica_close(struct spindle_replica *r);

/**
 * spindle_replica_fd() - the descriptor to poll() for POLLIN
 * @r: the replica
 *
 * Return: the descriptor, which belongs to the replica; call spindle_replica_dispatch() when it is
 * readable.
 */
SPINDLE_API int spindle_replica_fd(const struct spindle_replica *r);

/**
 * spindle_replica_dispatch() - apply what has come, and go on with transfers
 * @r: the replica
 *
 * Does not wait, with one exception: for save() with SPINDLE_REPLICA_NO_FORK. After an error call
 * spindle_replica_close() soon, because a replica that does not read holds up the senders of a
 * subgroup without a history. load() may still run then.
 *
 * Return: 0; or why the replica has failed: what apply() or load() returned, -ENOBUFS (more
 * messages would have to be kept aside than spill_bytes), -EPIPE (the attachment has ended, see
 * spindle_call_strerror() with spindle_replica_queue()), -ESTALE (the history has overtaken this
 * reader), or another errno.
 */
SPINDLE_API int spindle_replica_dispatch(struct spindle_replica *r);

/**
 * spindle_replica_wait() - wait, and dispatch
 * @r: the replica
 * @events: POLLIN: until there is something to dispatch; POLLOUT: or there is room to send
 * @timeout_ms: milliseconds, 0 not to wait, -1 without limit
 *
 * Return: as spindle_replica_dispatch(); -EINTR on a signal, with nothing dispatched.
 */
SPINDLE_API int spindle_replica_wait(struct spindle_replica *r, int events, int timeout_ms);

/**
 * spindle_replica_send() - send a message to all replicas
 * @r: the replica, in any state
 * @buf: the bytes; may be NULL if @len is 0
 * @len: how many, spindle_replica_max_msg() at most
 *
 * This replica applies the message, too, at its position. Any thread.
 *
 * Return: 0 once committed; -EAGAIN: there is no room, wait for POLLOUT; -EMSGSIZE; the errors of
 * spindle_reserve().
 */
SPINDLE_API int spindle_replica_send(struct spindle_replica *r, const void *buf, uint32_t len);

/**
 * spindle_replica_max_msg() - longest message of a program
 * @r: the replica
 *
 * Return: bytes.
 */
SPINDLE_API uint32_t spindle_replica_max_msg(const struct spindle_replica *r);

/**
 * spindle_replica_declare() - take the state that this process has for the state of the group
 * @r: the replica, in state ASKING
 *
 * When all replicas that had the state are gone, those that are left ask for ever. An administrator
 * may then decide which of them begins again, with an empty state or with one that the program has
 * read from somewhere. The others get that state. If another replica turns out to have the
 * state before, the call has no effect. Called at two replicas at once it may make two states, and
 * nothing finds out.
 *
 * Return: 0; -EBUSY: the replica is in another state.
 */
SPINDLE_API int spindle_replica_declare(struct spindle_replica *r);

/**
 * spindle_replica_snapshot() - have a snapshot of the state on disk
 * @r: the replica, in state CURRENT, of a durable subgroup and with a directory
 *
 * Calls save() as for another replica, with a file of the directory. The file gets its name when
 * all messages in the state are durable: spindle_replica_stat.snapshots counts it then, and
 * spindle_replica_ops.changed() is called. If save() fails or the disk is full,
 * spindle_replica_stat.error has the reason, and the snapshots of before count.
 *
 * Return: 0: it has begun; -EBUSY: one is under way, or the replica is in another state;
 * -EOPNOTSUPP: there is no directory, or the subgroup has no logs; or why it cannot begin.
 */
SPINDLE_API int spindle_replica_snapshot(struct spindle_replica *r);

/**
 * spindle_replica_place() - where a state is, for a process that comes back
 * @r: the replica
 * @place: filled, for spindle_replica_opts.from
 *
 * Valid also in state FAILED, unless apply() or load() has failed, or a history has overtaken the
 * replica before it had a state.
 *
 * Return: 0; -ENODATA: the replica has no state.
 */
SPINDLE_API int spindle_replica_place(const struct spindle_replica *r, struct spindle_place *place);

/**
 * spindle_replica_stat() - what a replica does
 * @r: the replica
 * @st: filled
 */
SPINDLE_API void spindle_replica_stat(const struct spindle_replica *r,
				      struct spindle_replica_stat *st);

/**
 * spindle_replica_queue() - the attachment of a replica
 * @r: the replica
 *
 * For calls that ask about the attachment. The messages belong to the replica.
 *
 * Return: the attachment.
 */
SPINDLE_API const struct spindle_queue *spindle_replica_queue(const struct spindle_replica *r);

/**
 * spindle_replica_state_string() - name an enum spindle_replica_state
 * @state: the state
 *
 * Return: a constant lower-case word, also for unknown values.
 */
SPINDLE_API const char *spindle_replica_state_string(uint32_t state);

/**
 * spindle_replica_strerror() - say why a replica could not be opened, or has failed
 * @err: what spindle_replica_open() or spindle_replica_dispatch() returned
 *
 * Return: a constant string. Errors of the attachment have better words in
 * spindle_attach_strerror() and spindle_call_strerror().
 */
SPINDLE_API const char *spindle_replica_strerror(int err);

#ifdef __cplusplus
}
#endif

#endif /* SPINDLE_REPLICA_H */
