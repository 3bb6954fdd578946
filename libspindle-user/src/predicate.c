// SPDX-License-Identifier: MIT
/*
 * Predicates of the engine: add, remove, counters.
 */
#include <errno.h>
#include <string.h>

#include "table.h"

int spindle_predicate_add(struct spindle_table *t, struct spindle_predicate *p)
{
	/* The kernel writes the id into the copy, so that @p can be added again. */
	struct spindle_predicate arg = *p;
	int err;

	p->bad = 0;
	if (!t->ctl_fired)
		return -EBADF;
	arg.size = sizeof(arg);
	arg.bad = 0;
	err = spindle_sys_ioctl(t->fd, SPINDLE_TABLE_IOC_ADD, &arg);
	if (err) {
		p->bad = arg.bad;
		return err < 0 ? err : -EPROTO;
	}
	if (arg.id < SPINDLE_MAX_PREDICATES && (p->id == SPINDLE_ANY_ID || p->id == arg.id))
		return (int)arg.id;
	(void)spindle_predicate_remove(t, arg.id);
	return -EPROTO;
}

int spindle_predicate_remove(struct spindle_table *t, uint32_t id)
{
	if (!t->ctl_fired)
		return -EBADF;
	/* The argument is a number, and no address. */
	return spindle_sys_ioctl(t->fd, SPINDLE_TABLE_IOC_REMOVE, (void *)(uintptr_t)id);
}

uint64_t spindle_predicate_fired(const struct spindle_table *t, uint32_t id)
{
	if (!t->ctl_fired || id >= SPINDLE_MAX_PREDICATES)
		return 0;
	return spindle_load_acquire(&t->ctl_fired[id]);
}
