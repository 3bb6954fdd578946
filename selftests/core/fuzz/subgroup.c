// SPDX-License-Identifier: GPL-2.0-only
/*
 * A subgroup of two honest members, which run the core, and one or two liars. The liars write what
 * the input says into the honest members' copies of their rows. They write blocks, headers,
 * messages by express, and payload, sealed or not. The writes come between two passes and between
 * two looks. Processes commit, read, attach, exit and break their rules. Views end and begin. Some
 * subgroups have logs: then liars write log blocks, and loggers write words.
 *
 * The honest members never blame each other. They deliver each other's messages once, in order,
 * with the right bytes. They keep their counts within their limits, and end each pass. The durable
 * position never goes back, nor beyond what is delivered. The end of a view waits for no logger.
 */
#include "fuzz.h"
#include "core/base/push.h"
#include "core/group/wire.h"
#include "core/multicast/history.h"

#define MEMBERS	4
#define HONEST	2
#define RING	1024U
#define MAX_MSG	600U
#define COPY	1024U
#define HISTORY	4096U

/* The upper bits of an offset name the part, because each part of a row has its own memory. */
enum part { BLOCK, EXPRESS, HEADERS, PAYLOAD, LOG };

#define OFFSET(part) ((u64)(part) << 32)

struct row {
	struct spindle_block *block;
	struct spindle_block *log;
	struct spindle_express *express;
	struct spindle_hdr *hdr;
	u8 *pay;
};

/* A process that sends. @wire counts the slots that it has committed and not abandoned. */
struct process {
	struct spindle_tx_desc *desc;
	u64 *free_slot, *free_unit;
	u64 slot, unit, wire;
	bool cheats, parting;
};

struct reader {
	struct spindle_dlvq q;
	u64 *tail, *consumed;
	u64 seen, lsn;
	u64 next[MEMBERS];	/* the next message, by id of the sender */
	bool knows[MEMBERS];	/* @next is valid: a message came since it attached */
	bool open, cheats;
};

/* The history of a subgroup with logs, a process that reads it, and the logger. */
struct log {
	struct spindle_history h;
	struct spindle_dlvq q;	/* of the reader */
	u64 *tail, *consumed, *low;
	struct spindle_log_words *words;	/* or NULL: there is no logger */
	u64 durable;
	bool reading, cheats;
};

struct node {
	struct world *w;
	u32 id;
	struct spindle_mc *mc;
	struct row row[MEMBERS];	/* by id of the writer */
	u32 *vouch[MEMBERS];
	struct process proc;
	struct reader reader[2];
	struct log log;
	u64 word[SPINDLE_BLOCK_WORDS];
};

/* Ids of liars are HONEST and up; @member has the id of each rank. */
struct world {
	struct input in;
	u32 n, member[MEMBERS];
	u32 senders;	/* mask of ids */
	u32 window;
	u64 vid;
	u32 log;	/* SPINDLE_LOGGED* */
	bool ordered, vouch, over;
	struct node node[HONEST];
};

static struct world world;

static bool is_sender(const struct world *w, u32 id)
{
	return w->senders >> id & 1;
}

static u32 rank_of(const struct world *w, u32 id)
{
	u32 r;

	for (r = 0; r < w->n && w->member[r] != id; r++)
		;
	return r;
}

/* ---- wiring -------------------------------------------------------------------- */

static void *zalloc(size_t n, size_t size)
{
	return fuzz_alloc(n * size);
}

static void release(const void *at)
{
	fuzz_free((void *)at);
}

static const struct spindle_memory memory = { .zalloc = zalloc, .free = release };

/* Do not use spindle_mc_wire(): each part of a row has its own memory here, for the sanitizer. */
static void wire_member(struct node *node, u32 r, u32 *s)
{
	struct spindle_mc_member *m = &node->mc->member[r];
	struct world *w = node->w;
	u32 id = w->member[r];
	struct row *row = &node->row[id];
	struct spindle_mc_sender *sd = &node->mc->sender[*s];

	m->block = row->block;
	m->sender = SPINDLE_NO_RANK;
	m->remote_block = OFFSET(BLOCK);
	m->remote_express = OFFSET(EXPRESS);
	m->remote_hdr = OFFSET(HEADERS);
	m->remote_pay = OFFSET(PAYLOAD);
	if (!is_sender(w, id))
		return;
	m->sender = (*s)++;
	if (w->vouch)
		m->vouch = node->vouch[id];
	else
		m->express = row->express;
	sd->member = r;
	sd->pay = row->pay;
	sd->msgs = node->mc->msgs + m->sender * w->window;
	sd->walk.ring = row->hdr;
	sd->walk.wmask = w->window - 1;
	sd->walk.max_msg = MAX_MSG;
	sd->walk.unknown = w->log ? U64_MAX : ~(U64_MAX >> (64 - w->n));
}

static void wire_log(struct node *node, u32 r)
{
	struct spindle_durable *d = node->mc->durable;
	struct spindle_durable_member *m;
	u32 id = node->w->member[r];

	if (!d)
		return;
	m = &d->member[r];
	m->node = id + 1;
	m->remote = OFFSET(LOG);
	if (id == node->id)
		d->block = node->row[id].log;
	else
		m->block = node->row[id].log;
}

