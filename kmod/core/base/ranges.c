// SPDX-License-Identifier: GPL-2.0-only
/* Ranges: views of earlier eras that a group with logs follows. See ranges.h. */
#include "ranges.h"
#include "sst.h"

static u32 count(const struct spindle_ranges *ranges, u32 subgroup)
{
	u32 n = 0, i;

	for (i = 0; i < ranges->views; i++)
		n += ranges->view[i].subgroup == subgroup;
	return n;
}

/* Put a node in its place among the others. Return: false if the node is there already. */
static bool put_node(struct spindle_range_view *view, u32 node)
{
	u32 i = view->members;

	while (i && view->node[i - 1] > node)
		i--;
	if (i && view->node[i - 1] == node)
		return false;
	memmove(&view->node[i + 1], &view->node[i], (view->members - i) * sizeof(node));
	view->node[i] = node;
	view->members++;
	return true;
}

/**
 * spindle_ranges_add() - check a view, and put it behind the others
 * @ranges: with room for it; unchanged with a refusal
 * @subgroup: id of the subgroup
 * @node: ids of its members, in any order and of any value
 * @members: how many, any number
 *
 * Return: NULL, or a sentence that names the limit that the view breaks
 */
const char *spindle_ranges_add(struct spindle_ranges *ranges, u32 subgroup, const u32 *node,
			       u32 members)
{
	struct spindle_range_view *view = &ranges->view[ranges->views];
	u32 i;

	if (!members || members > SPINDLE_MAX_MEMBERS)
		return "a view of a range has 1 to 64 members";
	if (count(ranges, subgroup) == SPINDLE_MAX_RANGE)
		return "a range has at most 15 views";
	view->subgroup = subgroup;
	view->members = 0;
	for (i = 0; i < members; i++) {
		if (!node[i])
			return "node ids start at 1";
		if (!put_node(view, node[i]))
			return "a node is twice in a view of a range";
	}
	ranges->views++;
	return NULL;
}

/**
 * spindle_ranges_digest() - add the ranges to the digest of a first view
 * @digest: of the view
 * @ranges: the ranges, or NULL
 *
 * Return: the digest of both; @digest if there is no range
 */
u64 spindle_ranges_digest(u64 digest, const struct spindle_ranges *ranges)
{
	u32 i, k;

	for (i = 0; ranges && i < ranges->views; i++) {
		const struct spindle_range_view *view = &ranges->view[i];

		digest = spindle_mix_next(digest, (u64)view->subgroup << 32 | view->members);
		for (k = 0; k < view->members; k++)
			digest = spindle_mix_next(digest, view->node[k]);
	}
	return digest;
}
