// SPDX-License-Identifier: GPL-2.0-only
/*
 * A subgroup and RDMC groups in one process, see replica_group.h. The functions have the names of
 * those of the library, so this is linked in place of them.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <spindle/rdmc.h>
#include <spindle/spindle.h>

#include "internal.h"
#include "replica_group.h"

#define WINDOW		16U
#define SLOT_UNITS	(GROUP_MSG / SPINDLE_UNIT)
#define GROUPS		4096U
#define OBJECTS		64U
#define EVENTS		256U

struct group group;

static uint64_t state_of_random;

uint64_t group_random(void)
{
	uint64_t x = state_of_random += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

/* ---- the clock and threads -------------------------------------------------------------- */

int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
	(void)id;
	t->tv_sec = group.now_ms / 1000;
	t->tv_nsec = group.now_ms % 1000 * 1000000;
	return 0;
}

/* A thread runs at once, so that a seed is one run. */
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *),
			  void *arg)
{
	(void)thread;
	(void)attr;
	fn(arg);
	return 0;
}

int __wrap_pthread_join(pthread_t thread, void **value)
{
	(void)thread;
	(void)value;
	return 0;
}

/* ---- histories ----------------------------------------------------------------------------- */

#define RING		65536U		/* entries; a schedule has fewer */
#define VIEWS		4096U
#define FILES		1024

/* What a node has sent: the list outlives the process. */
struct sent {
	struct group_message msg[256];
	unsigned int first, end;
};

/* What a node has delivered. Entries below @low are forgotten, and hold nonsense. */
struct history {
	struct spindle_dlv ring[RING], truth[RING];
	unsigned char bytes[RING][GROUP_SHORT];
	__u64 low, tail;
	uint64_t due, before;	/* view that begins with the next message, or 0 */
};

/* Members of a view, as bits, by its id. */
static uint32_t members_of[VIEWS];
static uint64_t last_vid;
static struct history histories[GROUP_NODES];
static struct sent sent[GROUP_NODES];
static uint32_t node_of[FILES];

static void forget(struct history *h, uint64_t low)
{
	for (; h->low < low; h->low++) {
		memset(&h->ring[h->low % RING], 0xff, sizeof(h->ring[0]));
		memset(h->bytes[h->low % RING], 0xee, GROUP_SHORT);
	}
}

uint64_t group_oldest(uint32_t node)
{
	const struct history *h = &histories[node];

	return h->low == h->tail ? group.end : h->ring[h->low % RING].lsn;
}

static void put(struct history *h, uint64_t at, const struct spindle_dlv *d, const void *bytes)
{
	h->ring[at % RING] = *d;
	if (d->kind == SPINDLE_DLV_MSG) {
		h->ring[at % RING].offset = at % RING * GROUP_SHORT;
		memcpy(h->bytes[at % RING], bytes, d->len);
	}
	h->truth[at % RING] = h->ring[at % RING];
}

static uint32_t rank_of(uint64_t vid, uint32_t node)
{
	return (uint32_t)__builtin_popcount(members_of[vid] & ((1U << node) - 1));
}

static void append(struct history *h, const struct group_message *m)
{
	struct spindle_dlv view = {
		.lsn = group.end, .offset = h->before, .slot = h->due, .kind = SPINDLE_DLV_VIEW,
	};
	struct spindle_dlv d = {
		.lsn = group.end, .len = m->len, .sender = (uint16_t)rank_of(last_vid, m->node),
		.kind = SPINDLE_DLV_MSG,
	};

	if (h->due)
		put(h, h->tail++, &view, NULL);
	h->due = 0;
	if (m->len > GROUP_SHORT)
		abort();
	put(h, h->tail++, &d, m->bytes);
	if (group.history && h->tail - h->low > group.history)
		forget(h, h->tail - group.history);
}

