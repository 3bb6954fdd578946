/* SPDX-License-Identifier: MIT */
/*
 * The attachment of a process to one subgroup, and everything that is not the hot
 * path: attach, detach, wait, and words for errors. The hot path is <spindle/ring.h>.
 *
 * Conventions
 * -----------
 * Functions return 0 or a count on success and a negative errno on failure. They
 * print nothing, install no signal handler, and give errno no meaning.
 *
 * Threads: spindle_reserve(), spindle_commit(), spindle_abandon(), spindle_send() and
 * their relatives may be called by any number of threads at once. Reading
 * (spindle_peek(), spindle_next_batch(), spindle_release(), spindle_dispatch()) is
 * for one thread at a time, which may run at the same time as the senders. So are
 * spindle_view(), spindle_sender_node() and spindle_log_block(), which are about the
 * view that this thread reads in. spindle_attach() and spindle_detach() must run alone.
 *
 * Processes: an attachment is not inherited by fork(); the child has neither the
 * mappings nor any use for the queue, and must not call anything with it but
 * close(spindle_fd()).
 */
#ifndef SPINDLE_QUEUE_H
#define SPINDLE_QUEUE_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/spindle.h>
#include <spindle/barrier.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPINDLE_API __attribute__((visibility("default")))

/** SPINDLE_DEVICE - default path of the module's device */
#define SPINDLE_DEVICE		"/dev/spindle"

/** SPINDLE_ATTACH_BOTH - the usual role: send, and read the messages of all senders */
#define SPINDLE_ATTACH_BOTH	(SPINDLE_ATTACH_SEND | SPINDLE_ATTACH_RECV)

/** SPINDLE_WANT_VIEWS - in spindle_attach_opts.want: hand out an item where a view begins */
#define SPINDLE_WANT_VIEWS	(1ULL << 0)

/**
 * SPINDLE_WANT_OLDEST - in spindle_attach_opts.want: begin with the oldest message of the history,
 * if the subgroup has one
 */
#define SPINDLE_WANT_OLDEST	(1ULL << 1)

/**
 * struct spindle_place - where a reader is, for a process that comes back
 *
 * A program saves it with what it has made of the messages, and attaches from it later.
 */
struct spindle_place {
	/** @lsn: position of the next message */
	uint64_t lsn;
	/**
	 * @lineage: lineage of the live view that @lsn belongs to; 0 of a static one. If it and
	 * @era are 0, spindle_attach() does not compare them
	 */
	uint64_t lineage[2];
	/** @era: era of the lineage */
	uint64_t era;
};

/**
 * struct spindle_attach_opts - what to attach to, and how
 *
 * Set the whole structure to zero first, then the fields that are needed.
 */
struct spindle_attach_opts {
	/** @device: path of the device; NULL for SPINDLE_DEVICE */
	const char *device;
	/** @node: id of a node in the caller's network namespace */
	uint32_t node;
	/** @subgroup: id of a subgroup in that node's view, or 0 with @name */
	uint32_t subgroup;
	/**
	 * @flags: SPINDLE_ATTACH_SEND, SPINDLE_ATTACH_RECV or both; SPINDLE_ATTACH_COPY may be
	 * added to RECV: deliveries are then copied into a ring of this attachment, so that a slow
	 * reader holds up its own ring and not the senders' slots. If the subgroup has a history,
	 * RECV reads that, with or without COPY, and never holds up anyone. SPINDLE_ATTACH_LOG may
	 * be added to RECV by the logger of a subgroup with logs
	 */
	uint32_t flags;
	/** @event_fd: an eventfd to signal at deliveries and state changes; 0 or less: none */
	int32_t event_fd;
	/**
	 * @copy_bytes: with COPY: bytes of the copy ring, a power of two and at least max_msg; 0
	 * for the size of a sender's ring
	 */
	uint64_t copy_bytes;
	/**
	 * @want: SPINDLE_WANT_*; with SPINDLE_WANT_VIEWS the reading calls hand out an item of kind
	 * SPINDLE_DLV_VIEW where a view begins, see struct spindle_msg
	 */
	uint64_t want;
	/**
	 * @from: where to begin, of spindle_place(); NULL: with the next message, or as @want says.
	 * A subgroup without history only knows the place of the next message
	 */
	const struct spindle_place *from;
	/**
	 * @name: name of the subgroup; NULL: @subgroup has its id. Of shards that share the name,
	 * the one that the node is in
	 */
	const char *name;
	/**
	 * @log_end: with SPINDLE_ATTACH_LOG: all messages below this position are on disk, and it
	 * is no smaller than that of @from; 0: the log ends where the logger begins to read
	 */
	uint64_t log_end;
};

