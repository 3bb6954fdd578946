/* SPDX-License-Identifier: MIT */
/*
 * What the files of the restart share. Nothing else includes this.
 *
 * Owner: the caller of the functions. Context: any.
 */
#ifndef SPINDLE_RESTART_INNER_H
#define SPINDLE_RESTART_INNER_H

#include "restart.h"

/**
 * struct spindle_restart_set - the reports that count
 */
struct spindle_restart_set {
	/** @n: entries in @report */
	uint32_t n;
	/** @report: of different nodes, by all of the same lineage and the same list */
	const struct spindle_restart_report *report[SPINDLE_MAX_MEMBERS];
};

/* Is the view @a older than @b? Views of a later era are newer. */
static inline bool spindle_restart_older(const struct spindle_restart_id *a,
					 const struct spindle_restart_id *b)
{
	return a->era != b->era ? a->era < b->era : a->vid < b->vid;
}

/* Do the names agree? */
static inline bool spindle_restart_is(const struct spindle_restart_id *a,
				      const struct spindle_restart_id *b)
{
	return a->era == b->era && a->vid == b->vid;
}

/* Is the node one of them? */
static inline bool spindle_restart_has(const uint32_t *node, uint32_t nodes, uint32_t which)
{
	uint32_t i;

	for (i = 0; i < nodes; i++)
		if (node[i] == which)
			return true;
	return false;
}

/* What a node reports of a subgroup; NULL: nothing. */
static inline const struct spindle_restart_part *
spindle_restart_part_of(const struct spindle_restart_report *report, uint32_t id)
{
	uint32_t i;

	for (i = 0; i < report->parts; i++)
		if (report->part[i].id == id)
			return &report->part[i];
	return NULL;
}

bool spindle_restart_lists(const struct spindle_restart_report *report,
			   const struct spindle_restart_proposal *proposal);
void spindle_restart_collect(struct spindle_restart_set *set,
			     const struct spindle_restart_ballot *ballot,
			     const struct spindle_restart_report *const *report, uint32_t reports);
void spindle_restart_extend(struct spindle_restart_path *path,
			    const struct spindle_restart_path *from,
			    const struct spindle_restart_view *newest, uint64_t base);
void spindle_restart_copy_view(struct spindle_restart_view *to,
			       const struct spindle_restart_view *from);
void spindle_restart_path_to(const struct spindle_restart_set *set, uint32_t id,
			     const struct spindle_restart_view *view,
			     struct spindle_restart_path *path);
void spindle_restart_find_range(const struct spindle_restart_set *set,
				struct spindle_restart_need *need);
void spindle_restart_copy_record(struct spindle_restart_record *to,
				 const struct spindle_restart_record *from);
void spindle_restart_place(const struct spindle_restart_set *set,
			   struct spindle_restart_proposal *proposal);
void spindle_restart_copy_proposal(struct spindle_restart_proposal *to,
				   const struct spindle_restart_proposal *from);
bool spindle_restart_good_proposal(const struct spindle_restart_proposal *proposal);
bool spindle_restart_good_force(const struct spindle_restart_force *force);
bool spindle_restart_good_report(const struct spindle_restart_report *report);
bool spindle_restart_good_voter(const struct spindle_restart_voter *voter);
bool spindle_restart_good_keep(const struct spindle_restart_keep *keep);

#endif /* SPINDLE_RESTART_INNER_H */
