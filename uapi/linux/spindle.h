/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note OR MIT */
/*
 * Spindle: atomic multicast as an operating-system service.
 *
 * This header is the contract between /dev/spindle and a process that sends to
 * and reads from a subgroup through mapped memory. Configuration (nodes, views,
 * subgroups) goes by generic netlink, see <linux/spindle_genl.h>.
 *
 * One open file is bound to one subgroup by SPINDLE_IOC_ATTACH and is then
 * called an attachment. Everything a program needs to know about the layout of
 * the mapped memory is in the reply; nothing is derived from sizeof.
 *
 * The memory of an attachment
 * ---------------------------
 *   ctl   read-only   words that the kernel writes: state, tails, wake-up flag
 *   usr   read-write  words that the process writes: consumed, TX descriptors
 *   tx    read-write  payload ring of the local sender        (SEND)
 *   rx    read-only   payload ring of every sender, by rank   (RECV, not COPY, no history)
 *   dlv   read-only   ring of struct spindle_dlv              (RECV)
 *   copy  read-only   payload ring that dlv points into       (RECV and COPY, or a history)
 *   sst   read-only   the columns of each member's row, by rank. They may lag by one push,
 *                     because columns that came with an express message are not shown
 *
 * Each section may be mapped with twice its length: the second half shows the same
 * pages again. In a payload ring (tx, rx, copy), a message that wraps is then contiguous.
 *
 * Sending (single attachment, any number of threads)
 * --------------------------------------------------
 *   reserve  one compare-and-swap on usr.reserve takes the next slot number and
 *            the next bytes of the ring, in units of SPINDLE_UNIT bytes;
 *   fill     write the bytes at tx + (unit * SPINDLE_UNIT) % ring_bytes;
 *   commit   unit, units, len, flags of desc[slot % window], then
 *            store-release desc[slot % window].ready = slot + 1      (A)
 *   kick     full barrier; if ctl.need_wakeup: ioctl(SPINDLE_IOC_KICK)
 *
 * The engine load-acquires .ready (pairs with A), copies the rest of the descriptor, checks
 * the copy, and multicasts the slots in slot order as they become ready. ctl.tx_slot and
 * ctl.tx_unit say up to where slots and units are free again. Load-acquire them (D): this
 * pairs with the engine's store-release after all members have delivered.
 *
 * Reading (each attachment on its own)
 * ------------------------------------
 *   tail = load-acquire ctl.dlv_tail                                 (B)
 *   dlv[i % dlv_entries] for i in [consumed, tail)
 *   store-release usr.consumed when the bytes are no longer needed   (C)
 *
 * (B) pairs with the engine's store-release of the tail, which follows its stores of
 * descriptors and bytes. (C) pairs with the engine's load-acquire, which comes before it lets
 * senders overwrite the bytes. The engine stores a final ctl.state after the last tail: a
 * reader that has seen the final state, and then finds no new tail, has read everything, unless
 * the error is SPINDLE_ERR_BEHIND.
 *
 * A history (SPINDLE_FEAT_HISTORY) waits for no reader, and all its readers map the same rings. So
 * what a reader has read of entry i is only valid if, behind an acquire fence, ctl.dlv_low is at
 * most i (F). The engine stores ctl.dlv_low before it overwrites the entries below. If it has
 * overwritten an entry that was not consumed, dlv_low is 2^64 - 1, and the attachment is FROZEN.
 * SPINDLE_IOC_FILL lowers dlv_low, because it puts entries in front. A process that reads entries
 * that it has consumed does not call that at the same time.
 *
 * A subgroup with logs (SPINDLE_FEAT_LOG) has one reader at each node that writes all messages to
 * disk: its logger (SPINDLE_ATTACH_LOG). The logger says in struct spindle_log_words how far its
 * disk is. ctl.durable is the position below which enough disks have all messages. It never goes
 * back. The history keeps what the logger has not persisted, also when the logger has died.
 *
 * poll() sets EPOLLIN while there are delivered entries that are not consumed. It sets
 * EPOLLOUT while a slot is free and a message of max_msg bytes would fit; for this the kernel
 * reads usr.reserve without checking it. It sets EPOLLPRI while usr.want is not 0 and at most
 * ctl.durable. It sets EPOLLERR and EPOLLHUP in a final state.
 */
#ifndef _UAPI_LINUX_SPINDLE_H
#define _UAPI_LINUX_SPINDLE_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Granularity of extents in payload rings, in bytes. */
#define SPINDLE_UNIT		64
#define SPINDLE_UNIT_SHIFT	6

