/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A world: several nodes run the real core over a fabric that is made of memory. Processes use the
 * rings as <linux/spindle.h> says, and a checker knows all messages that were sent.
 *
 *   world.c	nodes, rows, engine passes, the schedule, the drain
 *   fabric.c	links: first in first out, late, torn, reordered
 *   proc.c	processes: senders and readers, honest, slow, dead, cheating
 *   checker.c	what was sent, in which order it came out, and what must hold
 *
 * One seed decides everything, and the first error stops the schedule. Each object has its own
 * memory of the exact size, so that the sanitizer finds each access outside.
 */
#ifndef SPINDLE_UNIT_WORLD_H
#define SPINDLE_UNIT_WORLD_H

#include "core/group/group.h"
#include "core/multicast/multicast.h"
#include "core/base/push.h"
#include "rng.h"
#include "tap.h"
#include "core/group/wire.h"

#define WORLD_NODES 16
#define WORLD_GROUPS 4
#define WORLD_LINK_MAX 64 /* writes on a link */

struct world;
struct node;

/**
 * struct world_conf - what kind of world
 * @tear: a write becomes visible byte by byte
 * @reorder: so many writes of a link are under way at once, in any order; 0: none
 * @overwrite: with @reorder: even two writes to the same place change places
 * @vouch: guards are believed when their completion has come
 * @late: the device reads the source when it moves it, not when it is posted
 * @cheats: some processes break the rules of their rings
 * @deaths: processes die and come back
 * @sleepy: an engine that has nothing to do runs when it is woken, and only then
 * @tune: members use any of the techniques, and change their minds
 * @races: links move while a pass runs, every so many looks at most; 0: not
 * @large: messages of more bytes are brought to the members by the world itself; 0: none. With
 *	@tune any number, another one at each member, and another one later
 * @queue: writes that a link takes
 * @first: number of the first message of each sender
 * @first_unit: where payload rings begin to be used
 */
struct world_conf {
	bool tear;
	u32 reorder;
	bool overwrite;
	bool vouch;
	bool late;
	bool cheats;
	bool deaths;
	bool sleepy;
	bool tune;
	u32 races;
	u32 large;
	u32 queue;
	u64 first;
	u64 first_unit;
};

/* A write under way. */
struct op {
	struct op *next;
	u64 remote;
	u32 len;
	u32 left;
	bool guard;
	u32 imm;
	u32 order; /* of the bytes, if torn */
	u64 todo; /* bytes, if torn and short */
	const u8 *src;
	u8 data[];
};

struct link {
	struct op *head;
	struct op **tail;
	u32 n;
	u32 slow; /* percent of the steps that do nothing */
};

/* A message as it was committed, and the messages of one sender. */
struct sent {
	u64 key;
	u32 len;
	u32 unit;
};

struct ledger {
	struct sent *v;
	u64 n;
	u64 room;
};

/* A place in the total order, and the order of one subgroup. */
struct place {
	u64 seq;
	u64 slot;
	u32 sender;
};

struct order {
	struct place *v;
	u64 n;
	u64 room;
};

/* A slot that a process reserved. */
struct reserved {
	u64 unit;
	u64 key;
	u32 units;
	u32 len;
	bool committed;
	bool abandoned;
};

/**
 * struct sender - a process that sends
 * @desc: its descriptors, memory that the engine reads
 * @free_slot: control page
 * @free_unit: control page
 * @slot: next slot to reserve
 * @unit: next unit to reserve
 * @settled: slots below are committed, without a gap
 * @rec: reserved slots, by slot mod window
 * @threads: slots it holds open at a time
 * @told: @free_slot when it was last told that something is free
 * @cheated: it broke a rule, nothing of it counts from @settled on
 */
struct sender {
	struct spindle_tx_desc *desc;
	u64 *free_slot;
	u64 *free_unit;
	u64 slot;
	u64 unit;
	u64 settled;
	struct reserved *rec;
	u32 threads;
	u64 told;
	bool cheated;
};