void group_set_member(uint32_t node, bool member)
{
	struct history *h = &histories[node];
	uint32_t i, now = 0;

	if (group.member[node] == member)
		return;
	/* Nothing of a node is delivered in a view without it. */
	while (!member && group_random() % 4 && group_deliver(node))
		;
	sent[node].first = sent[node].end;
	/* A history that begins again knows nothing of views that its node was in before. */
	h->due = 0;
	group.member[node] = member;
	for (i = 1; i < GROUP_NODES; i++)
		now |= group.member[i] ? 1U << i : 0;
	/* Now and then a view leaves the subgroup as it is. */
	if (!(group_random() % 4)) {
		members_of[last_vid + 1] = members_of[last_vid];
		last_vid++;
	}
	if (last_vid + 2 >= VIEWS)
		abort();
	members_of[++last_vid] = now;
	for (i = 1; i < GROUP_NODES; i++) {
		if (!group.member[i])
			continue;
		if (!histories[i].due)
			histories[i].before = last_vid - 1;
		histories[i].due = last_vid;
	}
	if (!member)
		return;
	/* A history may begin with the view that its node has joined in, or behind it. */
	forget(h, h->tail);
	if (group_random() % 2)
		h->due = 0;
}

static uint32_t list_seats(uint64_t vid, uint32_t me, struct spindle_seat *seat)
{
	uint32_t i, n = 0;

	for (i = 1; i < GROUP_NODES; i++) {
		if (!(members_of[vid] & 1U << i))
			continue;
		seat[n] = (struct spindle_seat){
			.node = i, .sender_rank = n, .rx = 7 + i, .sst = 9 + i,
			.flags = i == me ? SPINDLE_SEAT_ME : 0,
		};
		n++;
	}
	return n;
}

/* The history may forget something while a donor asks. */
static int ask_seats(uint32_t node, struct spindle_seats *arg)
{
	struct history *h = &histories[node];

	if (arg->count < GROUP_NODES || !arg->vid || arg->vid > last_vid)
		abort();
	if (group.forgets && !(group_random() % group.forgets)) {
		forget(h, h->low + group_random() % (h->tail - h->low));
		if (!(group_random() % 4))
			return -ESTALE;
	}
	arg->count = list_seats(arg->vid, node, (void *)(uintptr_t)arg->ptr);
	return 0;
}

/* What the kernel checks. */
static bool is_valid(const struct spindle_fill *f)
{
	const struct spindle_seat *seat = (const void *)(uintptr_t)f->seats;
	const struct spindle_dlv *d = (const void *)(uintptr_t)f->dlv;
	uint32_t i;

	if (!f->members || f->members > SPINDLE_MAX_MEMBERS || f->count > SPINDLE_MAX_FILL_MSGS ||
	    f->bytes > SPINDLE_MAX_FILL || f->resv || (!f->count && !f->vid) ||
	    !f->vid != !f->before)
		return false;
	for (i = 0; i < f->members; i++)
		if (seat[i].rx || seat[i].sst || seat[i].flags & SPINDLE_SEAT_ME || seat[i].resv)
			return false;
	for (i = 0; i < f->count; i++)
		if (d[i].lsn != f->lsn - f->count + i || d[i].kind != SPINDLE_DLV_MSG ||
		    d[i].len > f->bytes || d[i].offset > f->bytes - d[i].len ||
		    d[i].sender >= f->members)
			return false;
	return true;
}

/* What the kernel cannot know: is it what was delivered, to these members? */
static bool is_true(const struct spindle_fill *f)
{
	const struct spindle_seat *seat = (const void *)(uintptr_t)f->seats;
	const struct spindle_dlv *d = (const void *)(uintptr_t)f->dlv;
	const unsigned char *data = (const void *)(uintptr_t)f->data;
	uint32_t i, members = 0;

	for (i = 0; i < f->members; i++)
		members |= 1U << seat[i].node;
	for (i = 0; i < f->count; i++) {
		const struct group_message *m = &group.log[d[i].lsn];

		if (members_of[m->vid] != members || seat[d[i].sender].node != m->node ||
		    d[i].len != m->len || memcmp(data + d[i].offset, m->bytes, m->len))
			return false;
	}
	if (!f->vid)
		return members_of[group.log[f->lsn].vid] == members;
	return group.log[f->lsn].vid >= f->vid && f->before < f->vid &&
	       members_of[f->before] == members && group.log[f->lsn - 1].vid <= f->before;
}

