/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A view: the members and the subgroups that they form.
 *
 * Every member is given the same view; everything that follows from it (ranks,
 * layouts, remote offsets) is computed on each host by the same pure functions
 * and never sent. The digest of the view in the connection handshake proves that
 * two hosts mean the same.
 *
 * Context: any. Nothing here sleeps or allocates.
 */
#ifndef SPINDLE_CORE_VIEW_H
#define SPINDLE_CORE_VIEW_H

#include "port.h"
#include <linux/spindle.h>
#include <linux/spindle_genl.h>
#include <linux/spindle_table.h>

/*
 * The id of a live view, at most. It grows with each change, must not come round to 0, and shares a
 * word of a log block with other bits.
 */
#define SPINDLE_MAX_LIVE_VID BIT_ULL(59)

/* The position that a subgroup begins at, at most: it grows, and must not come round to 0. */
#define SPINDLE_MAX_LSN BIT_ULL(62)

/* Bits of spindle_view_subgroup.log. */
#define SPINDLE_LOGGED		BIT(0) /* each member has a log of the messages on disk */
#define SPINDLE_LOGGED_MAJORITY	BIT(1) /* a majority of the logs makes a message durable, not all */
#define SPINDLE_LOGGED_GATE	BIT(2) /* readers get a message when it is durable */
#define SPINDLE_LOGGED_ALL	(SPINDLE_LOGGED | SPINDLE_LOGGED_MAJORITY | SPINDLE_LOGGED_GATE)

/**
 * struct spindle_addr - where a node listens
 */
struct spindle_addr {
	/** @ip: network byte order; IPv4 in the first four bytes, the rest zero */
	u8 ip[16];
	/** @port: host byte order */
	u16 port;
	/** @family: 4 or 6 */
	u16 family;
};

/**
 * struct spindle_view_member - a member of a view; its rank is its index
 */
struct spindle_view_member {
	/** @id: node id, from 1, unique in the view */
	u32 id;
	/** @addr: where it listens */
	struct spindle_addr addr;
};

/**
 * struct spindle_view_subgroup - configuration of a subgroup, or of a table
 *
 * A table is a subgroup of SPINDLE_MODE_TABLE or SPINDLE_MODE_TABLE_READ: its members share rows of
 * memory in place of messages. Every member writes its own row, so a table has no senders and no
 * position.
 */
struct spindle_view_subgroup {
	/** @id: unique in the view */
	u32 id;
	/** @mode: enum spindle_mode */
	u32 mode;
	/** @window: slots per sender; a power of two. Of a table: cells of a row, any number */
	u32 window;
	/** @max_msg: bytes. Of a table: bytes of a cell, a power of two */
	u32 max_msg;
	/**
	 * @ring: bytes of a sender's payload ring; a power of two. Of a table: of the place of a
	 * row's cells, see spindle_view_table_ring()
	 */
	u32 ring;
	/** @hold: messages wait at a member for its first attachment; 0 of a table */
	u32 hold;
	/** @log: SPINDLE_LOGGED*; 0 of a table, and in static views, which have no lineage */
	u32 log;
	/** @min_copies: logs that a durable message is in at least; 0: two, or one of one member */
	u32 min_copies;
	/** @members: ranks in the view, as a bit mask */
	u64 members;
	/** @senders: subset of @members that may send; none of a table */
	u64 senders;
	/**
	 * @former: messages that were delivered in all views before, of senders that are none any
	 * more; see spindle_decree_count(). Of a first view: the position that it begins with. Of a
	 * table: 0
	 */
	u64 former;
	/**
	 * @name: "", or unique in the view, but shards share one. Its size leaves no hole, because
	 * a card has it as it is in memory
	 */
	char name[SPINDLE_NAME_LEN + 8];
	/**
	 * @fields: of a table: names and types of the fields of a value, or "". Only programs read
	 * the text. It is the last member, because a card has it apart from the rest of a rule
	 */
	char fields[SPINDLE_FIELDS_LEN + 1];
};

/**
 * spindle_view_closed() - is there no subgroup at this index of a live view?
 * @sg: entry of the view; all zero if its rule is closed, see core/membership/rules.h
 *
 * Return: true if so
 */
static inline bool spindle_view_closed(const struct spindle_view_subgroup *sg)
{
	return !sg->window;
}

/**
 * spindle_view_is_table() - is a subgroup a table?
 * @sg: entry of the view, or the configuration of a rule
 *
 * Return: true if so
 */
static inline bool spindle_view_is_table(const struct spindle_view_subgroup *sg)
{
	return sg->mode == SPINDLE_MODE_TABLE || sg->mode == SPINDLE_MODE_TABLE_READ;
}

/**
 * spindle_view_is_read() - do members read the rows of a table from their owners?
 * @sg: entry of the view, or the configuration of a rule
 *
 * Return: true if the subgroup is a table of mode read
 */
static inline bool spindle_view_is_read(const struct spindle_view_subgroup *sg)
{
	return sg->mode == SPINDLE_MODE_TABLE_READ;
}

/**
 * spindle_view_cells() - cells of a table's row
 * @sg: a table
 *
 * Return: how many
 */
static inline u32 spindle_view_cells(const struct spindle_view_subgroup *sg)
{
	return sg->window;
}

/**
 * spindle_view_cell() - size of a table's cell
 * @sg: a table
 *
 * Return: bytes, a power of two
 */
static inline u32 spindle_view_cell(const struct spindle_view_subgroup *sg)
{
	return sg->max_msg;
}

/**
 * struct spindle_view - members and subgroups, immutable once installed
 */
struct spindle_view {
	/** @vid: view id, grows with every view of a cluster */
	u64 vid;
	/** @num_members: entries in @member */
	u32 num_members;
	/** @num_subgroups: entries in @subgroup */
	u32 num_subgroups;
	/** @member: by rank */
	struct spindle_view_member member[SPINDLE_MAX_MEMBERS];
	/** @subgroup: in the order in which they were given */
	struct spindle_view_subgroup subgroup[SPINDLE_MAX_SUBGROUPS];
};

/**
 * struct spindle_view_fault - what a refusal is about
 */
struct spindle_view_fault {
	/** @member: index of a member, or -1 */
	int member;
	/** @subgroup: index of a subgroup, or -1 */
	int subgroup;
};

int spindle_view_rank(const struct spindle_view *view, u32 id);
const struct spindle_view_subgroup *
spindle_view_subgroup(const struct spindle_view *view, u32 id);
bool spindle_view_same_name(const struct spindle_view_subgroup *a,
			    const struct spindle_view_subgroup *b);
u32 spindle_view_default_ring(u32 window, u32 max_msg);
u32 spindle_view_table_ring(u32 cells, u32 cell);
const char *spindle_view_set_table(struct spindle_view_subgroup *sg, u32 cells, u32 cell,
				   bool *of_cell);
const char *spindle_view_check_sizes(const struct spindle_view_subgroup *sg);
const char *spindle_view_check(const struct spindle_view *view, bool live,
			       struct spindle_view_fault *fault);
u64 spindle_view_digest(const struct spindle_view *view);

/**
 * spindle_mask_rank() - rank of a member inside a subset of the view
 * @mask: the subset, as ranks in the view
 * @rank: rank in the view, a bit of @mask
 *
 * Return: rank inside the subset; subgroup and sender ranks follow view ranks
 */
static inline u32 spindle_mask_rank(u64 mask, u32 rank)
{
	return hweight64(mask & (BIT_ULL(rank) - 1));
}

#endif /* SPINDLE_CORE_VIEW_H */
