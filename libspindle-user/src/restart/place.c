// SPDX-License-Identifier: MIT
/*
 * Which shard of a subgroup each node begins again in. A node stays in the shard whose log it has.
 *
 * Each reporter that may be in a subgroup is in one of its shards. The kernel takes the shards as
 * they are here, because the view records have the same members.
 */
#include "inner.h"

/* The work: the nodes to place, and which shards belong together. */
struct work {
	const struct spindle_restart_set *set;
	struct spindle_restart_proposal *proposal;
	/* Of each subgroup of the proposal: the id of its first shard. */
	uint32_t first[SPINDLE_MAX_SUBGROUPS];
};

/* Id of the first shard of the subgroup that @id is of. Correct reporters tell the same. */
static uint32_t first_of(const struct spindle_restart_set *set, uint32_t id)
{
	const struct spindle_restart_part *part;
	uint32_t i;

	for (i = 0; i < set->n; i++) {
		part = spindle_restart_part_of(set->report[i], id);
		if (part)
			return id - part->shard;
	}
	return id;
}

static const struct spindle_restart_view *newest_of(const struct spindle_restart_record *record)
{
	return record->views ? &record->view[record->views - 1] : NULL;
}

/*
 * The view by which a node belongs to a shard: the newest one of the shard, if the node is in it.
 * With @own: the newest one that the node has a record of. NULL: there is none.
 */
static const struct spindle_restart_view *find_view(const struct spindle_restart_report *report,
						    const struct spindle_restart_base *base,
						    const struct spindle_restart_part *part,
						    bool own)
{
	const struct spindle_restart_view *view = newest_of(own ? &part->record : &base->range);

	return view && (own || spindle_restart_has(view->node, view->members, report->node)) ?
	       view : NULL;
}

/*
 * The next shard of a subgroup that a node may be in. @p: where in the proposal the search begins;
 * out: behind the shard. @part: out: what the node reports of the shard. NULL: there is no more.
 */
static struct spindle_restart_base *next_shard(struct work *w,
					       const struct spindle_restart_report *report,
					       uint32_t first, uint32_t *p,
					       const struct spindle_restart_part **part)
{
	struct spindle_restart_base *base;

	while (*p < w->proposal->parts) {
		base = &w->proposal->part[*p];
		if (w->first[(*p)++] != first)
			continue;
		*part = spindle_restart_part_of(report, base->id);
		if (*part && (*part)->member)
			return base;
	}
	return NULL;
}

/*
 * The shard with the latest such view. A node may be in the newest views of two shards, because
 * nobody that reports knows yet that the node has left one of them. NULL: there is none.
 */
static struct spindle_restart_base *find_home(struct work *w,
					      const struct spindle_restart_report *report,
					      uint32_t first, bool own)
{
	const struct spindle_restart_view *best = NULL, *view;
	struct spindle_restart_base *home = NULL, *base;
	const struct spindle_restart_part *part;
	uint32_t p = 0;

	while ((base = next_shard(w, report, first, &p, &part))) {
		view = find_view(report, base, part, own);
		if (view && (!best || spindle_restart_older(&best->id, &view->id))) {
			best = view;
			home = base;
		}
	}
	return home;
}

/* The smallest shard that the node may be in. */
static struct spindle_restart_base *find_smallest(struct work *w,
						  const struct spindle_restart_report *report,
						  uint32_t first)
{
	struct spindle_restart_base *smallest = NULL, *base;
	const struct spindle_restart_part *part;
	uint32_t p = 0;

	while ((base = next_shard(w, report, first, &p, &part)))
		if (!smallest || __builtin_popcountll(base->members) <
				 __builtin_popcountll(smallest->members))
			smallest = base;
	return smallest;
}

/* The nodes of one subgroup: first those that have a shard, then the other ones. */
static void place_all(struct work *w, uint32_t first)
{
	const struct spindle_restart_set *set = w->set;
	struct spindle_restart_base *base;
	uint64_t homeless = 0;
	uint32_t i;

	for (i = 0; i < set->n; i++) {
		base = find_home(w, set->report[i], first, false);
		if (!base)
			base = find_home(w, set->report[i], first, true);
		if (base)
			base->members |= 1ULL << i;
		else
			homeless |= 1ULL << i;
	}
	for (i = 0; i < set->n; i++) {
		base = homeless >> i & 1 ? find_smallest(w, set->report[i], first) : NULL;
		if (base)
			base->members |= 1ULL << i;
	}
}

/**
 * spindle_restart_place() - the members of each subgroup of a proposal
 * @set: the reports; their nodes are the members of the proposal, in this order
 * @proposal: in: subgroups with their ranges; out: with members
 *
 * A node begins again in the shard whose newest view has it, or else in the one that it has the
 * newest record of. Any other node goes to the smallest shard, once all others have their places.
 */
void spindle_restart_place(const struct spindle_restart_set *set,
			   struct spindle_restart_proposal *proposal)
{
	struct work w = { .set = set, .proposal = proposal };
	uint32_t p, q;

	for (p = 0; p < proposal->parts; p++) {
		proposal->part[p].members = 0;
		w.first[p] = first_of(set, proposal->part[p].id);
	}
	for (p = 0; p < proposal->parts; p++) {
		for (q = 0; w.first[q] != w.first[p]; q++)
			;
		if (q == p)
			place_all(&w, w.first[p]);
	}
}
