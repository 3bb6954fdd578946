/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * States: the form that every state machine of the module has.
 *
 *	one enum	the states
 *	one table	for each state, the states that it may follow
 *	one function	asks spindle_may(), and writes the state; it refuses what is not legal
 *
 * The table is declared with the function, and the drawing of the machine with its enum. Each row
 * of the table says why the rule is as it is, where the names of the states do not.
 *
 * Context: that of the machine. The table is constant.
 */
#ifndef SPINDLE_CORE_STATES_H
#define SPINDLE_CORE_STATES_H

#include "port.h"

/**
 * spindle_may() - is a change of state legal?
 * @from: by new state, the bit mask of the states that it may follow
 * @old: the present state
 * @to: the new state, an index of @from
 *
 * Return: true if so
 */
static inline bool spindle_may(const u8 *from, u32 old, u32 to)
{
	return from[to] & BIT(old);
}

#endif /* SPINDLE_CORE_STATES_H */
