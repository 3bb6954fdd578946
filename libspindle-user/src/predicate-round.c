// SPDX-License-Identifier: MIT
/*
 * Barriers and elections: a node writes a number that grows into its row, and a predicate of the
 * engine waits until all members have written as much.
 */
#include <errno.h>

#include "table.h"

/* Write the number into the own row, unless the row has it, or more, from a call before. */
static int enter(struct spindle_table *t, uint32_t cell, uint64_t number)
{
	uint64_t have = 0;

	if (!spindle_cell_get(t, t->own_instance, cell, &have, sizeof(have), NULL) &&
	    have >= number)
		return 0;
	return spindle_cell_put(t, cell, &number, sizeof(number));
}

/*
 * Wait for the signal of a predicate. This takes the signals of all others, so the caller gives
 * them back.
 */
static int wait_fired(struct spindle_table *t, uint32_t id, int64_t deadline)
{
	int ret;

	do {
		ret = spindle_signal_until(t, deadline);
		if (ret < 0)
			return ret;
	} while (!spindle_predicate_fired(t, id) && !spindle_is_past(deadline));
	return 0;
}

/*
 * Wait until all members have written @number or more.
 *
 * usr.heard was @heard before. The predicate added as many signals as it has fired. With the sum of
 * both in usr.heard, the next wait for signals returns at once if there was any other signal, and
 * does not return for the predicate of this function.
 */
static int all_reach(struct spindle_table *t, uint32_t cell, uint64_t number, int64_t deadline)
{
	__u64 heard = *t->usr_heard;
	struct spindle_predicate p;
	uint64_t fired;
	int id, err, gone;

	spindle_predicate_init(&p, SPINDLE_KIND_ONCE);
	spindle_predicate_when(&p, spindle_term_all(spindle_field_u64(cell, 0), SPINDLE_CMP_GE,
						    spindle_number_constant(number)));
	spindle_predicate_then(&p, spindle_do_signal());
	id = spindle_predicate_add(t, &p);
	if (id < 0)
		return id == -ENOTCONN ? -EPIPE : id;
	err = wait_fired(t, (uint32_t)id, deadline);
	gone = spindle_predicate_remove(t, (uint32_t)id);
	/* The predicate may have fired until its removal, and now does not any more. */
	fired = spindle_predicate_fired(t, (uint32_t)id);
	spindle_store_release(t->usr_heard, heard + fired);
	if (fired)
		return 0;
	return err ? err : gone ? gone : -ETIMEDOUT;
}

static int64_t deadline_of(int timeout_ms)
{
	return timeout_ms ? spindle_deadline(timeout_ms) : 0;
}

int spindle_table_barrier(struct spindle_table *t, uint32_t cell, uint64_t round, int timeout_ms)
{
	int64_t deadline = deadline_of(timeout_ms);
	int err;

	if (!t->own)
		return -EBADF;
	if (!round)
		return -EINVAL;
	err = enter(t, cell, round);
	return err ? err : all_reach(t, cell, round, deadline);
}

/*
 * The view of the rows may have ended while the members were waited for. A member of the next one
 * need not have called there, so the call enters that view, too.
 */
int spindle_table_elect(struct spindle_table *t, uint32_t cell, int timeout_ms,
			struct spindle_leader *leader)
{
	int64_t deadline = deadline_of(timeout_ms);
	uint64_t vid = 0;
	int err;

	if (!t->own)
		return -EBADF;
	for (;;) {
		err = spindle_table_seats(t, NULL, 0);
		if (err < 0)
			return err;
		if (vid == t->vid)
			break;
		vid = t->vid;
		err = enter(t, cell, vid);
		if (!err)
			err = all_reach(t, cell, vid, deadline);
		if (err)
			return err;
	}
	leader->vid = vid;
	leader->node = t->rows->seat[0].node;
	leader->me = !t->rank;
	return 0;
}
