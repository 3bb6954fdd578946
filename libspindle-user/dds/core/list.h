/* SPDX-License-Identifier: MIT */
/*
 * Lists of entries of an array. The links are indexes, so a list can be checked, and its array can
 * be anywhere.
 *
 * Owner: the list belongs to the struct that has it; the links belong to the entries. Context: any.
 */
#ifndef SPINDLE_DDS_LIST_H
#define SPINDLE_DDS_LIST_H

#include "core.h"

static inline void list_init(struct spindle_dds_list *list)
{
	list->first = SPINDLE_DDS_NONE;
	list->last = SPINDLE_DDS_NONE;
	list->n = 0;
}

/* The link @member of entry @i of @array. */
#define LINK(array, i, member) (&(array)[i].member)

/* Append entry @i to @list. */
#define list_add(list, array, i, member) do {				\
	struct spindle_dds_list *list_ = (list);			\
	uint32_t i_ = (i);						\
									\
	LINK(array, i_, member)->prev = list_->last;			\
	LINK(array, i_, member)->next = SPINDLE_DDS_NONE;		\
	if (list_->last == SPINDLE_DDS_NONE)				\
		list_->first = i_;					\
	else								\
		LINK(array, list_->last, member)->next = i_;		\
	list_->last = i_;						\
	list_->n++;							\
} while (0)

/* Take entry @i, which is in @list, out of it. */
#define list_del(list, array, i, member) do {				\
	struct spindle_dds_list *list_ = (list);			\
	struct spindle_dds_link link_ = *LINK(array, i, member);	\
									\
	if (link_.prev == SPINDLE_DDS_NONE)				\
		list_->first = link_.next;				\
	else								\
		LINK(array, link_.prev, member)->next = link_.next;	\
	if (link_.next == SPINDLE_DDS_NONE)				\
		list_->last = link_.prev;				\
	else								\
		LINK(array, link_.next, member)->prev = link_.prev;	\
	list_->n--;							\
} while (0)

#endif /* SPINDLE_DDS_LIST_H */
