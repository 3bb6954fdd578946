/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note OR MIT */
/*
 * Spindle: tables that the members of a group share.
 *
 * A table has one row for each member. The process that has attached as the writer of a node
 * changes that node's row. The kernel writes the changes into the memory of the other members, and
 * every process that has attached to the table maps the rows of all members.
 *
 * This header is the contract between /dev/spindle-sst and a process. A table is a subgroup of mode
 * SPINDLE_MODE_TABLE: generic netlink creates it, see <linux/spindle_genl.h>. One open file is
 * bound to one table by SPINDLE_TABLE_IOC_ATTACH. Everything that a program needs to know about the
 * layout of the mapped memory is in the reply.
 *
 * The memory of an attachment
 * ---------------------------
 *   ctl   read-only   words that the kernel writes: state, generation, wake-up flag
 *   usr   read-write  words that the process writes: seen, dirty bits
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
 *   kick    full barrier; if ctl.need_wakeup: ioctl(SPINDLE_TABLE_IOC_KICK)
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
 * Waiting
 * -------
 * ctl.generation grows when a row may have changed, and with each view. usr.seen begins with 0.
 * poll() sets EPOLLIN while ctl.generation differs from usr.seen, and the eventfd is signalled with
 * each step. A process stores the generation into usr.seen before it looks at the rows, so that it
 * misses no change. poll() sets EPOLLERR and EPOLLHUP in a final state. The rows show zeroes then.
 * So a process that finds a version lower than before looks at ctl.state.
 */
#ifndef _UAPI_LINUX_SPINDLE_TABLE_H
#define _UAPI_LINUX_SPINDLE_TABLE_H

#include <linux/ioctl.h>
#include <linux/types.h>
#include <linux/spindle.h>

/* Limits, checked by the kernel; netlink errors name them. */
#define SPINDLE_MIN_CELL	64
#define SPINDLE_MAX_CELL	4096
#define SPINDLE_MAX_CELLS	1024
#define SPINDLE_MAX_TABLE_ROW	(1U << 16)	/* bytes of all cells of a row */
#define SPINDLE_MAX_TABLE_FILES	64		/* attachments to a table, at a node */

/* In spindle_table_attach.flags: the one process that writes the node's row. */
#define SPINDLE_TABLE_WRITE	(1U << 0)

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
	/** @flags: in: SPINDLE_TABLE_WRITE or 0 */
	__u32 flags;
	/** @event_fd: in: an eventfd that is signalled when the generation grows, or -1 */
	__s32 event_fd;
	/** @resv: in: 0; out: 0 */
	__u32 resv;
	/** @name: in: address of the table's name, which ends with a zero byte; or 0; out: 0 */
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
	/** @resv1: out: 0 */
	__u32 resv1;
	/** @ctl: out: section, always present */
	struct spindle_section ctl;
	/** @usr: out: section, always present */
	struct spindle_section usr;
	/** @own: out: section with SPINDLE_TABLE_WRITE */
	struct spindle_section own;
	/** @rows: out: section, one per instance */
	struct spindle_section rows;
};

#define SPINDLE_TABLE_IOC_ATTACH	_IOWR(SPINDLE_IOC_MAGIC, 64, struct spindle_table_attach)
/* Wake the engine: after the dirty bits, if ctl.need_wakeup is set. ENOTCONN: not attached. */
#define SPINDLE_TABLE_IOC_KICK		_IO(SPINDLE_IOC_MAGIC, 65)
/*
 * As SPINDLE_IOC_SEATS. spindle_seat.sst is the instance of a member's row, which stays the same as
 * long as the node is a member; rx and sender_rank have no meaning.
 */
#define SPINDLE_TABLE_IOC_SEATS		_IOWR(SPINDLE_IOC_MAGIC, 66, struct spindle_seats)

#endif /* _UAPI_LINUX_SPINDLE_TABLE_H */
