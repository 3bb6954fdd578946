/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note OR MIT */
/*
 * Spindle: tables that the members of a group share.
 *
 * A table has one row for each member. The process that has attached as the writer of a node
 * changes that node's row. The kernel writes the changes into the memory of the other members, and
 * every process that has attached to the table maps the rows of all members.
 *
 * A process may also leave predicates over the rows to the kernel, which evaluates them while the
 * process sleeps.
 *
 * This header is the contract between /dev/spindle-sst and a process. A table is a subgroup of mode
 * SPINDLE_MODE_TABLE or SPINDLE_MODE_TABLE_READ: generic netlink creates it, see
 * <linux/spindle_genl.h>. One open file is bound to one table by SPINDLE_TABLE_IOC_ATTACH.
 * Everything that a program needs to know about the layout of the mapped memory is in the reply.
 *
 * The memory of an attachment
 * ---------------------------
 *   ctl   read-only   words that the kernel writes: state, generation, signals, wake-up flag
 *   usr   read-write  words that the process writes: seen, heard, dirty bits, flush, skip, refresh
 *   own   read-write  the node's own row                      (WRITE)
 *   rows  read-only   the row of each member, one per instance, the own row as well
 *
 * Cells
 * -----
 * A row is an array of cells of equal size. The last 16 bytes of a cell are struct
 * spindle_cell_seal, and the bytes before it are the value. A cell whose bytes are all 0 has
 * version 0: nothing was written yet.
 *
 *   write   version + 1 into a local variable; the value; the version; then
 *           store-release the seal over value and version             (A)
 *   mark    atomic OR of the cell's bit into usr.dirty, with release  (B)
 *   kick    full barrier; if ctl.need_wakeup: ioctl(SPINDLE_TABLE_IOC_KICK)     (C)
 *
 *   read    load-acquire the seal (pairs with A); copy value and version; an acquire fence;
 *           compute the seal of the copy: if it is not the one that was loaded, the owner is
 *           writing the cell, or the write is on its way
 *
 * The seal is a mix of all words of the cell in front of it: h = 0; for each 64-bit word w, little
 * endian: h ^= w; h *= 0x9e3779b97f4a7c15; h ^= h >> 32.
 *
 * The engine takes dirty bits and pushes the cells to all members. It pushes what a cell contains
 * when the device reads it, so a member may skip values. Versions grow, because one process writes
 * the row at a time, and a new writer continues with the versions that it finds. The kernel marks
 * all cells when a writer attaches, because a former one may have died between (A) and (B).
 *
 * Cell 0 is the guard. The engine takes its bit first (pairs with B), copies the cell, then takes
 * the other bits, and pushes the copy last. So a reader that sees a version of cell 0 also sees, in
 * the other cells, what the owner sealed before that version, or something newer. With
 * SPINDLE_TABLE_FEAT_VOUCH this holds only for versions of cell 0 up to ctl.vouched of the instance
 * (load-acquire).
 *
 * Flush
 * -----
 * The writer may ask when the other members have in memory what it has marked so far. It stores
 * another number into usr.flush with release, behind its dirty bits (D), and kicks. The engine
 * stores that number into ctl.flushed (load-acquire) when devices have confirmed all writes for it.
 * One flush is under way at a time. A number that the process stores during a flush waits for its
 * end. If the process stores several, only the last one shows. Numbers begin with 1. A member that
 * leaves is not waited for.
 *
 * poll() sets EPOLLOUT for the writer while ctl.flushed is usr.flush, and the eventfd is signalled
 * at each end.
 *
 * Mode read
 * ---------
 * In a table of SPINDLE_MODE_TABLE_READ nothing is pushed. The device of a node reads the rows of
 * the other members from their memory, when a process of that node wants so. The other member's
 * engine need not run for that. The engine of the node takes whole values of cells only, so a row
 * shows the last whole value that was read. What is said about the guard holds.
 *
 *   usr.every    microseconds from one read of a row to the next, an hour at most; 0: none without
 *                usr.refresh. The engine takes the least number that an attachment of the node
 *                wants. A time that is shorter than a read takes means: without pause
 *   usr.refresh  any attachment may store another number with release, and kick. When the rows of
 *                all other members have been read since, the engine stores that number into
 *                ctl.refreshed (load-acquire). Numbers are as those of usr.flush
 *
 * poll() sets EPOLLRDBAND while ctl.refreshed is usr.refresh, and the eventfd is signalled at each
 * end. Dirty bits tell the own engine of changes, for the generation and for predicates. usr.skip
 * means nothing, and a flush ends at once.
 *
 * Members to skip
 * ---------------
 * usr.skip has a bit for each instance. While the bit of a member is set, the engine sends no
 * change of the own row to that member, and no flush waits for it. When the process has cleared the
 * bit, it kicks, and the member gets the newest values. The bit is atomic, as dirty bits are. The
 * kernel clears the bit of an instance that another node gets.
 *
 * Waiting
 * -------
 * ctl.generation grows when a row may have changed, and with each view. usr.seen begins with 0.
 * poll() sets EPOLLIN while ctl.generation differs from usr.seen, and the eventfd is signalled with
 * each step. A process stores the generation into usr.seen before it looks at the rows, so that it
 * misses no change. poll() sets EPOLLERR and EPOLLHUP in a final state. The rows show zeroes then.
 * So a process that finds a version lower than before looks at ctl.state.
 *
 * Predicates
 * ----------
 * SPINDLE_TABLE_IOC_ADD gives the engine a predicate of this attachment: up to four terms, and up
 * to four triggers that the engine runs in order when the predicate fires. A term compares two
 * numbers. A number comes from fields of the rows, see enum spindle_fold. A field is an integer in
 * the value of a cell, little endian, at a multiple of its width.
 *
 * The engine looks at a predicate when a row has changed since the last look, or the members have,
 * and once when the predicate is armed. It takes a field from the newest whole value of the cell
 * that has arrived (of cell 0: that is vouched for). All numbers of a look take the values of a row
 * from one copy of each cell, which was made of cell 0 first. A cell that was never written counts
 * as 0. The kinds of predicates are those of the SST paper:
 *
 *   recurrent    fires at each look at which it holds
 *   once         fires at the first such look, and is disarmed
 *   transition   fires if it holds, and did not hold at the look before; the look after arming has
 *                none before it
 *
 * The engine looks at states and not at events. What begins to hold and ends between two looks
 * fires nothing.
 *
 * A trigger of SPINDLE_DO_SET changes a field of the own row, and the engine seals the cell and
 * pushes it. That counts as a change of a row: the other predicates are looked at again, and so is
 * the one that fired, in the next pass. While a predicate is there that sets a field of a cell, the
 * process must not write that cell. A process that does spoils its own row.
 *
 * SPINDLE_DO_SIGNAL adds one to ctl.fired of the predicate and to ctl.signals. poll() sets EPOLLPRI
 * while ctl.signals differs from usr.heard, and the eventfd is signalled. A process stores
 * ctl.signals into usr.heard before it looks at ctl.fired. With SPINDLE_TABLE_SIGNALS only signals
 * and final states wake the process, and changes of rows do not.
 */
