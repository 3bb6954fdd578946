/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The simulator: nodes that run the real core, membership and all, over links of memory and a
 * simulated clock. There is one thread, and the same seed gives the same run.
 *
 *	fabric.c	links: writes in order, late, torn, lost with their ends
 *	node.c		the embedder of the core: rows, engine passes, views
 *	join.c		how a node gets into a view
 *	process.c	the processes of a node
 *	check.c		the invariants, checked at each delivery
 *	fault.c		the faults
 *	large.c		large messages: streams, over lanes
 *	table.c		tables
 *	logs.c		disks, and the processes that write to them
 *	liar.c		a member that lies
 *	sim.c		the schedule, and the program
 */
#ifndef SPINDLE_SIM_SIM_H
#define SPINDLE_SIM_SIM_H

#include "core/membership/card.h"
#include "core/group/group.h"
#include "core/table/fetch.h"
#include "core/table/predicate.h"
#include "core/multicast/history.h"
#include "core/membership/hello.h"
#include "core/rdmc/rdmc.h"
#include "core/membership/rules.h"
#include "rng.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define SIM_NODES 16
#define SIM_BORN 3 /* subgroups of the first view */
#define SIM_GROUPS 6 /* and spares behind them */
#define SIM_SHARDS 3 /* shards of a table, at most */
#define SIM_IDS 64 /* subgroups that there ever are */
#define SIM_ODD 1 /* a subgroup of any kind; the subgroups behind it must not be affected */
#define SIM_WINDOW 128 /* at most; struct sim has the size of a schedule */
#define SIM_COPY 4096 /* bytes of a copying reader's ring, at most */
#define SIM_SCALE 8 /* the smallest ring of a view is this many times the smallest ring here */
#define SIM_LOG (2 * SIM_NODES * SIM_WINDOW) /* entries of a reader's queue at most, twice */
/* The cells of a row, at most. They fit into the smallest ring of a row here. */
#define SIM_CELLS (SPINDLE_PAGE / SIM_SCALE / SPINDLE_MIN_CELL)
#define SIM_TRIMS (SIM_NODES * SIM_GROUPS)
#define SIM_VIEWS 64
#define SIM_RANGE 3 /* views of earlier eras that a subgroup follows, at most */
#define SIM_LIVES 8
#define SIM_QUEUE 64 /* writes on a link */

/* Clock: microseconds. */
#define SIM_INTERVAL 400
#define SIM_TIMEOUT 4000

/* A row is the same in all views: blocks, log blocks, membership, header rings, payload rings. */
#define SIM_BLOCK(g) spindle_layout_block(g)
#define SIM_MB spindle_layout_log(SIM_GROUPS, SIM_GROUPS)
#define SIM_MB_BYTES ALIGN(sizeof(struct spindle_mb_row) + \
			   (2 * SIM_TRIMS + SPINDLE_DECREE_HEAD) * sizeof(u64), 64)
/* The block of a table takes the place of two headers. */
#define SIM_RINGS(sim) \
	(sizeof(struct spindle_express) + max((sim)->window, 2U) * sizeof(struct spindle_hdr))
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
	u32 imm; /* NO_IMM: no completion */
	bool torn; /* a part of it is visible */
	bool early; /* all of it is visible, before earlier writes */
	u8 data[];
};

struct link {
	struct op *head;
	struct op **tail;
	u32 n;
	u64 at; /* when the first write moves */
	u64 last; /* when the last posted write moves */
	u64 posted; /* writes, since the connection is up */
	u64 done; /* those of them that the sender knows to be complete */
	u32 slow; /* delay at most */
	bool blocked; /* by a partition */
	bool cut; /* for good */
	u64 up_at; /* the connection is up from then on */
	u64 try_at; /* a joiner does not knock before */
	u64 lost_at; /* when the sender learns that it broke; 0: whole */
	bool closed; /* by the other end, which is alive */
	u64 retry_at; /* blocked: writes are repeated until then */
};

/* A message that a reader holds. */
struct held {
	u32 id; /* of the subgroup */
	u32 node;
	u32 life;
	u32 len;
	u64 slot;
	const u8 *ring;
	u32 mask; /* bytes of it - 1 */
	u64 offset;
	bool other; /* it is for other members */
};

