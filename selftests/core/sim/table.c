// SPDX-License-Identifier: GPL-2.0-only
/*
 * The processes of tables, and what their readers must see. See sim.h.
 *
 * In round V a process seals one cell, and then the guard with version V. Sometimes it stops
 * between the two for a while. So from the version of a guard follows which versions of the other
 * cells a reader must see. A value says of which table, node and life it is, and in which view the
 * table began there. Each shard of a table is a table of its own here, with an id of its own.
 */
#include "sim.h"

/*
 * A version has one byte. check_member() looks at a guard that may be half written, and each byte
 * of it is that of the former value or that of the next one.
 */
#define MOST_ROUNDS 255

/* Words of the smallest cell. The others have zeroes behind these. */
enum {
	WORD_SINCE,
	WORD_OWNER,
	WORD_CELL,
};

static u32 words_of(const struct spindle_tb *tb)
{
	return tb->cell / sizeof(u64);
}

static u64 *cell_of(const struct node *node, u32 g, u32 owner, u32 cell)
{
	const struct spindle_tb *tb = node->group[g].tb;

	return (u64 *)(node->row[owner] + SIM_PAY(node->sim, g)) + cell * words_of(tb);
}

static u64 owner_word(const struct node *owner, u32 g)
{
	return (u64)owner->group[g].mc->id << 32 | owner->index << 8 | owner->inc;
}

static u32 cell_of_round(const struct spindle_tb *tb, u64 round)
{
	return tb->cells == 1 ? 0 : 1 + (round - 1) % (tb->cells - 1);
}

/* The version that a cell has when its owner has sealed the guard of a round. */
static u64 version_at(const struct spindle_tb *tb, u64 round, u32 cell)
{
	u32 others = tb->cells - 1;

	return !cell ? round : round / others + (round % others >= cell);
}

/* ---- write ---------------------------------------------------------------- */

static void seal(struct node *node, u32 g, u32 cell, u64 version)
{
	const struct spindle_tb *tb = node->group[g].tb;
	u64 *w = cell_of(node, g, node->index, cell);
	u32 n = words_of(tb);

	w[WORD_SINCE] = node->group[g].since;
	w[WORD_OWNER] = owner_word(node, g);
	w[WORD_CELL] = version << 32 | cell;
	w[n - 2] = version;
	w[n - 1] = spindle_mix(w, n - 1);
	node->group[g].dirty[cell / 64] |= BIT_ULL(cell % 64);
}

static void write_row(struct node *node, u32 g)
{
	struct group *grp = &node->group[g];
	u32 cell = cell_of_round(grp->tb, grp->round + 1);

	if (grp->round == MOST_ROUNDS)
		return;
	if (!grp->sealed && cell)
		seal(node, g, cell, version_at(grp->tb, grp->round + 1, cell));
	grp->sealed = rng_chance(&node->sim->tables, 30);
	if (grp->sealed)
		return;
	seal(node, g, 0, ++grp->round);
}

/* ---- flush ---------------------------------------------------------------- */

/* A member that is up and has the table in the same view has the guard that the flush is about. */
static void check_member(struct node *node, u32 g, const struct node *other)
{
	const struct group *grp = &node->group[g];
	u32 n = words_of(grp->tb);

	if (liar_is(node->sim, other->index) || !node_up(other) ||
	    node->life[other->index] != other->inc || !other->group[g].tb ||
	    spindle_mb_view(&other->mb)->vid != spindle_mb_view(&node->mb)->vid)
		return;
	if (cell_of(other, g, node->index, 0)[n - 2] < grp->asked)
		sim_fail(node->sim, "node %u group %u: a flush of guard %llu, and node %u has none",
			 node->index, grp->mc->id, (unsigned long long)grp->asked, other->index);
	node->sim->flushes++;
}

/**
 * table_ran() - the engine of a node has looked at a table, and may have ended a flush
 * @node: the node
 * @g: index of the table
 *
 * A node that joins later has no part in the flush.
 */
void table_ran(struct node *node, u32 g)
{
	struct group *grp = &node->group[g];
	u32 r;

	if (grp->tb->flushed != grp->ask)
		return;
	for (r = 0; r < grp->tb->members && grp->asked; r++)
		if (r != grp->tb->me)
			check_member(node, g, &node->sim->node[grp->member_node[r]]);
	grp->asked = 0;
}

