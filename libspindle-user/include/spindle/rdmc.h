/* SPDX-License-Identifier: MIT */
/*
 * Large objects to many members: the groups of /dev/spindle-rdmc. The contract between the
 * kernel and this library, with all events and errors, is <linux/spindle_rdmc.h>.
 *
 *	one member, the root			the others
 *	spindle_rdmc_create()			spindle_rdmc_create()
 *	OPENED					OPENED
 *	spindle_rdmc_send()			INCOMING, spindle_rdmc_accept()
 *	DONE: the memory is free		DONE: the object is there
 *	spindle_rdmc_close()			CLOSING, spindle_rdmc_close()
 *	CLOSED					CLOSED
 *	spindle_rdmc_destroy()			spindle_rdmc_destroy()
 *
 * Conventions
 * -----------
 * Functions return 0 or a count on success and a negative errno on failure. They print
 * nothing, install no signal handler, and give errno no meaning. Only spindle_rdmc_next()
 * with a timeout waits, so one poll() loop can serve any number of groups: wait for POLLIN
 * of each spindle_rdmc_fd(), then call spindle_rdmc_dispatch().
 *
 * Threads: spindle_rdmc_send(), _accept(), _accept_memfd(), _refuse(), _cancel(), _close()
 * and _stat() may be called by any number of threads at once, also from the functions
 * that spindle_rdmc_dispatch() calls. spindle_rdmc_next() and spindle_rdmc_dispatch() are for
 * one thread at a time. spindle_rdmc_destroy() must run alone, and not from a function that
 * spindle_rdmc_dispatch() calls. Groups are independent of each other.
 *
 * Processes: a group is not inherited by fork(). The only call that the child may make with
 * it is close(spindle_rdmc_fd()). After a fork() neither the parent nor the child should write
 * the memory of objects in progress, see MADV_DONTFORK in madvise(2).
 */
#ifndef SPINDLE_RDMC_H
#define SPINDLE_RDMC_H

#include <stddef.h>
#include <stdint.h>
#include <linux/spindle_rdmc.h>
#include <spindle/queue.h>