/* Limits, checked by the kernel; netlink errors name them. */
#define SPINDLE_MAX_MEMBERS	64
#define SPINDLE_MAX_SUBGROUPS	64
#define SPINDLE_MAX_READERS	64	/* of a subgroup, at a node */
#define SPINDLE_MAX_WINDOW	65536
#define SPINDLE_MAX_RING	(1U << 30)
#define SPINDLE_MAX_MSG		(1U << 28)
#define SPINDLE_MAX_DIRECT	(1U << 20)	/* of a message with destinations */

/* "No such rank": spindle_attach.sender_rank of a member that does not send. */
#define SPINDLE_NO_RANK		0xffffffffU

/* enum spindle_attach_flags - role of an attachment, in spindle_attach.flags */
#define SPINDLE_ATTACH_SEND	(1U << 0) /* the subgroup's sender, at most one */
#define SPINDLE_ATTACH_RECV	(1U << 1) /* a reader, any number */
#define SPINDLE_ATTACH_COPY	(1U << 2) /* reader with its own payload ring */
#define SPINDLE_ATTACH_HISTORY	(1U << 3) /* the program knows histories, and checks (F) */
#define SPINDLE_ATTACH_LOG	(1U << 4) /* the subgroup's logger, at most one, a reader */

/**
 * enum spindle_from - where a reader begins, in spindle_attach.from
 */
enum spindle_from {
	/** @SPINDLE_FROM_NOW: with the next message that is delivered */
	SPINDLE_FROM_NOW,
	/** @SPINDLE_FROM_OLDEST: with the oldest message of the history; the next one without it */
	SPINDLE_FROM_OLDEST,
	/** @SPINDLE_FROM_LSN: with the message of a position, of an ordered subgroup */
	SPINDLE_FROM_LSN
};

/* Bits of spindle_attach.features. */
#define SPINDLE_FEAT_PACKED	(1ULL << 0) /* reserve what a message needs, else max_msg */
#define SPINDLE_FEAT_COPY	(1ULL << 1) /* SPINDLE_ATTACH_COPY is known */
#define SPINDLE_FEAT_ORDERED	(1ULL << 2) /* this subgroup is totally ordered */
#define SPINDLE_FEAT_LIVE	(1ULL << 3) /* members come and go: SPINDLE_DLV_VIEW */
#define SPINDLE_FEAT_DIRECT	(1ULL << 4) /* messages for some members: SPINDLE_DLV_OTHER */
#define SPINDLE_FEAT_HISTORY	(1ULL << 5) /* this attachment reads the subgroup's history */
#define SPINDLE_FEAT_FILL	(1ULL << 6) /* this attachment may use SPINDLE_IOC_FILL */
#define SPINDLE_FEAT_LOG	(1ULL << 7) /* this subgroup has logs: ctl_durable */
#define SPINDLE_FEAT_GATE	(1ULL << 8) /* readers get a message when it is durable */
#define SPINDLE_FEAT_FIRST	(1ULL << 9) /* no view before @began_vid, and no message */

/**
 * enum spindle_state - state of an attachment, in ctl.state
 *
 * States above ACTIVE are final: only FROZEN and FAILED may still become GONE. In a final
 * state poll() reports EPOLLERR and EPOLLHUP. Messages delivered before may still be read.
 */
enum spindle_state {
	/**
	 * @SPINDLE_STATE_FORMING: not all members are connected; slots may already be committed and
	 * are sent once all members are connected
	 */
	SPINDLE_STATE_FORMING,
	/** @SPINDLE_STATE_ACTIVE: messages flow */
	SPINDLE_STATE_ACTIVE,
	/**
	 * @SPINDLE_STATE_FROZEN: this attachment broke the ring's rules, see ctl.error; other
	 * attachments go on
	 */
	SPINDLE_STATE_FROZEN,
	/** @SPINDLE_STATE_FAILED: the subgroup lost a member or the device, see ctl.error */
	SPINDLE_STATE_FAILED,
	/** @SPINDLE_STATE_GONE: the view or the node was removed */
	SPINDLE_STATE_GONE
};

/**
 * enum spindle_error - cause of a state, in ctl.error and in netlink events
 */