#ifndef _UAPI_LINUX_SPINDLE_TABLE_H
#define _UAPI_LINUX_SPINDLE_TABLE_H

#include <linux/ioctl.h>
#include <linux/types.h>
#include <linux/spindle.h>
#include <linux/spindle_genl.h>

/* Limits, checked by the kernel; netlink errors name them. */
#define SPINDLE_MIN_CELL	64
#define SPINDLE_MAX_CELL	4096
#define SPINDLE_MAX_CELLS	1024
#define SPINDLE_MAX_TABLE_ROW	(1U << 16)	/* bytes of all cells of a row */
#define SPINDLE_MAX_TABLE_FILES	64		/* attachments to a table, at a node */
#define SPINDLE_MAX_PREDICATES	32		/* of an attachment */
#define SPINDLE_MAX_TERMS	4		/* of a predicate */
#define SPINDLE_MAX_TRIGGERS	4		/* of a predicate */
#define SPINDLE_MAX_ROW_NODES	8		/* named by a number */

/* In spindle_table_attach.flags: the one process that writes the node's row. */
#define SPINDLE_TABLE_WRITE	(1U << 0)

/* There: poll() and the eventfd report signals of predicates, and no changes of rows. */
#define SPINDLE_TABLE_SIGNALS	(1U << 1)

