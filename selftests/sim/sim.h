/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The simulator: nodes that run the real core, membership and all, over links of memory
 * and a clock of its own. One thread, one seed: the same seed is the same run.
 *
 *	fabric.c	links: writes in order, late, torn, lost with their ends
 *	node.c		what embeds the core: rows, engine passes, views
 *	join.c		how it gets into a view
 *	process.c	its processes
 *	check.c		what must hold, looked at whenever something is delivered
 *	fault.c		what goes wrong
 *	large.c		large messages: streams, over lanes
 *	liar.c		a member that lies
 *	sim.c		the schedule, and the program
 */
#ifndef SPINDLE_SIM_SIM_H
#define SPINDLE_SIM_SIM_H

#include "card.h"
#include "group.h"
#include "hello.h"
#include "rdmc.h"
#include "rules.h"
#include "tap.h"

#define SIM_NODES 16
#define SIM_GROUPS 3
#define SIM_ODD 1 /* the subgroup that is of any kind; what comes behind it must not notice */
#define SIM_WINDOW 128 /* at most; struct sim has what a schedule has */
#define SIM_COPY 4096 /* bytes that a reader has room for that copies */
#define SIM_SCALE 8 /* a view has no rings that are smaller than so many times the smallest here */
#define SIM_LOG (2 * SIM_NODES * SIM_WINDOW) /* entries of a reader's queue at most, twice */
#define SIM_TRIMS (SIM_NODES * SIM_GROUPS)
#define SIM_VIEWS 64
#define SIM_LIVES 8
#define SIM_QUEUE 64 /* writes on a link */

/* Clock: microseconds. */
#define SIM_INTERVAL 400
#define SIM_TIMEOUT 4000

/* A row is the same in all views: blocks, membership, header rings, payload rings. */
#define SIM_BLOCK(g) spindle_layout_block(g)
#define SIM_MB SIM_BLOCK(SIM_GROUPS)
#define SIM_MB_BYTES ALIGN(sizeof(struct spindle_mb_row) + \
			   (2 * SIM_TRIMS + SPINDLE_DECREE_HEAD) * sizeof(u64), 64)
#define SIM_RINGS(sim) \
	(sizeof(struct spindle_express) + (sim)->window * sizeof(struct spindle_hdr))
#define SIM_EXPRESS(sim, g) (SIM_MB + SIM_MB_BYTES + (g) * SIM_RINGS(sim))
#define SIM_HDR(sim, g) (SIM_EXPRESS(sim, g) + sizeof(struct spindle_express))
#define SIM_PAY(sim, g) (SIM_EXPRESS(sim, SIM_GROUPS) + (g) * (u64)(sim)->ring)
#define SIM_ROW(sim) SIM_PAY(sim, SIM_GROUPS)

struct sim;
struct node;
struct lanes;
struct large;

#define NO_IMM (~0U)

/* A write under way. */
struct op {
	struct op *next;
	u64 at;
	u64 remote;
	u32 len;
	u32 imm; /* NO_IMM: nothing tells of it */
	bool torn; /* a part of it is visible */
	bool early; /* all of it is, before others that were posted earlier */
	u8 data[];
};

struct link {
	struct op *head;
	struct op **tail;
	u32 n;
	u64 at; /* the first write moves */
	u64 last; /* so does the last one that was posted */
	u32 slow; /* delay at most */
	bool blocked; /* by a partition */
	bool cut; /* for good */
	u64 up_at; /* there is a connection from then on */
	u64 try_at; /* a joiner does not knock before */
	u64 lost_at; /* the sender is told that the connection broke; 0: not */
	bool closed; /* by the other end, which is alive */
	u64 retry_at; /* blocked: until then, writes are repeated */
};

/* A message that a reader holds. */
struct held {
	u32 node;
	u32 life;
	u32 len;
	u64 slot;
	const u8 *ring;
	u32 mask; /* bytes of it - 1 */
	u64 offset;
};

/**
 * struct extra - another process that reads in a subgroup, in place
 * @q: its queue
 * @ring: its entries
 * @tail: behind the last one
 * @consumed: entries that it is done with
 * @held: what it has got, by entry
 * @seen: entries that were checked
 * @next: by node: next message to come
 * @blind: nodes of which it may get any message next
 * @vid: view that it was told of last
 * @reading: it is there
 */
struct extra {
	struct spindle_dlvq q;
	struct spindle_dlv ring[SIM_LOG];
	u64 tail;
	u64 consumed;
	struct held held[SIM_LOG];
	u64 seen;
	u64 next[SIM_NODES];
	u64 blind;
	u64 vid;
	bool reading;
};