enum spindle_error {
	/** @SPINDLE_ERR_NONE: nothing is wrong */
	SPINDLE_ERR_NONE,
	/**
	 * @SPINDLE_ERR_TX_READY: a TX descriptor's ready word is neither this lap's nor the last
	 * lap's value
	 */
	SPINDLE_ERR_TX_READY,
	/**
	 * @SPINDLE_ERR_TX_EXTENT: an extent does not begin where the one before ended, or ends
	 * beyond the free part of the ring, or has unknown flags
	 */
	SPINDLE_ERR_TX_EXTENT,
	/**
	 * @SPINDLE_ERR_TX_LEN: a message is longer than max_msg or than its extent, or has a mask
	 * and is longer than SPINDLE_MAX_DIRECT
	 */
	SPINDLE_ERR_TX_LEN,
	/** @SPINDLE_ERR_CONSUMED: usr.consumed went back, or beyond ctl.dlv_tail */
	SPINDLE_ERR_CONSUMED,
	/** @SPINDLE_ERR_PEER_LOST: the connection to a member broke */
	SPINDLE_ERR_PEER_LOST,
	/** @SPINDLE_ERR_PEER_PROTOCOL: a member wrote a value outside its legal range */
	SPINDLE_ERR_PEER_PROTOCOL,
	/** @SPINDLE_ERR_DEVICE_GONE: the RDMA device was removed */
	SPINDLE_ERR_DEVICE_GONE,
	/** @SPINDLE_ERR_VIEW_GONE: the view was replaced or removed */
	SPINDLE_ERR_VIEW_GONE,
	/** @SPINDLE_ERR_STALLED: a reader consumed nothing for longer than the subgroup allows */
	SPINDLE_ERR_STALLED,
	/**
	 * @SPINDLE_ERR_MINORITY: at most half of a live view's members are left, and only a
	 * majority may go on
	 */
	SPINDLE_ERR_MINORITY,
	/** @SPINDLE_ERR_EVICTED: the other members of a live view have gone on without this node */
	SPINDLE_ERR_EVICTED,
	/** @SPINDLE_ERR_LEFT: the node has left the live view on request */
	SPINDLE_ERR_LEFT,
	/**
	 * @SPINDLE_ERR_NOT_MEMBER: the rules of the live view have moved the node out of the
	 * subgroup
	 */
	SPINDLE_ERR_NOT_MEMBER,
	/**
	 * @SPINDLE_ERR_TX_MASK: a message names a member that its view did not have, or a view
	 * that the kernel does not know any more; or it has a mask, and the subgroup has logs
	 */
	SPINDLE_ERR_TX_MASK,
	/**
	 * @SPINDLE_ERR_BEHIND: the reader had not consumed what the history forgot, which it may
	 * have delivered and forgotten at once
	 */
	SPINDLE_ERR_BEHIND,
	/**
	 * @SPINDLE_ERR_LOG: the words of a logger went back, or beyond what was delivered, or
	 * contradict themselves
	 */
	SPINDLE_ERR_LOG
};

/**
 * struct spindle_section - one mappable part of an attachment
 *
 * Sections with one instance per member (rx, sst) name instance 0; instance i is i * stride
 * behind @cookie. SPINDLE_IOC_SEATS gives the instances of each member.
 */
struct spindle_section {
	/** @cookie: file offset to give to mmap() */
	__u64 cookie;
	/** @len: length in bytes; 0: this attachment has no such part */
	__u64 len;
};

/**
 * struct spindle_attach - argument of SPINDLE_IOC_ATTACH
 *
 * Errors: EPROTONOSUPPORT (the program was compiled for another version of this header, or RECV
 * without SPINDLE_ATTACH_HISTORY in a subgroup with a history), EOPNOTSUPP (SPINDLE_FROM_LSN in an
 * unordered subgroup, where each life of a node counts for itself), EINVAL (size, flags, reserved,
 * copy_bytes, event_fd is no eventfd, or both @name and @subgroup), EFAULT and ENAMETOOLONG
 * (@name), ENODEV (no such node), ENOENT (no such subgroup, or no view), EBUSY (second sender, or
 * the last message of a detached sender is still in flight after 5 seconds), EINTR (a signal came
 * during that wait), EPERM (SEND, but the node is no sender of the subgroup; or the subgroup is a
 * table, see <linux/spindle_table.h>), EISCONN (file is attached already), EUSERS
 * (SPINDLE_MAX_READERS receive already), ENOMEM (memory or RLIMIT_MEMLOCK, see @memlock), EBADF
 * (event_fd is no descriptor), ENOTCONN (the subgroup has failed), ESTALE (the message of @lsn is
 * not in the history any more, or there is no history), ERANGE (@lsn is beyond @next), EXDEV (@lsn
 * belongs to another lineage, or another era). With SPINDLE_ATTACH_LOG also EOPNOTSUPP (the
 * subgroup has no logs), EBUSY (it has a logger here), EINVAL (without RECV and HISTORY, or @from
 * is NOW), ERANGE (@next) and ENODATA (@next is below what an earlier logger has said to be on
 * disk).
 */
