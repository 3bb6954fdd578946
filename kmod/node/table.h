/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables: a subgroup's table, and the files that are attached to it.
 *
 * A table is a subgroup without messages, see core/table/table.h. So an attachment to a table is a
 * struct spindle_attachment of that subgroup, with another control page and another user page.
 *
 * Owner: the subgroup; in a live view the next object of the subgroup goes on from it. The subgroup
 * calls attachments by struct spindle_attachment_ops. An attachment owns its predicates.
 */
#ifndef SPINDLE_NODE_TABLE_H
#define SPINDLE_NODE_TABLE_H

#include <linux/poll.h>

#include "attachment.h"
#include "core/table/predicate.h"
#include "installed.h"

struct spindle_fetches;
struct spindle_predicate;
struct spindle_table_attach;

/* Instances of rows: one for each seat, and one for the own row. */
#define SPINDLE_TABLE_INSTANCES (SPINDLE_SEATS + 1)

/**
 * struct spindle_table_ctl - control page of an attachment to a table
 */
struct spindle_table_ctl {
	/** @base: what all attachments have; only state, error and need_wakeup are used */
	struct spindle_ctl base;
	/** @pad0: own cache line for what follows */
	u64 pad0[7];
	/** @generation: grows when a row may have changed */
	u64 generation;
	/** @signals: signals of all predicates */
	u64 signals;
	/** @flushed: number of the last flush that has ended */
	u64 flushed;
	/** @refreshed: number of the last refresh that has ended */
	u64 refreshed;
	/** @fired: by id: signals of a predicate */
	u64 fired[SPINDLE_MAX_PREDICATES];
	/** @vouched: by instance: version of cell 0 that may be believed */
	u64 vouched[SPINDLE_TABLE_INSTANCES];
	/** @fields: the table's fields, see struct spindle_view_subgroup */
	char fields[SPINDLE_FIELDS_LEN + 1];
};

static_assert(sizeof(struct spindle_table_ctl) <= PAGE_SIZE);

/**
 * struct spindle_table_usr - user page of an attachment to a table
 */
struct spindle_table_usr {
	/** @seen: generation that the process has handled */
	u64 seen;
	/** @heard: signals that it has handled */
	u64 heard;
	/** @pad0: own cache line for what follows */
	u64 pad0[6];
	/** @dirty: cells of the own row that the process has changed */
	u64 dirty[SPINDLE_TB_WORDS];
	/** @flush: number of the flush that it wants */
	u64 flush;
	/** @skip: by instance: members that get no changes of the row for now */
	u64 skip[DIV_ROUND_UP(SPINDLE_TABLE_INSTANCES, 64)];
	/** @every: microseconds from one read of a row to the next; 0: none */
	u64 every;
	/** @refresh: number of the refresh that it wants */
	u64 refresh;
};

/**
 * struct spindle_table - the table of a subgroup at one node
 */
struct spindle_table {
	/** @tb: the protocol */
	struct spindle_tb tb;
	/** @writer: the attachment that writes the own row, or NULL; the namespace's lock */
	struct spindle_attachment *writer;
	/** @files: attachments; the namespace's lock */
	u32 files;
	/** @generation: of the rows, as the attachments know it; engine */
	u64 generation;
	/** @counted: changes of rows that are in @generation; engine */
	u64 counted;
	/** @signalled: signals of predicates that the attachments know of; engine */
	u64 signalled;
	/** @flushed: number of the last flush whose end they know of; engine */
	u64 flushed;
	/** @fetches: of a table of mode read; else NULL */
	struct spindle_fetches *fetches;
};

/**
 * spindle_table_ctl() - the control page of an attachment
 * @att: an attachment to a table
 *
 * Return: the page
 */
static inline struct spindle_table_ctl *spindle_table_ctl(const struct spindle_attachment *att)
{
	return container_of(att->ctl, struct spindle_table_ctl, base);
}

/**
 * spindle_table_usr() - the user page of an attachment, which the process writes at any time
 * @att: an attachment to a table
 *
 * Return: the page
 */
static inline struct spindle_table_usr *spindle_table_usr(const struct spindle_attachment *att)
{
	return att->usr_pages.va;
}

int spindle_table_bind(struct spindle_attachment *att, struct spindle_net *sn, const char *name,
		       struct spindle_table_attach *args);
int spindle_table_add(struct spindle_attachment *att, struct spindle_predicate *args);
int spindle_table_remove(struct spindle_attachment *att, u64 id);

#endif /* SPINDLE_NODE_TABLE_H */