static void push_all(struct spindle_mc *mc);

/* The view of the subgroup. */
static const struct spindle_view *view_of(const struct world *w)
{
	static struct spindle_view view;
	struct spindle_view_subgroup *sg = &view.subgroup[0];
	u32 r;

	*sg = (struct spindle_view_subgroup){
		.members = BIT_ULL(w->n) - 1,
		.window = w->window,
		.ring = RING,
		.max_msg = MAX_MSG,
		.mode = w->ordered ? SPINDLE_MODE_ORDERED : SPINDLE_MODE_UNORDERED,
		.log = w->log,
	};
	for (r = 0; r < w->n; r++)
		if (is_sender(w, w->member[r]))
			sg->senders |= BIT_ULL(r);
	view.vid = w->vid;
	return &view;
}

static void new_mc(struct node *node)
{
	struct spindle_mc *mc = fuzz_alloc(sizeof(*mc));
	struct world *w = node->w;
	struct row *own = &node->row[node->id];
	const struct spindle_mc *old = node->mc;
	u32 me = rank_of(w, node->id), r, s = 0;

	MUST(!spindle_mc_create(mc, view_of(w), 0, me, NULL, old, &memory));
	node->mc = mc;
	mc->node = node->id;
	for (r = 0; r < w->n; r++) {
		wire_member(node, r, &s);
		wire_log(node, r);
	}
	mc->my_sender = mc->member[me].sender;
	mc->own.block = own->block;
	mc->own.hdr_ring = own->hdr;
	mc->own.hdr = OFFSET(HEADERS);
	mc->own.pay = OFFSET(PAYLOAD);
	mc->post = push_all;
	mc->formed = true;
}

static void free_mc(struct spindle_mc *mc)
{
	spindle_mc_destroy(mc, &memory);
	fuzz_free(mc);
}

static void open_log(struct node *node)
{
	u32 entries = spindle_history_entries(HISTORY);
	struct log *log = &node->log;

	spindle_history_init(&log->h, fuzz_alloc(entries * sizeof(struct spindle_dlv)),
			     fuzz_alloc(HISTORY), fuzz_alloc(entries * sizeof(u64)),
			     HISTORY >> SPINDLE_UNIT_SHIFT);
	log->tail = fuzz_alloc(sizeof(u64));
	log->consumed = fuzz_alloc(sizeof(u64));
	log->low = fuzz_alloc(sizeof(u64));
	spindle_durable_begin(node->mc, NULL, true);
	spindle_mc_remember(node->mc, &log->h);
}

static void open_node(struct world *w, u32 id)
{
	struct node *node = &w->node[id];
	u32 i;

	node->w = w;
	node->id = id;
	for (i = 0; i < MEMBERS; i++) {
		node->row[i].block = fuzz_alloc(sizeof(*node->row[i].block));
		node->row[i].log = fuzz_alloc(sizeof(*node->row[i].log));
		node->row[i].express = fuzz_alloc(sizeof(*node->row[i].express));
		node->row[i].hdr = fuzz_alloc(w->window * sizeof(*node->row[i].hdr));
		node->row[i].pay = fuzz_alloc(RING);
		node->vouch[i] = fuzz_alloc(sizeof(u32));
	}
	new_mc(node);
	if (w->log)
		open_log(node);
}

/* ---- pushing ------------------------------------------------------------------- */

static u8 *place(const struct world *w, const struct row *row, u64 offset, u32 len)
{
	u32 at = offset;

	switch (offset >> 32) {
	case BLOCK:
		MUST(!at && len == SPINDLE_BLOCK_PUSH);
		return (u8 *)row->block;
	case LOG:
		MUST(!at && len == SPINDLE_BLOCK_PUSH);
		return (u8 *)row->log;
	case EXPRESS:
		MUST(at + len <= sizeof(*row->express));
		return (u8 *)row->express + at;
	case HEADERS:
		MUST(at + len <= w->window * sizeof(*row->hdr));
		return (u8 *)row->hdr + at;
	default:
		MUST(offset >> 32 == PAYLOAD && at + len <= RING);
		return row->pay + at;
	}
}

/* Check the writes to a liar, and deliver the writes to the other honest member. */
static void post(struct node *node, u32 to, const struct spindle_write *write)
{
	struct world *w = node->w;
	const u8 *from = write->data;
	struct node *peer;
	u8 *at;

	MUST(write->len);
	if (!from)
		from = place(w, &node->row[node->id], write->local, write->len);
	if (to >= HONEST) {
		place(w, &node->row[node->id], write->remote, write->len);
		return;
	}
	peer = &w->node[to];
	at = place(w, &peer->row[node->id], write->remote, write->len);
	memcpy(at, from, write->len);
	if (write->guard && w->vouch && is_sender(w, node->id))
		*peer->vouch[node->id] = write->imm & SPINDLE_IMM_SLOTS;
}

