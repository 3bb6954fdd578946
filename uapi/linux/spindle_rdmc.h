/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note OR MIT */
/*
 * RDMC: large objects to many members, block by block.
 *
 * This header is the contract between /dev/spindle-rdmc and a process that sends or
 * receives large objects. SPINDLE_RDMC_IOC_CREATE binds an open file to one RDMC group. A
 * group consists of some members of the view that is installed at a node; one of them, the
 * root, sends. Every member creates the group, in any order, with the same arguments. The
 * group is open when all members have created it. Objects are numbered from 0 and arrive in
 * that order.
 *
 *	root					the others
 *	CREATE					CREATE
 *	event OPENED				event OPENED
 *	SEND memory, length, tag		event INCOMING object, length, tag
 *						ACCEPT memory, or REFUSE
 *	event DONE: memory is free		event DONE: the object is there
 *	CLOSE					event CLOSING; CLOSE
 *	event CLOSED				event CLOSED
 *
 * The device reads and writes the memory that the processes name, without a copy. Any mapping
 * that can be pinned will do (anonymous, memfd, hugetlb). Its bytes are charged to
 * RLIMIT_MEMLOCK from SEND or ACCEPT until the object's DONE. Lengths are exact. Until DONE
 * the root's memory must not be written, and the content of a receiver's memory is undefined.
 *
 * read() returns events, as many whole struct spindle_rdmc_event as fit; EAGAIN if there
 * is none and the file is O_NONBLOCK. poll() sets EPOLLIN while there are events, and EPOLLHUP
 * when the group has ended and its last event was read.
 *
 * The group ends everywhere if a member is lost, or closes its file before CLOSED. Objects
 * that are not complete then end with DONE and an error, and FAILED follows. While a process
 * does not read its events, objects do not end at its member, and in time the root waits.
 */
#ifndef _UAPI_LINUX_SPINDLE_RDMC_H
#define _UAPI_LINUX_SPINDLE_RDMC_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include <linux/spindle.h>

/* Bytes of a block: powers of two between these. */
#define SPINDLE_RDMC_MIN_BLOCK	4096U
#define SPINDLE_RDMC_MAX_BLOCK	(1U << 20)
/* Objects that the root may have queued and not finished. */
#define SPINDLE_RDMC_QUEUE	16U
/* Longest object, bytes. */
#define SPINDLE_RDMC_MAX_LEN	(1ULL << 40)
/* "No such member": spindle_rdmc_event.node if no single member is the cause. */
#define SPINDLE_RDMC_NOBODY	0U

/**
 * enum spindle_rdmc_algorithm - schedule: sender, receiver and time of each block
 */
enum spindle_rdmc_algorithm {
	/** @SPINDLE_RDMC_PIPELINE: binomial pipeline: all members send and receive all the time */
	SPINDLE_RDMC_PIPELINE,
	/** @SPINDLE_RDMC_SEQUENTIAL: the root sends to one member after the other */
	SPINDLE_RDMC_SEQUENTIAL,
	/** @SPINDLE_RDMC_CHAIN: each member passes on to the next */
	SPINDLE_RDMC_CHAIN,
	/** @SPINDLE_RDMC_TREE: binomial tree of whole objects */
	SPINDLE_RDMC_TREE,
	/** @SPINDLE_RDMC_HYBRID: a pipeline between the racks, then a pipeline in each rack */
	SPINDLE_RDMC_HYBRID
};

/**
 * enum spindle_rdmc_error - why an object or a group has ended
 */
enum spindle_rdmc_error {
	/** @SPINDLE_RDMC_OK: it has ended without error, or has not ended */
	SPINDLE_RDMC_OK,
	/** @SPINDLE_RDMC_CANCELLED: the root, or a receiver, has cancelled the object */
	SPINDLE_RDMC_CANCELLED,
	/** @SPINDLE_RDMC_REFUSED: a member did not want the object; see the event's reason */
	SPINDLE_RDMC_REFUSED,
	/** @SPINDLE_RDMC_TIMEOUT: the group made no progress for its timeout */
	SPINDLE_RDMC_TIMEOUT,
	/** @SPINDLE_RDMC_LOST: the connection to a member broke */
	SPINDLE_RDMC_LOST,
	/** @SPINDLE_RDMC_LEFT: a member has closed its file */
	SPINDLE_RDMC_LEFT,
	/** @SPINDLE_RDMC_PROTOCOL: a member broke the protocol */
	SPINDLE_RDMC_PROTOCOL,
	/** @SPINDLE_RDMC_MISMATCH: a member created the group with other arguments */
	SPINDLE_RDMC_MISMATCH,
	/** @SPINDLE_RDMC_VIEW: a member is not in the view any more, or this node has no view */
	SPINDLE_RDMC_VIEW,
	/** @SPINDLE_RDMC_NOMEM: a member's kernel had no memory for the group */
	SPINDLE_RDMC_NOMEM,
	/** @SPINDLE_RDMC_INCOMPLETE: only in CLOSED: some member does not have all objects */
	SPINDLE_RDMC_INCOMPLETE
};

