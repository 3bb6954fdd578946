// SPDX-License-Identifier: GPL-2.0-only
/* A view: the members and the subgroups that they form. See view.h. */
#include "view.h"

/**
 * spindle_view_rank() - rank of a node
 * @view: the view
 * @id: node id
 *
 * Return: its rank, or -ENOENT
 */
int spindle_view_rank(const struct spindle_view *view, u32 id)
{
	u32 i;

	for (i = 0; i < view->num_members; i++)
		if (view->member[i].id == id)
			return i;
	return -ENOENT;
}

/**
 * spindle_view_subgroup() - find a subgroup by its id
 * @view: the view
 * @id: subgroup id
 *
 * Return: its configuration, or NULL
 */
const struct spindle_view_subgroup *
spindle_view_subgroup(const struct spindle_view *view, u32 id)
{
	u32 i;

	for (i = 0; i < view->num_subgroups; i++)
		if (view->subgroup[i].id == id && !spindle_view_closed(&view->subgroup[i]))
			return &view->subgroup[i];
	return NULL;
}

/**
 * spindle_view_same_name() - do two subgroups have the same name?
 * @a: one
 * @b: the other
 *
 * Return: true if so; subgroups without a name have none in common
 */
bool spindle_view_same_name(const struct spindle_view_subgroup *a,
			    const struct spindle_view_subgroup *b)
{
	return a->name[0] && !strcmp(a->name, b->name);
}

/**
 * spindle_view_default_ring() - payload ring of a subgroup that names none
 * @window: slots, a power of two
 * @max_msg: bytes
 *
 * Room for a whole window of the largest messages where that is small; a large
 * window of large messages is rarely full of them, and memory is paid per member.
 *
 * Return: bytes, a power of two
 */
u32 spindle_view_default_ring(u32 window, u32 max_msg)
{
	u64 msg = ALIGN((u64)max_msg, SPINDLE_UNIT);
	u64 cap = max_t(u64, 1 << 20, roundup_pow_of_two(4 * msg));
	u64 all = max_t(u64, min_t(u64, window, SPINDLE_MAX_WINDOW) * msg, SPINDLE_PAGE);

	return min_t(u64, min_t(u64, roundup_pow_of_two(all), cap), SPINDLE_MAX_RING);
}

/**
 * spindle_view_table_ring() - place of the cells of a table's row
 * @cells: cells of a row, 1 to SPINDLE_MAX_CELLS
 * @cell: bytes of a cell, SPINDLE_MAX_CELL at most
 *
 * Return: bytes, a power of two and whole pages
 */
u32 spindle_view_table_ring(u32 cells, u32 cell)
{
	return roundup_pow_of_two(max_t(u32, cells * cell, SPINDLE_PAGE));
}

/* What is wrong with the sizes of a table, or NULL. Is it the size of a cell? */
static const char *check_table_sizes(u32 cells, u32 cell, bool *of_cell)
{
	*of_cell = cell < SPINDLE_MIN_CELL || cell > SPINDLE_MAX_CELL || !is_power_of_2(cell);
	if (*of_cell)
		return "a table's cell is a power of two from 64 to 4096 bytes";
	if (!cells || cells > SPINDLE_MAX_CELLS)
		return "a table has 1 to 1024 cells";
	if (cells * cell > SPINDLE_MAX_TABLE_ROW)
		return "the cells of a table's row have 65536 bytes at most";
	return NULL;
}

/**
 * spindle_view_set_table() - give a table its sizes
 * @sg: out, except with an error: a table
 * @cells: cells of a row, any number
 * @cell: bytes of a cell, any number
 * @of_cell: out: an error is about @cell alone
 *
 * Return: NULL, or a sentence that names the limit that the sizes break
 */
const char *spindle_view_set_table(struct spindle_view_subgroup *sg, u32 cells, u32 cell,
				   bool *of_cell)
{
	const char *err = check_table_sizes(cells, cell, of_cell);

	if (err)
		return err;
	sg->window = cells;
	sg->max_msg = cell;
	sg->ring = spindle_view_table_ring(cells, cell);
	return NULL;
}