struct spindle_attach {
	/**
	 * @size: in: sizeof(struct spindle_attach) as the program was compiled; the kernel fills at
	 * most that much
	 */
	__u32 size;
	/** @flags: in: SPINDLE_ATTACH_*; SEND, RECV or both */
	__u32 flags;
	/** @node: in: id of a node in the caller's network namespace */
	__u32 node;
	/**
	 * @subgroup: in: id of a subgroup of the node's installed view, or 0 with @name; out: its
	 * id
	 */
	__u32 subgroup;
	/** @event_fd: in: eventfd to signal at deliveries and state changes, or -1 */
	__s32 event_fd;
	/** @from: in: enum spindle_from; SPINDLE_FROM_NOW without SPINDLE_ATTACH_RECV */
	__u32 from;
	/**
	 * @copy_bytes: in: bytes of the copy ring, a power of two from max_msg and from a page up;
	 * 0 for ring_bytes. Must be 0 without SPINDLE_ATTACH_COPY. With SPINDLE_FEAT_HISTORY the
	 * copy ring is that of the history; out: its bytes, if the attach succeeds
	 */
	__u64 copy_bytes;
	/**
	 * @memlock: out: bytes charged to RLIMIT_MEMLOCK; after ENOMEM the bytes that the
	 * attachment needs
	 */
	__u64 memlock;
	/** @features: out: SPINDLE_FEAT_* */
	__u64 features;
	/**
	 * @vid: out: id of the view; of a reader of a history, of the first entry that it gets. The
	 * next four are those of the present view, whatever @vid is: SPINDLE_IOC_SEATS lists the
	 * members of @vid
	 */
	__u64 vid;
	/** @members: out: members of the subgroup */
	__u32 members;
	/** @senders: out: members that may send */
	__u32 senders;
	/** @rank: out: own rank among the members */
	__u32 rank;
	/** @sender_rank: out: own rank among the senders, or SPINDLE_NO_RANK */
	__u32 sender_rank;
	/** @window: out: slots of a sender, a power of two */
	__u32 window;
	/** @max_msg: out: largest message, bytes */
	__u32 max_msg;
	/** @ring_bytes: out: bytes of each sender's payload ring, a power of two */
	__u64 ring_bytes;
	/** @dlv_entries: out: entries of the delivery ring, a power of two */
	__u32 dlv_entries;
	/** @dlv_stride: out: bytes from one struct spindle_dlv to the next */
	__u32 dlv_stride;
	/** @rx_stride: out: distance between the rx cookies of consecutive instances */
	__u64 rx_stride;
	/** @sst_stride: out: distance between the sst cookies of consecutive instances */
	__u64 sst_stride;
	/** @sst_offset: out: byte offset of this subgroup's columns in an sst section */
	__u32 sst_offset;
	/** @ctl_state: out: offset in ctl of a __u32, enum spindle_state */
	__u32 ctl_state;
	/** @ctl_error: out: offset in ctl of a __u32, enum spindle_error */
	__u32 ctl_error;
	/**
	 * @ctl_need_wakeup: out: offset in ctl of a __u32, nonzero while the engine sleeps and
	 * needs a kick
	 */
	__u32 ctl_need_wakeup;
	/** @ctl_dlv_tail: out: offset in ctl of a __u64: entries delivered so far */
	__u32 ctl_dlv_tail;
	/** @ctl_tx_slot: out: offset in ctl of a __u64: slots that are free again */
	__u32 ctl_tx_slot;
	/** @ctl_tx_unit: out: offset in ctl of a __u64: units that are free again */
	__u32 ctl_tx_unit;
	/** @usr_consumed: out: offset in usr of a __u64: entries consumed so far */
	__u32 usr_consumed;
	/**
	 * @usr_reserve: out: offset in usr of a __u64 that belongs to the process: next slot (low
	 * 32 bits) and next unit (high 32 bits). The kernel sets it once, at the attach. Its first
	 * value may be ahead of tx_slot and tx_unit by the messages that an earlier sender left in
	 * flight
	 */
	__u32 usr_reserve;
	/** @usr_desc: out: offset in usr of @window struct spindle_tx_desc */
	__u32 usr_desc;
	/**
	 * @ctl_dlv_low: out: offset in ctl of a __u64: with SPINDLE_FEAT_HISTORY, entries below
	 * are overwritten
	 */
	__u32 ctl_dlv_low;
	/**
	 * @ctl_durable: out: offset in ctl of a __u64, with SPINDLE_FEAT_LOG: messages below this
	 * position are durable
	 */
	__u32 ctl_durable;
	/** @ctl: out: section, always present */
	struct spindle_section ctl;
	/** @usr: out: section, always present */
	struct spindle_section usr;
	/** @tx: out: section with SPINDLE_ATTACH_SEND */
	struct spindle_section tx;
	/**
	 * @rx: out: section with SPINDLE_ATTACH_RECV and without COPY, one per sender; none of a
	 * reader of a history
	 */
	struct spindle_section rx;
	/** @dlv: out: section with SPINDLE_ATTACH_RECV */
	struct spindle_section dlv;
	/** @copy: out: section with SPINDLE_ATTACH_COPY, or of a reader of a history */
	struct spindle_section copy;
	/** @sst: out: section, one per member */
	struct spindle_section sst;
	/**
	 * @lsn: in: with SPINDLE_FROM_LSN the position to begin with; out: position of the next
	 * message: of the first entry that is not consumed, if the attachment receives
	 */
	__u64 lsn;
	/**
	 * @lineage: in: with SPINDLE_FROM_LSN the lineage that @lsn belongs to; with 0 here and in
	 * @era it is not known; out: lineage of the live view; 0 of a static one, which has none
	 */
	__u64 lineage[2];
	/**
	 * @era: in: as @lineage; out: how often the lineage began again after all its members were
	 * gone
	 */
	__u64 era;
	/**
	 * @oldest: out: position of the oldest message that could be read, also after ESTALE and
	 * ERANGE; @next if there is none
	 */
	__u64 oldest;
	/**
	 * @next: in: with SPINDLE_ATTACH_LOG: all messages below are on disk, from @lsn on to the
	 * next one that is delivered; 0: those below the first one that it reads; out: position of
	 * the next message that is delivered, as @oldest; with SPINDLE_FEAT_GATE, that readers get
	 */
	__u64 next;
	/**
	 * @name: in: address of the name of a subgroup of the node, which ends with a zero byte;
	 * 0: @subgroup has its id. Of subgroups that are shards of one rule, the name means the one
	 * that the node is in; out: 0
	 */
	__u64 name;
	/** @resv2: in: 0, out: 0 */
	__u64 resv2;
	/**
	 * @ctl_lsn: out: offset in ctl of a __u64, with SPINDLE_FEAT_LOG: position of the next
	 * message that is delivered. It is stored before @ctl_tx_slot, so that a message whose slot
	 * is free again has a position below
	 */
	__u32 ctl_lsn;
	/**
	 * @usr_want: out: offset in usr of a __u64, with SPINDLE_FEAT_LOG: the process is woken
	 * (EPOLLPRI, the eventfd) when ctl_durable is at least this; 0: it is not. Store it, then a
	 * full barrier, then look at ctl_durable again
	 */
	__u32 usr_want;
	/** @usr_log: out: offset in usr of a struct spindle_log_words, with SPINDLE_ATTACH_LOG */
	__u32 usr_log;
	/**
	 * @sst_log: out: byte offset of this subgroup's log block in an sst section, with
	 * SPINDLE_FEAT_LOG: struct spindle_log_block
	 */
	__u32 sst_log;
	/**
	 * @began_vid: out: with SPINDLE_FEAT_LOG: the view that the subgroup began with, or began
	 * again with when its members changed. A view record is of that view
	 */
	__u64 began_vid;
	/** @began_lsn: out: with SPINDLE_FEAT_LOG: position of the first message of that view */
	__u64 began_lsn;
};