/**
 * enum spindle_step - how far spindle_attach() came, in spindle_queue.step
 *
 * The same errno means different things in different steps: ENOENT is a missing
 * device in one and an unknown subgroup in the other.
 */
enum spindle_step {
	/** @SPINDLE_STEP_OPTS: the options are wrong */
	SPINDLE_STEP_OPTS,
	/** @SPINDLE_STEP_OPEN: open() of the device failed */
	SPINDLE_STEP_OPEN,
	/** @SPINDLE_STEP_ATTACH: the kernel refused the attachment */
	SPINDLE_STEP_ATTACH,
	/** @SPINDLE_STEP_MAP: memory could not be mapped */
	SPINDLE_STEP_MAP,
	/** @SPINDLE_STEP_LAYOUT: the kernel's reply makes no sense to this library */
	SPINDLE_STEP_LAYOUT,
	/** @SPINDLE_STEP_DONE: attached */
	SPINDLE_STEP_DONE
};

/* One mapping of the attachment; private to the library. */
struct spindle_map {
	void *addr;
	size_t len;
};

/* One sender as a reader sees it; private to the library. */
struct spindle_source {
	const unsigned char *ring;
	struct spindle_map map;
	uint32_t node;
	uint32_t rx;	/* instance of the section that is mapped */
};

/* A view, and the rings of its senders; private to the library. */
struct spindle_epoch;

/* Words of a subgroup with logs; private to the library. */
struct spindle_logs;

/**
 * struct spindle_queue - one attachment; the caller owns the memory
 *
 * A plain structure: put it where you like, but do not move or copy it while it
 * is attached.
 */
struct spindle_queue {
	/** @fd: the open device; readable, writable and pollable (see spindle_wait()) */
	int fd;
	/** @flags: SPINDLE_ATTACH_* as given */
	uint32_t flags;
	/** @node: id of the local node */
	uint32_t node;
	/** @subgroup: id of the subgroup */
	uint32_t subgroup;
	/** @members: members of the subgroup */
	uint32_t members;
	/** @senders: members that may send */
	uint32_t senders;
	/** @rank: own rank among the members */
	uint32_t rank;
	/** @sender_rank: own rank among the senders, or SPINDLE_NO_RANK */
	uint32_t sender_rank;
	/** @window: slots of a sender: how many messages can be in flight */
	uint32_t window;
	/** @max_msg: largest message, bytes */
	uint32_t max_msg;
	/** @vid: id of the view */
	uint64_t vid;
	/**
	 * @features: SPINDLE_FEAT_*; with SPINDLE_FEAT_LIVE the reading calls change @members,
	 * @senders, @rank, @sender_rank and @vid where a view begins. A process that does not read
	 * keeps the values of the attach
	 */
	uint64_t features;
	/**
	 * @memlock: bytes charged to RLIMIT_MEMLOCK. Also valid when spindle_attach() returned
	 * -ENOMEM in SPINDLE_STEP_ATTACH: the bytes that the attachment needs, 0 if not known
	 */
	uint64_t memlock;
	/**
	 * @lineage: lineage of the live view, 0 of a static one. Positions of two lineages, or of
	 * two eras of one, have nothing to do with each other
	 */
	uint64_t lineage[2];
	/** @era: how often the lineage began again after all its members were gone */
	uint64_t era;
	/**
	 * @oldest: position of the oldest message that could be read at the attach. Also valid when
	 * spindle_attach() returned -ESTALE or -ERANGE in SPINDLE_STEP_ATTACH
	 */
	uint64_t oldest;
	/** @next: position of the next message to be delivered then, as @oldest */
	uint64_t next;
	/** @step: enum spindle_step */
	uint32_t step;

	/* private: of the library, visible because the hot path is inline */
	uint32_t tx_slot_units;	/* units of each slot, or 0: as many as its message needs */