static bool has_room(const struct history *h)
{
	return h->tail - h->low < group.history;
}

/* Return: 0, or -ENOSPC. */
static int put_in_front(struct history *h, const struct spindle_fill *f)
{
	const struct spindle_dlv *d = (const void *)(uintptr_t)f->dlv;
	const struct spindle_dlv *first = &h->ring[h->low % RING];
	const struct spindle_dlv view = {
		.lsn = f->lsn, .offset = f->before, .slot = f->vid, .kind = SPINDLE_DLV_VIEW,
	};
	uint32_t n = f->count;

	if (f->vid && first->kind == SPINDLE_DLV_VIEW && first->slot == f->vid) {
		/* The history began with that view. Now it knows what was before. */
		put(h, h->low, &view, NULL);
	} else if (f->vid) {
		if (!has_room(h))
			return -ENOSPC;
		put(h, --h->low, &view, NULL);
	}
	group.views += f->vid != 0;
	for (; n && has_room(h); n--, group.filled++)
		put(h, --h->low, &d[n - 1], (char *)(uintptr_t)f->data + d[n - 1].offset);
	return n ? -ENOSPC : 0;
}

/* Ids of views only grow, and a history that begins with a view needs to know what was before. */
static bool fits_views(const struct history *h, const struct spindle_fill *f, uint64_t oldest)
{
	const struct spindle_dlv *view;
	uint64_t at = h->low;

	if (f->lsn != oldest)
		return true;
	while (at != h->tail && h->ring[at % RING].kind != SPINDLE_DLV_VIEW)
		at++;
	view = &h->ring[at % RING];
	if (!f->vid)
		return at != h->low || at == h->tail;
	if (at == h->low && at != h->tail && f->vid == view->slot)
		return f->before <= view->offset;
	return at == h->tail || f->vid <= view->offset;
}

static int fill(uint32_t node, struct spindle_fill *f)
{
	struct history *h = &histories[node];
	uint64_t oldest = group_oldest(node);
	int err;

	group.fills++;
	if (!group.fill)
		group.wrong = "a history is filled without permission";
	else if (!is_valid(f))
		group.wrong = "a batch contradicts itself";
	else if (!fits_views(h, f, oldest))
		group.wrong = "a batch does not fit to the views of the history";
	else if (f->lsn > oldest)
		group.wrong = "a batch repeats messages";
	else if (!is_true(f))
		group.wrong = "a batch is not what was delivered";
	if (group.wrong)
		return -EINVAL;
	/* What was the oldest message when the replica attached may be forgotten. */
	err = f->lsn == oldest ? put_in_front(h, f) : -ESTALE;
	f->lsn = group_oldest(node);
	return err;
}

int spindle_sys_ioctl(int fd, unsigned long cmd, void *arg)
{
	if (cmd == SPINDLE_IOC_SEATS)
		return ask_seats(node_of[fd], arg);
	return cmd == SPINDLE_IOC_FILL ? fill(node_of[fd], arg) : -ENOTTY;
}

/* ---- the subgroup -------------------------------------------------------------------------- */

/* The words that a kernel would share with a process. */
struct words {
	__u32 state, error, need_wakeup;
	__u64 dlv_tail, tx_slot, tx_unit, consumed, reserve;
	struct spindle_tx_desc desc[WINDOW];
	unsigned char ring[WINDOW * GROUP_MSG] __attribute__((aligned(64)));
	uint64_t taken;
};