static void push_to(struct node *node, u32 rank, u32 max)
{
	u32 how = node->w->vouch ? 0 : SPINDLE_PUSH_SPLIT | SPINDLE_PUSH_EXPRESS;
	struct spindle_write write[SPINDLE_PUSH_MAX];
	u32 i, n;

	if (rank == node->mc->me || !spindle_mc_runs(node->mc) ||
	    !spindle_push_wanted(node->mc, rank))
		return;
	n = spindle_push(node->mc, rank, 0, how, write, max);
	MUST(n && n <= max);
	for (i = 0; i < n; i++)
		post(node, node->w->member[rank], &write[i]);
}

/* Without late posts, the core posts inside a pass. */
static void push_all(struct spindle_mc *mc)
{
	u32 r;

	for (r = 0; r < mc->members; r++)
		push_to(&world.node[mc->node], r, SPINDLE_PUSH_MAX);
}

/* ---- invariants ------------------------------------------------------------------- */

static void check_senders(const struct spindle_mc *mc)
{
	u32 s;

	for (s = 0; s < mc->senders; s++) {
		const struct spindle_mc_sender *sd = &mc->sender[s];

		MUST(sd->rel_slot <= sd->dlv_slot && sd->dlv_slot <= sd->walk.slot);
		MUST(sd->walk.slot - sd->rel_slot <= mc->window);
		MUST((sd->head == U64_MAX) == (sd->dlv_slot == sd->walk.slot));
	}
}

static void check_members(const struct spindle_mc *mc)
{
	u32 r;

	for (r = 0; r < mc->members; r++) {
		const struct spindle_mc_member *m = &mc->member[r];

		if (r == mc->me)
			continue;
		/* A slot is not reused before it was pushed to each member. */
		MUST(mc->own.word[SPINDLE_COL_SLOTS] - m->push_slot <= mc->window);
		MUST(m->delivered <= m->received);
		MUST(m->sent <= SPINDLE_MAX_ROUND);
	}
}

static void check_log(struct node *node)
{
	const struct spindle_durable *d = node->mc->durable;
	struct log *log = &node->log;

	if (!d)
		return;
	MUST(d->durable >= log->durable && d->durable <= node->mc->deliver.lsn);
	log->durable = d->durable;
	MUST(!d->bad || log->cheats);
	MUST(d->views && d->views <= SPINDLE_DURABLE_VIEWS);
	MUST(log->h.q.tail - log->h.q.consumed <= log->h.q.mask + 1ULL);
	MUST(log->h.gate >= log->h.q.consumed && log->h.gate <= log->h.q.tail);
	MUST(!log->reading || log->q.error || *log->tail >= *log->consumed);
}

static void check_node(struct node *node)
{
	const struct spindle_mc *mc = node->mc;
	u32 i;

	check_log(node);
	for (i = 0; i < SPINDLE_BLOCK_WORDS; i++) {
		MUST(mc->own.word[i] >= node->word[i]);
		node->word[i] = mc->own.word[i];
	}
	if (mc->events & SPINDLE_MC_FAILED) {
		for (i = 0; i < mc->members; i++)
			MUST(!(mc->bad & BIT_ULL(i)) || node->w->member[i] >= HONEST);
		MUST(mc->bad);
		node->w->over = true;
		return;
	}
	MUST(!mc->bad);
	MUST(mc->own.word[SPINDLE_COL_DELIVERED] <= mc->own.word[SPINDLE_COL_RECEIVED]);
	MUST(mc->deliver.log_tail - mc->deliver.log_head <= mc->deliver.log_mask + 1);
	check_senders(mc);
	check_members(mc);
	if (mc->my_sender != SPINDLE_NO_RANK) {
		MUST(mc->send.free_slot <= mc->own.word[SPINDLE_COL_SLOTS]);
		MUST(mc->own.word[SPINDLE_COL_SLOTS] - mc->send.free_slot <= mc->window);
		MUST(!mc->send.txq.error || node->proc.cheats);
		MUST(mc->send.txq.slot - mc->send.txq.free_slot <= mc->window);
		MUST(mc->send.txq.unit - mc->send.txq.free_unit <= mc->ring_units);
	}
	for (i = 0; i < 2; i++)
		MUST(!node->reader[i].open || !node->reader[i].q.error ||
		     node->reader[i].cheats);
}

/* The most looks of one pass: a few for each member, message and reader. */
static u64 most_looks(const struct spindle_mc *mc)
{
	return 64 * (mc->members + 2) + 16 * (u64)mc->window * (mc->senders + 1);
}

static void pass(struct node *node, bool idle)
{
	u64 before = fuzz_looks;

	spindle_mc_run(node->mc, idle);
	MUST(fuzz_looks - before <= most_looks(node->mc));
	if (node->mc->events & SPINDLE_MC_PARTED) {
		MUST(node->proc.parting);
		fuzz_free(node->proc.desc);
		node->proc.parting = false;
		node->proc.desc = NULL;
	}
	node->mc->events &= SPINDLE_MC_FAILED;
	check_node(node);
}

/* ---- processes ------------------------------------------------------------------- */

static u8 byte_of(u32 id, u64 wire, u32 at)
{
	return id * 67 + wire * 13 + at + 1;
}

/*
 * One message in four is for its sender and the liars, and one is for all but its sender. With logs
 * each is for all.
 */
static bool is_for(const struct world *w, u32 id, u64 wire, u32 node)
{
	return w->log || wire % 4 < 2 || (wire % 4 == 2) == (node == id || node >= HONEST);
}