	/* Words of the kernel; this side can only read them. */
	const __u32 *ctl_state;
	const __u32 *ctl_error;
	const __u32 *ctl_need_wakeup;
	const __u64 *ctl_dlv_tail;
	const __u64 *ctl_tx_slot;
	const __u64 *ctl_tx_unit;

	/* Words of the process; the kernel checks what it reads there. */
	__u64 *usr_consumed;
	__u64 *usr_reserve;
	struct spindle_tx_desc *usr_desc;

	/* The ring of the local sender, mapped twice in a row. */
	unsigned char *tx_ring;
	uint64_t tx_mask;
	uint32_t tx_units;

	/* The delivery ring, and the payload rings that its descriptors point into. */
	uint32_t dlv_entries;
	const unsigned char *dlv;
	uint64_t dlv_stride;
	uint64_t rx_bytes;
	struct spindle_source *source;	/* of @epoch, by sender rank */
	uint64_t rx_cookie;
	uint64_t rx_stride;
	uint64_t want;
	struct spindle_epoch *epoch;	/* the view that the reader is in */
	struct spindle_epoch *left;	/* earlier views with rings that the reader still holds */

	struct spindle_map map_ctl;
	struct spindle_map map_usr;
	struct spindle_map map_tx;
	struct spindle_map map_dlv;
	struct spindle_map map_copy;

	/*
	 * Only the reading thread uses these words. The padding gives them cache lines of
	 * their own, because otherwise every message read would slow down the senders.
	 */
	unsigned char pad0[64];
	uint64_t rx_cursor;	/* next descriptor to look at */
	uint64_t rx_released;	/* value last stored to usr_consumed */
	uint64_t rx_tail;	/* value last loaded from ctl_dlv_tail */
	uint64_t rx_lsn;	/* position behind the last descriptor that was given back */
	unsigned char pad1[64];

	/* Set by sending threads: a commit was not flushed yet. */
	uint32_t tx_quiet;
	unsigned char pad2[60];

	const __u64 *ctl_dlv_low;	/* of a reader of a history, else NULL */
	struct spindle_logs *logs;	/* of a subgroup with logs, else NULL */
	uint64_t resv1;
};

/**
 * struct spindle_slot - a slot between spindle_reserve() and its commit
 */
struct spindle_slot {
	/**
	 * @slot: slot number of this process. It differs from the message number that readers see,
	 * which leaves out abandoned slots
	 */
	uint64_t slot;
	/**
	 * @data: room for the message: @len bytes, contiguous and writable, aligned to
	 * SPINDLE_UNIT. They belong to the caller until the commit or the abandon
	 */
	void *data;
	/** @len: bytes reserved */
	uint32_t len;
	/** @unit: first unit of the extent, modulo 2^32; of interest to the library only */
	uint32_t unit;
};

/**
 * struct spindle_dest - members that get a message, see spindle_destinations()
 */
struct spindle_dest {
	/** @mask: their ranks in the view @vid, as bits */
	uint64_t mask;
	/** @vid: the last 16 bits of its id */
	uint16_t vid;
	/** @resv: 0 */
	uint16_t resv[3];
};

/**
 * struct spindle_msg - a delivered message, or the beginning of a view
 */
struct spindle_msg {
	/**
	 * @lsn: position: how many messages of the subgroup were delivered before this one, in all
	 * views. All members deliver the same message at the same position. In an unordered
	 * subgroup each node counts what it delivers itself. Of a view: the position of its first
	 * message
	 */
	uint64_t lsn;
	/**
	 * @slot: the sender's message number, counting from 0 without gaps; of a view: its id
	 */
	uint64_t slot;
	/**
	 * @data: @len bytes, contiguous, read-only: they lie in the ring and stay valid until
	 * spindle_release() or spindle_release_n() gives this message back
	 */
	const void *data;
	/** @len: bytes, possibly 0 */
	uint32_t len;
	/**
	 * @sender: sender rank in the view that the message was delivered in; of a view:
	 * SPINDLE_NO_RANK
	 */
	uint32_t sender;
	/** @node: node id of the sender */
	uint32_t node;
	/**
	 * @kind: enum spindle_dlv_kind: SPINDLE_DLV_MSG, or with SPINDLE_WANT_VIEWS also
	 * SPINDLE_DLV_VIEW, of which @data, @len and @node are 0
	 */
	uint32_t kind;
};