/* The process asks for the next flush some time after the end of the last one. */
static void flush_row(struct node *node, u32 g)
{
	struct group *grp = &node->group[g];

	if (node->sim->quiet || grp->tb->read || grp->tb->flushed != grp->ask ||
	    !rng_chance(&node->sim->tables, 20))
		return;
	grp->ask++;
	grp->asked = grp->round;
}

/* ---- fetch ---------------------------------------------------------------- */

/* The rank of a node in a table, or the number of members. */
static u32 rank_in(const struct group *grp, u32 index)
{
	u32 r;

	for (r = 0; r < grp->tb->members; r++)
		if (grp->member_node[r] == index)
			break;
	return r;
}

/*
 * Can the device read the row of another node? The connection for that ends with the table at
 * either end. A suspicion ends it together with the connection of the view.
 */
static bool can_fetch(const struct node *node, u32 g, const struct node *owner)
{
	const struct link *link = &node->sim->link[owner->index][node->index];
	const struct group *grp = &node->group[g];

	return node_up(owner) && node->life[owner->index] == owner->inc && !link->cut &&
	       link->up_at <= node->sim->now && owner->group[g].tb &&
	       owner->group[g].mc->id == grp->mc->id && rank_in(grp, owner->index) != grp->tb->me;
}

static void begin_read(struct node *node, struct group *grp)
{
	grp->words = 0;
	grp->first = rng_below(&node->sim->tables, words_of(grp->tb) * grp->tb->cells);
}

static void begin_fetch(struct node *node, u32 g)
{
	struct group *grp = &node->group[g];
	u32 index = grp->member_node[rng_below(&node->sim->tables, grp->tb->members)];

	if (!can_fetch(node, g, &node->sim->node[index]))
		return;
	grp->fetching = index + 1;
	grp->fetch_vid = spindle_mb_view(&node->mb)->vid;
	grp->fetch.guard = grp->guard;
	spindle_tb_fetch_begin(&grp->fetch, grp->tb);
	begin_read(node, grp);
}

/* The device reads some words, and begins anywhere in the range. Returns whether it has all. */
static bool read_words(struct node *node, u32 g, const struct node *owner)
{
	struct group *grp = &node->group[g];
	struct spindle_range range = spindle_tb_fetch_next(&grp->fetch, grp->tb);
	u32 n = range.len / sizeof(u64), left = 1 + rng_below(&node->sim->tables, 64), at;

	for (; left && grp->words < n; left--, grp->words++) {
		at = range.at / sizeof(u64) + (grp->first + grp->words) % n;
		grp->landing[at] = cell_of(owner, g, owner->index, 0)[at];
	}
	return grp->words >= n;
}

/* One row at a time is fetched, because some process of the node always wants the next one. */
static void fetch_row(struct node *node, u32 g)
{
	struct group *grp = &node->group[g];
	const struct node *owner;
	u32 rank;

	if (!grp->fetching)
		begin_fetch(node, g);
	if (!grp->fetching)
		return;
	owner = &node->sim->node[grp->fetching - 1];
	rank = rank_in(grp, owner->index);
	if (rank == grp->tb->members || !can_fetch(node, g, owner)) {
		grp->fetching = 0;
		return;
	}
	/* A view has begun, and the table is another object. What is read goes on. */
	if (grp->fetch_vid != spindle_mb_view(&node->mb)->vid)
		spindle_tb_fetch_begin(&grp->fetch, grp->tb);
	grp->fetch_vid = spindle_mb_view(&node->mb)->vid;
	if (!read_words(node, g, owner))
		return;
	if (spindle_tb_fetch_take(&grp->fetch, grp->tb, rank, grp->landing))
		grp->fetching = 0;
	else
		begin_read(node, grp);
	spindle_mg_touch(&node->mg, g);
	node->sim->rows_fetched++;
}

/* ---- read ----------------------------------------------------------------- */

/* Does the owner have this table as the reader has it, and in the same life? */
static bool is_same(const struct node *node, u32 g, const struct node *owner, const u64 *w)
{
	return owner->group[g].tb && owner->inc == node->life[owner->index] &&
	       owner_word(owner, g) == w[WORD_OWNER] && owner->group[g].since == w[WORD_SINCE];
}