/* The destinations of a message, by the ranks of the present view. */
static u64 mask_of(const struct world *w, u32 id, u64 wire)
{
	u64 mask = 0;
	u32 r;

	for (r = 0; r < w->n && wire % 4 > 1 && !w->log; r++)
		if (is_for(w, id, wire, w->member[r]))
			mask |= BIT_ULL(r);
	return mask;
}

static void open_process(struct node *node)
{
	struct process *p = &node->proc;
	struct spindle_mc *mc = node->mc;
	u64 wire = p->wire;
	bool cheats = p->cheats;

	if (mc->my_sender == SPINDLE_NO_RANK || p->desc)
		return;
	*p = (struct process) {
		.desc = fuzz_alloc(node->w->window * sizeof(*p->desc)),
		.free_slot = fuzz_alloc(sizeof(u64)),
		.free_unit = fuzz_alloc(sizeof(u64)),
		.slot = mc->send.txq.slot,
		.unit = mc->send.txq.unit,
		.wire = wire,
		.cheats = cheats,
	};
	spindle_mc_attach_sender(mc, p->desc, p->free_slot, p->free_unit);
	MUST(p->slot - *p->free_slot <= mc->window);
	MUST(p->unit - *p->free_unit <= mc->ring_units);
}

static void close_process(struct node *node)
{
	struct process *p = &node->proc;

	if (!p->desc || p->parting)
		return;
	p->parting = !spindle_mc_detach_sender(node->mc);
	if (p->parting)
		return;
	fuzz_free(p->desc);
	p->desc = NULL;
	check_node(node);
}

static void commit(struct node *node, u32 len, u32 more, bool abandon)
{
	struct process *p = &node->proc;
	u32 units = spindle_units(len) + more, i;
	struct spindle_tx_desc *d;

	if (!p->desc || p->parting || p->slot - *p->free_slot >= node->w->window ||
	    p->unit + units - *p->free_unit > RING >> SPINDLE_UNIT_SHIFT)
		return;
	d = &p->desc[p->slot & (node->w->window - 1)];
	for (i = 0; i < len && !abandon; i++)
		node->row[node->id].pay[((p->unit << SPINDLE_UNIT_SHIFT) + i) & (RING - 1)] =
			byte_of(node->id, p->wire, i);
	d->unit = p->unit;
	d->units = units;
	d->len = len;
	d->flags = (abandon ? SPINDLE_TX_ABANDON : 0) |
		   (u32)node->w->vid << SPINDLE_TX_VIEW_SHIFT;
	d->mask = mask_of(node->w, node->id, p->wire);
	d->ready = ++p->slot;
	p->unit += units;
	p->wire += !abandon;
}

/* Write any word of any descriptor. From here on the sender's messages are not checked. */
static void cheat(struct node *node, struct input *in)
{
	struct process *p = &node->proc;

	if (!p->desc || p->parting)
		return;
	p->cheats = true;
	((u64 *)p->desc)[in_below(in, node->w->window * sizeof(*p->desc) / 8)] =
		in_near(in, p->slot);
}

static void open_reader(struct node *node, struct reader *r, bool copy)
{
	struct spindle_mc *mc = node->mc;
	u32 entries = copy ? 4 : 2 * (mc->deliver.log_mask + 1);

	if (r->open)
		return;
	memset(r, 0, sizeof(*r));
	r->open = true;
	r->tail = fuzz_alloc(sizeof(u64));
	r->consumed = fuzz_alloc(sizeof(u64));
	r->q.tail_word = r->tail;
	r->q.consumed_word = r->consumed;
	r->q.mask = entries - 1;
	r->q.ring = fuzz_alloc(entries * sizeof(*r->q.ring));
	if (copy) {
		r->q.copy = fuzz_alloc(COPY);
		r->q.copy_end = fuzz_alloc(entries * sizeof(u64));
		r->q.copy_units = COPY >> SPINDLE_UNIT_SHIFT;
	}
	spindle_mc_attach_reader(mc, &r->q);
	r->lsn = mc->deliver.lsn;
}

static void close_reader(struct node *node, struct reader *r)
{
	if (!r->open)
		return;
	spindle_mc_detach_reader(node->mc, &r->q);
	r->open = false;
	fuzz_free(r->q.ring);
	fuzz_free(r->q.copy);
	fuzz_free(r->q.copy_end);
	fuzz_free(r->tail);
	fuzz_free(r->consumed);
}

static void check_message(struct node *node, struct reader *r, const struct spindle_dlv *d)
{
	struct world *w = node->w;
	const u8 *ring;
	u32 rank, id, i, size = r->q.copy ? COPY : RING;

	MUST(d->sender < node->mc->senders && d->len <= MAX_MSG && d->offset < size);
	rank = node->mc->sender[d->sender].member;
	id = w->member[rank];
	ring = r->q.copy ?: node->row[id].pay;
	MUST(d->lsn == r->lsn++);
	MUST(!r->knows[id] || d->slot == r->next[id]);
	r->knows[id] = true;
	r->next[id] = d->slot + 1;
	if (d->kind == SPINDLE_DLV_OTHER)
		MUST(!d->len && !d->offset);
	if (id >= HONEST || w->node[id].proc.cheats)
		return;
	MUST((d->kind == SPINDLE_DLV_MSG) == is_for(node->w, id, d->slot, node->id));
	for (i = 0; i < d->len; i++)
		MUST(ring[(d->offset + i) & (size - 1)] == byte_of(id, d->slot, i));
}