#ifdef __cplusplus
extern "C" {
#endif

/** SPINDLE_RDMC_DEVICE - default path of the module's device */
#define SPINDLE_RDMC_DEVICE		"/dev/spindle-rdmc"

/** SPINDLE_RDMC_AUTO_CLOSE - in spindle_rdmc_options.flags: close the group at CLOSING */
#define SPINDLE_RDMC_AUTO_CLOSE		(1U << 0)

/** SPINDLE_RDMC_HUGETLB - for spindle_rdmc_accept_memfd(): memory of huge pages */
#define SPINDLE_RDMC_HUGETLB		(1U << 0)

/** SPINDLE_RDMC_LATER - what spindle_rdmc_calls.incoming returns to decide later */
#define SPINDLE_RDMC_LATER		((void *)UINTPTR_MAX)

/* A group as this process sees it; private to the library. */
struct spindle_rdmc_group;

/**
 * struct spindle_rdmc_options - parameters of a new group
 *
 * Set the whole structure to zero first, then the fields that are needed.
 */
struct spindle_rdmc_options {
	/** @device: path of the device; NULL for SPINDLE_RDMC_DEVICE */
	const char *device;
	/** @algorithm: enum spindle_rdmc_algorithm, the same at all members */
	uint32_t algorithm;
	/** @block: bytes of a block, a power of two, the same at all members; 0: the default */
	uint32_t block;
	/** @timeout_ms: longest time without progress while there is work; 0: the default */
	uint32_t timeout_ms;
	/**
	 * @flags: SPINDLE_RDMC_AUTO_CLOSE: the library calls spindle_rdmc_close() when it hands out
	 * CLOSING. This suits a program that has nothing to do between the two
	 */
	uint32_t flags;
	/** @resv: 0 */
	uint64_t resv[4];
};

/**
 * struct spindle_rdmc_memory - memory that spindle_rdmc_accept_memfd() has made
 */
struct spindle_rdmc_memory {
	/** @addr: the object, readable and writable */
	void *addr;
	/** @len: bytes of the object */
	uint64_t len;
	/** @mapped: bytes that are mapped: @len in whole pages */
	uint64_t mapped;
	/** @fd: the memfd, which is closed on exec */
	int fd;
};

/**
 * struct spindle_rdmc_calls - functions that spindle_rdmc_dispatch() calls for events
 *
 * The first argument of each is that of spindle_rdmc_dispatch(). Each may be NULL.
 */
struct spindle_rdmc_calls {
	/** @opened: all members have created the group */
	void (*opened)(void *arg, struct spindle_rdmc_group *g,
		       const struct spindle_rdmc_event *ev);
	/**
	 * @incoming: an object waits for memory. Returns memory for its ev->len bytes; or
	 * SPINDLE_RDMC_LATER, if the program will call spindle_rdmc_accept() or _refuse(); or NULL
	 * to refuse the object with *@reason, for instance an errno, which all members get. Without
	 * this function all objects are refused, with EOPNOTSUPP. If the memory cannot be used, the
	 * object is refused with the errno, and @done is called as for any refusal
	 */
	void *(*incoming)(void *arg, struct spindle_rdmc_group *g,
			  const struct spindle_rdmc_event *ev, uint32_t *reason);
	/** @done: an object has ended, ev->error says how; its memory is the program's again */
	void (*done)(void *arg, struct spindle_rdmc_group *g,
		     const struct spindle_rdmc_event *ev);
	/** @closing: the root sends no more objects */
	void (*closing)(void *arg, struct spindle_rdmc_group *g,
			const struct spindle_rdmc_event *ev);
	/** @closed: all members have closed: ev->error says whether all have all objects */
	void (*closed)(void *arg, struct spindle_rdmc_group *g,
		       const struct spindle_rdmc_event *ev);
	/** @failed: the group has ended */
	void (*failed)(void *arg, struct spindle_rdmc_group *g,
		       const struct spindle_rdmc_event *ev);
};

/**
 * spindle_rdmc_create() - become a member of a group
 * @out: the group; NULL after an error
 * @node: id of a node in the caller's network namespace
 * @group: id of the group, the same at all members; not 0
 * @members: node ids, the root first, then in the same order at all members
 * @count: how many, 2 to SPINDLE_MAX_MEMBERS
 * @o: options; NULL: all defaults
 *
 * Does not wait for the other members: event OPENED comes when all have created the group.
 * May sleep.
 *
 * Return: 0, or with nothing left open: -ENXIO (there is no such device file: the module is
 * not loaded), -EACCES (the device file's permissions), -EINVAL (an argument), -ENODEV (no
 * such node here), -ENOTCONN (the node has no view), -ENOENT (a member is not in it),
 * -EEXIST (the node is in a group with this id), -ENOSPC (the node has 256 groups in common with
 * another member), -EOPNOTSUPP (its RDMA device cannot register a block of that length at once),
 * -ENOMEM, or another errno of open(2). spindle_rdmc_create_strerror() has words for them.
 */
SPINDLE_API int spindle_rdmc_create(struct spindle_rdmc_group **out, uint32_t node,
				    uint64_t group, const uint32_t *members, unsigned int count,
				    const struct spindle_rdmc_options *o);

/**
 * spindle_rdmc_destroy() - leave a group
 * @g: the group, or NULL
 *
 * Before CLOSED this ends the group at all members. Objects in progress end; their memory is
 * the process's again when this returns.
 */
SPINDLE_API void spindle_rdmc_destroy(struct spindle_rdmc_group *g);

/**
 * spindle_rdmc_fd() - the descriptor to poll() for POLLIN
 * @g: the group
 *
 * The descriptor is nonblocking. Do not read from it: the events belong to spindle_rdmc_next()
 * and spindle_rdmc_dispatch(). Both read ahead, so call one of them before poll() until there
 * are no more events.
 *
 * Return: the descriptor.
 */
SPINDLE_API int spindle_rdmc_fd(const struct spindle_rdmc_group *g);

/**
 * spindle_rdmc_rank() - own index among the members
 * @g: the group
 *
 * Return: 0 at the root, else 1 to count - 1.
 */
SPINDLE_API uint32_t spindle_rdmc_rank(const struct spindle_rdmc_group *g);

/**
 * spindle_rdmc_count() - how many members there are
 * @g: the group
 *
 * Return: 2 to SPINDLE_MAX_MEMBERS.
 */
SPINDLE_API uint32_t spindle_rdmc_count(const struct spindle_rdmc_group *g);

/**
 * spindle_rdmc_member() - node id of a member
 * @g: the group
 * @rank: index of the member
 *
 * Return: its node id, or SPINDLE_RDMC_NOBODY.
 */
SPINDLE_API uint32_t spindle_rdmc_member(const struct spindle_rdmc_group *g, uint32_t rank);

/**
 * spindle_rdmc_block() - bytes of a block
 * @g: the group
 *
 * Return: as asked for, or the kernel's default.
 */
SPINDLE_API uint32_t spindle_rdmc_block(const struct spindle_rdmc_group *g);

/**
 * spindle_rdmc_timeout() - longest time without progress while there is work
 * @g: the group
 *
 * Return: milliseconds, as asked for, or the kernel's default.
 */
SPINDLE_API uint32_t spindle_rdmc_timeout(const struct spindle_rdmc_group *g);

/**
 * spindle_rdmc_next() - take an event
 * @g: the group
 * @ev: the event
 * @timeout_ms: milliseconds to wait, 0 not to wait, -1 without limit
 *
 * Return: 1: @ev was filled; 0: there was no event within the time; -EINTR on a signal; -EPIPE:
 * the last event, CLOSED or FAILED, was taken before; or another errno.
 */
SPINDLE_API int spindle_rdmc_next(struct spindle_rdmc_group *g, struct spindle_rdmc_event *ev,
				  int timeout_ms);

/**
 * spindle_rdmc_dispatch() - handle all pending events
 * @g: the group
 * @calls: functions, of which each may be NULL
 * @arg: first argument of the functions
 *
 * Does not wait. Events of kinds that the library does not know are skipped.
 *
 * Return: how many events were handled, maybe 0; -EPIPE: the last event, CLOSED or FAILED, was
 * handled by an earlier call; or another errno.
 */
SPINDLE_API int spindle_rdmc_dispatch(struct spindle_rdmc_group *g,
				      const struct spindle_rdmc_calls *calls, void *arg);

/**
 * spindle_rdmc_send() - queue an object
 * @g: the group, of which this is the root
 * @mem: its bytes, which must neither be written nor unmapped until DONE
 * @len: how many, 1 to SPINDLE_RDMC_MAX_LEN
 * @tag: any number, reported to the receivers with the object
 * @object: set to the number of the object; may be NULL
 *
 * Charges the bytes to RLIMIT_MEMLOCK until DONE. The kernel must be able to pin the memory:
 * anonymous, memfd, hugetlb, and on many file systems a mapping of a file that is only read.
 *
 * Return: 0; -EPERM (not the root), -EAGAIN (SPINDLE_RDMC_QUEUE objects are not finished: wait
 * for a DONE), -EINVAL, -EFAULT (memory that cannot be read or pinned), -ENOMEM (memory or
 * RLIMIT_MEMLOCK), -ESHUTDOWN (closing), -ECONNABORTED (the group has failed).
 */
SPINDLE_API int spindle_rdmc_send(struct spindle_rdmc_group *g, const void *mem, uint64_t len,
				  uint64_t tag, uint64_t *object);

/**
 * spindle_rdmc_accept() - give an object memory
 * @g: the group
 * @object: number, of an event INCOMING
 * @mem: memory for the object; the content is undefined until DONE
 * @len: bytes there, exactly the object's length
 *
 * Charges the bytes to RLIMIT_MEMLOCK until DONE.
 *
 * Return: 0; -EINVAL (another length), -ENOENT (no such object waits: perhaps it was
 * cancelled), -EFAULT (memory that cannot be written or pinned), -ENOMEM (memory or
 * RLIMIT_MEMLOCK). After an error other than ENOENT the object still waits.
 */
SPINDLE_API int spindle_rdmc_accept(struct spindle_rdmc_group *g, uint64_t object, void *mem,
				    uint64_t len);

/**
 * spindle_rdmc_accept_memfd() - give an object new memory that has a descriptor
 * @g: the group
 * @object: number, of an event INCOMING
 * @len: bytes of the object
 * @flags: SPINDLE_RDMC_HUGETLB, or 0
 * @m: the memory; give it back by spindle_rdmc_free_memory(), not before DONE
 *
 * The memfd has exactly @len bytes, or whole huge pages. A child does not inherit the
 * mapping.
 *
 * Return: as spindle_rdmc_accept(), and errors of memfd_create(2), ftruncate(2) and mmap(2);
 * after an error @m need not be given back.
 */
SPINDLE_API int spindle_rdmc_accept_memfd(struct spindle_rdmc_group *g, uint64_t object,
					  uint64_t len, unsigned int flags,
					  struct spindle_rdmc_memory *m);

/**
 * spindle_rdmc_free_memory() - unmap and close what spindle_rdmc_accept_memfd() has made
 * @m: the memory, or all zero
 *
 * A program that wants to keep the descriptor or the mapping calls close() or munmap() itself
 * for the other one.
 */
SPINDLE_API void spindle_rdmc_free_memory(struct spindle_rdmc_memory *m);

/**
 * spindle_rdmc_refuse() - do not take an object
 * @g: the group
 * @object: number, of an event INCOMING, before it was accepted
 * @reason: a number for the other members, for instance an errno
 *
 * The object ends everywhere with DONE and SPINDLE_RDMC_REFUSED. Later objects go on.
 *
 * Return: 0; -ENOENT (no such object waits).
 */
SPINDLE_API int spindle_rdmc_refuse(struct spindle_rdmc_group *g, uint64_t object,
				    uint32_t reason);

/**
 * spindle_rdmc_cancel() - give up an object
 * @g: the group; any member may call this
 * @object: number of the object, before its DONE
 * @reason: a number for the other members, for instance an errno
 *
 * The object ends everywhere with DONE and SPINDLE_RDMC_CANCELLED. Later objects go on. The
 * memory is in use until DONE. An object that is complete by then stays complete.
 *
 * Return: 0; -ENOENT (no such object in progress).
 */
SPINDLE_API int spindle_rdmc_cancel(struct spindle_rdmc_group *g, uint64_t object,
				    uint32_t reason);

/**
 * spindle_rdmc_close() - close the group
 * @g: the group
 *
 * At the root: no more objects follow. At another member, after CLOSING: the program has
 * handled all objects. A second call is a success without effect.
 *
 * Return: 0; -ECONNABORTED (the group has failed).
 */
SPINDLE_API int spindle_rdmc_close(struct spindle_rdmc_group *g);

/**
 * spindle_rdmc_stat() - progress of a member
 * @g: the group
 * @rank: index of the member; the root knows this of all members, others of themselves
 * @st: filled in
 *
 * Return: 0; -EINVAL (no such member).
 */
SPINDLE_API int spindle_rdmc_stat(const struct spindle_rdmc_group *g, uint32_t rank,
				  struct spindle_rdmc_stat *st);

/**
 * spindle_rdmc_strerror() - words for the error of an event
 * @error: enum spindle_rdmc_error
 *
 * Return: what has happened, and what can be done.
 */
SPINDLE_API const char *spindle_rdmc_strerror(uint32_t error);

/**
 * spindle_rdmc_create_strerror() - words for the error of spindle_rdmc_create()
 * @err: what it returned
 * @node: as given to it
 * @group: as given to it
 * @o: as given to it
 * @buf: memory for the text
 * @len: bytes there
 *
 * Return: @buf
 */
SPINDLE_API const char *spindle_rdmc_create_strerror(int err, uint32_t node, uint64_t group,
						     const struct spindle_rdmc_options *o,
						     char *buf, size_t len);

/**
 * spindle_rdmc_algorithm_string() - name of an algorithm
 * @algorithm: enum spindle_rdmc_algorithm
 *
 * Return: one word, or NULL if there is no such algorithm.
 */
SPINDLE_API const char *spindle_rdmc_algorithm_string(uint32_t algorithm);

#ifdef __cplusplus
}
#endif

#endif /* SPINDLE_RDMC_H */
