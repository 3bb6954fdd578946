/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one header that core/ takes its environment from.
 *
 * core/ is the protocol: it knows no verbs, no memory management, no netlink and no locks. In the
 * kernel this header is a list of kernel headers. In user space it defines the same words on top of
 * the C library. So unit tests, the simulator and fuzzers run the very code that the module runs.
 */
#ifndef SPINDLE_CORE_PORT_H
#define SPINDLE_CORE_PORT_H

#ifdef __KERNEL__

#include <linux/align.h>
#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/bug.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/kcsan-checks.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>
#include <asm/barrier.h>
#include <asm/byteorder.h>

#include "base/trace.h"

static inline u64 spindle_fetch_andnot(u64 *word, u64 mask)
{
	return atomic64_fetch_andnot(mask, (atomic64_t *)word);
}

#else /* user space */

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <linux/types.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;

#ifndef U32_MAX
#define U32_MAX UINT32_MAX
#endif
#ifndef U64_MAX
#define U64_MAX UINT64_MAX
#endif

/*
 * In the kernel, others write while core/ reads. Here one thread does all, unless a test names a
 * function that does what others may have done between any two reads.
 */
#ifdef SPINDLE_BETWEEN_LOOKS
void SPINDLE_BETWEEN_LOOKS(void);
#else
#define SPINDLE_BETWEEN_LOOKS() ((void)0)
#endif

#define READ_ONCE(x) (SPINDLE_BETWEEN_LOOKS(), __atomic_load_n(&(x), __ATOMIC_RELAXED))
#define WRITE_ONCE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#define ASSERT_EXCLUSIVE_WRITER(x) ((void)(x))
/* The callers say why. */
#define data_race(expr) (expr)
#define smp_load_acquire(p) (SPINDLE_BETWEEN_LOOKS(), __atomic_load_n((p), __ATOMIC_ACQUIRE))
#define smp_store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)

static inline u64 spindle_fetch_andnot(u64 *word, u64 mask)
{
	SPINDLE_BETWEEN_LOOKS();
	return __atomic_fetch_and(word, ~mask, __ATOMIC_SEQ_CST);
}

#define smp_wmb() __atomic_thread_fence(__ATOMIC_RELEASE)
#define smp_rmb() __atomic_thread_fence(__ATOMIC_ACQUIRE)

#define cpu_to_le16(x) htole16(x)
#define cpu_to_le32(x) htole32(x)
#define cpu_to_le64(x) htole64(x)
#define le16_to_cpu(x) le16toh(x)
#define le32_to_cpu(x) le32toh(x)
#define le64_to_cpu(x) le64toh(x)

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define static_assert _Static_assert

#define min(a, b) ({ typeof(a) _a = (a); typeof(b) _b = (b); _a < _b ? _a : _b; })
#define max(a, b) ({ typeof(a) _a = (a); typeof(b) _b = (b); _a > _b ? _a : _b; })
#define min_t(t, a, b) min((t)(a), (t)(b))
#define max_t(t, a, b) max((t)(a), (t)(b))
#define ALIGN(x, a) (((x) + ((typeof(x))(a) - 1)) & ~((typeof(x))(a) - 1))
#define container_of(p, type, member) ((type *)((char *)(p) - offsetof(type, member)))
#define IS_ALIGNED(x, a) (((x) & ((typeof(x))(a) - 1)) == 0)
#define DIV_ROUND_UP(n, d) (((n) + (d) - 1) / (d))
#define BIT(n) (1UL << (n))
#define BIT_ULL(n) (1ULL << (n))
#define hweight64(x) ((unsigned int)__builtin_popcountll(x))
#define __ffs64(x) ((unsigned int)__builtin_ctzll(x))

static inline int fls64(u64 x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

static inline void *memchr_inv(const void *start, int c, size_t bytes)
{
	const u8 *p = start;

	for (; bytes; p++, bytes--)
		if (*p != (u8)c)
			return (void *)p;
	return NULL;
}

static inline bool is_power_of_2(unsigned long n)
{
	return n && !(n & (n - 1));
}

static inline unsigned long roundup_pow_of_two(unsigned long n)
{
	return n <= 1 ? 1 : 1UL << (64 - __builtin_clzl(n - 1));
}

/* Tracepoints are in the kernel only. */
static inline void spindle_no_trace(u32 node, ...)
{
	(void)node;
}

#define trace_spindle_send spindle_no_trace
#define trace_spindle_receive spindle_no_trace
#define trace_spindle_deliver spindle_no_trace
#define trace_spindle_durable spindle_no_trace
#define trace_spindle_null spindle_no_trace

#endif /* __KERNEL__ */

/* Layouts are in pages of this size on every host, whatever its MMU uses. */
#define SPINDLE_PAGE 4096UL

/**
 * spindle_take_bits() - clear bits of a word that others set at the same time
 * @word: the word; both sides use atomic instructions
 * @mask: the bits to clear
 *
 * The call is a full barrier: what others wrote before they set a bit is visible after it.
 *
 * Return: those of @mask that were set
 */
static inline u64 spindle_take_bits(u64 *word, u64 mask)
{
	return spindle_fetch_andnot(word, mask) & mask;
}

/**
 * spindle_count() - move a counter
 * @counter: written by the caller's thread alone; others read it at any time
 * @n: by how much
 */
static inline void spindle_count(u64 *counter, u64 n)
{
	ASSERT_EXCLUSIVE_WRITER(*counter);
	/* Pairs with the READ_ONCE() of readers. */
	WRITE_ONCE(*counter, *counter + n);
}

#endif /* SPINDLE_CORE_PORT_H */