static void read_some(struct node *node, struct reader *r, u32 n)
{
	for (; r->open && n && !r->cheats && r->seen != *r->tail; n--) {
		const struct spindle_dlv *d = &r->q.ring[r->seen++ & r->q.mask];

		if (d->kind == SPINDLE_DLV_VIEW)
			r->lsn = d->lsn;
		else
			check_message(node, r, d);
		*r->consumed = r->seen;
	}
}

/* ---- liars ----------------------------------------------------------------------- */

/* A liar, as an honest member's copy shows it. */
struct victim {
	struct node *node;
	struct row *row;
	struct spindle_mc_member *m;
	struct spindle_mc_sender *sd;	/* NULL: the liar does not send */
	u64 word[SPINDLE_BLOCK_WORDS];
};

static struct victim victim(struct world *w, struct input *in)
{
	u8 pick = in_u8(in);
	struct node *node = &w->node[pick & 1];
	u32 liars = w->n - HONEST, r, skip = liars ? (pick >> 1) % liars : 0;
	struct victim v = { .node = node };

	for (r = 0; r < w->n; r++)
		if (w->member[r] >= HONEST && !skip--)
			break;
	if (r == w->n)
		return v;
	v.row = &node->row[w->member[r]];
	v.m = &node->mc->member[r];
	if (v.m->sender != SPINDLE_NO_RANK)
		v.sd = &node->mc->sender[v.m->sender];
	v.word[SPINDLE_COL_SENT] = v.m->sent;
	v.word[SPINDLE_COL_SLOTS] = v.m->slots;
	v.word[SPINDLE_COL_RECEIVED] = v.m->received;
	v.word[SPINDLE_COL_DELIVERED] = v.m->delivered;
	return v;
}

/* Sealed columns, near the last accepted ones. */
static void lie_block(struct victim *v, struct input *in)
{
	u8 which = in_u8(in);
	u32 i;

	for (i = 0; i < SPINDLE_BLOCK_WORDS; i++)
		if (which >> i & 1)
			v->word[i] = in_near(in, v->word[i]);
	spindle_block_write(v->row->block, v->word);
}

/* Act as an honest member that has received and delivered all messages. */
static void agree(struct victim *v, struct input *in)
{
	const struct spindle_mc *mc = v->node->mc;
	u8 how = in_u8(in);

	v->word[SPINDLE_COL_RECEIVED] = max(v->m->received, mc->own.word[SPINDLE_COL_RECEIVED]);
	if (how & 1)
		v->word[SPINDLE_COL_DELIVERED] = v->word[SPINDLE_COL_RECEIVED];
	if (v->sd && how & 2)
		v->word[SPINDLE_COL_SENT] = max(v->m->sent, mc->own.word[SPINDLE_COL_SENT]);
	spindle_block_write(v->row->block, v->word);
}

static struct spindle_msg some_message(struct victim *v, struct input *in)
{
	return (struct spindle_msg) {
		.round = in_near(in, v->sd->walk.rounds),
		.unit = in_near(in, 0),
		.len = in_near(in, 0),
		.mask = in_u8(in) & 1 ? in_near(in, 0) : 0,
	};
}

/* A header near the next one. With its guard the header is a message. */
static void lie_header(struct victim *v, struct input *in, bool guard)
{
	struct spindle_msg msg;
	u64 slot;

	if (!v->sd)
		return;
	msg = some_message(v, in);
	slot = guard ? v->m->slots : in_near(in, v->sd->walk.slot);
	spindle_hdr_write(v->row->hdr, v->node->w->window - 1, slot, &msg);
	if (!guard)
		return;
	v->word[SPINDLE_COL_SLOTS]++;
	v->word[SPINDLE_COL_SENT] = msg.round + 1;
	spindle_block_write(v->row->block, v->word);
	*v->node->vouch[v->node->w->member[v->sd->member]] =
		v->word[SPINDLE_COL_SLOTS] & SPINDLE_IMM_SLOTS;
}

/* A message by express with any contents and a valid seal. */
static void lie_express(struct victim *v, struct input *in)
{
	struct spindle_express *x = v->row->express;
	struct spindle_msg msg;
	u8 which;
	u32 i;

	if (!v->sd)
		return;
	msg = some_message(v, in);
	which = in_u8(in);
	v->word[SPINDLE_COL_SLOTS]++;
	v->word[SPINDLE_COL_SENT] = msg.round + 1;
	for (i = 0; i < SPINDLE_BLOCK_WORDS; i++)
		if (which >> i & 1)
			v->word[i] = in_near(in, v->word[i]);
	memcpy(x->word, v->word, sizeof(x->word));
	x->round = msg.round;
	x->unit = msg.unit;
	x->len = msg.len;
	i = spindle_express_offset(min_t(u32, msg.len, SPINDLE_EXPRESS_BYTES)) / 8;
	x->mix = spindle_mix(x->pay + i, SPINDLE_EXPRESS_WORDS - i);
	if (which & 0x80)
		x->mix++;
	x->seal = spindle_mix(x->word, offsetof(struct spindle_express, seal) / 8 -
				       SPINDLE_EXPRESS_WORDS);
}