/* A value that has a seal is one that its owner has sealed, and not a former one. */
static void check_value(struct node *node, u32 g, const struct node *owner, u32 cell,
			const u64 *w, u64 version)
{
	struct group *grp = &node->group[g];
	u64 life = node->life[owner->index];
	bool right = w[WORD_OWNER] == ((u64)grp->mc->id << 32 | owner->index << 8 | life) &&
		     w[WORD_CELL] == (version << 32 | cell);

	/* A row has nothing of a former table, or of a time when its owner was in another shard. */
	if (w[WORD_SINCE] < grp->arrived[owner->index])
		right = false;
	if (is_same(node, g, owner, w) &&
	    version > version_at(grp->tb, owner->group[g].round + 1, cell))
		right = false;
	if (!right)
		sim_fail(node->sim, "node %u group %u: cell %u of node %u is none of its values",
			 node->index, grp->mc->id, cell, owner->index);
	if (version < grp->seen_cell[owner->index][cell])
		sim_fail(node->sim, "node %u group %u: cell %u of node %u goes back", node->index,
			 grp->mc->id, cell, owner->index);
	grp->seen_cell[owner->index][cell] = version;
	node->sim->cells_read++;
}

/* Returns the version of a cell; U64_MAX: a part of it is on its way. */
static u64 read_cell(struct node *node, u32 g, const struct node *owner, u32 cell)
{
	const u64 *w = cell_of(node, g, owner->index, cell);
	u32 n = words_of(node->group[g].tb);

	if (spindle_mix(w, n - 1) != w[n - 1]) {
		/* The engine shows whole cells only of what it has fetched. */
		if (node->group[g].tb->read && owner != node)
			sim_fail(node->sim, "node %u group %u: cell %u of node %u is torn",
				 node->index, node->group[g].mc->id, cell, owner->index);
		return U64_MAX;
	}
	if (w[n - 2])
		check_value(node, g, owner, cell, w, w[n - 2]);
	return w[n - 2];
}

/* The guard of a member that a process may believe, or 0. */
static u64 read_guard(struct node *node, u32 g, u32 rank)
{
	struct group *grp = &node->group[g];
	u32 index = grp->member_node[rank];
	u64 guard = read_cell(node, g, &node->sim->node[index], 0);

	if (guard == U64_MAX || (node->sim->imm && index != node->index &&
				 guard > grp->tb->member[rank].guard))
		return 0;
	return guard;
}

static void read_row(struct node *node, u32 g, u32 rank)
{
	struct group *grp = &node->group[g];
	const struct node *owner = &node->sim->node[grp->member_node[rank]];
	u64 guard = read_guard(node, g, rank), version;
	u32 cell;

	for (cell = 1; cell < grp->tb->cells; cell++) {
		version = read_cell(node, g, owner, cell);
		if (guard && version < version_at(grp->tb, guard, cell))
			sim_fail(node->sim, "node %u group %u: guard %llu of node %u, cell %u at %llu",
				 node->index, grp->mc->id, (unsigned long long)guard, owner->index,
				 cell, (unsigned long long)version);
	}
}

/* A row here belongs to the life of its owner that this node is connected to. */
static bool is_owner(const struct node *node, u32 index)
{
	return !liar_is(node->sim, index) &&
	       (index == node->index || node->life[index] == node->sim->node[index].inc);
}

/* ---- the schedule --------------------------------------------------------- */

/**
 * table_new() - the table of a subgroup in the next view
 * @node: the node
 * @view: the view
 * @g: index of a table
 * @memory: where its arrays come from
 *
 * Return: the table, created and wired
 */
struct spindle_tb *table_new(struct node *node, const struct spindle_view *view, u32 g,
			     const struct spindle_memory *memory)
{
	struct spindle_tb *tb = calloc(1, sizeof(*tb));

	spindle_tb_create(tb, view, g, node->mb.me, memory);
	spindle_tb_wire(tb, view, g, node_row, node);
	return tb;
}

/**
 * table_free() - free a table
 * @tb: the table, or NULL
 * @memory: as for table_new()
 */
void table_free(struct spindle_tb *tb, const struct spindle_memory *memory)
{
	struct spindle_tb_pred *pred;

	if (!tb)
		return;
	/* The table of the next view has taken the predicates of one that goes on. */
	while ((pred = tb->preds)) {
		tb->preds = pred->next;
		free(pred);
	}
	spindle_tb_destroy(tb, memory);
	free(tb);
}