static struct spindle_seat seats[GROUP_NODES];
static struct spindle_report reported[GROUP_NODES];
static uint64_t parts_mapped;

uint64_t group_parts(void)
{
	return parts_mapped;
}

const struct spindle_report *group_report(uint32_t node)
{
	return &reported[node];
}

bool group_deliver(uint32_t node)
{
	struct sent *s = &sent[node];
	uint32_t i;

	if (s->first == s->end)
		return false;
	if (group.end == GROUP_LOG)
		abort();
	group.log[group.end] = s->msg[s->first++ % 256];
	group.log[group.end].vid = last_vid;
	for (i = 1; i < GROUP_NODES; i++)
		if (group.member[i])
			append(&histories[i], &group.log[group.end]);
	group.end++;
	return true;
}

static uint64_t first_of(const struct spindle_attach_opts *o)
{
	uint64_t oldest = group.history ? group_oldest(o->node) : group.end;

	if (o->from)
		return o->from->lsn < oldest ? UINT64_MAX : o->from->lsn;
	return o->want & SPINDLE_WANT_OLDEST ? oldest : group.end;
}

/* Begin with the message of a position. */
static void attach_history(struct spindle_queue *q, uint64_t first)
{
	struct history *h = &histories[q->node];

	if (q->fd >= FILES)
		abort();
	node_of[q->fd] = q->node;
	q->rx_cursor = h->tail;
	q->vid = h->due ? h->before : last_vid;
	while (q->rx_cursor != h->low && h->truth[(q->rx_cursor - 1) % RING].lsn >= first) {
		const struct spindle_dlv *d = &h->truth[--q->rx_cursor % RING];

		if (d->kind == SPINDLE_DLV_VIEW)
			q->vid = d->offset;
	}
	q->rx_released = q->rx_cursor;
	q->oldest = first;
	if (!group.history)
		return;
	q->features |= SPINDLE_FEAT_HISTORY | (group.fill ? SPINDLE_FEAT_FILL : 0);
	q->oldest = group_oldest(q->node);
	q->ctl_dlv_low = &h->low;
	q->dlv = (const void *)h->ring;
	q->dlv_entries = RING;
	q->dlv_stride = sizeof(h->ring[0]);
	q->rx_bytes = sizeof(h->bytes);
	q->map_copy.addr = h->bytes;
}

int spindle_attach(struct spindle_queue *q, const struct spindle_attach_opts *o)
{
	uint64_t first = first_of(o);
	struct words *w;

	memset(q, 0, sizeof(*q));
	q->step = SPINDLE_STEP_ATTACH;
	if (first == UINT64_MAX)
		return -ESTALE;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->state = SPINDLE_STATE_ACTIVE;
	w->need_wakeup = 1;
	q->fd = eventfd(0, EFD_CLOEXEC);
	q->node = o->node;
	q->features = SPINDLE_FEAT_ORDERED | (group.logs ? SPINDLE_FEAT_LOG : 0);
	attach_history(q, first);
	q->window = WINDOW;
	q->max_msg = GROUP_MSG;
	q->tx_slot_units = SLOT_UNITS;
	q->tx_units = WINDOW * SLOT_UNITS;
	q->tx_mask = sizeof(w->ring) - 1;
	q->tx_ring = w->ring;
	q->ctl_state = &w->state;
	q->ctl_error = &w->error;
	q->ctl_need_wakeup = &w->need_wakeup;
	q->ctl_tx_slot = &w->tx_slot;
	q->ctl_tx_unit = &w->tx_unit;
	q->usr_reserve = &w->reserve;
	q->usr_desc = w->desc;
	q->usr_consumed = (__u64 *)w;
	q->rx_lsn = first;
	return 0;
}

void spindle_detach(struct spindle_queue *q)
{
	free(q->usr_consumed);
	close(q->fd);
}