/**
 * struct spindle_view - the members of the view that the reader is in
 */
struct spindle_view {
	/** @vid: id of the view */
	uint64_t vid;
	/** @members: members of the subgroup */
	uint32_t members;
	/** @senders: members that may send */
	uint32_t senders;
	/**
	 * @rank: own rank among the members; SPINDLE_NO_RANK in a view without this node, of a
	 * history that was filled with messages from before the node was a member
	 */
	uint32_t rank;
	/** @sender_rank: own rank among the senders, or SPINDLE_NO_RANK */
	uint32_t sender_rank;
	/**
	 * @seat: array of @members entries, by rank. Of interest are node, sender_rank, and in
	 * flags SPINDLE_SEAT_ME and SPINDLE_SEAT_JOINED. The array stays valid until the next
	 * reading call or spindle_detach()
	 */
	const struct spindle_seat *seat;
};

/**
 * struct spindle_log_report - what the logger of a member says about its log
 */
struct spindle_log_report {
	/** @persisted: all messages below this position are on disk, or in a snapshot there */
	uint64_t persisted;
	/** @low: the first position that the log keeps, at most @persisted */
	uint64_t low;
	/** @snapshot: position of the newest snapshot on disk, at most @persisted; 0: none */
	uint64_t snapshot;
	/** @record: id of the newest view whose record is on disk; 0: none */
	uint64_t record;
	/** @state: enum spindle_log_state */
	uint32_t state;
	/**
	 * @established: 1: the member knows that the present view is established. Of
	 * spindle_log_block(); spindle_log_say() does not look at this
	 */
	uint32_t established;
};

/**
 * typedef spindle_batch_fn - receives a batch of messages from spindle_dispatch()
 * @arg: as given to spindle_dispatch()
 * @msgs: @n messages in delivery order, valid until the function returns. All belong to one
 *	view; with SPINDLE_WANT_VIEWS the first item may be the beginning of that view
 * @n: at least 1
 *
 * Return: 0 to go on; anything else ends spindle_dispatch() after this batch, and
 * a negative value is what spindle_dispatch() then returns.
 */
typedef int (*spindle_batch_fn)(void *arg, const struct spindle_msg *msgs, unsigned int n);

/**
 * spindle_attach() - attach to a subgroup
 * @q: memory of the caller; its content does not matter
 * @o: what to attach to
 *
 * Opens the device, binds the open file to the subgroup and maps its rings. Process
 * context, may sleep. The subgroup need not be active yet: slots can be committed
 * while members are still connecting.
 *
 * Return: 0, or one of these errors, after which nothing is left open or mapped: -EINVAL (flags,
 * want, copy_bytes, @event_fd is no eventfd, log_end without SPINDLE_ATTACH_LOG, or both name and
 * subgroup are given), -ENAMETOOLONG (the name has more than 64 characters), -ENODEV (no such node
 * here), -ENOENT (no such subgroup, the node has no view, or no such device file), -EBUSY (the
 * subgroup has a local sender already, or a logger), -EPERM (the node is no sender, or the subgroup
 * is a table), -EACCES (the device file's permissions), -ENOMEM (see spindle_queue.memlock), -EBADF
 * (@event_fd is no descriptor), -ENOTCONN (the subgroup has failed), -ESTALE (in
 * SPINDLE_STEP_ATTACH: the message of @o->from is not in the history any more, see
 * spindle_queue.oldest; later: views followed each other too fast, try again), -ERANGE (@o->from or
 * @o->log_end is beyond spindle_queue.next, or log_end below from), -EOPNOTSUPP (@o->from in an
 * unordered subgroup, or a logger where there are no logs), -ENODATA (the log of a logger ends
 * below what an earlier one has said to be on disk), -EXDEV (@o->from belongs to another lineage,
 * or to another era), -EUSERS (the subgroup has 64 readers at this node already), -EINTR (a signal
 * came while a sender that has gone was waited for), -EPROTONOSUPPORT (the module is newer than
 * this library), -ENOTTY (it is older, or the device is another one), -EPROTO (the kernel's reply
 * makes no sense).
 * spindle_attach_strerror() says which of these it was.
 */