/**
 * enum spindle_log_state - what a logger says about its log
 */
enum spindle_log_state {
	/** @SPINDLE_LOG_NONE: there is no logger, or it has not said anything yet */
	SPINDLE_LOG_NONE,
	/** @SPINDLE_LOG_CATCHING_UP: it fetches older messages from other logs */
	SPINDLE_LOG_CATCHING_UP,
	/** @SPINDLE_LOG_LOGGING: it writes messages as they are delivered */
	SPINDLE_LOG_LOGGING,
	/** @SPINDLE_LOG_FULL: its disk has no space */
	SPINDLE_LOG_FULL,
	/** @SPINDLE_LOG_FAILED: its disk has failed; what it has persisted may still be there */
	SPINDLE_LOG_FAILED,
	/** @SPINDLE_LOG_BEHIND: the kernel may forget messages that are not persisted */
	SPINDLE_LOG_BEHIND
};

/**
 * struct spindle_log_words - what a logger tells the kernel, in its usr section
 *
 * The logger stores @persisted first and @change last, each word with release. The kernel may copy
 * the words at any time behind a new @change. It checks the copies. A word that goes back, or that
 * is beyond what is possible, freezes the attachment (SPINDLE_ERR_LOG).
 */
struct spindle_log_words {
	/** @change: another value than before, with each change */
	__u64 change;
	/**
	 * @persisted: all messages below this position are on disk, or in a snapshot there. The
	 * kernel keeps the others in the history
	 */
	__u64 persisted;
	/** @low: the first position that the log keeps, at most @persisted */
	__u64 low;
	/** @snapshot: position of the newest snapshot on disk, at most @persisted; 0: none */
	__u64 snapshot;
	/** @record: id of the newest view whose record is on disk; 0: none */
	__u64 record;
	/** @state: enum spindle_log_state, NONE to FAILED */
	__u32 state;
	/** @resv: 0 */
	__u32 resv;
};