/* Take what was committed. The slot is free at once. */
int spindle_kick(struct spindle_queue *q)
{
	struct words *w = (struct words *)q->usr_consumed;
	struct sent *s = &sent[q->node];
	const struct spindle_tx_desc *d = &w->desc[w->taken % WINDOW];

	while (d->ready == w->taken + 1) {
		struct group_message *m = &s->msg[s->end++ % 256];

		if (s->end - s->first > 256)
			abort();
		m->node = q->node;
		m->len = d->len;
		memcpy(m->bytes, w->ring + (d->unit * SPINDLE_UNIT & q->tx_mask), d->len);
		w->tx_slot++;
		w->tx_unit += d->units;
		d = &w->desc[++w->taken % WINDOW];
	}
	return 0;
}

int spindle_report(const struct spindle_queue *q, const struct spindle_report *report)
{
	reported[q->node] = *report;
	return 0;
}

/* The entry of the next message. Views on the way to it begin. */
static uint64_t next_entry(struct spindle_queue *q)
{
	const struct history *h = &histories[q->node];

	for (;; q->rx_cursor++) {
		const struct spindle_dlv *d = &h->truth[q->rx_cursor % RING];

		if (q->rx_cursor >= h->tail || d->lsn != q->rx_lsn)
			abort();
		if (d->kind != SPINDLE_DLV_VIEW)
			return q->rx_cursor;
		q->vid = d->slot;
	}
}

int spindle_dispatch(struct spindle_queue *q, spindle_batch_fn fn, void *arg, unsigned int budget)
{
	unsigned int n = (unsigned int)(group_random() % 8), i;
	int ret;

	for (i = 0; i < n && i < budget && q->rx_lsn < group.end; i++) {
		uint64_t at = next_entry(q);
		const struct group_message *from = &group.log[q->rx_lsn];
		struct spindle_msg m = {
			.lsn = q->rx_lsn, .data = from->bytes, .len = from->len,
			.node = from->node, .kind = SPINDLE_DLV_MSG,
		};

		/* What was filled is read, too. A reader that is behind is not overtaken here. */
		if (at >= histories[q->node].low)
			m.data = histories[q->node].bytes[at % RING];
		q->rx_cursor = at + 1;
		q->rx_released = q->rx_cursor;
		ret = fn(arg, &m, 1);
		q->rx_lsn++;
		if (ret)
			return ret;
	}
	return (int)i;
}

int spindle_view(const struct spindle_queue *q, struct spindle_view *v)
{
	memset(v, 0, sizeof(*v));
	v->vid = q->vid;
	v->seat = seats;
	v->members = list_seats(q->vid, q->node, seats);
	return 0;
}

/* ---- RDMC ------------------------------------------------------------------------------------ */

struct object {
	const void *mem;
	uint64_t len, tag;
	void *to[SPINDLE_MAX_MEMBERS];
	uint32_t accepted;
	bool ended;
};

struct common {
	uint64_t id;
	uint32_t member[GROUP_NODES], count, created, closed;
	bool failed, over, given_up;
	struct spindle_rdmc_group *handle[GROUP_NODES];
	struct object object[OBJECTS];
	uint64_t objects;
};

struct spindle_rdmc_group {
	struct common *c;
	uint32_t rank;
	int fd;
	struct spindle_rdmc_event event[EVENTS];
	unsigned int first, end;
};

static struct common *commons[GROUPS];
static unsigned int num_commons, num_handles;

static void push(struct common *c, uint32_t rank, const struct spindle_rdmc_event *ev)
{
	struct spindle_rdmc_group *g = c->handle[rank];

	if (g)
		g->event[g->end++ % EVENTS] = *ev;
}

static void push_all(struct common *c, const struct spindle_rdmc_event *ev)
{
	uint32_t i;

	for (i = 0; i < c->count; i++)
		push(c, i, ev);
}

static struct common *common_of(uint64_t id, const uint32_t *members, unsigned int count)
{
	struct common *c;
	unsigned int i;