SPINDLE_API int spindle_attach(struct spindle_queue *q, const struct spindle_attach_opts *o);

/**
 * spindle_detach() - end an attachment
 * @q: attached, or spindle_attach() failed on it, or detached already
 *
 * Unmaps and closes. All pointers into the rings become invalid. Reserved slots that were
 * not committed are given up. Messages that were committed may not have been sent yet;
 * call spindle_drain() first where that matters.
 */
SPINDLE_API void spindle_detach(struct spindle_queue *q);

/**
 * spindle_kick() - wake the engine, whether it sleeps or not
 * @q: attached
 *
 * One system call. Commit, flush and release call this function when it is needed, so a
 * program does not have to. Any thread.
 *
 * Return: 0 or a negative errno.
 */
SPINDLE_API int spindle_kick(struct spindle_queue *q);

/**
 * spindle_silence() - declare that this sender will be silent for some rounds
 * @q: attached with SPINDLE_ATTACH_SEND
 * @rounds: how many rounds of the other senders, up to SPINDLE_MAX_ROUNDS
 *
 * The other members do not have to wait for this sender in these rounds, and no null
 * messages cross the network for it. Messages that were committed before come before the
 * silence. A message that is committed before the rounds are over ends the silence: the
 * message is ordered after these rounds, and the other members catch up at once. The kernel
 * does the same, a little later, for a sender that is silent without this call. One system
 * call; any thread.
 *
 * Return: 0; -EINVAL if @rounds is too large, or the numbers of rounds are about to run out;
 * -EPERM without SPINDLE_ATTACH_SEND; -ENOTCONN when the view is gone.
 */
SPINDLE_API int spindle_silence(struct spindle_queue *q, uint64_t rounds);

/**
 * spindle_wait() - wait until it makes sense to read or to send
 * @q: attached
 * @events: POLLIN: there is a message to read; POLLOUT: there is room to send; or both
 * @timeout_ms: milliseconds, 0 not to wait, -1 without limit
 *
 * Makes no system call if one of the events holds already. Flushes quiet commits. With
 * POLLIN only the reading thread may call it; with POLLOUT alone, any thread.
 *
 * POLLOUT is set when a message of max_msg bytes would fit. Another thread may take that
 * room first, so a spindle_reserve() that follows can still return -EAGAIN.
 *
 * Return: the events that hold; 0 when the time is up; -EINTR on a signal; -EPIPE
 * when the state is final and nothing is left to read; -EBUSY if POLLIN was asked for
 * and there is nothing new, but the caller holds messages that it has not released. The
 * kernel cannot tell new messages from held ones, so poll() would return at once.
 */
SPINDLE_API int spindle_wait(struct spindle_queue *q, int events, int timeout_ms);

/**
 * spindle_send_wait() - send a copy of a buffer, and wait for room if there is none
 * @q: attached with SPINDLE_ATTACH_SEND
 * @buf: the bytes; may be NULL if @len is 0
 * @len: how many
 * @timeout_ms: milliseconds, -1 without limit
 *
 * Any thread.
 *
 * Return: 0 once committed; -EAGAIN when the time is up, -EINTR on a signal, and the
 * errors of spindle_reserve(); the message was not sent then.
 */
SPINDLE_API int spindle_send_wait(struct spindle_queue *q, const void *buf, uint32_t len,
				  int timeout_ms);

/**
 * spindle_drain() - wait until all members have delivered the messages sent so far
 * @q: attached with SPINDLE_ATTACH_SEND
 * @timeout_ms: milliseconds, 0 only to ask, -1 without limit
 *
 * Waits until every slot that was reserved before the call is free again, which it is
 * when all members have delivered its message. All these slots must have been committed
 * or abandoned. If this process also reads without SPINDLE_ATTACH_COPY, messages that it has
 * not released count as not delivered. Any thread.
 *
 * Return: 0; -EAGAIN when the time is up, -EINTR on a signal, -EPIPE when the state
 * became final before, -EBADF without SPINDLE_ATTACH_SEND.
 */
SPINDLE_API int spindle_drain(struct spindle_queue *q, int timeout_ms);