/* Bits of spindle_table_attach.features. */
#define SPINDLE_TABLE_FEAT_LIVE		(1ULL << 0) /* members come and go */
#define SPINDLE_TABLE_FEAT_VOUCH	(1ULL << 1) /* believe cell 0 up to ctl.vouched */

/**
 * struct spindle_cell_seal - the end of each cell
 */
struct spindle_cell_seal {
	/** @version: how many values the cell has had; 0: none */
	__u64 version;
	/** @seal: mix of all words of the cell in front of this one */
	__u64 seal;
};

/**
 * struct spindle_table_attach - argument of SPINDLE_TABLE_IOC_ATTACH
 *
 * Errors: EINVAL (@size, @flags, @event_fd, @resv), EPROTONOSUPPORT (@size is that of an older
 * version), EFAULT, EISCONN (the file is attached), ENODEV (no such node), ENOENT (the node has no
 * such table), ENAMETOOLONG (@name), EBUSY (another process writes the row), EUSERS (the table has
 * SPINDLE_MAX_TABLE_FILES attachments at this node), ENOTCONN (the table has ended), ENOMEM (no
 * memory, or RLIMIT_MEMLOCK), EBADF (@event_fd).
 */
struct spindle_table_attach {
	/** @size: in: bytes of this struct for the process; out: for the kernel */
	__u32 size;
	/** @node: in: id of the node */
	__u32 node;
	/** @table: in: id of the table; 0 with @name; out: its id */
	__u32 table;
	/** @flags: in: SPINDLE_TABLE_* */
	__u32 flags;
	/** @event_fd: in: an eventfd that is signalled whenever poll() wakes, or -1 */
	__s32 event_fd;
	/** @resv: in: 0; out: 0 */
	__u32 resv;
	/**
	 * @name: in: address of the table's name, which ends with a zero byte; or 0; out: 0. Of
	 * shards that share the name, it means the one that the node is in
	 */
	__u64 name;
	/** @features: out: SPINDLE_TABLE_FEAT_* */
	__u64 features;
	/** @vid: out: id of the view */
	__u64 vid;
	/** @lineage: out: lineage of the live view; 0 of a static one */
	__u64 lineage[2];
	/** @era: out: as @lineage */
	__u64 era;
	/** @members: out: members of the table in this view */
	__u32 members;
	/** @rank: out: own rank among them */
	__u32 rank;
	/** @cells: out: cells of a row */
	__u32 cells;
	/** @cell: out: bytes of a cell, a power of two */
	__u32 cell;
	/** @own_instance: out: instance of the own row */
	__u32 own_instance;
	/** @instances: out: instances are below this */
	__u32 instances;
	/** @row_stride: out: distance between the rows cookies of consecutive instances */
	__u64 row_stride;
	/** @ctl_state: out: offset in ctl of a __u32, enum spindle_state */
	__u32 ctl_state;
	/** @ctl_error: out: offset in ctl of a __u32, enum spindle_error */
	__u32 ctl_error;
	/** @ctl_need_wakeup: out: offset in ctl of a __u32, nonzero while the engine sleeps */
	__u32 ctl_need_wakeup;
	/** @ctl_generation: out: offset in ctl of a __u64 that grows when a row may have changed */
	__u32 ctl_generation;
	/** @ctl_vouched: out: offset in ctl of a __u64 for each instance: version of its cell 0 */
	__u32 ctl_vouched;
	/** @usr_seen: out: offset in usr of a __u64: the generation that the process has handled */
	__u32 usr_seen;
	/** @usr_dirty: out: offset in usr of a __u64 for each 64 cells, with SPINDLE_TABLE_WRITE */
	__u32 usr_dirty;
	/** @ctl_signals: out: offset in ctl of a __u64: signals of all predicates */
	__u32 ctl_signals;
	/** @ctl_fired: out: offset in ctl of a __u64 for each predicate id: signals of it */
	__u32 ctl_fired;
	/** @usr_heard: out: offset in usr of a __u64: the signals that the process has handled */
	__u32 usr_heard;
	/** @ctl_flushed: out: offset in ctl of a __u64: the last flush that has ended */
	__u32 ctl_flushed;
	/** @usr_flush: out: offset in usr of a __u64, with _WRITE: the flush that is wanted */
	__u32 usr_flush;
	/** @usr_skip: out: offset in usr of a __u64 for each 64 instances, with _WRITE */
	__u32 usr_skip;
	/**
	 * @ctl_fields: out: offset in ctl of the table's fields, a text of SPINDLE_FIELDS_LEN
	 * characters at most and a zero byte; "" if the table has none. The text stays as it is
	 */
	__u32 ctl_fields;
	/** @mode: out: SPINDLE_MODE_TABLE or SPINDLE_MODE_TABLE_READ */
	__u32 mode;
	/** @ctl_refreshed: out: offset in ctl of a __u64: the last refresh that has ended */
	__u32 ctl_refreshed;
	/** @usr_refresh: out: offset in usr of a __u64: the refresh that is wanted */
	__u32 usr_refresh;
	/** @usr_every: out: offset in usr of a __u64: microseconds from one read to the next */
	__u32 usr_every;
	/** @ctl: out: section, always present */
	struct spindle_section ctl;
	/** @usr: out: section, always present */
	struct spindle_section usr;
	/** @own: out: section with SPINDLE_TABLE_WRITE */
	struct spindle_section own;
	/** @rows: out: section, one per instance */
	struct spindle_section rows;
};

