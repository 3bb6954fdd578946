/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Streams: how the large messages of a subgroup come to its members.
 *
 * Each sender of the subgroup has a stream: RDMC inside of the view, with the sender as the root
 * and all members. What is held (enum spindle_held in multicast.h) is an object of it, and goes to
 * where a push would have brought it, in the sender's payload ring at every member.
 *
 *	begin	when the subgroup begins in a view, and again when it stays through a change
 *	stop	when the view ends, for all its members
 *	quiet	then no device can write into a ring any more: only now a member says that it has
 *		pushed all. So nobody ever finds bytes of an old message over those of a new one
 *
 * A member says nothing in a stream to one that has not begun it, see spindle_mg_has_begun(). So
 * what arrives for a stream that a member does not have was sent by nobody that is honest, or is
 * left over from a stream that has ended: it is dropped.
 *
 * Module and simulator embed it. Memory comes from them: a stream wants it for one object at a
 * time, by spindle_streams_ops.want, and gets it by spindle_streams_give().
 *
 * Context: engine, all of it. Nothing sleeps or allocates.
 */
#ifndef SPINDLE_CORE_STREAM_H
#define SPINDLE_CORE_STREAM_H

#include "group.h"
#include "rdmc.h"

struct spindle_streams;

/**
 * struct spindle_streams_ops - what streams ask of their embedder
 * @rdmc: lanes, memory that is released, and who has to go
 * @ready: can blocks come from and go to this rank of the stream? false: not yet
 * @lost: or never, by the lane that there is?
 * @want: memory is wanted for an object, see spindle_streams_give()
 */
struct spindle_streams_ops {
	struct spindle_rdmc_ops rdmc;
	bool (*ready)(struct spindle_rdmc *r, u32 m);
	bool (*lost)(struct spindle_rdmc *r, u32 m);
	void (*want)(struct spindle_streams *ss, u32 s);
};

/**
 * struct spindle_stream - what one sender sends, at a member
 * @r: its state; @r.ctx is the embedder's
 * @cfg: what is the same whenever it begins
 * @wanted: memory is wanted for an object; what follows is of this one
 * @turn: how often that was so
 * @object: its number
 * @len: its bytes
 * @unit: where it begins in the sender's ring
 */
struct spindle_stream {
	struct spindle_rdmc r;
	struct spindle_rdmc_config cfg;
	bool wanted;
	u64 turn;
	u64 object;
	u64 len;
	u64 unit;
};

/**
 * struct spindle_streams - those of a subgroup
 * @ops: the embedder's
 * @mg: the subgroups of the node
 * @mc: the subgroup
 * @vid: view that they have begun with; 0: none yet
 * @stayed: the subgroup has stayed then
 * @moving: own object that is under way
 * @stream: by sender rank
 */
struct spindle_streams {
	const struct spindle_streams_ops *ops;
	const struct spindle_mg *mg;
	struct spindle_mc *mc;
	u64 vid;
	bool stayed;
	u64 moving;
	struct spindle_stream *stream;
};

void spindle_streams_init(struct spindle_streams *ss, const struct spindle_view *view, u32 index,
			  u32 block);
void spindle_streams_begin(struct spindle_streams *ss, u64 vid, bool stayed);
void spindle_streams_stop(struct spindle_streams *ss);
bool spindle_streams_quiet(const struct spindle_streams *ss);
bool spindle_streams_pass(struct spindle_streams *ss, u64 now);
enum spindle_mb_reason spindle_stream_misses(const struct spindle_rdmc *r, bool parted);
bool spindle_streams_give(struct spindle_streams *ss, u32 s, u64 turn, void *mem,
			  unsigned long *have);

#endif /* SPINDLE_CORE_STREAM_H */