/**
 * struct group - a subgroup at a node, with its processes
 * @mc: the core's, or NULL if the node is not in it
 * @node_of: by sender rank: index of the node
 * @member_node: by member rank
 * @desc: what the sending process has committed
 * @slot: slots that it has committed
 * @msgs: of these, messages; the others it has abandoned
 * @unit: units that it has used
 * @talk: percent of the steps in which it sends
 * @q: the reading process
 * @held: what it has got, by entry
 * @seen: entries that were checked
 * @next: by node: next message to come
 * @vid: view that the reader was told of last
 * @epoch: view that the group began anew with: others were nothing to it
 * @dlv: messages delivered in this view
 * @began: digest of the view that the group began anew with
 * @sum: of what was delivered since, of correct nodes
 * @lazy: percent of the steps in which it reads nothing
 * @reading: there is a reading process
 * @late: it has come in the middle of a view: what came before is unknown to it
 * @blind: nodes of which it may get any message next
 * @copy: payload of a reader that gets copies
 * @copy_end: as the core wants it
 * @sending: there is a sending process
 * @parted: one has gone, and what it had committed is not all sent
 * @lacks: the view gives the subgroup too few members
 * @began_at: own messages when the view began
 * @extra: the other reading process
 * @large: its streams, or NULL
 */
struct group {
	struct spindle_mc *mc;
	u32 node_of[SIM_NODES];
	u32 member_node[SIM_NODES];
	struct spindle_tx_desc desc[SIM_WINDOW];
	u64 free_slot;
	u64 free_unit;
	u64 slot;
	u64 msgs;
	u64 unit;
	u32 talk;
	struct spindle_dlvq q;
	struct spindle_dlv ring[SIM_LOG];
	u64 tail;
	u64 consumed;
	struct held held[SIM_LOG];
	u64 seen;
	u64 next[SIM_NODES];
	u64 vid;
	u64 epoch;
	u64 dlv;
	u64 began;
	u64 sum;
	u32 lazy;
	bool reading;
	bool late;
	u64 blind;
	u8 copy[SIM_COPY];
	u64 copy_end[SIM_LOG];
	bool sending;
	bool parted;
	bool lacks;
	u64 began_at;
	struct extra extra;
	struct large *large;
};

struct node {
	struct sim *sim;
	u32 index;
	bool started;
	bool crashed;
	bool disturbed; /* by more than a crash of others */
	u32 inc; /* incarnation: which life this is, from 1 */
	u64 accused; /* nodes that it has ever suspected */
	u32 life[SIM_NODES]; /* of the members of its view */
	u64 past[SIM_LIVES][SIM_GROUPS]; /* messages that it had sent in lives before */
	u32 contact; /* of a joiner: who has invited it */
	bool picky; /* it joins no other lineage */
	bool invited;
	u64 excused; /* nodes that it blames for what a liar has said in a stream of theirs */
	bool misled; /* half of the view that it has joined by are liars */
	u64 asked_at; /* it joins since then */
	u64 told_at; /* what it has written to the members has arrived; 0: not drawn yet */
	u64 lose_at; /* it loses the connection to @lose then; 0: it does not */
	u32 lose;
	const struct spindle_rules *rules; /* of the view that it is in, or has been told */
	struct spindle_rules *own_rules; /* those that a liar has told, or NULL */
	struct spindle_lineage lineage;
	struct spindle_hello_door door;
	struct spindle_view news; /* on its way from there: the view that it has gone on to */
	u32 news_life[SIM_NODES];
	u64 news_at; /* 0: none */
	u64 retry_at; /* a joiner asks again; 0: it does not want to join yet */
	u64 pass_at;
	u64 awake_at;
	u32 slow; /* between passes, at most */
	u64 crash_after; /* writes; 0: not that way */
	u32 crash_in; /* counted from this state on, enum spindle_mb_state */
	u64 seen[SPINDLE_DECREE_HEAD + SIM_TRIMS];
	u8 *row[SIM_NODES];
	u32 vouch[SIM_NODES][SIM_LIVES][SIM_GROUPS]; /* by completions, as push.h has it */
	u32 vouch_state[SIM_NODES][SIM_LIVES];
	bool busy; /* the last pass had work */
	bool restless; /* its engine always has something else to do */
	struct spindle_mb mb;
	struct spindle_mg mg;
	struct group group[SIM_GROUPS];
};

/* The order of deliveries of a subgroup in a view. */
struct order {
	u64 *v;
	u64 n;
	u64 room;
	bool final; /* somebody has gone on to the next view */
};

