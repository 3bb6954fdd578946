/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The right to lock more memory than RLIMIT_MEMLOCK says.
 */
#ifndef SPINDLE_SELFTESTS_IPC_LOCK_H
#define SPINDLE_SELFTESTS_IPC_LOCK_H

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/capability.h>

#include "tap.h"

/* Take the right from this process. */
static void drop_ipc_lock(void)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct d[2];

	if (syscall(SYS_capget, &h, d))
		die("capget: %s", strerror(errno));
	d[0].effective &= ~(1U << CAP_IPC_LOCK);
	d[0].permitted &= ~(1U << CAP_IPC_LOCK);
	d[0].inheritable &= ~(1U << CAP_IPC_LOCK);
	if (syscall(SYS_capset, &h, d))
		die("capset: %s", strerror(errno));
}

#endif /* SPINDLE_SELFTESTS_IPC_LOCK_H */