/* Write a word of the liar's row, now or while the victim looks. */
static void lie_word(struct victim *v, struct input *in, bool later)
{
	const u32 words[] = {
		[BLOCK] = sizeof(*v->row->block) / 8,
		[EXPRESS] = sizeof(*v->row->express) / 8,
		[HEADERS] = v->node->w->window * sizeof(*v->row->hdr) / 8,
		[PAYLOAD] = RING / 8,
	};
	u64 *const part[] = {
		[BLOCK] = (u64 *)v->row->block,
		[EXPRESS] = (u64 *)v->row->express,
		[HEADERS] = (u64 *)v->row->hdr,
		[PAYLOAD] = (u64 *)v->row->pay,
	};
	u32 p = in_below(in, 4), at = in_below(in, words[p]);
	u64 value = in_near(in, part[p][at]);

	if (later)
		fuzz_write_later(&part[p][at], value, in_u8(in) & 63);
	else
		part[p][at] = value;
}

/* ---- logs ------------------------------------------------------------------------- */

/* Sealed columns of a disk, near the last accepted ones. */
static void lie_log(struct victim *v, struct input *in)
{
	u64 word[SPINDLE_BLOCK_WORDS];
	u8 which = in_u8(in);
	u32 i;

	memcpy(word, v->node->mc->durable->member[v->m - v->node->mc->member].word, sizeof(word));
	for (i = 0; i < SPINDLE_BLOCK_WORDS; i++)
		if (which >> i & 1)
			word[i] = in_near(in, word[i]);
	/* The record of the present view, and perhaps that it is established. */
	if (which & 16)
		word[SPINDLE_LOG_COL_RECORD] = v->node->w->vid << SPINDLE_LOG_RECORD_SHIFT |
					       (which >> 2 & SPINDLE_LOG_ESTABLISHED);
	spindle_block_write(v->row->log, word);
	if (which & 64)
		v->row->log->seal++;
}

/* A logger comes, with a disk that ends anywhere in the history. */
static void attach_logger(struct node *node, struct input *in)
{
	struct spindle_mc *mc = node->mc;
	u64 oldest = spindle_history_oldest(&node->log.h, mc->deliver.lsn);
	u64 lsn = oldest + in_u8(in) % (mc->deliver.lsn - oldest + 1);

	if (node->log.words)
		return;
	node->log.words = fuzz_alloc(sizeof(*node->log.words));
	node->log.cheats = false;
	if (!spindle_durable_attach(mc, node->log.words, lsn))
		return;
	fuzz_free(node->log.words);
	node->log.words = NULL;
}

static void detach_logger(struct node *node)
{
	if (!node->log.words)
		return;
	spindle_durable_detach(node->mc);
	fuzz_free(node->log.words);
	node->log.words = NULL;
}

/* The logger tells the truth: its disk has more, and the record of the view. */
static void tell(struct node *node, struct input *in)
{
	const struct spindle_durable *d = node->mc->durable;
	struct spindle_log_words *words = node->log.words;
	u64 lsn = node->mc->deliver.lsn, at;
	const u64 *own = d->member[d->me].word;

	if (!words || node->log.cheats)
		return;
	at = max(own[SPINDLE_LOG_COL_PERSISTED], words->persisted);
	words->persisted = at + in_u8(in) % (lsn - at + 1);
	words->low = own[SPINDLE_LOG_COL_LOW];
	words->snapshot = words->low;
	words->record = node->w->vid;
	words->state = SPINDLE_LOG_LOGGING;
	words->change++;
}

/* Any word of the page. From here on the logger may be frozen. */
static void cheat_words(struct node *node, struct input *in)
{
	u64 *words = (u64 *)node->log.words;
	u32 at = in_below(in, sizeof(*node->log.words) / 8);

	if (!words)
		return;
	node->log.cheats = true;
	words[at] = in_near(in, words[at]);
	words[0]++;
}

/* A process reads the history, from the next message that it may have. */
static void read_history(struct node *node)
{
	struct spindle_mc *mc = node->mc;
	struct log *log = &node->log;

	if (!log->reading) {
		log->q = (struct spindle_dlvq){
			.tail_word = log->tail, .consumed_word = log->consumed,
			.low_word = log->low,
		};
		MUST(!spindle_mc_attach_cursor(mc, &log->q, spindle_mc_next(mc)));
		*log->consumed = log->q.consumed;
		log->reading = true;
		return;
	}
	for (; *log->low <= *log->consumed && *log->consumed != *log->tail; ++*log->consumed) {
		const struct spindle_dlv *d = &log->h.q.ring[*log->consumed & log->h.q.mask];

		MUST(d->kind == SPINDLE_DLV_VIEW || !mc->durable->gate ||
		     d->lsn < mc->durable->durable);
	}
	if (!log->q.error)
		return;
	MUST(log->q.error == SPINDLE_ERR_BEHIND);
	spindle_mc_detach_reader(mc, &log->q);
	log->reading = false;
}