/**
 * enum spindle_fold - how a number comes from fields
 *
 * Over no rows, the least value is the greatest number of its type, the greatest value the least
 * one, and the sum is 0.
 */
enum spindle_fold {
	/** @SPINDLE_FOLD_NONE: no field; the number is 0 */
	SPINDLE_FOLD_NONE,
	/** @SPINDLE_FOLD_OWN: the field of the own row */
	SPINDLE_FOLD_OWN,
	/** @SPINDLE_FOLD_EACH: the field of each row; only on the left side of a term */
	SPINDLE_FOLD_EACH,
	/** @SPINDLE_FOLD_MIN: the least value */
	SPINDLE_FOLD_MIN,
	/** @SPINDLE_FOLD_MAX: the greatest value */
	SPINDLE_FOLD_MAX,
	/** @SPINDLE_FOLD_SUM: the sum, of which the low 64 bits count */
	SPINDLE_FOLD_SUM
};

/**
 * enum spindle_row_set - the rows of a number
 */
enum spindle_row_set {
	/** @SPINDLE_ROWS_ALL: of all members */
	SPINDLE_ROWS_ALL,
	/** @SPINDLE_ROWS_OTHERS: of all other members */
	SPINDLE_ROWS_OTHERS,
	/** @SPINDLE_ROWS_NODES: of those nodes of a list that are members */
	SPINDLE_ROWS_NODES
};

/**
 * enum spindle_compare - how the two numbers of a term compare
 */
