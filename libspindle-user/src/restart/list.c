// SPDX-License-Identifier: MIT
/*
 * The list of subgroups that a node restarts with. Lists only grow, and a node has a longer one
 * than others until it has been in a view with them. Two restarts exclude each other because they
 * ask for the same subgroups. So nodes with different lists do not restart together.
 */
#include "inner.h"

/**
 * spindle_restart_same_list() - have two nodes the same list?
 * @a: report of one
 * @b: report of the other
 *
 * Return: whether they have.
 */
bool spindle_restart_same_list(const struct spindle_restart_report *a,
			       const struct spindle_restart_report *b)
{
	uint32_t i;

	for (i = 0; i < a->parts; i++)
		if (!spindle_restart_part_of(b, a->part[i].id))
			return false;
	return a->parts == b->parts;
}

/**
 * spindle_restart_lists() - has a proposal the subgroups of a node, and no others?
 * @report: report of the node
 * @proposal: the proposal
 *
 * Return: whether it has.
 */
bool spindle_restart_lists(const struct spindle_restart_report *report,
			   const struct spindle_restart_proposal *proposal)
{
	uint32_t i;

	for (i = 0; i < proposal->parts; i++)
		if (!spindle_restart_part_of(report, proposal->part[i].id))
			return false;
	return report->parts == proposal->parts;
}