	for (i = 0; i < num_commons; i++)
		if (commons[i]->id == id)
			return commons[i];
	c = calloc(1, sizeof(*c));
	if (!c || num_commons == GROUPS || count > GROUP_NODES)
		abort();
	c->id = id;
	c->count = count;
	memcpy(c->member, members, count * sizeof(*members));
	commons[num_commons++] = c;
	return c;
}

int spindle_rdmc_create(struct spindle_rdmc_group **out, uint32_t node, uint64_t id,
			const uint32_t *members, unsigned int count,
			const struct spindle_rdmc_options *o)
{
	struct common *c = common_of(id, members, count);
	struct spindle_rdmc_group *g;
	uint32_t i, rank = count;

	(void)o;
	*out = NULL;
	for (i = 0; i < count; i++) {
		if (!group.member[members[i]])
			return -ENOENT;
		if (members[i] == node)
			rank = i;
	}
	if (rank == count || c->count != count)
		return -EINVAL;
	if (c->handle[rank])
		return -EEXIST;
	g = calloc(1, sizeof(*g));
	if (!g)
		return -ENOMEM;
	g->c = c;
	g->rank = rank;
	g->fd = eventfd(0, EFD_CLOEXEC);
	c->handle[rank] = g;
	num_handles++;
	*out = g;
	if (++c->created == count && !c->failed)
		push_all(c, &(struct spindle_rdmc_event){ .kind = SPINDLE_RDMC_OPENED });
	return 0;
}

static void fail(struct common *c)
{
	struct spindle_rdmc_event ev = { .kind = SPINDLE_RDMC_DONE, .error = SPINDLE_RDMC_LEFT };

	if (c->failed || c->over)
		return;
	c->failed = true;
	for (; ev.object < c->objects; ev.object++) {
		ev.tag = c->object[ev.object % OBJECTS].tag;
		if (!c->object[ev.object % OBJECTS].ended)
			push_all(c, &ev);
	}
	ev.kind = SPINDLE_RDMC_FAILED;
	push_all(c, &ev);
}

void spindle_rdmc_destroy(struct spindle_rdmc_group *g)
{
	if (!g)
		return;
	g->c->handle[g->rank] = NULL;
	fail(g->c);
	close(g->fd);
	free(g);
	num_handles--;
}

int spindle_rdmc_fd(const struct spindle_rdmc_group *g)
{
	return g->fd;
}

int spindle_rdmc_send(struct spindle_rdmc_group *g, const void *mem, uint64_t len, uint64_t tag,
		      uint64_t *object)
{
	struct common *c = g->c;
	const struct spindle_rdmc_event ev = {
		.kind = SPINDLE_RDMC_INCOMING, .object = c->objects, .len = len, .tag = tag,
	};
	uint32_t i;

	(void)object;
	if (c->failed)
		return -ECONNABORTED;
	parts_mapped++;
	c->object[c->objects % OBJECTS] = (struct object){ .mem = mem, .len = len, .tag = tag };
	for (i = 1; i < c->count; i++)
		push(c, i, &ev);
	c->objects++;
	return 0;
}

static void finish(struct common *c, uint64_t n, uint32_t error, uint32_t reason)
{
	struct object *o = &c->object[n % OBJECTS];
	const struct spindle_rdmc_event ev = {
		.kind = SPINDLE_RDMC_DONE, .error = error, .object = n, .len = o->len,
		.tag = o->tag, .reason = reason,
	};

	if (o->ended)
		return;
	o->ended = true;
	c->given_up |= error != SPINDLE_RDMC_OK;
	push_all(c, &ev);
}