/**
 * struct spindle_log_block - what the logger of a member says, in a row of the sst section
 *
 * A reader has one version of the words if the seal is their mix: see spindle_log_block(3), which
 * checks that.
 */
struct spindle_log_block {
	/** @persisted: as in struct spindle_log_words */
	__u64 persisted;
	/** @low: as there */
	__u64 low;
	/** @snapshot: as there */
	__u64 snapshot;
	/**
	 * @record: bits 0 to 2: enum spindle_log_state; bit 3: the member knows that the present
	 * view is established; bits 4 to 63: the id of the newest view whose record is on disk
	 */
	__u64 record;
	/** @seal: changes with each version */
	__u64 seal;
};

/**
 * struct spindle_tx_desc - one slot of the local sender, written by the process
 */
struct spindle_tx_desc {
	/**
	 * @unit: first unit of the extent, modulo 2^32; equals the end of the previous slot's
	 * extent
	 */
	__u32 unit;
	/** @units: units reserved; slots are reserved back to back */
	__u32 units;
	/** @len: bytes of the message, at most @units * SPINDLE_UNIT and max_msg */
	__u32 len;
	/** @flags: SPINDLE_TX_* */
	__u32 flags;
	/** @ready: slot number + 1, stored with release after all else */
	__u64 ready;
	/**
	 * @mask: members that get the message, by their ranks in the subgroup, in the view that
	 * SPINDLE_TX_VIEW names; 0: all. The other members get its position, see SPINDLE_DLV_OTHER.
	 * Members that have gone by then are left out. If none is left, nothing is sent. A message
	 * with a mask has at most SPINDLE_MAX_DIRECT bytes
	 */
	__u64 mask;
};

/* In spindle_tx_desc.flags: the process gave the slot up, so nothing is sent for it. */
#define SPINDLE_TX_ABANDON	(1U << 0)
/*
 * In spindle_tx_desc.flags: the last 16 bits of the id of the view whose ranks are in @mask. The
 * kernel knows the ranks of this subgroup since its members last changed, and before each of the
 * last 32 changes. An older view freezes the attachment. Without @mask these bits do not matter.
 */
#define SPINDLE_TX_VIEW		0xffff0000U
#define SPINDLE_TX_VIEW_SHIFT	16

/**
 * enum spindle_dlv_kind - what a delivery descriptor stands for
 */
enum spindle_dlv_kind {
	/** @SPINDLE_DLV_MSG: a message */
	SPINDLE_DLV_MSG,
	/**
	 * @SPINDLE_DLV_VIEW: a view begins: @slot is its id, and @lsn the position that it begins
	 * with; @offset is the id of the last view with the members that the entries before this
	 * one were delivered to; all other fields are 0. All members that are in both views deliver
	 * the entries before this one in the old view, and those after it in the new one.
	 * SPINDLE_IOC_SEATS lists the members. Only live views have such entries, and histories
	 * that were filled. There is none for the view that the attachment began in, nor for a view
	 * that does not change the members of the subgroup. Views in which nothing was delivered
	 * may be skipped
	 */
	SPINDLE_DLV_VIEW,
	/**
	 * @SPINDLE_DLV_OTHER: a message for other members: @offset and @len are 0
	 */
	SPINDLE_DLV_OTHER
};

/**
 * struct spindle_dlv - one delivery, in the subgroup's order
 */
struct spindle_dlv {
	/**
	 * @lsn: position (log sequence number): how many messages of the subgroup were delivered
	 * before this one, in all views. All members deliver the same message at the same position.
	 * In an unordered subgroup each node counts what it delivers itself. Of any other kind: the
	 * position of the next message
	 */
	__u64 lsn;
	/** @offset: first byte in the rx ring of @sender, or in the copy ring; of a VIEW a view */
	__u64 offset;
	/** @len: bytes */
	__u32 len;
	/** @sender: sender rank in the view that it was delivered in */
	__u16 sender;
	/** @kind: enum spindle_dlv_kind; skip kinds that you do not know */
	__u16 kind;
	/**
	 * @slot: the sender's message number, counting from 0 without gaps across all processes
	 * that send one after the other. Unlike TX slot numbers it leaves out abandoned slots
	 */
	__u64 slot;
};