/**
 * spindle_durable() - the position below which all messages are durable
 * @q: attached
 *
 * The message of position n is durable if this is above n. The position never goes back. A
 * load-acquire, and no system call. Any thread.
 *
 * Return: the position; 0 if the subgroup has no logs: see SPINDLE_FEAT_LOG in
 * spindle_queue.features.
 */
SPINDLE_API uint64_t spindle_durable(const struct spindle_queue *q);

/**
 * spindle_wait_durable() - wait until a message is durable
 * @q: attached, in any role
 * @lsn: position of the message, as in struct spindle_msg
 * @timeout_ms: milliseconds, 0 only to ask, -1 without limit
 *
 * The message is durable when spindle_durable() is above @lsn, so all messages before it are, too.
 * Makes no system call if that is so already. Flushes quiet commits. Any number of threads may wait
 * at once: the kernel is told the smallest position that one of them waits for.
 *
 * Return: 0; -ETIMEDOUT when the time is up; -EINTR on a signal; -ENOTCONN when the state became
 * final before, and the message may or may not become durable; -EOPNOTSUPP if the subgroup has no
 * logs; -EINVAL if @lsn is no position.
 */
SPINDLE_API int spindle_wait_durable(struct spindle_queue *q, uint64_t lsn, int timeout_ms);

/**
 * spindle_send_durable() - send a copy of a buffer, and wait until the message is durable
 * @q: attached with SPINDLE_ATTACH_SEND
 * @buf: the bytes; may be NULL if @len is 0
 * @len: how many
 * @timeout_ms: milliseconds for all of it, -1 without limit
 *
 * Waits for room if there is none. Then waits until all members have delivered the message, and
 * until all that was delivered by then is durable. Any thread.
 *
 * Return: 0 once durable. The message was not sent after: -EAGAIN: there was no room in that time;
 * -EINTR: a signal came; -EOPNOTSUPP: the subgroup has no logs; the errors of spindle_reserve().
 * The message was sent, and may or may not become durable, after: -ETIMEDOUT: the time was up;
 * -EINPROGRESS: a signal came; -ENOTCONN: the state became final. Sending it again may send it
 * twice.
 */
SPINDLE_API int spindle_send_durable(struct spindle_queue *q, const void *buf, uint32_t len,
				     int timeout_ms);

/**
 * spindle_log_began() - the view that a subgroup with logs was in at the attach
 * @q: attached
 * @vid: filled: the view that the subgroup began with, or began again with when its members changed
 * @lsn: filled: position of the first message of that view
 *
 * A view record is of that view. A later one begins with an item of kind SPINDLE_DLV_VIEW.
 *
 * Return: 1 if the subgroup had no view before, and no message; 0 if it had some, also in an
 * earlier era; -EOPNOTSUPP if it has no logs.
 */
SPINDLE_API int spindle_log_began(const struct spindle_queue *q, uint64_t *vid, uint64_t *lsn);

/**
 * spindle_log_say() - tell the kernel how far a log is
 * @q: attached with SPINDLE_ATTACH_LOG
 * @report: what the logger says now
 *
 * No number may be smaller than in the last call. The kernel freezes an attachment whose numbers
 * contradict each other, with SPINDLE_ERR_LOG. Kicks the engine if it sleeps. One thread at a time.
 *
 * Return: 0; -EBADF without SPINDLE_ATTACH_LOG; -EINVAL if @report contradicts itself, and the
 * kernel is not told.
 */
SPINDLE_API int spindle_log_say(struct spindle_queue *q, const struct spindle_log_report *report);

/**
 * spindle_log_block() - what the logger of a member has said
 * @q: attached
 * @rank: rank of the member in the view that the reader is in, see spindle_view()
 * @report: filled
 *
 * As this node knows it, which may be a moment old. In a view that is over already, the place of a
 * member may have that of another one. Maps memory when a member is asked for in a view for the
 * first time. The reading thread only.
 *
 * Return: 0; -EOPNOTSUPP if the subgroup has no logs; -EINVAL if @rank is no rank; -EAGAIN: the
 * member writes all the time, try again; or why the memory cannot be mapped.
 */
