/* SPDX-License-Identifier: MIT */
/*
 * Tables that the members of a group share: the memory of /dev/spindle-sst. The contract between
 * the kernel and this library is <linux/spindle_table.h>. <spindle/predicate.h> has the conditions
 * over rows that the engine watches.
 *
 * A table has a row for each member, and a row has cells. One process of a node writes the node's
 * row. Every process that has attached reads the rows of all members.
 *
 *	the writer				every process
 *
 *	p = spindle_cell_begin(t, 1)		spindle_table_wait(t, -1)
 *	the value at p				spindle_table_seats(t, seat, n)
 *	spindle_cell_end(t, 1)			spindle_cell_get(t, seat[i].sst, 1, ...)
 *
 * A reader gets the newest value of a cell that has arrived, and may skip values. Cell 0 is the
 * guard. A reader that sees a version of cell 0 also sees, in the other cells of that row, what the
 * writer had sealed before that version, or something newer.
 *
 * A table of mode read sends no changes. There the device of a node reads the rows of the other
 * members when spindle_table_refresh() or spindle_table_every() asks for that. A row shows what was
 * read last, and spindle_table_every() decides how old that may be. Any other table is of mode
 * write. spindle_table_is_read() tells the modes apart.
 *
 * Conventions
 * -----------
 * Functions return 0 or a count on success and a negative errno on failure. They print nothing,
 * install no signal handler, and give errno no meaning. Only spindle_table_wait(),
 * spindle_table_wait_signal(), spindle_table_flush() and spindle_table_refresh() wait.
 *
 * Threads: spindle_cell_begin(), spindle_cell_seal(), spindle_cell_end() and spindle_cell_put() may
 * be called by any number of threads at once, if no two of them write one cell.
 * spindle_table_push(), spindle_table_skip(), spindle_table_every(), spindle_cell_get() and
 * spindle_table_snapshot() are for any thread.
 * spindle_table_seats() maps rows again, so no other thread may read rows at the same time.
 * spindle_table_wait() is for one thread at a time, and so are spindle_table_wait_signal(),
 * spindle_table_flush() and spindle_table_refresh(). One thread may be in each of them.
 * spindle_table_attach() and spindle_table_detach() must run alone.
 *
 * Processes: an attachment is not inherited by fork(). The only call that the child may make with
 * the attachment is close(spindle_table_fd()).
 */
#ifndef SPINDLE_TABLE_H
#define SPINDLE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/spindle_table.h>
#include <spindle/barrier.h>
#include <spindle/queue.h>