/**
 * struct spindle_member - one member of the attachment's subgroup
 */
struct spindle_member {
	/** @node: node id */
	__u32 node;
	/** @sender_rank: rank among the senders, or SPINDLE_NO_RANK */
	__u32 sender_rank;
};

/**
 * struct spindle_members - argument of SPINDLE_IOC_MEMBERS
 *
 * Errors: EINVAL (@resv), ENOTCONN (not attached), EFAULT, ENOSPC (@count was too
 * small; it then holds the number needed and nothing was copied).
 */
struct spindle_members {
	/** @count: in: room in @ptr, entries; out: members of the subgroup */
	__u32 count;
	/** @resv: in: 0 */
	__u32 resv;
	/** @ptr: in: user address of an array of struct spindle_member, by rank */
	__u64 ptr;
};

/* In spindle_seat.flags. */
#define SPINDLE_SEAT_ME		(1U << 0) /* this node */
#define SPINDLE_SEAT_JOINED	(1U << 1) /* not in the subgroup in the view before */

/**
 * struct spindle_seat - a member of the attachment's subgroup, and where its memory is
 */
struct spindle_seat {
	/** @node: node id */
	__u32 node;
	/** @sender_rank: rank among the senders, or SPINDLE_NO_RANK */
	__u32 sender_rank;
	/**
	 * @rx: instance of its rx section; meaningless for a member that does not send. A node
	 * keeps its instance as long as it is a member, and a mapping of it stays valid for ever
	 */
	__u32 rx;
	/** @sst: instance of its sst section */
	__u32 sst;
	/** @flags: SPINDLE_SEAT_* */
	__u32 flags;
	/** @resv: 0 */
	__u32 resv;
};

/**
 * struct spindle_seats - argument of SPINDLE_IOC_SEATS
 *
 * Errors: EINVAL (@resv), ENOTCONN (not attached, or the subgroup is gone), EFAULT, ENOSPC
 * (@count was too small; it then holds the number needed and nothing was copied), ESTALE (the
 * view is not remembered any more), ENOENT (there is no such view yet, or the subgroup had no
 * members in it).
 */
struct spindle_seats {
	/**
	 * @vid: in: id of a view, from the attach reply or from a SPINDLE_DLV_VIEW that is not
	 * consumed yet; 0: the view installed last; out: id of the view that is reported
	 */
	__u64 vid;
	/** @count: in: room in @ptr, entries; out: members of the subgroup */
	__u32 count;
	/** @resv: in: 0 */
	__u32 resv;
	/** @ptr: in: user address of an array of struct spindle_seat, by rank */
	__u64 ptr;
};

/**
 * enum spindle_replica_state - how far a replica is
 *
 * A replica is a process that keeps the state that follows from all messages of a subgroup.
 */
enum spindle_replica_state {
	/** @SPINDLE_REPLICA_NONE: the process reports no state */
	SPINDLE_REPLICA_NONE,
	/** @SPINDLE_REPLICA_ASKING: it has no state, and waits for another replica to offer one */
	SPINDLE_REPLICA_ASKING,
	/** @SPINDLE_REPLICA_RECEIVING: a snapshot is on its way, and messages are kept aside */
	SPINDLE_REPLICA_RECEIVING,
	/** @SPINDLE_REPLICA_LOADING: the program loads the snapshot */
	SPINDLE_REPLICA_LOADING,
	/** @SPINDLE_REPLICA_FOLLOWING: it applies the messages that were kept aside */
	SPINDLE_REPLICA_FOLLOWING,
	/** @SPINDLE_REPLICA_CURRENT: it applies messages as they come, and may be a donor */
	SPINDLE_REPLICA_CURRENT,
	/** @SPINDLE_REPLICA_FAILED: it has ended */
	SPINDLE_REPLICA_FAILED
};

/**
 * struct spindle_report - argument of SPINDLE_IOC_REPORT
 *
 * What a replica reports about itself. The kernel shows this in SUBGROUP_GET, and nothing else
 * depends on it.
 *
 * Errors: EINVAL (@state or @resv), EFAULT, ENOTCONN (not attached, or the subgroup is gone), EPERM
 * (the attachment does not receive).
 */
