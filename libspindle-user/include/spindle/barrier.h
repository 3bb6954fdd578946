/* SPDX-License-Identifier: MIT */
/*
 * Loads, stores and barriers on words that are shared with the kernel.
 *
 * The library uses the compiler's __atomic builtins rather than <stdatomic.h>, because
 * they work on plain __u32 and __u64 in mapped memory, and in C and C++ alike. Each
 * function pairs with one in the kernel:
 *
 *	spindle_load_acquire*()		smp_store_release()
 *	spindle_store_release()		smp_load_acquire()
 *	spindle_mb()			smp_mb()
 */
#ifndef SPINDLE_BARRIER_H
#define SPINDLE_BARRIER_H

#include <linux/types.h>

#if !defined(__GCC_ATOMIC_LLONG_LOCK_FREE) || __GCC_ATOMIC_LLONG_LOCK_FREE < 2
#error "spindle needs lock-free 64-bit atomics: a lock cannot be shared with the kernel"
#endif

/**
 * spindle_load_acquire() - load a word; later accesses stay after it
 * @p: naturally aligned word that the other side stores with release
 *
 * Return: the value.
 */
static inline __u64 spindle_load_acquire(const __u64 *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

/**
 * spindle_load_acquire32() - spindle_load_acquire() of a 32-bit word
 * @p: naturally aligned word that the other side stores with release
 *
 * Return: the value.
 */
static inline __u32 spindle_load_acquire32(const __u32 *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

/**
 * spindle_load_once32() - load a word exactly once, in no particular order
 * @p: naturally aligned word
 *
 * Return: the value.
 */
static inline __u32 spindle_load_once32(const __u32 *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

/**
 * spindle_store_release() - store a word; earlier accesses stay before it
 * @p: naturally aligned word that the other side loads with acquire
 * @v: the value
 */
static inline void spindle_store_release(__u64 *p, __u64 v)
{
	__atomic_store_n(p, v, __ATOMIC_RELEASE);
}

/**
 * spindle_cmpxchg() - replace a word if it still has the expected value
 * @p: naturally aligned word
 * @old: expected value; updated with the value found when it was another
 * @v: new value
 *
 * Orders like a load-acquire, and on success like a store-release as well.
 *
 * Return: 1 if @v was stored, else 0.
 */
static inline int spindle_cmpxchg(__u64 *p, __u64 *old, __u64 v)
{
	return __atomic_compare_exchange_n(p, old, v, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/**
 * spindle_mb() - full barrier: earlier stores are seen before later loads run
 */
static inline void spindle_mb(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

#endif /* SPINDLE_BARRIER_H */
