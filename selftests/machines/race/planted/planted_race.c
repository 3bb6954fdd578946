// SPDX-License-Identifier: GPL-2.0-only
/*
 * Races on purpose, one of each kind that the checker knows, chosen by "race". If the checker
 * misses one here, it would also miss races of spindle. Two more cases are no races, and the
 * checker must not report them.
 *
 * Two threads do the two halves again and again for a while; insmod returns when they have ended.
 * The names of the halves are what the test looks for.
 */
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <asm/barrier.h>

static char *race = "";
module_param(race, charp, 0444);
MODULE_PARM_DESC(race, "plain, mixed, assert, order, unseen, marked or locked");

static unsigned int seconds = 4;
module_param(seconds, uint, 0444);
MODULE_PARM_DESC(seconds, "how long");

static u64 word;
static u64 data;
static u64 scratch[64];
static int flag;
static DEFINE_SPINLOCK(lock);

/* Use the value, so that the compiler keeps the read. */
static __always_inline void use(u64 value)
{
	asm volatile("" : : "r" (value));
}

/* Two plain accesses. */
static noinline void plain_writer(u64 i)
{
	word = i;
	barrier();
}

static noinline void plain_reader(u64 i)
{
	barrier();
	use(word);
}

/* The reader is marked and the writer is not, as with counters. */
static noinline void mixed_writer(u64 i)
{
	word++;
	barrier();
}

static noinline void mixed_reader(u64 i)
{
	use(READ_ONCE(word));
}

/* This is no data race, but the code asserts that there is only one writer. */
static noinline void assert_claim(u64 i)
{
	ASSERT_EXCLUSIVE_WRITER(word);
	WRITE_ONCE(word, i);
}

static noinline void assert_intruder(u64 i)
{
	WRITE_ONCE(word, ~i);
}

/*
 * A message passed by a flag, without the barrier that belongs there. The checker lets
 * the first store be late, but not beyond the function: it needs some time there.
 */
static noinline void order_writer(u64 i)
{
	unsigned int j;

	if (READ_ONCE(flag))
		return;
	data = i;
	/* The store should be a release. */
	WRITE_ONCE(flag, 1);
	for (j = 0; j < ARRAY_SIZE(scratch); j++)
		use(scratch[j] += i);
}

static noinline void order_reader(u64 i)
{
	if (!smp_load_acquire(&flag))
		return;
	use(data);
	smp_store_release(&flag, 0);
}

/* The writer is not instrumented, as a process or a device would be. */
static noinline void __no_kcsan unseen_writer(u64 i)
{
	WRITE_ONCE(word, i);
}

static noinline void unseen_reader(u64 i)
{
	use(word);
}

/* Both accesses are marked: no race. */
static noinline void marked_writer(u64 i)
{
	WRITE_ONCE(word, i);
}

static noinline void marked_reader(u64 i)
{
	use(READ_ONCE(word));
}

/* Both accesses hold a lock: no race. */
static noinline void locked_writer(u64 i)
{
	spin_lock(&lock);
	word = i;
	spin_unlock(&lock);
}

static noinline void locked_reader(u64 i)
{
	spin_lock(&lock);
	data += word;
	spin_unlock(&lock);
}

struct half {
	void (*fn)(u64 i);
	struct completion done;
};

static int half_thread(void *arg)
{
	struct half *half = arg;
	unsigned long end = jiffies + seconds * HZ;
	u64 i;

	for (i = 0; time_before(jiffies, end); i++) {
		half->fn(i);
		cond_resched();
	}
	complete(&half->done);
	return 0;
}

static int run(void (*one)(u64 i), void (*two)(u64 i))
{
	struct half half[2] = { { .fn = one }, { .fn = two } };
	struct task_struct *task;
	int i, err = 0;

	for (i = 0; i < 2 && !err; i++) {
		init_completion(&half[i].done);
		task = kthread_run(half_thread, &half[i], "planted_race/%d", i);
		err = PTR_ERR_OR_ZERO(task);
		if (err)
			break;
	}
	/* The running threads use the stack of this function. */
	while (i--)
		wait_for_completion(&half[i].done);
	return err;
}

static const struct {
	const char *name;
	void (*one)(u64 i);
	void (*two)(u64 i);
} races[] = {
	{ "plain", plain_writer, plain_reader },
	{ "mixed", mixed_writer, mixed_reader },
	{ "assert", assert_claim, assert_intruder },
	{ "order", order_writer, order_reader },
	{ "unseen", unseen_writer, unseen_reader },
	{ "marked", marked_writer, marked_reader },
	{ "locked", locked_writer, locked_reader },
};

static int __init planted_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(races); i++)
		if (!strcmp(race, races[i].name))
			return run(races[i].one, races[i].two);
	return -EINVAL;
}
module_init(planted_init);

static void __exit planted_exit(void)
{
}
module_exit(planted_exit);

MODULE_DESCRIPTION("Races that the checker has to report, and two that it must not");
MODULE_LICENSE("GPL");
