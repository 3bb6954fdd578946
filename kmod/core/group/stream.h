/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Streams: how the large messages of a subgroup come to its members.
 *
 * Each sender of the subgroup has a stream: RDMC inside of the view, with the sender as the root
 * and all members. The message that is held (enum spindle_held in multicast.h) is an object of the
 * stream. It goes to where a push would have brought it, in the sender's payload ring at every
 * member.
 *
 *	begin	when the subgroup begins in a view, and again when it stays through a change
 *	stop	when the view ends, for all its members
 *	quiet	then no device can write into a ring any more: only now a member says that it has
 *		pushed all. So no write of an old message can overwrite a new one
 *
 * A member says nothing in a stream to a member that has not begun it, see spindle_mg_has_begun().
 * So a message for a stream that this node does not have comes from a liar, or from a stream that
 * has ended. It is dropped.
 *
 * Module and simulator embed it, and provide the memory: a stream asks for that of one object at a
 * time, by spindle_streams_ops.want, and gets it by spindle_streams_give().
 *
 * Context: engine, all of it. Nothing sleeps or allocates.
 */
#ifndef SPINDLE_CORE_STREAM_H
#define SPINDLE_CORE_STREAM_H

#include "core/rdmc/rdmc.h"
#include "group.h"

struct spindle_streams;

/**
 * struct spindle_streams_ops - what streams ask of their embedder
 */
struct spindle_streams_ops {
	/** @rdmc: lanes, and memory that is released; its @cut is spindle_stream_cut() */
	struct spindle_rdmc_ops rdmc;
	/** @ready: can blocks come from and go to this rank of the stream? false: not yet */
	bool (*ready)(struct spindle_rdmc *r, u32 m);
	/** @lost: has the lane to this rank broken, so that blocks can never move on it? */
	bool (*lost)(struct spindle_rdmc *r, u32 m);
	/** @parted: the lane to this rank is lost: has the other end closed it on purpose? */
	bool (*parted)(struct spindle_rdmc *r, u32 m);
	/**
	 * @miss: the view has to go on without this rank: SPINDLE_MB_LIED, or SPINDLE_MB_LOST: no
	 * blocks reach it
	 */
	void (*miss)(struct spindle_rdmc *r, u32 m, enum spindle_mb_reason how);
	/** @want: memory is wanted for an object, see spindle_streams_give() */
	void (*want)(struct spindle_streams *ss, u32 s);
};

/**
 * struct spindle_stream - what one sender sends, at a member
 */
struct spindle_stream {
	/** @r: its state; @r.ctx is the embedder's */
	struct spindle_rdmc r;
	/** @ss: all streams of the subgroup */
	struct spindle_streams *ss;
	/** @cfg: configuration, the same at each beginning */
	struct spindle_rdmc_config cfg;
	/** @parted: ranks that have closed their lanes on purpose, a bit each */
	u64 parted;
	/** @late: members that are waited for since @late_at: of @parted, or without their END */
	u64 late;
	/** @late_at: time, ns */
	u64 late_at;
	/** @looked_at: when it was last looked whether any of them is overdue */
	u64 looked_at;
	/** @wanted: memory is wanted for an object, which the next members describe */
	bool wanted;
	/** @turn: how often memory was wanted */
	u64 turn;
	/** @object: number of the object */
	u64 object;
	/** @len: its bytes */
	u64 len;
	/** @unit: where it begins in the sender's ring */
	u64 unit;
};

/**
 * struct spindle_streams - streams of a subgroup
 */
struct spindle_streams {
	/** @ops: the embedder's */
	const struct spindle_streams_ops *ops;
	/** @mg: the subgroups of the node */
	const struct spindle_mg *mg;
	/** @mc: the subgroup */
	struct spindle_mc *mc;
	/** @endless: the view is static, see struct spindle_rdmc_config */
	bool endless;
	/** @vid: view that the streams have begun with; 0: none yet */
	u64 vid;
	/** @stayed: the subgroup stayed when they began */
	bool stayed;
	/** @moving: own object that is under way */
	u64 moving;
	/** @stream: by sender rank */
	struct spindle_stream *stream;
};

void spindle_streams_init(struct spindle_streams *ss, const struct spindle_view *view, u32 index,
			  u32 block);
void spindle_streams_begin(struct spindle_streams *ss, u64 vid, bool stayed);
void spindle_streams_stop(struct spindle_streams *ss);
bool spindle_streams_quiet(const struct spindle_streams *ss);
bool spindle_streams_pass(struct spindle_streams *ss, u64 now);
void spindle_stream_cut(struct spindle_rdmc *r, u32 m);
bool spindle_streams_give(struct spindle_streams *ss, u32 s, u64 turn, void *mem,
			  unsigned long *have);

#endif /* SPINDLE_CORE_STREAM_H */