/* What can go wrong. */
enum fault_kind {
	FAULT_CRASH,	/* between two writes, or in the middle of one */
	FAULT_PAUSE,	/* no passes for some time */
	FAULT_CUT,	/* nodes and the others do not hear each other for some time */
	FAULT_DEAF,	/* nodes do not hear the others */
	FAULT_MUTE,	/* others do not hear the nodes */
	FAULT_LEAVE,	/* a node wants to leave */
	FAULT_EVICT,	/* an administrator wants a node to go */
	FAULT_JOIN,	/* a node wants to join; later it may be any of the above's */
	FAULT_SPLIT,	/* two halves do not hear each other; one node hears both */
	FAULT_FREEZE,	/* all nodes pause, and go on at about the same time */
	FAULT_BACK,	/* a node that has crashed or stopped wants to join again */
	FAULT_LINK,	/* two nodes lose the connection between them, for good */
	FAULT_KINDS,
};

#define SIM_FAULTS 12
#define SIM_WILD 12000 /* time in which things go wrong */
#define SIM_CALM (40 * SIM_TIMEOUT) /* time to come to rest in at most */

/**
 * struct fault - something that goes wrong
 * @at: when
 * @len: for how long; of a crash: writes from then on
 * @kind: enum fault_kind
 * @node: of which node
 * @by: who evicts it
 * @half: of a split: nodes on one side; of an eviction: the link between the two breaks
 * @state: of a crash: writes count from this state of the node on; it is evicted when @by
 *	is in this one. SPINDLE_MB_STATES: it has installed a view
 */
struct fault {
	u64 at;
	u64 len;
	u32 kind;
	u32 node;
	u32 by;
	u32 state;
	u64 half;
	bool done;
	bool healed;
};

/* What a liar says that is not so. */
enum lie_kind {
	LIE_BYTES,	/* any bytes, anywhere in its row */
	LIE_TORN,	/* a block that is never whole */
	LIE_STATE,	/* a column of its state */
	LIE_FENCE,	/* that it is through with the view */
	LIE_DECREE,	/* a decree, another one to each, accepted, committed to or installed */
	LIE_HAVE,	/* what it has received */
	LIE_WISH,	/* nodes that want to join */
	LIE_BLOCK,	/* what it has sent, received and delivered */
	LIE_HEADER,	/* messages */
	LIE_EXPRESS,	/* messages inside their guards */
	LIE_CARD,	/* the view that a joiner is told */
	LIE_HELLO,	/* who it is, when it joins */
	LIE_TALK,	/* what it says in a stream of large messages */
	LIE_KINDS,
};

struct liar;

struct sim {
	u64 seed;
	struct rng rng;
	u64 now;
	u32 nodes;
	u32 late; /* of these, the last ones join later, or never */
	struct rng draw; /* what is new: most seeds stay the schedules that they were */
	struct rng newer; /* what is newer still */
	struct spindle_rules rules;
	struct spindle_lineage lineage;
	u32 window; /* slots of a sender */
	u32 ring; /* bytes of its messages */
	u32 max_msg;
	u32 least; /* members of a view that the layout takes, in schedules that are not strict */
	u32 most;
	struct spindle_layout lo[SIM_NODES]; /* of the rows that a node writes */
	struct spindle_view first;
	struct node node[SIM_NODES];
	struct link link[SIM_NODES][SIM_NODES];
	u8 *old_row[SIM_NODES * SIM_NODES * SIM_LIVES]; /* somebody may still read there */
	u32 old_rows;
	struct order order[SIM_GROUPS][SIM_VIEWS];
	u64 view_digest[SIM_VIEWS];
	struct fault fault[SIM_FAULTS];
	u32 faults;
	u64 skip; /* faults that are left out, to see whether it fails without them */
	bool strict; /* the undisturbed go on, and let others in */
	u32 large; /* messages of more bytes are brought to the members by RDMC; 0: none */
	struct lanes *lanes; /* or NULL */
	u64 blocks; /* that have come by them */
	u64 snapped; /* lanes that broke alone */
	bool imm; /* memory shows writes in any order, completions vouch */
	u32 joins; /* nodes that a change may let in */
	bool any; /* those that are left go on, however few: nobody is cut off then */
	bool told_late; /* what a joiner has written arrives later than it is connected */
	bool quiet; /* no new messages */
	struct node *looking; /* its pass runs, and writes arrive in the middle of it */
	u32 looks; /* at memory, until the next one does */
	u32 looked; /* in this pass */
	bool failed;
	bool verbose;
	char why[256];
	u64 deliveries;
	bool apart; /* two of the first members never connect: nobody waits for an end */
	u64 abandoned; /* slots */
	u64 extras; /* readers that came to a subgroup with a reader */
	u64 closed; /* processes that have gone */
	u64 parted; /* of these, before all was sent */
	u64 refused; /* times that a layout has refused a view */
	u64 lacked; /* subgroups that began with too few members */
	u64 stayed; /* groups through changes */
	u64 cards; /* that joiners were told */
	u64 cards_refused;
	u64 knocks_refused;
	u64 unjoined; /* joiners one of whose connections never comes up */
	u64 lost_then; /* joiners that lose a connection just when they are invited */
	u64 writes;
	u64 changes;
	u64 happened[FAULT_KINDS];
	struct liar *liar; /* or NULL */
	u64 lies[LIE_KINDS];
	u64 found[LIE_KINDS]; /* of these, the last one before somebody found it out */
	u64 edges[SPINDLE_MB_STATES][SPINDLE_MB_STATES];
	u64 stops[SPINDLE_MB_LAYOUT + 1];
};