enum spindle_compare {
	/** @SPINDLE_CMP_EQ: left is equal to right */
	SPINDLE_CMP_EQ,
	/** @SPINDLE_CMP_NE: left is not equal to right */
	SPINDLE_CMP_NE,
	/** @SPINDLE_CMP_LT: left is less than right */
	SPINDLE_CMP_LT,
	/** @SPINDLE_CMP_LE: left is not greater than right */
	SPINDLE_CMP_LE,
	/** @SPINDLE_CMP_GT: left is greater than right */
	SPINDLE_CMP_GT,
	/** @SPINDLE_CMP_GE: left is not less than right */
	SPINDLE_CMP_GE
};

/* In spindle_field.flags: the integer has a sign. */
#define SPINDLE_FIELD_SIGNED	(1U << 0)

/**
 * struct spindle_field - an integer in the value of a cell
 */
struct spindle_field {
	/** @cell: 0 to cells - 1 */
	__u16 cell;
	/** @offset: bytes from the begin of the cell, a multiple of @width */
	__u16 offset;
	/** @width: 1, 2, 4 or 8 bytes */
	__u8 width;
	/** @flags: SPINDLE_FIELD_* */
	__u8 flags;
	/** @resv: 0 */
	__u16 resv;
};

/**
 * struct spindle_number - a number that the engine computes
 */
struct spindle_number {
	/** @fold: enum spindle_fold */
	__u8 fold;
	/** @rows: enum spindle_row_set; 0 with SPINDLE_FOLD_NONE and _OWN */
	__u8 rows;
	/** @nodes: entries of @node with SPINDLE_ROWS_NODES, 1 to SPINDLE_MAX_ROW_NODES; else 0 */
	__u16 nodes;
	/** @resv: 0 */
	__u32 resv;
	/** @field: the field; 0 with SPINDLE_FOLD_NONE */
	struct spindle_field field;
	/** @add: is added, as an integer of two's complement; 0 with SPINDLE_FOLD_EACH */
	__u64 add;
	/** @node: ids of nodes, from 1; 0 behind the entries */
	__u32 node[SPINDLE_MAX_ROW_NODES];
};

/**
 * struct spindle_term - a comparison
 *
 * Numbers have a sign if the left field has one. The right field has one then, too.
 */
struct spindle_term {
	/** @compare: enum spindle_compare */
	__u32 compare;
	/**
	 * @least: with SPINDLE_FOLD_EACH: rows for which the comparison holds, at least; or
	 * SPINDLE_ALL_ROWS. Else 0
	 */
	__u32 least;
	/** @left: a number with a field */
	struct spindle_number left;
	/** @right: a number */
	struct spindle_number right;
};

#define SPINDLE_ALL_ROWS	(~0U)

/**
 * enum spindle_do - what a trigger does
 */
enum spindle_do {
	/** @SPINDLE_DO_SIGNAL: tell the process */
	SPINDLE_DO_SIGNAL,
	/** @SPINDLE_DO_SET: store a number into a field of the own row; with SPINDLE_TABLE_WRITE */
	SPINDLE_DO_SET,
	/** @SPINDLE_DO_ARM: arm a predicate of this attachment, if there is one of that id */
	SPINDLE_DO_ARM,
	/** @SPINDLE_DO_DISARM: disarm it */
	SPINDLE_DO_DISARM
};

/**
 * struct spindle_trigger - what the engine does when a predicate fires
 */
struct spindle_trigger {
	/** @what: enum spindle_do */
	__u32 what;
	/** @id: of the predicate to arm or to disarm; else 0 */
	__u32 id;
	/** @field: of the own row, with SPINDLE_DO_SET; else 0 */
	struct spindle_field field;
	/** @value: its low bytes are stored, with SPINDLE_DO_SET; not SPINDLE_FOLD_EACH; else 0 */
	struct spindle_number value;
};

/**
 * enum spindle_kind - when a predicate fires, see above
 */