static void log_op(struct victim *v, struct input *in, u8 op)
{
	struct node *node = v->node;

	switch (op) {
	case 3:
		cheat_words(node, in);
		break;
	case 4:
		attach_logger(node, in);
		break;
	case 5:
		detach_logger(node);
		break;
	case 6:
		spindle_durable_give_up(node->mc);
		break;
	case 7:
		read_history(node);
		break;
	case 2:
		tell(node, in);
		break;
	default:
		lie_log(v, in);
		break;
	}
	check_node(node);
}

/* ---- from one view to the next ------------------------------------------------------ */

static void flush(struct node *node)
{
	u32 r, i;

	for (r = 0; r < node->mc->members; r++)
		for (i = 0; i < 256 && !spindle_mc_flushed(node->mc, r); i++)
			push_to(node, r, SPINDLE_PUSH_MAX);
	for (r = 0; r < node->mc->members; r++)
		MUST(spindle_mc_flushed(node->mc, r));
}

/* The trim: the counts of the survivors, and perhaps smaller ones from a liar. */
static void compose_trim(struct world *w, u64 have[HONEST][MEMBERS], u64 *trim)
{
	u32 s;

	for (s = 0; s < w->node[0].mc->senders; s++) {
		trim[s] = min(have[0][s], have[1][s]);
		if (w->ordered && in_u8(&w->in) & 1)
			trim[s] = min(trim[s], in_near(&w->in, trim[s]));
	}
}

static bool drain(struct node *node)
{
	u32 i;

	for (i = 0; i < 64; i++) {
		bool done = spindle_mc_drain(node->mc);

		read_some(node, &node->reader[0], U32_MAX);
		read_some(node, &node->reader[1], U32_MAX);
		if (done)
			return true;
	}
	/* Only a process that cheats may refuse to read. */
	MUST(node->reader[0].cheats || node->reader[1].cheats);
	return false;
}

/* The memory of rows stays. Blocks and places for express are cleared. */
static void begin(struct node *node, const u32 *old_member, u32 old_n, const u64 *trim)
{
	struct world *w = node->w;
	struct spindle_mc *old = node->mc;
	u32 from[MEMBERS], was[MEMBERS], r, i, s = 0, o;
	u64 first[MEMBERS], former = old->deliver.lsn;

	for (i = 0; i < MEMBERS; i++) {
		memset(node->row[i].block, 0, sizeof(*node->row[i].block));
		memset(node->row[i].log, 0, sizeof(*node->row[i].log));
		memset(node->row[i].express, 0, sizeof(*node->row[i].express));
	}
	new_mc(node);
	for (r = 0; r < w->n; r++) {
		for (o = 0, i = 0; i < old_n && old_member[i] != w->member[r]; i++)
			o += is_sender(w, old_member[i]);
		was[r] = i;
		if (!is_sender(w, w->member[r]))
			continue;
		from[s] = o;
		first[s++] = trim[o];
		former -= old->sender[o].walk.slot;
	}
	spindle_mc_begin(node->mc, old, from, first, former);
	if (w->log)
		spindle_durable_begin(node->mc, old->durable, false);
	spindle_mc_renumber(node->mc, old, was);
	spindle_mc_announce(node->mc, w->vid);
	free_mc(old);
	memset(node->word, 0, sizeof(node->word));
	check_node(node);
}

/* A view ends, and perhaps a liar is not in the next one. All survivors do this in step. */
static void change(struct world *w)
{
	u64 have[HONEST][MEMBERS], trim[MEMBERS];
	u32 old[MEMBERS], old_n = w->n, i, how = in_u8(&w->in);

	fuzz_write_now();
	for (i = 0; i < HONEST; i++) {
		spindle_mc_wedge(w->node[i].mc);
		flush(&w->node[i]);
	}
	for (i = 0; i < HONEST; i++) {
		spindle_mc_freeze(w->node[i].mc, have[i]);
		check_node(&w->node[i]);
	}
	if (w->over)
		return;
	if (how & 1 || !w->ordered) {
		for (i = 0; i < HONEST; i++)
			spindle_mc_stay(w->node[i].mc);
		return;
	}
	compose_trim(w, have, trim);
	for (i = 0; i < HONEST; i++)
		if (!spindle_mc_trim(w->node[i].mc, trim))
			w->over = true;
	for (i = 0; i < HONEST && !w->over; i++)
		if (!drain(&w->node[i]))
			w->over = true;
	if (w->over)
		return;
	memcpy(old, w->member, sizeof(old));
	if (how & 2 && w->n > HONEST) {
		for (i = 0; w->member[i] < HONEST; i++)
			;
		for (w->n--; i < w->n; i++)
			w->member[i] = w->member[i + 1];
	}
	w->vid++;
	for (i = 0; i < HONEST; i++)
		begin(&w->node[i], old, old_n, trim);
}

/* ---- operations of the input ---------------------------------------------------------- */