/**
 * struct spindle_rdmc_create - argument of SPINDLE_RDMC_IOC_CREATE
 *
 * Errors: EINVAL (size, flags, an argument out of range, a node twice, the node not among
 * the members), ENODEV (no such node), ENOTCONN (the node has no view), ENOENT (a member is
 * not in the view), EEXIST (the node is in a group with this id), EISCONN (the file has a
 * group), ENOSPC (the node has 256 groups in common with another member; groups that were left
 * count until they are gone), EOPNOTSUPP (the node's RDMA device cannot register a block of
 * that length at once), ENOMEM, EFAULT.
 */
struct spindle_rdmc_create {
	/** @size: in: sizeof(struct spindle_rdmc_create) as the program was compiled */
	__u32 size;
	/** @node: in: id of a node in the caller's network namespace */
	__u32 node;
	/** @group: in: id of the group, the same at all members; not 0, and below 2^63 */
	__u64 group;
	/**
	 * @members: in: user address of @count node ids, __u32 each: the root first, then the
	 * others in the same order at all members. @node must be one of them
	 */
	__u64 members;
	/** @count: in: members, 2 to SPINDLE_MAX_MEMBERS */
	__u32 count;
	/** @algorithm: in: enum spindle_rdmc_algorithm */
	__u32 algorithm;
	/** @block: in: bytes of a block, a power of two; 0: the default; out: the value in use */
	__u32 block;
	/**
	 * @timeout_ms: in: longest time without progress while there is work; after that an object
	 * or the group is given up. 0: the default, 30 seconds; out: the value in use
	 */
	__u32 timeout_ms;
	/** @flags: in: 0 */
	__u32 flags;
	/** @rank: out: own index in @members; 0: the root */
	__u32 rank;
};

/**
 * struct spindle_rdmc_send - argument of SPINDLE_RDMC_IOC_SEND
 *
 * Errors: EPERM (not the root), EAGAIN (SPINDLE_RDMC_QUEUE objects are not finished),
 * EINVAL, EFAULT (memory that cannot be read or pinned), ENOMEM (memory or RLIMIT_MEMLOCK),
 * ENOTCONN (no group), ESHUTDOWN (closing), ECONNABORTED (the group has failed).
 */
struct spindle_rdmc_send {
	/** @addr: in: first byte of the object in the process's memory */
	__u64 addr;
	/** @len: in: bytes, 1 to SPINDLE_RDMC_MAX_LEN */
	__u64 len;
	/** @tag: in: any number, reported to the receivers with the object */
	__u64 tag;
	/** @object: out: number of the object */
	__u64 object;
};

/**
 * struct spindle_rdmc_accept - argument of SPINDLE_RDMC_IOC_ACCEPT
 *
 * Errors: EINVAL (another length), ENOENT (no such object is waiting: perhaps it was
 * cancelled), EFAULT (memory that cannot be written or pinned), ENOMEM (memory or
 * RLIMIT_MEMLOCK), ENOTCONN (no group). After an error the object still waits.
 */
struct spindle_rdmc_accept {
	/** @object: in: number, of an event INCOMING */
	__u64 object;
	/** @addr: in: first byte of the memory for the object */
	__u64 addr;
	/** @len: in: bytes there, exactly the object's length */
	__u64 len;
};

/**
 * struct spindle_rdmc_cancel - argument of SPINDLE_RDMC_IOC_REFUSE and _CANCEL
 *
 * A receiver calls REFUSE before ACCEPT, for instance because it has no room. Any member may
 * call CANCEL before DONE. In both cases the object ends everywhere with an event DONE that
 * names the member that called. Later objects go on. Errors: EINVAL (@resv), ENOENT (no such
 * object in progress), ENOTCONN.
 */
