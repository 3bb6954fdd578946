// SPDX-License-Identifier: MIT
/*
 * Predicates in user space: a list of tests and triggers.
 *
 * A callback may add and remove any watch, and free the memory of what it has removed. So a look
 * keeps two pointers that a removal corrects: the watch to come to next, and the watch that runs. A
 * look touches a watch after a callback only if the watch is still the one that runs.
 */
#include <errno.h>

#include "table.h"

int spindle_loop_add(struct spindle_loop *l, struct spindle_watch *w)
{
	if (!w->test || !w->act || !w->acts || w->kind > SPINDLE_KIND_TRANSITION)
		return -EINVAL;
	if (w->loop)
		return -EEXIST;
	w->loop = l;
	w->held = false;
	w->since = l->look;
	w->next = NULL;
	w->prev = l->last;
	if (l->last)
		l->last->next = w;
	else
		l->first = w;
	l->last = w;
	l->again = true;
	return 0;
}

static void unlink_watch(struct spindle_loop *l, struct spindle_watch *w)
{
	if (l->cursor == w)
		l->cursor = w->next;
	if (w->prev)
		w->prev->next = w->next;
	else
		l->first = w->next;
	if (w->next)
		w->next->prev = w->prev;
	else
		l->last = w->prev;
	w->loop = NULL;
}

int spindle_loop_remove(struct spindle_loop *l, struct spindle_watch *w)
{
	bool current = l->current == w;

	/* A watch that fires once is not in the list any more when its triggers run. */
	if (current)
		l->current = NULL;
	if (w->loop == l)
		unlink_watch(l, w);
	else if (!current)
		return -ENOENT;
	return 0;
}

/* Return: does the watch fire? It may be gone. */
static bool test(struct spindle_loop *l, struct spindle_watch *w)
{
	bool held = w->held, holds = w->test(w->ctx);

	if (l->current != w)
		return false;
	w->held = holds;
	return holds && !(held && w->kind == SPINDLE_KIND_TRANSITION);
}

static int look_at(struct spindle_loop *l, struct spindle_watch *w)
{
	uint32_t i;

	l->current = w;
	if (!test(l, w)) {
		l->current = NULL;
		return 0;
	}
	if (w->kind == SPINDLE_KIND_ONCE)
		unlink_watch(l, w);
	for (i = 0; l->current == w && i < w->acts; i++)
		w->act[i](w->ctx);
	l->current = NULL;
	return 1;
}

int spindle_loop_look(struct spindle_loop *l)
{
	struct spindle_watch *w;
	int fired = 0;

	if (l->looking)
		return -EBUSY;
	l->looking = true;
	l->again = false;
	l->look++;
	for (l->cursor = l->first; l->cursor;) {
		w = l->cursor;
		l->cursor = w->next;
		if (w->since < l->look)
			fired += look_at(l, w);
	}
	l->looking = false;
	return fired;
}

/*
 * The wait notes the generation before the look that follows. A change that the look misses makes
 * the next wait return at once.
 */
int spindle_loop_run(struct spindle_loop *l, struct spindle_table *t, int timeout_ms)
{
	int64_t deadline = spindle_deadline(timeout_ms);
	int ret;

	if (l->looking)
		return -EBUSY;
	l->stopped = false;
	l->result = 0;
	/* The first look does not wait. */
	l->again = true;
	do {
		ret = spindle_change_until(t, l->again ? 0 : deadline);
		if (ret < 0)
			return ret;
		spindle_loop_look(l);
		if (l->stopped || !l->first)
			return l->result;
	} while (!spindle_is_past(deadline));
	return -ETIMEDOUT;
}