/**
 * struct extra - another process that reads in a subgroup, in place
 * @q: its queue
 * @ring: its entries
 * @tail: the end of the entries
 * @consumed: entries that it has released
 * @held: the messages that it holds, by entry
 * @seen: entries that were checked
 * @next: by node: next message to come
 * @blind: nodes of which the reader may get any message next
 * @vid: the last view whose entry it got
 * @reading: it is attached
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
	u64 lsn;
	bool reading;
};

#define SIM_HISTORY 8192 /* bytes of a history */
#define SIM_HISTORY_ENTRIES (SIM_HISTORY / (2 * SPINDLE_UNIT))

/**
 * struct kept - the history of a subgroup, and a process that reads it
 * @on: there is a history
 * @h: the core's
 * @ring: its entries
 * @copy: its bytes
 * @ends: the array that the core needs
 * @held: what the entries are, by entry
 * @epoch: the views that the entries were delivered in
 * @seen: entries that were checked
 * @vid: view of the next entry
 * @lsn: position of the next entry
 * @rng: of the process
 * @q: the process's cursor
 * @tail: the end of the entries
 * @consumed: entries that the process has released
 * @low: entries below are forgotten
 * @want: position of the next message that the process has to get
 * @reading: the process is attached
 */
struct kept {
	bool on;
	struct spindle_history h;
	struct spindle_dlv ring[SIM_HISTORY_ENTRIES];
	u8 copy[SIM_HISTORY];
	u64 ends[SIM_HISTORY_ENTRIES];
	struct held held[SIM_HISTORY_ENTRIES];
	u64 epoch[SIM_HISTORY_ENTRIES];
	u64 seen;
	u64 vid;
	u64 lsn;
	struct rng rng;
	struct spindle_dlvq q;
	u64 tail;
	u64 consumed;
	u64 low;
	u64 want;
	bool reading;
};

/**
 * struct disk - what a node has on disk of a subgroup, over all its lives
 * @persisted: messages below are on disk
 * @low: the first one that its log keeps
 * @snapshot: position of the newest snapshot
 * @record: the newest view whose record is on disk
 */
struct disk {
	u64 persisted;
	u64 low;
	u64 snapshot;
	u64 record;
};

/**
 * struct logger - the process that writes the messages of a subgroup to the disk of its node
 * @rng: of the process
 * @words: its page
 * @q: its cursor
 * @tail: the end of the entries
 * @consumed: entries that it has released
 * @low: entries below are forgotten
 * @written: position of the next message that it reads; those below are written, and not synced
 * @vid: the newest view that it knows of
 * @from: the history keeps the messages from here on
 * @given_up: times that the history had stopped to keep them when the process came
 * @durable: durable position of the node when it was looked at
 * @established: the view was established then
 * @began: view that the subgroup began with
 * @attached: there is a process
 * @half: it has stored some of its words, and not told the core
 * @aged: the history has forgotten messages from @from on, because of their age
 */
struct logger {
	struct rng rng;
	struct spindle_log_words words;
	struct spindle_dlvq q;
	u64 tail;
	u64 consumed;
	u64 low;
	u64 written;
	u64 vid;
	u64 from;
	u64 given_up;
	u64 durable;
	bool established;
	u64 began;
	bool attached;
	bool half;
	bool aged;
};

/**
 * struct logged_view - a view of a subgroup with logs, as an observer of all nodes sees it
 * @vid: view that the subgroup began with, or began again with
 * @nodes: its members, by index
 * @base: position of its first message
 * @fresh: nothing comes before it
 * @former: it is of an earlier era
 * @established: a member knows that it is established
 */
struct logged_view {
	u64 vid;
	u64 nodes;
	u64 base;
	bool fresh;
	bool former;
	bool established;
};

/**
 * struct logged - the views of a subgroup with logs, the first one first
 * @view: the views
 * @n: how many
 */
struct logged {
	struct logged_view view[SIM_VIEWS];
	u32 n;
};

/**
 * struct sim_ranges - views of earlier eras
 * @all: as the core takes them
 * @view: room for them
 */
struct sim_ranges {
	struct spindle_ranges all;
	struct spindle_range_view view[SIM_GROUPS * SIM_RANGE];
};