/**
 * struct reader - a process that reads
 * @q: the engine's end
 * @tail: control page
 * @consumed: user page
 * @seen: entries checked
 * @next_slot: by sender: next message to come (unordered subgroups)
 * @lazy: percent of the steps in which it does nothing
 * @cheated: it broke a rule
 */
struct reader {
	struct reader *next;
	struct spindle_dlvq q;
	u64 *tail;
	u64 *consumed;
	u64 seen;
	u64 *next_slot;
	u32 lazy;
	bool cheated;
};

/**
 * struct group - a subgroup at a node
 * @talk: percent of the steps in which its process sends; 0: silent
 * @parted: a process that has gone before all it had committed was sent
 */
struct group {
	struct spindle_mc mc;
	struct node *node;
	u32 index;
	u32 view_rank[WORLD_NODES];
	u8 *pay; /* own payload ring */
	u32 talk;
	struct sender *sender;
	struct sender *parted;
	struct reader *readers;
	u64 last_word[SPINDLE_BLOCK_WORDS];
};

struct node {
	struct world *world;
	u32 rank;
	u32 slow;
	bool asleep;
	bool rung; /* during a pass: no sleep after it */
	bool idle;
	u8 *row[WORLD_NODES];
	u32 vouch[WORLD_NODES][WORLD_GROUPS];
	struct spindle_layout lo[WORLD_NODES];
	struct group *group[WORLD_GROUPS];
	struct spindle_mg mg;
};

struct world {
	struct world_conf conf;
	struct spindle_view view;
	struct rng rng;
	struct node node[WORLD_NODES];
	struct link link[WORLD_NODES][WORLD_NODES];
	struct ledger ledger[WORLD_GROUPS][WORLD_NODES];
	struct order order[WORLD_GROUPS];
	u8 *scratch;
	u64 posted;	/* writes */
	u64 steps;
	u32 hostile;	/* rank of a member that is not run, or nodes */
	bool stopped;	/* no new messages */
	bool failed;
	char why[256];
};

/* world.c */
struct world *world_open(const struct spindle_view *view, const struct world_conf *conf,
			 u64 seed);
void world_close(struct world *w);
void world_activate(struct world *w);
void world_step(struct world *w);
void world_drain(struct world *w);

/* What a test without a world does between two looks of the core, or NULL. */
extern void (*world_look)(void);
bool node_pass(struct node *node);
__attribute__((format(printf, 2, 3)))
void world_fail(struct world *w, const char *fmt, ...);

/* fabric.c */
u32 fabric_room(const struct world *w, u32 from, u32 to);
void fabric_post(struct world *w, u32 from, u32 to, const struct spindle_write *write);
bool fabric_step(struct world *w, u32 from, u32 to);
void fabric_close(struct world *w);

/* proc.c */
void sender_open(struct group *g);
void sender_close(struct group *g);
void sender_parted(struct group *g);
void sender_step(struct group *g);
void sender_finish(struct group *g);
bool sender_reserve(struct group *g, u32 len, u32 extra_units);
void sender_commit(struct group *g, u64 slot, bool abandon);
void sender_cheat(struct group *g);
struct reader *reader_open(struct group *g, u32 entries, u32 copy_bytes);
void reader_close(struct group *g, struct reader *r);
bool reader_step(struct group *g, struct reader *r, bool all);
void reader_cheat(struct group *g, struct reader *r);

/* checker.c */
void pattern(u8 *to, u64 key, u32 len);
void check_sent(struct group *g, const struct reserved *rec);
void check_reader(struct group *g, struct reader *r);
void check_payload(struct group *g, const struct reader *r, const struct spindle_dlv *d,
		   const char *when);
void check_group(struct group *g);
void check_end(struct world *w);

static inline const struct spindle_view_subgroup *group_conf(const struct group *g)
{
	return &g->node->world->view.subgroup[g->index];
}

/* The instance of the group at another of its members. */
static inline struct group *group_at(const struct group *g, u32 member)
{
	return g->node->world->node[g->view_rank[member]].group[g->index];
}

static inline struct ledger *group_ledger(const struct group *g, u32 sender)
{
	return &g->node->world->ledger[g->index][sender];
}

#endif /* SPINDLE_UNIT_WORLD_H */