static const char *check_member(const struct spindle_view *view, u32 i)
{
	const struct spindle_view_member *a = &view->member[i];
	u32 j;

	if (!a->id)
		return "member ids start at 1";
	if (a->addr.family != 4 && a->addr.family != 6)
		return "a member's address is IPv4 or IPv6";
	if (a->addr.family != view->member[0].addr.family)
		return "all members have IPv4 addresses, or all have IPv6 addresses";
	if (!a->addr.port)
		return "a member's port is 1 to 65535";
	for (j = 0; j < i; j++) {
		const struct spindle_view_member *b = &view->member[j];

		if (a->id == b->id)
			return "two members have the same id";
		if (!memcmp(&a->addr, &b->addr, sizeof(a->addr)))
			return "two members have the same address and port";
	}
	return NULL;
}

static const char *check_table(const struct spindle_view_subgroup *sg)
{
	u32 cells = spindle_view_cells(sg), cell = spindle_view_cell(sg);
	bool of_cell;
	const char *err = check_table_sizes(cells, cell, &of_cell);

	if (err)
		return err;
	if (sg->ring != spindle_view_table_ring(cells, cell))
		return "a table's ring is the smallest power of two that its cells fit into";
	if (sg->senders)
		return "a table has no senders: each member writes its row";
	if (sg->hold)
		return "a table holds no messages";
	if (sg->log || sg->min_copies)
		return "a table has no log";
	return sg->former ? "a table has no position" : NULL;
}

static const char *check_log(const struct spindle_view_subgroup *sg)
{
	if (sg->log & ~SPINDLE_LOGGED_ALL)
		return "a log has unknown settings";
	if (!(sg->log & SPINDLE_LOGGED))
		return sg->log || sg->min_copies ?
		       "ack, deliver and min-copies are settings of a subgroup with a log" : NULL;
	if (sg->mode != SPINDLE_MODE_ORDERED)
		return "only an ordered subgroup has a log: others have no positions in common";
	if (sg->min_copies > SPINDLE_MAX_MEMBERS)
		return "min-copies is 1 to 64, or 0 for the default";
	return NULL;
}

static const char *check_sizes(const struct spindle_view_subgroup *sg)
{
	if (!sg->window || sg->window > SPINDLE_MAX_WINDOW || !is_power_of_2(sg->window))
		return "subgroup window is a power of two from 1 to 65536";
	if (sg->ring < SPINDLE_PAGE || sg->ring > SPINDLE_MAX_RING || !is_power_of_2(sg->ring))
		return "subgroup ring is a power of two from 4096 to 2^30";
	if (!sg->max_msg || sg->max_msg > sg->ring || sg->max_msg > SPINDLE_MAX_MSG)
		return "subgroup max-msg is 1 to 268435456, and at most the ring";
	return check_log(sg);
}

/**
 * spindle_view_check_sizes() - may a subgroup or table be of this size?
 * @sg: its configuration
 *
 * Return: NULL, or a sentence that names the limit that it breaks
 */
const char *spindle_view_check_sizes(const struct spindle_view_subgroup *sg)
{
	if (sg->mode > SPINDLE_MODE_TABLE_READ)
		return "subgroup mode is ordered (0), unordered (1), table (2) or table-read (3)";
	return spindle_view_is_table(sg) ? check_table(sg) : check_sizes(sg);
}

static const char *check_subgroup(const struct spindle_view *view, u32 i, bool live)
{
	const struct spindle_view_subgroup *sg = &view->subgroup[i];
	bool table = spindle_view_is_table(sg);
	const char *err;
	u64 all = U64_MAX >> (64 - view->num_members);
	u32 j;

	if (live && spindle_view_closed(sg))
		return sg->members || sg->senders || sg->former ?
		       "a subgroup that is closed has no members and no position" : NULL;
	err = spindle_view_check_sizes(sg);
	if (err)
		return err;
	if (sg->fields[0] && !table)
		return "only a table has fields";
	if (sg->log && !live)
		return "only a subgroup of a live view has a log: a static view has no lineage";
	if ((!sg->members && !live) || (sg->members & ~all))
		return "a subgroup's nodes are members of the view";
	if ((!sg->senders && !live && !table) || (sg->senders & ~sg->members))
		return "a subgroup has at least one sender";
	for (j = 0; j < i; j++) {
		if (sg->id == view->subgroup[j].id && !spindle_view_closed(&view->subgroup[j]))
			return "two subgroups have the same id";
		/* Shards share a name. spindle_rules_check() compares those of rules. */
		if (!live && spindle_view_same_name(sg, &view->subgroup[j]))
			return "two subgroups have the same name";
	}
	return NULL;
}