/**
 * struct group - a subgroup at a node, with its processes
 * @mc: the core's, or NULL if the node is not in it
 * @node_of: by sender rank: index of the node
 * @member_node: by member rank
 * @desc: descriptors that the sending process has committed
 * @slot: slots that it has committed
 * @msgs: of these, messages; the process has abandoned the others
 * @unit: units that it has used
 * @talk: percent of the steps in which it sends
 * @q: the reading process
 * @held: the messages that it holds, by entry
 * @seen: entries that were checked
 * @next: by node: next message to come
 * @vid: the last view whose entry the reader got
 * @epoch: the last view in which the subgroup did not stay but began
 * @dlv: messages delivered in this view
 * @began: digest of that view
 * @sum: of the messages of correct nodes that were delivered since
 * @places: of the positions of these messages
 * @line: names the deliveries that are the same at all members that deliver them, see
 *	liar_check_order()
 * @lazy: percent of the steps in which it reads nothing
 * @reading: there is a reading process
 * @late: the reader came in the middle of a view, and does not know the messages before
 * @blind: nodes of which the reader may get any message next
 * @copy: payload of a reader that gets copies
 * @copy_end: the array that the core needs for copies
 * @sending: there is a sending process
 * @parted: a process has gone before all its messages were sent
 * @lacks: the view gives the subgroup too few members
 * @table: it is a table
 * @tb: the core's, of a table, or NULL
 * @dirty: cells that its process has changed
 * @preds: its predicate
 * @round: version of the last guard that the process has sealed
 * @ask: number of the last flush that it wanted
 * @asked: @round when it asked, until the flush has ended
 * @sealed: the process has sealed the cell of the next round, and not the guard
 * @seen_cell: by node: versions that the reader has seen
 * @arrived: by node: the view in which the node came to the table, or 0 if this one came later
 * @fetch: of a table of mode read: the fetch of a row
 * @fetch_vid: the view of that fetch
 * @fetching: the row is that of the node with this index, less 1; 0: there is no fetch
 * @first: the word of the range that the device reads first
 * @words: words that it has read
 * @guard: memory for @fetch
 * @landing: where the device puts the row
 * @began_at: own messages when the view began
 * @extra: the other reading process
 * @kept: its history, with the process that reads it
 * @log: its logger, in a subgroup with logs
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
	u64 since; /* the view in which the node became a member */
	u64 dlv;
	u64 lsn; /* position of the next delivery */
	u64 began;
	u64 sum;
	u64 places;
	u64 line;
	u32 lazy;
	bool reading;
	bool late;
	u64 blind;
	u8 copy[SIM_COPY];
	u64 copy_end[SIM_LOG];
	bool sending;
	bool parted;
	bool lacks;
	bool table;
	struct spindle_tb *tb;
	u64 dirty[SPINDLE_TB_WORDS];
	struct spindle_tb_preds preds;
	u64 round;
	u64 ask;
	u64 asked;
	bool sealed;
	u64 seen_cell[SIM_NODES][SIM_CELLS];
	u64 arrived[SIM_NODES];
	struct spindle_tb_fetch fetch;
	u64 fetch_vid;
	u32 fetching;
	u32 first;
	u32 words;
	u64 guard[SIM_CELLS * SPINDLE_MIN_CELL / sizeof(u64)];
	u64 landing[SIM_CELLS * SPINDLE_MIN_CELL / sizeof(u64)];
	u64 began_at;
	struct extra extra;
	struct kept kept;
	struct logger log;
	struct large *large;
};