/* sim.c */
__attribute__((format(printf, 2, 3)))
void sim_fail(struct sim *sim, const char *fmt, ...);
__attribute__((format(printf, 2, 3)))
void sim_say(struct sim *sim, const char *fmt, ...);

bool group_at_rest(const struct group *g);

/* fault.c */
void fault_plan(struct sim *sim);
void fault_run(struct sim *sim, bool all_heal);

/* liar.c */
void liar_open(struct sim *sim);
void liar_close(struct sim *sim);
bool liar_is(const struct sim *sim, u32 node);
bool liar_excuses(const struct node *node, u32 to);
void liar_misleads(struct node *node, const struct spindle_view *view);
void liar_run(struct sim *sim, u32 node);
u32 liar_contact(struct sim *sim, u32 at);
void liar_view(struct node *contact, struct spindle_view *view, struct spindle_rules *rules,
	       struct spindle_lineage *lineage);
u32 liar_card(struct node *contact, struct spindle_card *card, u32 bytes);
void liar_hello(struct node *node, struct spindle_hello *hello);
bool liar_talk(struct node *to, const struct spindle_rdmc *r, u32 m, struct spindle_rdmc_msg *msg);
void liar_blamed(struct node *node, u32 to, u32 reason);
bool liar_at_rest(const struct sim *sim);
void liar_check_end(struct sim *sim);
void liar_check_install(struct node *node, const struct spindle_view *view);

/* fabric.c */
u32 fabric_room(const struct sim *sim, u32 from, u32 to);
void fabric_post(struct sim *sim, u32 from, u32 to, u64 base, const struct spindle_write *write);
void fabric_move(struct sim *sim, u32 from, u32 to);
void fabric_drop(struct sim *sim, u32 from, u32 to, bool all);
void fabric_cut(struct sim *sim, u32 a, u32 b);
void fabric_break(struct sim *sim, u32 a, u32 b);
void fabric_crash(struct sim *sim, u32 n);
void fabric_open(struct sim *sim, u32 n);
bool fabric_whole(const struct sim *sim, u32 n);
bool fabric_busy(const struct sim *sim, u32 from, u32 to);
void fabric_close(struct sim *sim);
void fabric_block(struct sim *sim, u32 from, u32 to, bool blocked);

/* node.c */
void node_open(struct sim *sim, u32 index);
void node_start(struct node *node, const struct spindle_view *view);
void node_follow(struct node *node, const struct spindle_view *view, const u32 *life);
bool node_back(struct node *node);
void node_pass(struct node *node);
void node_close(struct node *node);
bool node_up(const struct node *node);

/* join.c */
void join_door(struct node *node, const struct spindle_view *view);
void join_connect(struct node *node);
void join_invite(struct node *node);
bool join_turned_away(const struct node *node);
void join_tell(const struct node *contact, const struct spindle_view *view);
void join_news(struct node *node);
void node_join(struct node *node);

/* large.c */
u64 large_next(const struct sim *sim, u32 *from, u32 *to);
void large_move(struct sim *sim, u32 from, u32 to);
void large_pass(struct node *node);
struct spindle_streams *large_new(struct node *node, u32 g, struct spindle_mc *mc,
				  const struct spindle_view *view);
u64 large_moving(const struct node *node);
void large_begin(struct node *node, u32 g, struct spindle_streams *ss);
void large_end(struct node *node, u32 g);
void large_close(struct sim *sim);

/* process.c */
void node_processes(struct node *node);
void process_read(struct node *node, u32 group);
void process_send(struct node *node, u32 group);
void process_parted(struct node *node, u32 group);

/* check.c */
u64 message_key(u32 node, u32 life, u32 group, u64 slot);
u32 message_len(const struct sim *sim, u64 key);
void check_deliveries(struct node *node, u32 group);
void check_extra(struct node *node, u32 group);
void check_same(struct node *node, u32 group, const struct held *h);
void check_held(struct node *node, u32 group, u64 entry);
void check_install(struct node *node, const struct spindle_view *view);
void check_end(struct sim *sim);

static inline struct spindle_addr address_of(u32 id)
{
	return (struct spindle_addr){ .ip = { 10, 0, id >> 8, id }, .port = 4790, .family = 4 };
}

static inline u32 peer_index(const struct node *node, u32 rank)
{
	return spindle_mb_view(&node->mb)->member[rank].id - 1;
}

#endif /* SPINDLE_SIM_SIM_H */