/**
 * spindle_view_check() - is the view fit to be installed?
 * @view: the view
 * @live: its subgroups follow from rules, and may lack members
 * @fault: out, may be NULL: which member or subgroup the sentence is about
 *
 * Return: NULL, or a sentence that names the limit that it breaks
 */
const char *spindle_view_check(const struct spindle_view *view, bool live,
			       struct spindle_view_fault *fault)
{
	struct spindle_view_fault none, *at = fault ? fault : &none;
	const char *err;

	at->member = -1;
	at->subgroup = -1;
	if (!view->vid)
		return "view ids start at 1";
	if (live && view->vid > SPINDLE_MAX_LIVE_VID)
		return "the id of a live view is 2^59 at most: it grows with each change";
	if (!view->num_members || view->num_members > SPINDLE_MAX_MEMBERS)
		return "a view has 1 to 64 members";
	if (view->num_subgroups > SPINDLE_MAX_SUBGROUPS)
		return "a view has at most 64 subgroups";
	for (at->member = 0; at->member < (int)view->num_members; at->member++) {
		err = check_member(view, at->member);
		if (err)
			return err;
	}
	at->member = -1;
	for (at->subgroup = 0; at->subgroup < (int)view->num_subgroups; at->subgroup++) {
		err = check_subgroup(view, at->subgroup, live);
		if (err)
			return err;
	}
	at->subgroup = -1;
	return NULL;
}

/* FNV-1a, byte by byte in little-endian order, so that all hosts agree. */
static u64 digest_u64(u64 h, u64 v)
{
	int i;

	for (i = 0; i < 8; i++) {
		h ^= (v >> (8 * i)) & 0xff;
		h *= 0x100000001b3ULL;
	}
	return h;
}

/* The zero byte behind the text counts, so that two texts are not taken for one. */
static u64 digest_text(u64 h, const char *text)
{
	do
		h = digest_u64(h, (u8)*text);
	while (*text++);
	return h;
}

/**
 * spindle_view_digest() - fingerprint of all that the protocol takes from a view
 * @view: the view
 *
 * Two members exchange it when they connect: the same digest means the same ranks,
 * layouts and rules. It guards against mistakes, not against forgery. The local policy
 * @hold is left out: hosts may differ in it.
 *
 * Return: the digest
 */
u64 spindle_view_digest(const struct spindle_view *view)
{
	u64 h = 0xcbf29ce484222325ULL;
	u32 i, b;

	h = digest_u64(h, view->vid);
	h = digest_u64(h, view->num_members);
	for (i = 0; i < view->num_members; i++) {
		const struct spindle_view_member *m = &view->member[i];

		h = digest_u64(h, m->id);
		h = digest_u64(h, (u64)m->addr.family << 16 | m->addr.port);
		for (b = 0; b < sizeof(m->addr.ip); b++)
			h = digest_u64(h, m->addr.ip[b]);
	}
	h = digest_u64(h, view->num_subgroups);
	for (i = 0; i < view->num_subgroups; i++) {
		const struct spindle_view_subgroup *sg = &view->subgroup[i];

		h = digest_u64(h, (u64)sg->id << 32 | sg->mode);
		h = digest_u64(h, (u64)sg->window << 32 | sg->max_msg);
		h = digest_u64(h, sg->ring);
		h = digest_u64(h, sg->members);
		h = digest_u64(h, sg->senders);
		h = digest_u64(h, sg->former);
		h = digest_u64(h, (u64)sg->log << 32 | sg->min_copies);
		h = digest_text(h, sg->name);
		h = digest_text(h, sg->fields);
	}
	return h;
}