struct spindle_rdmc_cancel {
	/** @object: in: number */
	__u64 object;
	/** @reason: in: a number for the events at the other members, for instance an errno */
	__u32 reason;
	/** @resv: in: 0 */
	__u32 resv;
};

/**
 * struct spindle_rdmc_stat - argument of SPINDLE_RDMC_IOC_STAT
 *
 * Errors: EINVAL, ENOTCONN.
 */
struct spindle_rdmc_stat {
	/** @member: in: index of a member: 0 to count - 1 */
	__u32 member;
	/** @node: out: node id of the member */
	__u32 node;
	/** @finished: out: objects that have ended at the member, complete or not */
	__u64 finished;
	/** @object: out: number of the object that @blocks and @total are about */
	__u64 object;
	/**
	 * @blocks: out: blocks of @object that the member has; the root knows this of all members,
	 * other members only of themselves
	 */
	__u64 blocks;
	/** @total: out: all blocks of @object */
	__u64 total;
};

/**
 * enum spindle_rdmc_kind - kinds of events
 */
enum spindle_rdmc_kind {
	/** @SPINDLE_RDMC_OPENED: all members have created the group */
	SPINDLE_RDMC_OPENED = 1,
	/** @SPINDLE_RDMC_INCOMING: an object waits for memory: ACCEPT or REFUSE it */
	SPINDLE_RDMC_INCOMING,
	/**
	 * @SPINDLE_RDMC_DONE: an object has ended here, and its memory is the process's again. It
	 * is complete if @error is OK, else the content of a receiver's memory is undefined
	 */
	SPINDLE_RDMC_DONE,
	/** @SPINDLE_RDMC_CLOSING: the root sends no more objects */
	SPINDLE_RDMC_CLOSING,
	/** @SPINDLE_RDMC_CLOSED: all members have closed; if @error is OK, all have all objects */
	SPINDLE_RDMC_CLOSED,
	/**
	 * @SPINDLE_RDMC_FAILED: the group has ended; @error is the reason, @node the member that is
	 * the cause
	 */
	SPINDLE_RDMC_FAILED
};

/**
 * struct spindle_rdmc_event - what read() returns
 */
struct spindle_rdmc_event {
	/** @kind: enum spindle_rdmc_kind */
	__u32 kind;
	/** @error: enum spindle_rdmc_error */
	__u32 error;
	/**
	 * @object: of INCOMING and DONE: number of the object; of CLOSING and CLOSED: how many
	 * objects the root sent
	 */
	__u64 object;
	/** @len: bytes of the object */
	__u64 len;
	/** @tag: as given to SEND */
	__u64 tag;
	/** @node: node id of the member that is the cause of @error, or SPINDLE_RDMC_NOBODY */
	__u32 node;
	/** @reason: as given to REFUSE or CANCEL */
	__u32 reason;
	/** @at_ns: time of the event, CLOCK_MONOTONIC */
	__u64 at_ns;
	/**
	 * @first_ns: of DONE: time at which the first block arrived here, or left the root; 0:
	 * never
	 */
	__u64 first_ns;
	/** @busy_ns: of DONE: time since @first_ns during which this member was sending a block */
	__u64 busy_ns;
};

#define SPINDLE_RDMC_IOC_CREATE	_IOWR(SPINDLE_IOC_MAGIC, 32, struct spindle_rdmc_create)
#define SPINDLE_RDMC_IOC_SEND	_IOWR(SPINDLE_IOC_MAGIC, 33, struct spindle_rdmc_send)
#define SPINDLE_RDMC_IOC_ACCEPT	_IOW(SPINDLE_IOC_MAGIC, 34, struct spindle_rdmc_accept)
#define SPINDLE_RDMC_IOC_REFUSE	_IOW(SPINDLE_IOC_MAGIC, 35, struct spindle_rdmc_cancel)
#define SPINDLE_RDMC_IOC_CANCEL	_IOW(SPINDLE_IOC_MAGIC, 36, struct spindle_rdmc_cancel)
#define SPINDLE_RDMC_IOC_STAT	_IOWR(SPINDLE_IOC_MAGIC, 37, struct spindle_rdmc_stat)
/*
 * Close the group. At the root: no more objects follow. At another member, after CLOSING: the
 * process has handled all objects. Event CLOSED follows. Errors: ENOTCONN, ECONNABORTED. A
 * second call is a success without effect.
 */
#define SPINDLE_RDMC_IOC_CLOSE	_IO(SPINDLE_IOC_MAGIC, 38)

#endif /* _UAPI_LINUX_SPINDLE_RDMC_H */
