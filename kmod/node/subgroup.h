/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Subgroups: a multicast of core/, with its memory, its state and its attachments.
 *
 *	        --all members connected-->        --a member lost-->
 *	FORMING                            ACTIVE                    FAILED
 *	   |    <-- a live view with too -- |                          |
 *	   |            few members         |                          |
 *	   +----------------------------------+--- view removed -------+--> GONE
 *
 * Owner: the installed view. Between start and removal the engine owns state and attachments.
 */
#ifndef SPINDLE_NODE_SUBGROUP_H
#define SPINDLE_NODE_SUBGROUP_H

#include <linux/list.h>

#include "base/net.h"
#include "core/multicast/multicast.h"
#include "durable.h"
#include "installed.h"
#include "node.h"

struct spindle_attachment;
struct spindle_kept;
struct spindle_large;
struct spindle_peer;
struct spindle_streams;
struct spindle_table;

/**
 * struct spindle_subgroup - a subgroup of the installed view
 */
struct spindle_subgroup {
	/** @inst: the installed view */
	struct spindle_installed *inst;
	/**
	 * @cfg: its configuration, in the view that it was created for; after the install in that
	 * of @inst
	 */
	const struct spindle_view_subgroup *cfg;
	/** @index: its index in the view */
	u32 index;
	/** @peers: members other than this node, as ranks in the view */
	u64 peers;
	/** @state: enum spindle_state */
	u32 state;
	/** @error: enum spindle_error */
	u32 error;
	/** @mc: the protocol */
	struct spindle_mc mc;
	/** @attachments: struct spindle_attachment.link */
	struct list_head attachments;
	/** @sender: the attachment that sends, or NULL; the namespace's lock */
	struct spindle_attachment *sender;
	/** @readers: attachments that read; the namespace's lock */
	u32 readers;
	/** @part: frees the parting sender when its last message is sent */
	struct spindle_chore part;
	/** @stall_ms: time after which a reader that consumes nothing is detached; 0: never */
	u32 stall_ms;
	/** @kept: what readers read, or NULL; the namespace's lock */
	struct spindle_kept *kept;
	/** @fill: the sender may put messages in front of @kept; the namespace's lock */
	bool fill;
	/** @logging: the logs, of a subgroup that has some */
	struct spindle_logging logging;
	/** @table: the table; NULL if the subgroup has messages */
	struct spindle_table *table;
	/** @large: large messages, of bulk/; or NULL if the subgroup cannot have any */
	struct spindle_large *large;
	/** @streams: the streams of @large, or NULL */
	struct spindle_streams *streams;
};

/**
 * spindle_subgroup_touch() - make the next pass visit the subgroup, after a change outside a pass
 * @sg: the subgroup
 *
 * Context: engine.
 */
static inline void spindle_subgroup_touch(struct spindle_subgroup *sg)
{
	spindle_engine_assert(sg->inst->node->engine);
	spindle_mg_touch(&sg->inst->mg, sg->index);
}

/**
 * spindle_installed_find() - find a subgroup
 * @inst: the installed view, or NULL
 * @id: id of the subgroup
 *
 * Return: the subgroup; NULL: the node is in no subgroup with this id
 */
static inline struct spindle_subgroup *spindle_installed_find(const struct spindle_installed *inst,
							      u32 id)
{
	struct spindle_subgroup *sg;
	u32 i;

	for (i = 0; inst && (sg = spindle_installed_subgroup(inst, &i)); i++)
		if (sg->cfg->id == id)
			return sg;
	return NULL;
}

/**
 * spindle_installed_find_name() - find a subgroup by its name
 * @inst: the installed view, or NULL
 * @name: its name
 *
 * Return: the subgroup, of shards the one that the node is in; NULL: the node is in none, or the
 *	name is empty
 */
static inline struct spindle_subgroup *
spindle_installed_find_name(const struct spindle_installed *inst, const char *name)
{
	struct spindle_subgroup *sg;
	u32 i;

	for (i = 0; inst && (sg = spindle_installed_subgroup(inst, &i)); i++)
		if (name[0] && !strcmp(sg->cfg->name, name))
			return sg;
	return NULL;
}

struct spindle_subgroup *spindle_subgroup_create(struct spindle_installed *inst,
						 const struct spindle_view *view, u32 me,
						 struct spindle_peer *const *peer, u32 index);
void spindle_subgroup_free(struct spindle_subgroup *sg);
struct spindle_tb *spindle_subgroup_tb(const struct spindle_subgroup *sg);
u64 spindle_subgroup_row_bytes(const struct spindle_subgroup *sg);
u64 spindle_subgroup_private_bytes(const struct spindle_subgroup *sg);

/* engine context */
void spindle_subgroup_formed(struct spindle_subgroup *sg);
void spindle_subgroup_changed(struct spindle_subgroup *sg);
void spindle_subgroup_ran(struct spindle_subgroup *sg, bool work);
bool spindle_subgroup_watch(struct spindle_subgroup *sg);
void spindle_subgroup_follow(struct spindle_subgroup *sg, struct spindle_subgroup *old);
void spindle_subgroup_end(struct spindle_subgroup *sg, u32 state, u32 error,
			  const char *reason);

#endif /* SPINDLE_NODE_SUBGROUP_H */