struct spindle_report {
	/** @state: in: enum spindle_replica_state */
	__u32 state;
	/** @donor: in: node that its snapshot comes or came from; 0: none */
	__u32 donor;
	/** @received: in: bytes of the snapshot that have arrived */
	__u64 received;
	/** @bytes: in: length of the snapshot; 0: not known */
	__u64 bytes;
	/** @serving: in: nodes that this replica gives its state to */
	__u32 serving;
	/** @resv: in: 0 */
	__u32 resv;
};

/**
 * struct spindle_fill - argument of SPINDLE_IOC_FILL
 *
 * Puts messages in front of the oldest message of a history: those that the subgroup delivered
 * before this history began, for example because the node was no member yet. The messages come from
 * another member. The kernel checks their form, and that none is missing or comes twice. All
 * readers of this history trust the filler with the rest.
 *
 * Fill from the newest message to the oldest one. All messages of one call were delivered in one
 * view, with the members of @seats.
 *
 * Errors: EINVAL (@resv, a count, or messages that contradict themselves, @seats or the subgroup),
 * EFAULT, ENOMEM, ENOTCONN (not attached, or the subgroup is gone), EPERM (no history, its filling
 * is switched off, or the attachment does not send and receive), EXDEV (another lineage, or another
 * era), ESTALE (@lsn is not the position of the oldest message, or @vid cannot have begun there),
 * ENOSPC (there was not room for all).
 */
struct spindle_fill {
	/** @lineage: in: lineage of the live view that the messages belong to */
	__u64 lineage[2];
	/** @era: in: as @lineage */
	__u64 era;
	/**
	 * @lsn: in: position behind the last message of @dlv; out: position of the oldest message,
	 * also after ESTALE and ENOSPC. After ENOSPC the newest messages are in the history, as
	 * many as it had room for
	 */
	__u64 lsn;
	/**
	 * @vid: in: the view that began behind these messages, if it has other members; 0: they
	 * were delivered in the same view as the oldest message of the history, or in one with the
	 * same members
	 */
	__u64 vid;
	/** @before: in: with @vid, the last view that had the members of @seats; 0 without @vid */
	__u64 before;
	/** @seats: in: user address of an array of struct spindle_seat, by rank; rx and sst: 0 */
	__u64 seats;
	/**
	 * @dlv: in: user address of an array of struct spindle_dlv, of the kinds MSG and OTHER, the
	 * oldest first
	 */
	__u64 dlv;
	/** @data: in: user address of the bytes of the messages; spindle_dlv.offset begins here */
	__u64 data;
	/** @members: in: entries in @seats, 1 to SPINDLE_MAX_MEMBERS */
	__u32 members;
	/** @count: in: entries in @dlv, 0 to SPINDLE_MAX_FILL_MSGS; 0 only with @vid */
	__u32 count;
	/** @bytes: in: length of @data, 0 to SPINDLE_MAX_FILL */
	__u32 bytes;
	/** @resv: in: 0 */
	__u32 resv;
};

#define SPINDLE_MAX_FILL	(1U << 20)
#define SPINDLE_MAX_FILL_MSGS	4096

#define SPINDLE_IOC_MAGIC	0xb9
#define SPINDLE_IOC_ATTACH	_IOWR(SPINDLE_IOC_MAGIC, 0, struct spindle_attach)
/*
 * Wake the engine. A process calls this after a commit or a consume if ctl.need_wakeup is set.
 * ENOTCONN if the file is not attached.
 */
#define SPINDLE_IOC_KICK	_IO(SPINDLE_IOC_MAGIC, 1)
#define SPINDLE_IOC_MEMBERS	_IOWR(SPINDLE_IOC_MAGIC, 2, struct spindle_members)
/*
 * Declare that the sender will be silent: it gives up its next rounds, as many as the argument
 * points to, so that no member waits for them. A message that is sent earlier nevertheless
 * takes the first round after them, and the other members catch up at once. The number is
 * 0 to SPINDLE_MAX_ROUNDS. Errors: EINVAL (above that), EFAULT, ENOTCONN (the file is not
 * attached, or its subgroup is gone), EPERM (the attachment does not send).
 */
#define SPINDLE_IOC_SILENCE	_IOW(SPINDLE_IOC_MAGIC, 3, __u64)
#define SPINDLE_MAX_ROUNDS	(1ULL << 32)
#define SPINDLE_IOC_SEATS	_IOWR(SPINDLE_IOC_MAGIC, 4, struct spindle_seats)
#define SPINDLE_IOC_REPORT	_IOW(SPINDLE_IOC_MAGIC, 5, struct spindle_report)
#define SPINDLE_IOC_FILL	_IOWR(SPINDLE_IOC_MAGIC, 6, struct spindle_fill)

#endif /* _UAPI_LINUX_SPINDLE_H */