SPINDLE_API int spindle_log_block(struct spindle_queue *q, uint32_t rank,
				  struct spindle_log_report *report);

/**
 * spindle_dispatch() - hand messages to a function, batch by batch
 * @q: attached with SPINDLE_ATTACH_RECV
 * @fn: called with each batch; the batch is released when it returns
 * @arg: passed to @fn
 * @budget: most messages to hand over in this call, 1..INT_MAX
 *
 * Does not wait. A batch has all messages that were delivered, up to 64. All messages that
 * the program took before must have been released. @fn must neither release nor peek.
 *
 * Return: how many messages were handed over, maybe 0; a negative value from @fn; -ESTALE if
 * a history overwrote the last batch while @fn handled it; or if nothing was handed over, the
 * errors of spindle_peek(), and -EBUSY if messages are held.
 */
SPINDLE_API int spindle_dispatch(struct spindle_queue *q, spindle_batch_fn fn, void *arg,
				 unsigned int budget);

/**
 * spindle_members() - list the members of the subgroup
 * @q: attached
 * @m: room for @n members, filled by rank
 * @n: at least q->members; SPINDLE_MAX_MEMBERS where views are live
 *
 * Asks the kernel, which lists the members of the view that is installed now. A reader may
 * still be in an earlier view; spindle_view() lists the members of the reader's view. Any
 * thread.
 *
 * Return: the number of members, or -ENOSPC (@n is too small), or a negative errno.
 */
SPINDLE_API int spindle_members(const struct spindle_queue *q, struct spindle_member *m,
				unsigned int n);

/**
 * spindle_view() - the members of the view that the reader is in
 * @q: attached
 * @v: filled
 *
 * The reader is in the view in which the messages of the last reading call were delivered.
 * Before the first reading call, and always without SPINDLE_ATTACH_RECV, that is the view of
 * the attach. No system call; the reading thread only.
 *
 * Return: 0, or -EINVAL if @q is not attached.
 */
SPINDLE_API int spindle_view(const struct spindle_queue *q, struct spindle_view *v);

/**
 * spindle_destinations() - name some of the members of the view that the reader is in
 * @q: attached
 * @node: node ids of members of the subgroup
 * @n: how many, at least 1
 * @to: filled, for spindle_commit_to()
 *
 * The module finds the same members in later views, until the members of the subgroup have changed
 * 32 times. A message that names an older view freezes the attachment, with SPINDLE_ERR_TX_MASK. So
 * call this again after a view has begun. A reader of a history may be in a view that is older than
 * that. A node that leaves and comes back is a new member, and has to be named again. A queue that
 * does not read stays in the view in which it was attached.
 * Only the reading thread may call this.
 *
 * Return: 0. On errors @to is as it was: -EINVAL: @n is 0, or @q is not attached; -ENOENT: a node
 * is no member; -EOPNOTSUPP: the subgroup has logs, and each of them has all messages.
 */
SPINDLE_API int spindle_destinations(const struct spindle_queue *q, const uint32_t *node,
				     unsigned int n, struct spindle_dest *to);

/**
 * spindle_enter_view() - enter the view that begins at the reader's cursor
 * @q: attached with SPINDLE_ATTACH_RECV
 * @d: the descriptor that stands for the view
 * @m: filled if the program wants views
 *
 * The reading calls call this function when it is needed; a program does not have to.
 *
 * Return: 1 if @m was filled, 0 if not, or a negative errno and nothing has changed.
 */
SPINDLE_API int spindle_enter_view(struct spindle_queue *q, const struct spindle_dlv *d,
				   struct spindle_msg *m);

/**
 * spindle_unmap_left() - unmap the rings of senders that have left
 * @q: attached with SPINDLE_ATTACH_RECV
 *
 * Rings in which the reader holds messages stay mapped. spindle_release() and
 * spindle_release_n() call this function when it is needed; a program does not have to.
 */
SPINDLE_API void spindle_unmap_left(struct spindle_queue *q);

/**
 * spindle_strerror() - say what an enum spindle_error means
 * @err: as from spindle_error_code()
 *
 * Return: a constant string, also for unknown values.
 */
SPINDLE_API const char *spindle_strerror(int err);