/* The predicate of a node compares the version of each guard with that of its own. */
static void add_predicate(struct group *grp)
{
	struct spindle_number guard = {
		.fold = SPINDLE_FOLD_OWN,
		.field = { .offset = WORD_CELL * sizeof(u64) + 4, .width = 4 },
	};
	struct spindle_predicate args = {
		.terms = 1, .triggers = 1,
		.term[0] = {
			.compare = SPINDLE_CMP_GE, .least = SPINDLE_ALL_ROWS, .left = guard,
			.right = guard,
		},
	};
	struct spindle_tb_pred *pred;

	args.term[0].left.fold = SPINDLE_FOLD_EACH;
	pred = calloc(1, spindle_tb_pred_bytes(&args));
	spindle_tb_pred_init(pred, &args);
	spindle_tb_pred_add(grp->tb, &grp->preds, 0, pred);
}

/**
 * table_begin() - a table begins at a node: its process writes the row from now on
 * @node: the node
 * @g: index of the table
 */
void table_begin(struct node *node, u32 g)
{
	struct group *grp = &node->group[g];

	grp->round = 0;
	grp->sealed = false;
	memset(grp->dirty, 0, sizeof(grp->dirty));
	grp->fetching = 0;
	grp->ask = 0;
	grp->asked = 0;
	spindle_tb_attach(grp->tb, grp->dirty, &grp->ask, NULL);
	add_predicate(grp);
}

/* Note a member that has come to a table at a node. Its versions begin again. */
static void note_arrival(struct node *node, u32 g, u32 index, bool moved)
{
	struct group *grp = &node->group[g];

	grp->arrived[index] = spindle_mb_view(&node->mb)->vid;
	node->sim->rows_moved += moved;
	memset(grp->seen_cell[index], 0, sizeof(grp->seen_cell[index]));
}

/**
 * table_members() - a table has the members of another view
 * @node: the node
 * @g: index of the table
 * @begins: the node was not in the table before
 *
 * A node that comes to a table gets the rows of its members as they are. The module closes what
 * reads the row of a node that has left the table.
 */
void table_members(struct node *node, u32 g, bool begins)
{
	const struct spindle_view *before = &node->mb.view[!node->mb.now];
	bool joins = spindle_view_rank(before, node->index + 1) < 0;
	struct group *grp = &node->group[g];
	u32 r;

	if (begins) {
		memset(grp->arrived, 0, sizeof(grp->arrived));
		memset(grp->seen_cell, 0, sizeof(grp->seen_cell));
	}
	for (r = 0; r < grp->tb->members && !joins; r++) {
		u32 index = grp->member_node[r];
		int was = spindle_view_rank(before, index + 1);

		if (was < 0 || !(before->subgroup[g].members & BIT_ULL(was)))
			note_arrival(node, g, index, was >= 0 && !begins);
	}
	if (grp->fetching && rank_in(grp, grp->fetching - 1) == grp->tb->members)
		grp->fetching = 0;
}

/**
 * table_member() - another life of a node is a member: its versions begin again
 * @node: the node
 * @index: of the other one
 */
void table_member(struct node *node, u32 index)
{
	u32 g;

	for (g = 0; g < SIM_GROUPS; g++)
		memset(node->group[g].seen_cell[index], 0,
		       sizeof(node->group[g].seen_cell[index]));
}

/**
 * table_run() - the processes of a table at a node
 * @node: the node
 * @g: index of the table
 */
void table_run(struct node *node, u32 g)
{
	struct group *grp = &node->group[g];
	u32 r;

	if (!node->sim->quiet && rng_chance(&node->sim->tables, grp->talk))
		write_row(node, g);
	flush_row(node, g);
	/* A node that stops may have half of a view. */
	if (!node_up(node))
		return;
	if (grp->tb->read)
		fetch_row(node, g);
	for (r = 0; r < grp->tb->members; r++)
		if (is_owner(node, grp->member_node[r]))
			read_row(node, g, r);
}

/**
 * table_at_rest() - has a node the last values of all members that are up, and its predicate, too?
 * @node: the node
 * @g: index of the table
 *
 * Return: true if so
 */
bool table_at_rest(struct node *node, u32 g)
{
	struct group *grp = &node->group[g];
	const u64 *value = grp->tb->preds->term[0].left.value;
	u32 r;

	if (grp->tb->flushed != grp->ask)
		return false;
	for (r = 0; r < grp->tb->members; r++) {
		u32 index = grp->member_node[r];
		const struct node *owner = &node->sim->node[index];

		if (is_owner(node, index) && node_up(owner) && owner->group[g].tb &&
		    (read_guard(node, g, r) != owner->group[g].round ||
		     value[r] != owner->group[g].round))
			return false;
	}
	return true;
}