#ifdef __cplusplus
extern "C" {
#endif

/** SPINDLE_TABLE_DEVICE - default path of the module's device */
#define SPINDLE_TABLE_DEVICE	"/dev/spindle-sst"

/** SPINDLE_SNAPSHOT_ATOMIC - for spindle_table_snapshot(): all values were there at one moment */
#define SPINDLE_SNAPSHOT_ATOMIC	(1U << 0)

/**
 * struct spindle_table_attr - what to attach to, and how
 *
 * Set the whole structure to zero first, then the fields that are needed.
 */
struct spindle_table_attr {
	/** @device: path of the device; NULL for SPINDLE_TABLE_DEVICE */
	const char *device;
	/**
	 * @name: name of the table; NULL: @table has its id. Of shards that share the name, the one
	 * that the node is in
	 */
	const char *name;
	/** @node: id of a node in the caller's network namespace */
	uint32_t node;
	/** @table: id of a table in that node's view, or 0 with @name */
	uint32_t table;
	/**
	 * @flags: SPINDLE_TABLE_WRITE to write the node's row, which one process may;
	 * SPINDLE_TABLE_SIGNALS to be woken by signals of predicates, and not by changes of rows
	 */
	uint32_t flags;
	/**
	 * @event_fd: an eventfd to signal at each signal of a predicate, at the end of each flush
	 * and of each refresh, and without SPINDLE_TABLE_SIGNALS when a row may have changed; 0 or
	 * less: none
	 */
	int32_t event_fd;
	/** @resv: 0 */
	uint64_t resv[2];
};

/* The members, and the rows that are mapped; private to the library. */
struct spindle_rows;

/**
 * struct spindle_table - one attachment; the caller owns the memory
 *
 * A plain structure: put it where you like, but do not move or copy it while it is attached.
 */
struct spindle_table {
	/** @fd: the open device, see spindle_table_fd() */
	int fd;
	/** @flags: SPINDLE_TABLE_*, as given */
	uint32_t flags;
	/** @node: id of the local node */
	uint32_t node;
	/** @table: id of the table */
	uint32_t table;
	/** @members: members of the table; spindle_table_seats() changes this, @rank and @vid */
	uint32_t members;
	/** @rank: own rank among the members */
	uint32_t rank;
	/** @cells: cells of a row */
	uint32_t cells;
	/** @cell: bytes of a cell, a power of two; the last 16 are struct spindle_cell_seal */
	uint32_t cell;
	/** @own_instance: instance of the own row */
	uint32_t own_instance;
	/** @instances: instances are below this */
	uint32_t instances;
	/** @vid: id of the view */
	uint64_t vid;
	/** @features: SPINDLE_TABLE_FEAT_* */
	uint64_t features;
	/** @lineage: lineage of the live view; 0 of a static one */
	uint64_t lineage[2];
	/** @era: how often the lineage began again after all its members were gone */
	uint64_t era;
	/** @step: enum spindle_step: how far spindle_table_attach() came */
	uint32_t step;

	/* private: of the library */
	uint32_t read;			/* 1 in a table of mode read, else 0 */

	/* Words of the kernel; this side can only read them. */
	const __u32 *ctl_state;
	const __u32 *ctl_error;
	const __u32 *ctl_need_wakeup;
	const __u64 *ctl_generation;
	const __u64 *ctl_vouched;	/* by instance */
	const __u64 *ctl_signals;
	const __u64 *ctl_fired;		/* by id of a predicate */
	const __u64 *ctl_flushed;
	const __u64 *ctl_refreshed;
	const char *ctl_fields;

	/* Words of the process. */
	__u64 *usr_seen;
	__u64 *usr_dirty;
	__u64 *usr_heard;
	__u64 *usr_refresh;
	__u64 *usr_every;
	__u64 *usr_flush;		/* NULL without SPINDLE_TABLE_WRITE, as usr_dirty */
	__u64 *usr_skip;		/* bits, by instance */

	unsigned char *own;		/* NULL without SPINDLE_TABLE_WRITE */
	struct spindle_rows *rows;
	uint64_t row_cookie;
	uint64_t row_stride;
	uint64_t row_len;
	struct spindle_map map_ctl;
	struct spindle_map map_usr;
	struct spindle_map map_own;
};

/**
 * struct spindle_snapshot - what spindle_table_snapshot() has found
 */
struct spindle_snapshot {
	/** @vid: id of the view whose members the rows belong to */
	uint64_t vid;
	/** @rows: rows in the buffer */
	uint32_t rows;
	/** @torn: cells without a value that can be believed, which are 0 in the buffer */
	uint32_t torn;
	/** @passes: how often the rows were collected, at least 1 */
	uint32_t passes;
	/** @resv: 0 */
	uint32_t resv;
};

/* A word of a cell. Programs store other types there, so that compilers must not assume words. */
typedef __u64 __attribute__((__may_alias__)) spindle_word;

/**
 * spindle_cell_mix() - mix the words of a cell into its seal
 * @word: naturally aligned words of the cell, all in front of the seal, in memory order
 * @words: how many, 0 to SPINDLE_MAX_CELL / 8 - 1
 *
 * A blend of two versions of a cell has another mix than each of them. The mix of zeroes is zero,
 * so that a cell that was never written has a valid seal. Any context.
 *
 * Return: the mix.
 */
static inline uint64_t spindle_cell_mix(const spindle_word *word, uint32_t words)
{
	uint64_t h = 0;
	uint32_t i;

	for (i = 0; i < words; i++) {
		h ^= word[i];
		h *= 0x9e3779b97f4a7c15ULL;
		h ^= h >> 32;
	}
	return h;
}

/**
 * spindle_table_attach() - attach to a table
 * @t: memory of the caller; its content does not matter
 * @o: what to attach to
 *
 * Opens the device, binds the open file to the table, and maps the rows of the present members.
 * A new writer goes on with the values and versions of its row. The kernel sends them again,
 * because the writer before may have died between a seal and its push. Process context, may sleep.
 *
 * Return: 0, or one of these errors, after which nothing is left open or mapped: -EINVAL (flags, a
 * reserved field is not 0, or both name and table are given), -ENAMETOOLONG (the name), -ENODEV (no
 * such node here), -ENOENT (no such table, or no such device file), -EBUSY (another process writes
 * the row), -EUSERS (the table has SPINDLE_MAX_TABLE_FILES attachments at this node), -EACCES (the
 * device file's permissions), -ENOMEM (no memory, or RLIMIT_MEMLOCK), -EBADF (@o->event_fd is no
 * eventfd), -ENOTCONN (the table has ended), -ESTALE (views followed each other too fast, try
 * again), -EPROTONOSUPPORT (the module is newer than this library), -ENOTTY (it is older, or the
 * device is another one), -EPROTO (the kernel's reply makes no sense).
 * spindle_table_attach_strerror() says which of these it was.
 */
SPINDLE_API int spindle_table_attach(struct spindle_table *t, const struct spindle_table_attr *o);

/**
 * spindle_table_detach() - end an attachment
 * @t: attached, or spindle_table_attach() failed on it, or detached already
 *
 * Unmaps and closes. Pointers of spindle_cell_begin() become invalid. A cell that was begun and not
 * ended stays as it is, and readers may find it torn until a writer ends it.
 */
SPINDLE_API void spindle_table_detach(struct spindle_table *t);

/**
 * spindle_cell_begin() - change a cell in place
 * @t: attached with SPINDLE_TABLE_WRITE
 * @cell: 0 to cells - 1
 *
 * The value stays as the last writer of the node left it, even if that writer died in between.
 * Until spindle_cell_end() or spindle_cell_seal(), readers get the old value or -EAGAIN, so keep
 * that time short.
 *
 * Return: the value, spindle_cell_bytes() bytes, aligned to SPINDLE_MIN_CELL, valid until the
 * detach; NULL if @cell is out of range, or without SPINDLE_TABLE_WRITE.
 */
SPINDLE_API void *spindle_cell_begin(struct spindle_table *t, uint32_t cell);

/**
 * spindle_cell_seal() - seal a cell with its next version, and leave it to a push to wake the
 * engine
 * @t: attached with SPINDLE_TABLE_WRITE
 * @cell: 0 to cells - 1
 *
 * For changes of several cells: any number of these, then one spindle_table_push(). An engine that
 * is awake may send the cell before the push. If cell 0 is sealed last, it guards the others.
 *
 * Return: 0; -EINVAL: @cell is out of range; -EBADF without SPINDLE_TABLE_WRITE.
 */
SPINDLE_API int spindle_cell_seal(struct spindle_table *t, uint32_t cell);

/**
 * spindle_table_push() - wake the engine for cells that were sealed
 * @t: attached with SPINDLE_TABLE_WRITE
 *
 * Covers the sealed cells of all threads. One full barrier; a system call only if the engine
 * sleeps.
 *
 * Return: 0; -EPIPE: the state is final, and nothing is sent any more; -EBADF without
 * SPINDLE_TABLE_WRITE; or an errno of the kernel.
 */
SPINDLE_API int spindle_table_push(struct spindle_table *t);

/**
 * spindle_table_flush() - wait until the other members have what was sealed before
 * @t: attached with SPINDLE_TABLE_WRITE
 * @timeout_ms: milliseconds, 0 only to begin, -1 without limit
 *
 * For each member the device has confirmed the writes, so the member's processes can read the
 * values, or newer ones. The call does not tell whether a process has read them. Members that are
 * skipped, and members that leave, are not waited for.
 *
 * Wakes the engine as spindle_table_push() does. A flush that has not ended goes on behind the
 * call, and spindle_table_flushed() says when it has ended.
 *
 * Return: 1: all have it; 0 when the time is up; -EINTR on a signal; -EPIPE: the state is final;
 * -EBADF without SPINDLE_TABLE_WRITE; -EOPNOTSUPP in a table of mode read, because members read
 * when they like; or an errno of the kernel.
 */
SPINDLE_API int spindle_table_flush(struct spindle_table *t, int timeout_ms);

/**
 * spindle_table_flushed() - has the last spindle_table_flush() ended?
 * @t: attached with SPINDLE_TABLE_WRITE
 *
 * POLLOUT of spindle_table_fd() says the same. For the thread that called spindle_table_flush().
 *
 * Return: true if so, or if there was none.
 */
static inline bool spindle_table_flushed(const struct spindle_table *t)
{
	return spindle_load_acquire(t->ctl_flushed) == *t->usr_flush;
}

/**
 * spindle_table_skip() - send a member no changes of the row for now, or again
 * @t: attached with SPINDLE_TABLE_WRITE
 * @instance: of the member's row: seat.sst of spindle_table_seats(), or spindle_table_instance()
 * @skip: false: the member is to get the newest values, and all later ones
 *
 * For values that are meant for some of the members: skip the others, then write. A value that was
 * sealed before the call may still be on its way to the member. When the attachment ends, no member
 * is skipped any more. A node that comes to the instance of one that has left is not skipped.
 *
 * Return: 0; -EINVAL: @instance is out of range, or the own one; -EBADF without
 * SPINDLE_TABLE_WRITE; -EOPNOTSUPP in a table of mode read, because members read when they like;
 * and without @skip as spindle_table_push(), when the bit is cleared.
 */
SPINDLE_API int spindle_table_skip(struct spindle_table *t, uint32_t instance, bool skip);

/**
 * spindle_table_is_read() - is the table of mode read?
 * @t: attached
 *
 * Return: true: rows are read, see spindle_table_refresh(); false: changes are sent to all members.
 * Any thread.
 */
static inline bool spindle_table_is_read(const struct spindle_table *t)
{
	return t->read;
}

/**
 * spindle_table_refresh() - wait until the rows of all other members have been read
 * @t: attached to a table of mode read
 * @timeout_ms: milliseconds, 0 only to begin, -1 without limit
 *
 * The device reads each row after the call has begun. So a reader then finds what the other members
 * had sealed before the call, or something newer. The call waits for no process and no engine of
 * another member, and for no member that leaves. A cell that its owner is just writing may keep the
 * value that was read before.
 *
 * Wakes the engine as spindle_table_push() does. A refresh that has not ended goes on behind the
 * call, and spindle_table_refreshed() says when it has ended. Changes that it brings are changes
 * for spindle_table_wait() and for predicates, too.
 *
 * Return: 1: all rows have been read; 0 when the time is up; -EINTR on a signal; -EPIPE: the state
 * is final; -EBADF: @t is not attached; -EOPNOTSUPP in a table of mode write, because rows arrive
 * by themselves there; or an errno of the kernel.
 */
SPINDLE_API int spindle_table_refresh(struct spindle_table *t, int timeout_ms);

/**
 * spindle_table_refreshed() - has the last spindle_table_refresh() ended?
 * @t: attached
 *
 * POLLRDBAND of spindle_table_fd() says the same. For the thread that called
 * spindle_table_refresh().
 *
 * Return: true if so, or if there was none.
 */
static inline bool spindle_table_refreshed(const struct spindle_table *t)
{
	return spindle_load_acquire(t->ctl_refreshed) == *t->usr_refresh;
}

/**
 * spindle_table_every() - let the rows of the other members be read again and again
 * @t: attached to a table of mode read
 * @us: microseconds from one read of a row to the next, an hour at most; 1: without pause; 0: read
 *      only for spindle_table_refresh(), as after the attach
 *
 * The node reads as often as the shortest time of its attachments says. The time of this one ends
 * with the attachment. Time 1 keeps a processor busy.
 *
 * Return: 0; -EPIPE: the state is final, and nothing is read any more; -EBADF: @t is not attached;
 * -EOPNOTSUPP in a table of mode write, because rows arrive by themselves there; or an errno of the
 * kernel.
 */
SPINDLE_API int spindle_table_every(struct spindle_table *t, uint64_t us);

/**
 * spindle_cell_end() - seal a cell with its next version, and wake the engine if it sleeps
 * @t: attached with SPINDLE_TABLE_WRITE
 * @cell: 0 to cells - 1
 *
 * Return: as spindle_cell_seal(), then as spindle_table_push(), when the cell is sealed.
 */
SPINDLE_API int spindle_cell_end(struct spindle_table *t, uint32_t cell);

/**
 * spindle_cell_put() - replace the value of a cell by a copy of a buffer
 * @t: attached with SPINDLE_TABLE_WRITE
 * @cell: 0 to cells - 1
 * @p: the bytes; may be NULL if @len is 0
 * @len: how many, 0 to spindle_cell_bytes(); the rest of the value becomes 0
 *
 * Return: as spindle_cell_end(); -EMSGSIZE: @len is too large, and the cell is as it was.
 */
SPINDLE_API int spindle_cell_put(struct spindle_table *t, uint32_t cell, const void *p,
				 uint32_t len);

/**
 * spindle_cell_get() - copy the value of a cell
 * @t: attached
 * @instance: of a member's row: seat.sst of spindle_table_seats(), or spindle_table_instance()
 * @cell: 0 to cells - 1
 * @p: room for @len bytes; may be NULL if @len is 0
 * @len: how many bytes of the value, 0 to spindle_cell_bytes()
 * @version: set to how many values the cell has had, 0: none, and the value is 0; may be NULL
 *
 * Looks a few times if the owner is writing the cell. No system call. On errors @p and @version are
 * as they were, so a buffer that is used again keeps the last value that was whole.
 *
 * Return: 0; -EAGAIN: the cell is being written, or its write is on its way, or cell 0 is not
 * vouched for yet (SPINDLE_TABLE_FEAT_VOUCH): read again after spindle_table_wait(); -ENOENT: no
 * member had that instance at the last spindle_table_seats(); -EINVAL: @cell or @len is out of
 * range.
 */
SPINDLE_API int spindle_cell_get(const struct spindle_table *t, uint32_t instance, uint32_t cell,
				 void *p, uint32_t len, uint64_t *version);

/**
 * spindle_table_seats() - list the members, and map their rows
 * @t: attached
 * @seat: room for @n members, filled by rank; node, sst and flags are of interest
 * @n: at least t->members, SPINDLE_MAX_MEMBERS where views are live; 0 only maps the rows
 *
 * Asks the kernel. If the view is another one, all rows are mapped again, because a node that left
 * and came back may have other memory. On errors the members and rows are those of before.
 *
 * Return: the number of members; -ENOSPC: @n is too small, and t->members says how many there are;
 * -ENOTCONN: the table has ended; -ESTALE: views followed each other too fast, try again; -ENOMEM;
 * -EPROTO: the kernel's reply makes no sense.
 */
SPINDLE_API int spindle_table_seats(struct spindle_table *t, struct spindle_seat *seat,
				    unsigned int n);

/**
 * spindle_table_instance() - find the row of a node
 * @t: attached
 * @node: id of a node
 * @instance: set to the instance of its row
 *
 * Looks at the members of the last spindle_table_seats(), or of the attach. No system call.
 *
 * Return: 0, or -ENOENT: the node is no member.
 */
SPINDLE_API int spindle_table_instance(const struct spindle_table *t, uint32_t node,
				       uint32_t *instance);

/**
 * spindle_table_row_bytes() - room that a row needs in a snapshot
 * @t: attached
 *
 * Return: bytes: all cells with their seals.
 */
static inline uint32_t spindle_table_row_bytes(const struct spindle_table *t)
{
	return t->cells * t->cell;
}

/**
 * spindle_table_snapshot() - copy the rows of all members
 * @t: attached
 * @buf: rows by rank, each of spindle_table_row_bytes(); aligned to 8 bytes
 * @bytes: of @buf, at least t->members rows
 * @flags: SPINDLE_SNAPSHOT_ATOMIC or 0
 * @info: filled, also on -EAGAIN
 *
 * Members are those of the last spindle_table_seats(). A cell is copied with its seal, so its
 * version is in the buffer. Cells without a value that can be believed are 0, and counted in @info.
 * With SPINDLE_SNAPSHOT_ATOMIC there is no such cell. The rows are then collected until no version
 * has changed between two collections, so all these values were in this node's memory at one
 * moment. No system call.
 *
 * Return: 0; -EAGAIN: with SPINDLE_SNAPSHOT_ATOMIC, the rows have changed in each of a few
 * collections, and @buf has the last one; -ENOSPC: @bytes is too small; -EINVAL: @flags, or @buf is
 * not aligned; -EBADF: @t is not attached.
 */
SPINDLE_API int spindle_table_snapshot(const struct spindle_table *t, void *buf, size_t bytes,
				       unsigned int flags, struct spindle_snapshot *info);

/**
 * spindle_table_wait() - wait until a row may have changed
 * @t: attached
 * @timeout_ms: milliseconds, 0 only to ask, -1 without limit
 *
 * Compares the generation of the table with that of the last call that returned 1. A process that
 * reads the rows after each call misses no change. The first call may return 1 at once. Makes no
 * system call if the generation has grown already.
 *
 * With SPINDLE_TABLE_SIGNALS the kernel wakes nobody for a change. The call can then only ask, with
 * a @timeout_ms of 0.
 *
 * Return: 1: a row may have changed since; 0 when the time is up; -EINTR on a signal; -EPIPE: the
 * state is final, and no change is left that was not reported; -EBADF: @t is not attached, or it
 * has SPINDLE_TABLE_SIGNALS and @timeout_ms is not 0.
 */
SPINDLE_API int spindle_table_wait(struct spindle_table *t, int timeout_ms);

/**
 * spindle_table_wait_signal() - wait until a predicate has signalled
 * @t: attached
 * @timeout_ms: milliseconds, 0 only to ask, -1 without limit
 *
 * As spindle_table_wait(), for SPINDLE_DO_SIGNAL of the predicates of this attachment. A process
 * that looks at spindle_predicate_fired() after each call misses no signal. Several signals between
 * two calls are one return.
 *
 * Return: 1: there were signals since the last call that returned 1; 0 when the time is up; -EINTR
 * on a signal of the system; -EPIPE: the state is final, and no signal is left that was not
 * reported; -EBADF: @t is not attached.
 */
SPINDLE_API int spindle_table_wait_signal(struct spindle_table *t, int timeout_ms);

/**
 * spindle_table_attach_strerror() - say why spindle_table_attach() failed, and what to do
 * @t: as spindle_table_attach() left it
 * @o: as given to it
 * @err: what it returned
 * @buf: memory of the caller; 160 bytes are enough unless the device path is long
 * @len: bytes of @buf, at least 1; the text is cut off there
 *
 * Return: @buf, with one line of text without a final newline.
 */
SPINDLE_API const char *spindle_table_attach_strerror(const struct spindle_table *t,
						      const struct spindle_table_attr *o, int err,
						      char *buf, size_t len);

/**
 * spindle_table_call_strerror() - say why a call failed
 * @t: attached
 * @err: what the call returned: 0 or a negative errno
 * @buf: memory of the caller; 160 bytes are enough
 * @len: bytes of @buf, at least 1; the text is cut off there
 *
 * For all functions but spindle_table_attach(). For -EPIPE the text says why the state is final.
 *
 * Return: @buf, with one line of text without a final newline.
 */
SPINDLE_API const char *spindle_table_call_strerror(const struct spindle_table *t, int err,
						    char *buf, size_t len);

/**
 * spindle_table_fd() - the file descriptor of an attachment, for poll() and epoll
 * @t: attached
 *
 * POLLIN: a row may have changed since the last spindle_table_wait() that returned 1; never set
 * with SPINDLE_TABLE_SIGNALS. POLLPRI: a predicate has signalled since the last
 * spindle_table_wait_signal() that returned 1. Make the call of the event without time after each
 * of these events, because the event stays set until then. POLLOUT: spindle_table_flushed() is
 * true. POLLRDBAND: spindle_table_refreshed() is true. POLLERR and POLLHUP: the state is final.
 *
 * Return: the descriptor; it belongs to the table, do not close it.
 */
static inline int spindle_table_fd(const struct spindle_table *t)
{
	return t->fd;
}

/**
 * spindle_cell_bytes() - the largest value
 * @t: attached
 *
 * Return: bytes of a cell's value, without its seal.
 */
static inline uint32_t spindle_cell_bytes(const struct spindle_table *t)
{
	return t->cell - (uint32_t)sizeof(struct spindle_cell_seal);
}

/**
 * spindle_table_fields() - names and types of the fields of a value
 * @t: attached
 *
 * Whoever added the table has chosen the text, and the kernel does not check it. spindle-ctl reads
 * "NAME:TYPE[@OFFSET],...", see spindle-ctl(8).
 *
 * Return: the text, or "" if the table has none. It stays as it is until spindle_table_detach().
 * Any thread.
 */
static inline const char *spindle_table_fields(const struct spindle_table *t)
{
	return t->ctl_fields;
}

/**
 * spindle_table_state() - the state of the attachment
 * @t: attached
 *
 * Return: enum spindle_state; above SPINDLE_STATE_ACTIVE it is final. Any thread.
 */
static inline int spindle_table_state(const struct spindle_table *t)
{
	return (int)spindle_load_acquire32(t->ctl_state);
}

/**
 * spindle_table_error() - the cause of the attachment's state
 * @t: attached
 *
 * Return: enum spindle_error, see spindle_strerror(). Any thread.
 */
static inline int spindle_table_error(const struct spindle_table *t)
{
	return (int)spindle_load_acquire32(t->ctl_error);
}

#ifdef __cplusplus
}
#endif

#endif /* SPINDLE_TABLE_H */