/* The last member that gives memory gets the bytes for all. */
static void accept_object(struct spindle_rdmc_group *g, uint64_t n, void *mem)
{
	struct object *o = &g->c->object[n % OBJECTS];
	uint32_t i;

	o->to[g->rank] = mem;
	if (++o->accepted != g->c->count - 1 || o->ended)
		return;
	for (i = 1; i < g->c->count; i++)
		memcpy(o->to[i], o->mem, o->len);
	finish(g->c, n, SPINDLE_RDMC_OK, 0);
}

static void incoming(struct spindle_rdmc_group *g, const struct spindle_rdmc_calls *calls,
		     void *arg, const struct spindle_rdmc_event *ev)
{
	uint32_t reason = 0;
	void *mem;

	if (g->c->failed || g->c->object[ev->object % OBJECTS].ended)
		return;
	parts_mapped++;
	mem = calls->incoming(arg, g, ev, &reason);
	if (mem && group.refusals && !(group_random() % group.refusals)) {
		mem = NULL;
		reason = ENOMEM;
	}
	if (mem)
		accept_object(g, ev->object, mem);
	else
		finish(g->c, ev->object, SPINDLE_RDMC_REFUSED, reason);
}

static void close_one(struct common *c)
{
	const struct spindle_rdmc_event ev = {
		.kind = SPINDLE_RDMC_CLOSED,
		.error = c->given_up ? SPINDLE_RDMC_INCOMPLETE : SPINDLE_RDMC_OK,
	};

	if (++c->closed != c->count || c->failed)
		return;
	c->over = true;
	push_all(c, &ev);
}

int spindle_rdmc_close(struct spindle_rdmc_group *g)
{
	uint32_t i;

	if (g->c->failed)
		return -ECONNABORTED;
	for (i = 1; i < g->c->count; i++)
		push(g->c, i, &(struct spindle_rdmc_event){ .kind = SPINDLE_RDMC_CLOSING });
	close_one(g->c);
	return 0;
}

int spindle_rdmc_dispatch_some(struct spindle_rdmc_group *g, const struct spindle_rdmc_calls *calls,
			       void *arg, int budget)
{
	int n;

	for (n = 0; g->first != g->end && n < budget; n++) {
		struct spindle_rdmc_event ev = g->event[g->first++ % EVENTS];

		switch (ev.kind) {
		case SPINDLE_RDMC_OPENED:
			calls->opened(arg, g, &ev);
			break;
		case SPINDLE_RDMC_INCOMING:
			incoming(g, calls, arg, &ev);
			break;
		case SPINDLE_RDMC_DONE:
			calls->done(arg, g, &ev);
			break;
		case SPINDLE_RDMC_CLOSING:
			close_one(g->c);
			break;
		case SPINDLE_RDMC_CLOSED:
			calls->closed(arg, g, &ev);
			break;
		default:
			calls->failed(arg, g, &ev);
		}
	}
	return n;
}

int spindle_rdmc_dispatch(struct spindle_rdmc_group *g, const struct spindle_rdmc_calls *calls,
			  void *arg)
{
	return spindle_rdmc_dispatch_some(g, calls, arg, INT_MAX);
}

unsigned int group_rdmc_left(void)
{
	return num_handles;
}

void group_begin(uint64_t seed)
{
	unsigned int i;

	for (i = 0; i < num_commons; i++)
		free(commons[i]);
	num_commons = 0;
	memset(sent, 0, sizeof(sent));
	group.end = 0;
	group.now_ms = 1000;
	group.history = 0;
	group.fill = false;
	group.logs = false;
	group.faults = false;
	group.durable = 0;
	group.forgets = 0;
	group.wrong = NULL;
	last_vid = 1;
	members_of[1] = (1U << GROUP_NODES) - 2;
	/* Messages may be put in front. */
	for (i = 0; i < GROUP_NODES; i++) {
		histories[i].low = RING / 2;
		histories[i].tail = RING / 2;
		histories[i].due = 0;
	}
	group.refusals = 0;
	for (i = 0; i < GROUP_NODES; i++)
		group.member[i] = i != 0;
	state_of_random = seed;
}
