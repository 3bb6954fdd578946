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

/* ---- the subgroup -------------------------------------------------------------------------- */

/* What a node has sent: the list outlives the process. */
struct sent {
	struct group_message msg[256];
	unsigned int first, end;
};

/* The words that a kernel would share with a process. */
struct words {
	__u32 state, error, need_wakeup;
	__u64 dlv_tail, tx_slot, tx_unit, consumed, reserve;
	struct spindle_tx_desc desc[WINDOW];
	unsigned char ring[WINDOW * GROUP_MSG] __attribute__((aligned(64)));
	uint64_t taken;
};

static struct sent sent[GROUP_NODES];
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

	if (s->first == s->end)
		return false;
	if (group.end == GROUP_LOG)
		abort();
	group.log[group.end++] = s->msg[s->first++ % 256];
	return true;
}

static uint64_t first_of(const struct spindle_attach_opts *o)
{
	uint64_t oldest = group.end > group.history ? group.end - group.history : 0;

	if (!group.history)
		oldest = group.end;
	if (o->from)
		return o->from->lsn < oldest ? UINT64_MAX : o->from->lsn;
	return o->want & SPINDLE_WANT_OLDEST ? oldest : group.end;
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
	q->features = SPINDLE_FEAT_ORDERED;
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

int spindle_dispatch(struct spindle_queue *q, spindle_batch_fn fn, void *arg, unsigned int budget)
{
	unsigned int n = (unsigned int)(group_random() % 8), i;
	int ret;

	for (i = 0; i < n && i < budget && q->rx_lsn < group.end; i++) {
		const struct group_message *from = &group.log[q->rx_lsn];
		struct spindle_msg m = {
			.lsn = q->rx_lsn, .data = from->bytes, .len = from->len,
			.node = from->node, .kind = SPINDLE_DLV_MSG,
		};

		ret = fn(arg, &m, 1);
		q->rx_lsn++;
		if (ret)
			return ret;
	}
	return (int)i;
}

int spindle_view(const struct spindle_queue *q, struct spindle_view *v)
{
	uint32_t i;

	(void)q;
	memset(v, 0, sizeof(*v));
	v->seat = seats;
	for (i = 1; i < GROUP_NODES; i++)
		if (group.member[i])
			seats[v->members++].node = i;
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
	group.refusals = 0;
	for (i = 0; i < GROUP_NODES; i++)
		group.member[i] = i != 0;
	state_of_random = seed;
}