enum spindle_kind {
	/** @SPINDLE_KIND_RECURRENT: at each look at which it holds */
	SPINDLE_KIND_RECURRENT,
	/** @SPINDLE_KIND_ONCE: at the first one */
	SPINDLE_KIND_ONCE,
	/** @SPINDLE_KIND_TRANSITION: when it holds and did not at the look before */
	SPINDLE_KIND_TRANSITION
};

/* In spindle_predicate.flags: one of the terms is enough. */
#define SPINDLE_PREDICATE_ANY		(1U << 0)
/* There: the predicate is not armed yet. */
#define SPINDLE_PREDICATE_DISARMED	(1U << 1)

/* In spindle_predicate.id: the kernel chooses the id. */
#define SPINDLE_ANY_ID		(~0U)

/* In spindle_predicate.bad: this, and the index of the trigger. */
#define SPINDLE_BAD_TRIGGER	16

/**
 * struct spindle_predicate - argument of SPINDLE_TABLE_IOC_ADD
 *
 * Errors: EINVAL (@bad says where), EPROTONOSUPPORT (@size is that of an older version), EFAULT,
 * ENOTCONN (the file is not attached, or the table has ended), EBADF (a trigger sets a field
 * without SPINDLE_TABLE_WRITE), EBUSY (the id is taken), ENOSPC (SPINDLE_MAX_PREDICATES are there),
 * ENOMEM.
 */
struct spindle_predicate {
	/** @size: in: bytes of this struct for the process; out: for the kernel */
	__u32 size;
	/** @id: in: 0 to SPINDLE_MAX_PREDICATES - 1, or SPINDLE_ANY_ID; out: the id */
	__u32 id;
	/** @kind: in: enum spindle_kind */
	__u32 kind;
	/** @flags: in: SPINDLE_PREDICATE_* */
	__u32 flags;
	/** @terms: in: how many, at least 1 */
	__u32 terms;
	/** @triggers: in: how many, at least 1 */
	__u32 triggers;
	/**
	 * @bad: in: 0; out, with EINVAL or EBADF: 0, or what is wrong: 1 and the index of the term,
	 * or SPINDLE_BAD_TRIGGER and the index of the trigger
	 */
	__u32 bad;
	/** @resv: in: 0 */
	__u32 resv;
	/** @term: in: the terms; 0 behind them */
	struct spindle_term term[SPINDLE_MAX_TERMS];
	/** @trigger: in: the triggers, in order; 0 behind them */
	struct spindle_trigger trigger[SPINDLE_MAX_TRIGGERS];
};

#define SPINDLE_TABLE_IOC_ATTACH	_IOWR(SPINDLE_IOC_MAGIC, 64, struct spindle_table_attach)
/* Wake the engine: after the dirty bits, if ctl.need_wakeup is set. ENOTCONN: not attached. */
#define SPINDLE_TABLE_IOC_KICK		_IO(SPINDLE_IOC_MAGIC, 65)
/*
 * As SPINDLE_IOC_SEATS. spindle_seat.sst is the instance of a member's row, which stays the same as
 * long as the node is a member; rx and sender_rank have no meaning.
 */
#define SPINDLE_TABLE_IOC_SEATS		_IOWR(SPINDLE_IOC_MAGIC, 66, struct spindle_seats)
/* Give the engine a predicate. The file's ctl.fired of its id begins with 0. */
#define SPINDLE_TABLE_IOC_ADD		_IOWR(SPINDLE_IOC_MAGIC, 67, struct spindle_predicate)
/*
 * Take a predicate back; the argument is its id. When the call returns, its triggers do not run any
 * more. ENOENT: the attachment has no such predicate. ENOTCONN: the file is not attached.
 */
#define SPINDLE_TABLE_IOC_REMOVE	_IO(SPINDLE_IOC_MAGIC, 68)

#endif /* _UAPI_LINUX_SPINDLE_TABLE_H */