/* The embedder moves a large message to the members, by one step. */
static void bring(struct world *w, struct node *node)
{
	struct spindle_mc *mc = node->mc;
	u64 at = mc->send.held_slot.unit << SPINDLE_UNIT_SHIFT;
	u32 i;

	if (mc->send.held == SPINDLE_HELD_WAITING) {
		MUST(spindle_mc_hold(mc, SPINDLE_HELD_MOVING));
	} else if (mc->send.held == SPINDLE_HELD_MOVING) {
		for (i = 0; i < mc->send.held_slot.len; i++)
			w->node[!node->id].row[node->id].pay[(at + i) & (RING - 1)] =
				node->row[node->id].pay[(at + i) & (RING - 1)];
		MUST(spindle_mc_hold(mc, SPINDLE_HELD_PLACED));
	}
}

static void retune(struct node *node, struct input *in)
{
	struct spindle_mc_tune tune = {
		.switches = (in_u8(in) | in_u8(in) << 8) & SPINDLE_SW_ALL,
		.send_budget = 1 + in_below(in, 20),
		.recv_budget = 1 + in_below(in, 20),
		.dlv_budget = 1 + in_below(in, 20),
		.copy_budget = 1 << 10,
		.silence = in_near(in, 0) & 0xffff,
		.large = in_u8(in) & 1 ? U32_MAX : in_u8(in),
	};

	spindle_mc_retune(node->mc, &tune);
}

static void process_op(struct world *w, struct node *node, u8 op)
{
	struct input *in = &w->in;
	u32 len;

	switch (op >> 4) {
	case 0:
		open_process(node);
		break;
	case 1:
		close_process(node);
		break;
	case 2:
		cheat(node, in);
		break;
	case 3:
		open_reader(node, &node->reader[op >> 1 & 1], op & 4);
		break;
	case 4:
		close_reader(node, &node->reader[op >> 1 & 1]);
		break;
	case 5:
		if (!node->reader[op >> 1 & 1].open)
			break;
		node->reader[op >> 1 & 1].cheats = true;
		*node->reader[op >> 1 & 1].consumed = in_near(in, node->reader[op >> 1 & 1].seen);
		break;
	case 6:
		retune(node, in);
		break;
	case 7:
		if (node->mc->my_sender != SPINDLE_NO_RANK)
			spindle_mc_silence(node->mc, in_near(in, 0) & (SPINDLE_MAX_ROUNDS - 1));
		break;
	case 8:
		bring(w, node);
		break;
	case 9:
		spindle_mc_flush_acks(node->mc);
		break;
	default:
		len = in_u8(in);
		commit(node, min(len * (op & 2 ? 3 : 1), MAX_MSG), op >> 2 & 3, op >> 4 == 15);
		break;
	}
	check_node(node);
}

static void liar_op(struct world *w, u8 op)
{
	struct input *in = &w->in;
	struct victim v = victim(w, in);

	if (!v.row)
		return;
	if (w->log && op & 8) {
		log_op(&v, in, op & 7);
		return;
	}
	switch (op & 7) {
	case 0:
		lie_block(&v, in);
		break;
	case 1:
	case 2:
		agree(&v, in);
		break;
	case 3:
		lie_header(&v, in, false);
		break;
	case 4:
		lie_header(&v, in, true);
		break;
	case 5:
		lie_express(&v, in);
		break;
	case 6:
		lie_word(&v, in, false);
		break;
	default:
		lie_word(&v, in, true);
		break;
	}
}

static void step(struct world *w)
{
	u8 op = in_u8(&w->in);
	struct node *node = &w->node[op >> 3 & 1];
	u32 i;

	switch (op & 7) {
	case 0:
	case 1:
		pass(node, op & 16);
		for (i = 0; i < w->n && !w->over && op & 32; i++)
			push_to(node, i, SPINDLE_PUSH_MAX);
		break;
	case 2:
		push_to(node, in_below(&w->in, w->n), 6 + in_below(&w->in, 10));
		break;
	case 3:
		process_op(w, node, in_u8(&w->in));
		break;
	case 4:
		read_some(node, &node->reader[op >> 4 & 1], 1 + (op >> 5));
		break;
	case 5:
	case 6:
		liar_op(w, op >> 4);
		break;
	default:
		if (op >> 4 == 15)
			change(w);
		else
			process_op(w, node, 0xa0 | op >> 4);
		break;
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct world *w = &world;
	u8 how, i;

	fuzz_begin();
	memset(w, 0, sizeof(*w));
	w->in = (struct input){ .at = data, .left = size };
	how = in_u8(&w->in);
	w->n = 3 + (how & 1);
	w->window = 1U << (how >> 1 & 3);
	w->ordered = how & 8;
	w->vouch = how & 16;
	w->vid = 1;
	/* The ids of the ranks are consecutive from any start. */
	for (i = 0; i < w->n; i++)
		w->member[i] = (i + (how >> 5)) % w->n;
	how = in_u8(&w->in);
	w->senders = how & (BIT(w->n) - 1);
	if (w->ordered && how & 32)
		w->log = how >> 5 & SPINDLE_LOGGED_ALL;
	if (!w->senders)
		w->senders = BIT(w->n) - 1;
	for (i = 0; i < HONEST; i++)
		open_node(w, i);
	while (w->in.left && !w->over)
		step(w);
	return 0;
}