struct node {
	struct sim *sim;
	u32 index;
	bool started;
	bool crashed;
	bool disturbed; /* by more than crashes of others */
	u32 inc; /* incarnation: the number of this life, from 1 */
	u64 accused; /* nodes that it has ever suspected */
	u32 life[SIM_NODES]; /* of the members of its view */
	u64 past[SIM_LIVES][SIM_GROUPS]; /* messages sent in former lives */
	u32 contact; /* of a joiner: the member that it asked */
	bool picky; /* it joins no other lineage */
	u64 excused; /* nodes that it blames because a liar lied in their streams */
	bool misled; /* half of the members of its card are liars */
	bool poor; /* as a joiner it has no memory for the view that lets it in */
	u64 asked_at; /* when it began to join */
	u64 told_at; /* when its writes have arrived at the members; 0: not drawn yet */
	u64 lose_at; /* when it loses the connection to @lose; 0: never */
	u32 lose;
	const struct spindle_rules *rules; /* of its view, or of its card */
	struct spindle_rules *own_rules; /* rules from a card, or NULL */
	const struct spindle_rules *offer; /* other rules, which it has offered, or NULL */
	u64 offer_at; /* when it offers what the administrator wants, or takes that back */
	struct spindle_lineage lineage;
	struct spindle_hello_door door;
	struct spindle_rules news_rules; /* of @news */
	struct spindle_view news; /* on its way from the contact: its new view */
	u32 news_life[SIM_NODES];
	u64 news_at; /* 0: none */
	u64 retry_at; /* when a joiner asks again; 0: it does not join yet */
	u64 pass_at;
	u64 awake_at;
	u32 slow; /* between passes, at most */
	u64 crash_after; /* writes until it crashes; 0: no crash by writes */
	u32 crash_in; /* enum spindle_mb_state: count from this state on */
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

/* A position of a subgroup, and the message that was delivered there. */
struct position {
	u64 lsn;
	u64 v; /* 0: the entry is free */
};

/* All positions of a subgroup, a hash table. */
struct positions {
	struct position *v;
	u64 n;
	u64 room;
};

/* A message of a life: the view whose ranks its process has used, and whether it has named some. */
struct commit {
	u64 vid;
	bool direct;
};

struct commits {
	struct commit *msg;
	u64 n;
	u64 room;
};

/* The order of deliveries of a subgroup in a view. */
struct order {
	u64 *v;
	u64 n;
	u64 room;
	bool final; /* a node has gone on to the next view */
};

/* The kinds of faults. */
enum fault_kind {
	FAULT_CRASH,	/* between two writes, or in the middle of one */
	FAULT_PAUSE,	/* no passes for some time */
	FAULT_CUT,	/* nodes and the others do not hear each other for some time */
	FAULT_DEAF,	/* nodes do not hear the others */
	FAULT_MUTE,	/* others do not hear the nodes */
	FAULT_LEAVE,	/* a node wants to leave */
	FAULT_EVICT,	/* an administrator wants a node to go */
	FAULT_JOIN,	/* a node wants to join; after that any fault above may hit it */
	FAULT_SPLIT,	/* two halves do not hear each other; one node hears both */
	FAULT_FREEZE,	/* all nodes pause, and go on at about the same time */
	FAULT_BACK,	/* a node that has crashed or stopped wants to join again */
	FAULT_RULES,	/* an administrator wants other subgroups */
	FAULT_LINK,	/* two nodes lose the connection between them, for good */
	FAULT_STOP,	/* a node that joins is stopped, or has no memory for the view */
	FAULT_KINDS,
};

#define SIM_FAULTS 12
#define SIM_WANTS 5 /* faults that are other rules, at most */
#define SIM_STOPS 1 /* faults that stop a node that joins, at most */
#define SIM_WILD 12000 /* time in which faults begin */
/*
 * Most time until the schedule comes to rest. A joiner that loses a connection each time keeps the
 * view changing, and large messages begin again in each view. Seed 4276200 takes 43 timeouts.
 */
#define SIM_CALM (80 * SIM_TIMEOUT)

/**
 * struct fault - a fault of a schedule
 * @at: when it begins
 * @len: how long it lasts; of a crash: the number of writes from @at on
 * @kind: enum fault_kind
 * @node: the faulty node
 * @by: the node that evicts it
 * @half: of a split: nodes on one side; of an eviction: the link between the two breaks; of a node
 *	that joins: it has no memory
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

/* The kinds of lies. */
enum lie_kind {
	LIE_BYTES,	/* any bytes, anywhere in its row */
	LIE_TORN,	/* a block that is never whole */
	LIE_STATE,	/* a column of its state */
	LIE_FENCE,	/* that it has finished the view */
	LIE_DECREE,	/* a decree, a different one to each, accepted, committed or installed */
	LIE_HAVE,	/* the counts of what it has received */
	LIE_WISH,	/* nodes that want to join */
	LIE_BLOCK,	/* the counts of sent, received and delivered */
	LIE_HEADER,	/* messages */
	LIE_EXPRESS,	/* messages inside their guards */
	LIE_CARD,	/* the view in a card for a joiner */
	LIE_HELLO,	/* its identity, when it joins */
	LIE_TALK,	/* messages in a stream of large messages */
	LIE_LOG,	/* what its disk has */
	LIE_KINDS,
};

struct liar;

struct sim {
	u64 seed;
	struct rng rng;
	u64 now;
	u32 nodes;
	u32 late; /* of these, the last ones join later, or never */
	struct rng draw; /* for newer kinds of draws, so that most seeds keep their schedules */
	struct rng newer; /* the same, for newer kinds still */
	struct rng tables; /* the same, for tables */
	struct rng shards; /* the same, for shards */
	struct rng logs; /* the same, for logs */
	bool logged; /* some subgroups have logs */
	bool dead_disks; /* no disk ever persists anything */
	bool still_disks; /* none does until the schedule is quiet */
	bool impatient; /* a policy gives up loggers that hold up delivery */
	u32 disk_speed[SIM_NODES]; /* percent of the steps in which a disk persists something */
	struct disk disk[SIM_NODES][SIM_IDS];
	struct logged views[SIM_IDS]; /* by id */
	struct sim_ranges ranges; /* that the first view follows */
	u64 durable; /* moves of a durable position */
	u64 established; /* views, by the first member that knew */
	u64 long_ranges; /* of these, behind views that were not established */
	u64 followed; /* and of these, behind views of earlier eras */
	u64 gave_up; /* loggers that the history did not wait for */
	u64 fetched; /* times that a logger got messages from the disk of another member */
	u64 snapshots; /* or a snapshot, because none had them any more */
	u64 loggers; /* processes */
	u64 gated; /* messages that a reader got behind the gate */
	u64 all_durable; /* subgroups at members that had all on disk in the end */
	u64 stood_still; /* and those where too few members were left for that */
	u64 waited; /* and those whose disks were dead, with messages that waited for them */
	u64 tables_begun;
	u64 rows_moved; /* rows that a node got as another node came from another shard */
	u64 cells_read;
	u64 rows_fetched;
	u64 flushes; /* rows that were compared at the end of a flush */
	struct spindle_rules rules;
	struct spindle_rules wanted[SIM_WANTS]; /* other rules that the administrator has wanted */
	u32 wants; /* how many; the last one counts */
	u32 ids; /* of subgroups, so far */
	u64 removed; /* ids of subgroups that a view had, and a later one did not have */
	u64 rules_changed; /* by all nodes together */
	u64 sharded; /* subgroups of several shards that nodes got when they changed their rules */
	u64 rules_unmet; /* offers that a change of the view has ended */
	u64 rules_adopted; /* takeovers that adopted a decree with other rules */
	struct spindle_lineage lineage;
	u32 window; /* slots of a sender */
	u32 ring; /* bytes of its messages */
	u32 max_msg;
	u32 least; /* members of a view that the layout accepts, if not strict */
	u32 most;
	struct spindle_layout lo[SIM_NODES]; /* of the rows that a node writes */
	struct spindle_view first;
	struct node *node; /* @nodes of them */
	struct link link[SIM_NODES][SIM_NODES];
	u32 posted[SIM_NODES]; /* by sender: the links with writes under way */
	u8 *old_row[SIM_NODES * SIM_NODES * SIM_LIVES]; /* memory that a node may still read */
	u32 old_rows;
	struct order order[SIM_GROUPS][SIM_VIEWS];
	struct positions positions[SIM_IDS]; /* by id */
	struct commits commits[SIM_NODES][SIM_LIVES][SIM_GROUPS];
	u64 direct; /* messages for some of the members */
	u64 others; /* deliveries of them elsewhere */
	u64 lives; /* subgroups that lost all their members, and got new ones */
	u64 view_digest[SIM_VIEWS];
	struct fault fault[SIM_FAULTS + SIM_WANTS + SIM_STOPS];
	u32 faults;
	u64 skip; /* faults to leave out: does the seed still fail? */
	bool strict; /* undisturbed nodes must go on, and admit joiners */
	u32 large; /* RDMC moves messages of more bytes; 0: none */
	struct lanes *lanes; /* or NULL */
	u64 blocks; /* that have arrived by lanes */
	u64 snapped; /* lanes that broke alone */
	u64 idled; /* lanes that a node has closed because it did not use them */
	u64 renewed; /* other ends of these that got another lane */
	bool imm; /* memory shows writes in any order, completions vouch */
	u32 joins; /* nodes that a change may admit */
	bool any; /* any number of survivors goes on; no link faults then */
	bool told_late; /* a joiner's writes arrive after its connections are up */
	bool quiet; /* no new messages */
	struct node *looking; /* the node in whose pass writes may arrive */
	u32 looks; /* at memory, until the next write arrives */
	u32 looked; /* in this pass */
	bool failed;
	bool verbose;
	char why[256];
	u64 deliveries;
	bool apart; /* two of the first members never connect: no check at the end */
	u64 abandoned; /* slots */
	u64 extras; /* readers that came to a subgroup with a reader */
	u64 kept; /* messages that were read in a history */
	u64 came_back; /* processes that went on where they were in a history */
	u64 overtaken; /* processes that a history did not wait for */
	u64 closed; /* processes that have exited */
	u64 parted; /* of these, before all messages were sent */
	u64 refused; /* times that a layout has refused a view */
	u64 lacked; /* subgroups that began with too few members */
	u64 stayed; /* groups through changes */
	u64 cards; /* that joiners have read */
	u64 cards_refused;
	u64 knocks_refused;
	u64 unjoined; /* joiners with a connection that never comes up */
	u64 met; /* joiners of one change that had to connect to each other */
	u64 lost_then; /* joiners that lose a connection just when they are invited */
	u64 writes;
	u64 changes;
	u64 happened[FAULT_KINDS];
	struct liar *liar; /* or NULL */
	u64 compared; /* deliveries of schedules with a liar that another node had made */
	u64 lies[LIE_KINDS];
	u64 found[LIE_KINDS]; /* of these, the last lie before a correct node noticed it */
	u64 edges[SPINDLE_MB_STATES][SPINDLE_MB_STATES];
	u64 stops[SPINDLE_MB_LAYOUT + 1];
};

/* sim.c */
__attribute__((format(printf, 2, 3)))
void sim_fail(struct sim *sim, const char *fmt, ...);
__attribute__((format(printf, 2, 3)))
void sim_say(struct sim *sim, const char *fmt, ...);

bool group_at_rest(struct node *node, u32 g);

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
void liar_check_order(struct node *node, u32 group, u64 lsn, u64 v);
void liar_check_position(struct node *node, u32 group, u64 lsn, u64 v);
void liar_trimmed(struct node *node);

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

struct spindle_row node_row(void *ctx, u32 rank);

/* table.c */
struct spindle_tb *table_new(struct node *node, const struct spindle_view *view, u32 g,
			     const struct spindle_memory *memory);
void table_free(struct spindle_tb *tb, const struct spindle_memory *memory);
void table_begin(struct node *node, u32 g);
void table_members(struct node *node, u32 g, bool begins);
void table_member(struct node *node, u32 index);
void table_run(struct node *node, u32 g);
void table_ran(struct node *node, u32 g);
bool table_at_rest(struct node *node, u32 g);

/* rules.c */
void rules_make(struct sim *sim);
void rules_want(const struct node *node);
void rules_offer(struct node *node);
const char *rules_layout(const struct node *node, u64 rules, const struct spindle_view *view,
			 struct spindle_view *next);
void rules_install(struct node *node);
void rules_adopted(struct node *node, u32 ballot);

/* join.c */
void join_door(struct node *node, const struct spindle_view *view);
void join_connect(struct node *node);
bool join_meets(struct node *node, u32 other);
void join_connected(struct node *node);
void join_loses(struct node *node);
u64 join_ready(const struct node *node, const struct node *member);
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

/* history.c */
void kept_begin(struct node *node, u32 group);
void kept_age(struct node *node);
void kept_run(struct node *node, u32 group);

/* logs.c */
void logs_open(struct sim *sim);
void logs_give(struct sim *sim, struct spindle_view_subgroup *cfg);
void logs_follow(struct sim *sim);
void log_begin(struct node *node, u32 group, bool again);
void log_end(struct group *g);
void log_aged(struct node *node, u32 group);
void log_check(struct node *node, u32 group);
void log_run(struct node *node, u32 group);
bool log_at_rest(struct node *node, u32 group);
bool log_waits(const struct node *node, u32 group);
void log_check_end(struct node *node, u32 group);

/* check.c */
u64 message_key(u32 node, u32 life, u32 id, u64 slot);
bool message_is_direct(u64 key);
bool message_is_for(u64 key, u32 sender, u32 node);
u32 message_len(const struct sim *sim, u64 key);
void check_deliveries(struct node *node, u32 group);
void check_extra(struct node *node, u32 group);
void check_kept(struct node *node, u32 group);
void check_same(struct node *node, u32 group, const struct held *h);
void check_held(struct node *node, u32 group, u64 entry);
u64 check_first(struct positions *all, u64 at, u64 v);
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