/**
 * spindle_call_strerror() - say why a call failed
 * @q: attached
 * @err: what the call returned: 0 or a negative errno
 * @buf: memory of the caller; 160 bytes are enough
 * @len: bytes of @buf, at least 1; the text is cut off there
 *
 * For the functions that send, read and wait. -EPIPE only says that the state is final; the
 * text says why, from the error code of the attachment.
 *
 * Return: @buf, with one line of text without a final newline.
 */
SPINDLE_API const char *spindle_call_strerror(const struct spindle_queue *q, int err, char *buf,
					      size_t len);

/**
 * spindle_state_string() - name an enum spindle_state
 * @state: as from spindle_state()
 *
 * Return: a constant lower-case word, also for unknown values.
 */
SPINDLE_API const char *spindle_state_string(int state);

/**
 * spindle_attach_strerror() - say why spindle_attach() failed, and what to do
 * @q: as spindle_attach() left it
 * @o: as given to it
 * @err: what it returned
 * @buf: memory of the caller; 160 bytes are enough unless the device path is long
 * @len: bytes of @buf, at least 1; the text is cut off there
 *
 * Return: @buf, with one line of text without a final newline.
 */
SPINDLE_API const char *spindle_attach_strerror(const struct spindle_queue *q,
						const struct spindle_attach_opts *o,
						int err, char *buf, size_t len);

/**
 * spindle_fd() - the file descriptor of an attachment, for poll() and epoll
 * @q: attached
 *
 * POLLIN: descriptors were delivered that have not been released. POLLOUT: room to
 * send. POLLPRI: what spindle_wait_durable() waits for. POLLERR and POLLHUP: the state
 * is final. After quiet commits, call spindle_flush() before sleeping on the
 * descriptor.
 *
 * Return: the descriptor; it belongs to the queue, do not close it.
 */
static inline int spindle_fd(const struct spindle_queue *q)
{
	return q->fd;
}

/**
 * spindle_state() - the state of the attachment
 * @q: attached
 *
 * If this returns a final state, a later spindle_peek() sees all messages that were
 * delivered. Any thread.
 *
 * Return: enum spindle_state; above SPINDLE_STATE_ACTIVE it is final.
 */
static inline int spindle_state(const struct spindle_queue *q)
{
	return (int)spindle_load_acquire32(q->ctl_state);
}

/**
 * spindle_error_code() - the cause of the attachment's state
 * @q: attached
 *
 * Return: enum spindle_error. Any thread.
 */
static inline int spindle_error_code(const struct spindle_queue *q)
{
	return (int)spindle_load_acquire32(q->ctl_error);
}

/**
 * spindle_window() - how many messages of this sender can be in flight
 * @q: attached
 *
 * Return: slots, a power of two.
 */
static inline uint32_t spindle_window(const struct spindle_queue *q)
{
	return q->window;
}

/**
 * spindle_max_msg() - the largest message
 * @q: attached
 *
 * Return: bytes.
 */
static inline uint32_t spindle_max_msg(const struct spindle_queue *q)
{
	return q->max_msg;
}

/**
 * spindle_rank() - own rank among the members
 * @q: attached
 *
 * In the view that the reader is in. Any thread.
 *
 * Return: 0 to members - 1, or SPINDLE_NO_RANK, see spindle_view.rank.
 */
static inline uint32_t spindle_rank(const struct spindle_queue *q)
{
	return spindle_load_once32(&q->rank);
}

/**
 * spindle_sender_rank() - own rank among the senders
 * @q: attached
 *
 * In the view that the reader is in. Any thread.
 *
 * Return: 0 to senders - 1, or SPINDLE_NO_RANK.
 */
static inline uint32_t spindle_sender_rank(const struct spindle_queue *q)
{
	return spindle_load_once32(&q->sender_rank);
}

/**
 * spindle_sender_node() - the node id of a sender
 * @q: attached
 * @sender: sender rank
 * @node: set to the node's id
 *
 * In the view that the reader is in; the reading thread only.
 *
 * Return: 0, or -EINVAL if @sender is no sender rank.
 */
SPINDLE_API int spindle_sender_node(const struct spindle_queue *q, uint32_t sender,
				    uint32_t *node);

#ifdef __cplusplus
}
#endif

#endif /* SPINDLE_QUEUE_H */
