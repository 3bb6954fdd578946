// SPDX-License-Identifier: GPL-2.0-only
/* The world of test_rdmc, see rdmc_world.h. */
#include "rdmc_world.h"

void rw_bad(struct rw_world *w, const char *fmt, ...)
{
	va_list ap;

	if (w->bad++)
		return;
	va_start(ap, fmt);
	vsnprintf(w->why, sizeof(w->why), fmt, ap);
	va_end(ap);
}

/* ---- lists ------------------------------------------------------------------ */

static u32 list_len(const struct rw_list *l)
{
	return l->tail - l->head;
}

static struct rw_item *list_at(struct rw_list *l, u32 i)
{
	return &l->item[(l->head + i) & (l->size - 1)];
}

static void list_add(struct rw_list *l, const struct rw_item *it)
{
	if (list_len(l) == l->size) {
		u32 i, size = l->size ? 2 * l->size : 4;
		struct rw_item *item = calloc(size, sizeof(*item));

		for (i = 0; i < list_len(l); i++)
			item[i] = *list_at(l, i);
		free(l->item);
		l->tail -= l->head;
		l->head = 0;
		l->item = item;
		l->size = size;
	}
	l->item[l->tail++ & (l->size - 1)] = *it;
}

static struct rw_item list_take(struct rw_list *l, u32 i)
{
	struct rw_item it = *list_at(l, i);

	for (; i > 0; i--)
		*list_at(l, i) = *list_at(l, i - 1);
	l->head++;
	return it;
}

static struct rw_lane *lane(struct rw_world *w, u32 from, u32 to)
{
	return &w->lane[from * w->n + to];
}

static void dirty(struct rw_world *w, u32 node)
{
	u32 g;

	for (g = 0; g < w->groups; g++)
		if (w->inst[node][g])
			w->inst[node][g]->dirty = true;
}

/* ---- operations of the core ------------------------------------------------- */

static struct rw_inst *inst_of(struct spindle_rdmc *r)
{
	return (struct rw_inst *)r;
}

static u32 peer_of(const struct rw_inst *in, u32 m)
{
	return rw_node(in->w, in->group, m);
}

static struct rw_lane *lane_of(struct rw_inst *in, u32 m)
{
	return lane(in->w, in->node, peer_of(in, m));
}

static bool op_room(struct spindle_rdmc *r, u32 m)
{
	struct rw_lane *l = lane_of(inst_of(r), m);

	return !l->shut && list_len(&l->list) < l->room;
}

static void spoil(struct rw_world *w, struct spindle_rdmc_msg *msg)
{
	struct rng *rng = &w->rng;

	switch (rng_below(rng, 6)) {
	case 0:
		msg->word = rng_below(rng, 12);
		break;
	case 1:
		msg->arg = rng_odd(rng);
		break;
	case 2:
		msg->w[rng_below(rng, 3)] = rng_odd(rng);
		break;
	case 3:
		msg->w[rng_below(rng, 3)] += rng_below(rng, 5) - 2;
		break;
	case 4:
		msg->arg += rng_below(rng, 3) - 1;
		break;
	default:
		msg->word = 1 + rng_below(rng, 9);
		msg->w[0] = rng_below(rng, 20);
		msg->w[1] = rng_below(rng, 20);
		msg->w[2] = rng_below(rng, 20);
		break;
	}
}

static void send_msg(struct rw_inst *in, u32 m, const struct spindle_rdmc_msg *msg)
{
	struct rw_world *w = in->w;
	struct rw_lane *l = lane_of(in, m);
	struct rw_item it = { .kind = RW_MSG, .group = in->group, .msg = *msg };
	bool lies = w->liar == in->node;

	if (l->lost)
		rw_bad(w, "said to a lost lane");
	w->said++;
	if (lies && rng_chance(&w->rng, w->lies / 2))
		return;
	if (lies && rng_chance(&w->rng, w->lies))
		spoil(w, &it.msg);
	do {
		list_add(&l->list, &it);
		l->said[in->group]++;
		if (lies)
			spoil(w, &it.msg);
	} while (lies && rng_chance(&w->rng, w->lies));
}

static void op_say(struct spindle_rdmc *r, u32 m, const struct spindle_rdmc_msg *msg)
{
	if (!op_room(r, m))
		rw_bad(inst_of(r)->w, "said without room");
	send_msg(inst_of(r), m, msg);
}

static void op_grant(struct spindle_rdmc *r, u32 m, u32 g, void *mem, u32 block, u32 len,
		     struct spindle_rdmc_msg *msg)
{
	struct rw_inst *in = inst_of(r);
	struct rw_world *w = in->w;
	struct rw_mem *to = mem;
	struct rw_right *right;

	if (!op_room(r, m))
		rw_bad(w, "granted without room");
	if (w->rights == w->max_rights) {
		w->max_rights = max(64U, 2 * w->max_rights);
		w->right = realloc(w->right, w->max_rights * sizeof(*w->right));
	}
	right = &w->right[w->rights];
	*right = (struct rw_right) {
		.state = RW_ACTIVE, .mem = to, .owner = in->node, .holder = peer_of(in, m),
		.group = in->group, .g = g, .off = (u64)block * r->cfg.block, .len = len,
	};
	if (to->going)
		rw_bad(w, "granted while it is released");
	if (right->off + len > to->len || !len)
		rw_bad(w, "grant outside of the object");
	to->grants++;
	msg->w[1] = right->off;
	msg->w[2] = w->rights++ | (u64)(g | in->group << 8) << 32;
	send_msg(in, m, msg);
}

static void op_revoke(struct spindle_rdmc *r, u32 m, u32 g)
{
	struct rw_inst *in = inst_of(r);
	struct rw_world *w = in->w;
	struct rw_item it = { .kind = RW_REVOKED, .node = in->node, .peer = peer_of(in, m),
			      .group = in->group, .life = r->cfg.life };
	u32 i;

	if (!op_room(r, m))
		rw_bad(w, "revoked without room");
	if (lane_of(in, m)->lost)
		rw_bad(w, "revoked on a lost lane");
	for (i = w->rights; i-- > 0;) {
		struct rw_right *right = &w->right[i];

		if (right->owner == in->node && right->group == in->group && right->g == g &&
		    right->holder == it.peer && right->state != RW_DEAD)
			break;
	}
	if (i == U32_MAX || w->right[i].state == RW_REVOKING) {
		rw_bad(w, "revoked what is not granted");
		return;
	}
	w->right[i].state = RW_REVOKING;
	it.key = i;
	it.number = g;
	list_add(&w->wait, &it);
}

static void op_write(struct spindle_rdmc *r, u32 m, u64 object, void *mem, u32 block, u32 len,
		     const struct spindle_rdmc_grant *grant)
{
	struct rw_inst *in = inst_of(r);
	struct rw_world *w = in->w;
	struct rw_mem *from = mem;
	struct rw_lane *l = lane_of(in, m);
	struct rw_item it = { .kind = RW_WRITE, .group = in->group, .key = grant->key, .len = len,
			      .block = block, .object = object, .off = grant->addr, .mem = from,
			      .number = grant->number, .life = r->cfg.life };

	if (!op_room(r, m))
		rw_bad(w, "written without room");
	if (r->state != SPINDLE_RDMC_S_OPEN)
		rw_bad(w, "written in state %u", r->state);
	if (from->going)
		rw_bad(w, "written while it is released");
	if (from->have && !(from->have[block / 64] >> block % 64 & 1))
		rw_bad(w, "written what is not here");
	if (grant->object != object || grant->block != block)
		rw_bad(w, "written what is not granted");
	if (r->writing > SPINDLE_RDMC_SENDS)
		rw_bad(w, "%u writes at once", r->writing);
	from->writes++;
	l->writing++;
	w->writes++;
	list_add(&l->list, &it);
}

static bool op_flushed(struct spindle_rdmc *r, u32 m)
{
	struct rw_lane *l = lane_of(inst_of(r), m);

	return l->broken || !l->said[inst_of(r)->group];
}

/* A process that does not read for a while is asked again after it has read. */
static bool op_listens(struct spindle_rdmc *r)
{
	struct rw_inst *in = inst_of(r);

	in->deaf = !in->unread && rng_chance(&in->w->rng, 15);
	return !in->deaf && !in->unread;
}

static void op_cut(struct spindle_rdmc *r, u32 m)
{
	struct rw_inst *in = inst_of(r);
	struct rw_world *w = in->w;

	if (r->state == SPINDLE_RDMC_S_CLOSED)
		rw_bad(w, "cut when closed");
	if (in->node != w->liar && peer_of(in, m) != w->liar && peer_of(in, m) != w->stuck)
		rw_bad(w, "%u cut %u, which had done nothing", in->node, peer_of(in, m));
	rw_break(w, in->node, peer_of(in, m));
}

static bool op_release(struct spindle_rdmc *r, void *mem)
{
	struct rw_inst *in = inst_of(r);
	struct rw_world *w = in->w;
	struct rw_mem *me = mem;
	struct rw_group *gr = &w->group[in->group];

	if (me->grants)
		rw_bad(w, "released with %u grants", me->grants);
	if (me->writes)
		rw_bad(w, "released with %u writes under way", me->writes);
	me->going = true;
	if (!r->cfg.me && w->releases) {
		w->releases--;
		w->now += w->timeout / 3;
		return false;
	}
	if (rng_chance(&w->rng, 30))
		return false;
	if (me->object != in->released)
		in->released = me->object;
	in->released++;
	me->right = me->len == gr->len[me->object] &&
		    !memcmp(me->bytes, gr->bytes[me->object], me->len);
	free(me->bytes);
	free(me->have);
	me->bytes = NULL;
	me->have = NULL;
	return true;
}

static void event_done(struct rw_inst *in, const struct spindle_rdmc_event *ev)
{
	struct rw_world *w = in->w;
	struct rw_mem *me = ev->object < RW_OBJECTS ? in->mem[ev->object] : NULL;

	if (ev->object != in->done || in->done >= in->incoming)
		rw_bad(w, "DONE of %llu, not %llu", (unsigned long long)ev->object,
		       (unsigned long long)in->done);
	in->done++;
	if (me && me->bytes)
		rw_bad(w, "DONE before its memory was released");
	if (ev->error == SPINDLE_RDMC_OK) {
		in->complete++;
		w->finished[in->node][in->group] = max(w->finished[in->node][in->group],
						       in->complete);
		w->done_ok++;
		if (!me || (!me->right && w->liar == RW_NONE))
			rw_bad(w, "DONE, but not right: node %u object %llu", in->node,
			       (unsigned long long)ev->object);
		if (ev->node)
			rw_bad(w, "DONE without error names a culprit");
		if (!ev->first_ns != (!in->r.cfg.me && in->r.stats.blocks_out == 0))
			rw_bad(w, "first_ns is not there");
		if (ev->busy_ns > w->now - ev->first_ns)
			rw_bad(w, "busy for longer than it took");
	} else {
		w->done_bad++;
		w->timeouts += ev->error == SPINDLE_RDMC_TIMEOUT;
		if (!ev->node)
			rw_bad(w, "DONE with error %u names no culprit", ev->error);
		if (w->quiet_faults)
			rw_bad(w, "DONE with error %u, but why?", ev->error);
	}
	if (ev->object < RW_OBJECTS)
		in->waits[ev->object] = false;
	free(me);
	if (ev->object < RW_OBJECTS)
		in->mem[ev->object] = NULL;
}

static void event_closed(struct rw_inst *in, const struct spindle_rdmc_event *ev)
{
	struct rw_world *w = in->w;
	u32 i;

	if (!in->told_close || in->done != in->incoming || in->r.granted || in->r.writing)
		rw_bad(w, "CLOSED, but not all is done");
	if (ev->error) {
		w->closed_bad++;
		if (w->quiet_faults)
			rw_bad(w, "CLOSED with error %u", ev->error);
		return;
	}
	w->closed_ok++;
	for (i = 0; i < w->n && w->liar == RW_NONE; i++)
		if (w->finished[i][in->group] < ev->object)
			rw_bad(w, "CLOSED well, but not at %u", i);
}

static void op_event(struct spindle_rdmc *r, const struct spindle_rdmc_event *ev)
{
	struct rw_inst *in = inst_of(r);
	struct rw_world *w = in->w;

	if (in->ended)
		rw_bad(w, "event %u behind the end", ev->kind);
	if (ev->node > w->n)
		rw_bad(w, "event because of rank %u", ev->node - 1);
	switch (ev->kind) {
	case SPINDLE_RDMC_OPENED:
		if (in->opened || in->done)
			rw_bad(w, "OPENED too late");
		in->opened = true;
		break;
	case SPINDLE_RDMC_INCOMING:
		if (!in->opened || ev->object != in->incoming || in->closing)
			rw_bad(w, "INCOMING out of order");
		if (w->liar == RW_NONE && (ev->len != w->group[in->group].len[ev->object] ||
					   ev->tag != ~ev->object))
			rw_bad(w, "INCOMING of something else");
		if (ev->object < RW_OBJECTS && ev->len < 1 << 20)
			in->waits[ev->object] = true;
		in->incoming++;
		break;
	case SPINDLE_RDMC_DONE:
		event_done(in, ev);
		break;
	case SPINDLE_RDMC_CLOSING:
		if (!r->cfg.me || in->closing || !in->opened || in->done != in->incoming ||
		    ev->object != in->done)
			rw_bad(w, "CLOSING out of order");
		in->closing = true;
		break;
	case SPINDLE_RDMC_CLOSED:
		event_closed(in, ev);
		in->ended = true;
		break;
	case SPINDLE_RDMC_FAILED:
		if (!ev->error || in->done != in->incoming)
			rw_bad(w, "FAILED, but objects have not ended");
		if (w->quiet_faults)
			rw_bad(w, "FAILED by error %u of rank %d", ev->error, (int)ev->node - 1);
		if (!ev->node)
			rw_bad(w, "FAILED with error %u names no culprit", ev->error);
		w->failed++;
		w->missed_root += ev->error == SPINDLE_RDMC_TIMEOUT && ev->node == 1;
		in->ended = true;
		break;
	default:
		rw_bad(w, "event %u", ev->kind);
	}
	if (in->ended) {
		in->ended_how = ev->kind;
		in->ended_error = ev->error;
		in->ended_node = ev->node;
	}
}

static const struct spindle_rdmc_ops ops = {
	.room = op_room,
	.say = op_say,
	.grant = op_grant,
	.revoke = op_revoke,
	.write = op_write,
	.flushed = op_flushed,
	.cut = op_cut,
	.listens = op_listens,
	.event = op_event,
	.release = op_release,
};

/* ---- nodes and lanes ----------------------------------------------------------- */

struct rw_world *rw_new(u64 seed, u32 n, u32 groups)
{
	struct rw_world *w = calloc(1, sizeof(*w));
	u32 i;

	w->rng.state = seed;
	w->seed = seed;
	w->now = 1 + rng_below(&w->rng, 1000);
	w->timeout = 4000000;
	w->n = n;
	w->groups = groups;
	w->liar = RW_NONE;
	w->stuck = RW_NONE;
	w->lane = calloc(n * n, sizeof(*w->lane));
	for (i = 0; i < n * n; i++)
		w->lane[i].room = 1 + rng_below(&w->rng, 12);
	return w;
}

static void free_inst(struct rw_world *w, u32 node, u32 g)
{
	struct rw_inst *in = w->inst[node][g];
	u32 i;

	if (in) {
		w->grants += in->r.stats.grants;
		w->blocks_in += in->r.stats.blocks_in;
		w->bytes_in += in->r.stats.bytes_in;
		w->bytes_out += in->r.stats.bytes_out;
	}
	for (i = 0; in && i < RW_OBJECTS; i++) {
		if (in->mem[i]) {
			free(in->mem[i]->bytes);
			free(in->mem[i]->have);
			free(in->mem[i]);
		}
	}
	free(in);
	w->inst[node][g] = NULL;
}

void rw_free(struct rw_world *w)
{
	u32 i, g;

	for (g = 0; g < w->groups; g++) {
		for (i = 0; i < w->n; i++)
			free_inst(w, i, g);
		for (i = 0; i < RW_OBJECTS; i++)
			free(w->group[g].bytes[i]);
	}
	for (i = 0; i < w->n * w->n; i++)
		free(w->lane[i].list.item);
	free(w->lane);
	free(w->wait.item);
	free(w->right);
	free(w);
}

static void wait_for(struct rw_world *w, int kind, u32 node, u32 peer)
{
	struct rw_item it = { .kind = kind, .node = node, .peer = peer };

	list_add(&w->wait, &it);
}

/* A lane breaks: the messages in it are lost, and both ends will notice. */
void rw_break(struct rw_world *w, u32 a, u32 b)
{
	if (a == b || lane(w, a, b)->broken)
		return;
	lane(w, a, b)->broken = true;
	lane(w, b, a)->broken = true;
	if (!w->crashed[a])
		wait_for(w, RW_LOST, a, b);
	if (!w->crashed[b])
		wait_for(w, RW_LOST, b, a);
}

void rw_crash(struct rw_world *w, u32 node)
{
	u32 i, g;

	w->crashed[node] = true;
	for (i = 0; i < w->n; i++)
		rw_break(w, node, i);
	/* The memory of a crashed node is neither read nor written any more. */
	for (i = 0; i < w->rights; i++)
		if (w->right[i].owner == node)
			w->right[i].state = RW_DEAD;
	for (g = 0; g < w->groups; g++)
		free_inst(w, node, g);
}

void rw_create(struct rw_world *w, u32 node, u32 group, const struct rw_habits *habits)
{
	struct rw_group *gr = &w->group[group];
	struct rw_inst *in = calloc(1, sizeof(*in));
	struct spindle_rdmc_config cfg = {
		.id = 77 + group,
		.life = rng_u64(&w->rng) | 1,
		.n = w->n,
		.me = rw_rank(w, group, node),
		.algorithm = gr->algorithm,
		.block = gr->block,
		.timeout_ns = w->timeout,
		.rack = gr->rack[node],
	};
	u32 m;

	for (m = 0; m < w->n; m++)
		cfg.member[m] = rw_node(w, group, m) + 1;
	in->w = w;
	in->node = node;
	in->group = group;
	in->habits = *habits;
	in->to_send = cfg.me ? 0 : gr->total;
	in->dirty = true;
	w->inst[node][group] = in;
	spindle_rdmc_init(&in->r, &cfg, &ops);
	for (m = 0; m < w->n; m++) {
		u32 peer = rw_node(w, group, m);

		if (peer == node)
			continue;
		if (lane(w, node, peer)->lost) {
			spindle_rdmc_lost(&in->r, m);
			if (lane(w, node, peer)->quiet)
				spindle_rdmc_quiet(&in->r, m);
		} else if (rng_chance(&w->rng, 50)) {
			spindle_rdmc_up(&in->r, m);
		} else {
			wait_for(w, RW_UP, node, peer);
		}
	}
}

static void deliver_write(struct rw_world *w, u32 from, u32 to, struct rw_item *it)
{
	struct rw_right *right = it->key < w->rights ? &w->right[it->key] : NULL;
	bool lies = w->liar == from || w->liar == to;
	struct rw_inst *in;

	if (!right || right->owner != to || right->holder != from || right->off != it->off ||
	    right->len != it->len || right->state == RW_DEAD || !right->mem->bytes ||
	    (!lies && right->state != RW_ACTIVE)) {
		if (!lies)
			rw_bad(w, "%u writes block %u of %llu to %u without a right, %d", from,
			       it->block, (unsigned long long)it->object, to,
			       right ? (int)right->state : -1);
		rw_break(w, from, to);
		return;
	}
	if (it->garbage)
		memset(right->mem->bytes + it->off, 0xee, it->len);
	else
		memcpy(right->mem->bytes + it->off,
		       it->mem->bytes + (u64)it->block * w->group[it->group].block, it->len);
	if (right->state == RW_ACTIVE)
		right->state = RW_USED;
	in = w->inst[to][(it->number >> 8) % w->groups];
	if (in && !lane(w, to, from)->lost) {
		spindle_rdmc_arrived(&in->r, rw_rank(w, in->group, from), it->number & 0xff);
		in->dirty = true;
	}
}

static void deliver(struct rw_world *w, u32 from, u32 to)
{
	struct rw_lane *l = lane(w, from, to);
	struct rw_item it = list_take(&l->list, 0);
	u32 g;

	if (it.kind == RW_MSG) {
		l->said[it.group]--;
		for (g = 0; g < w->groups && !l->broken && !lane(w, to, from)->lost; g++) {
			struct rw_inst *in = w->inst[to][g];

			if (!in || to == w->stuck)
				continue;
			if (it.msg.to != (it.msg.word == SPINDLE_RDMC_HELLO ?
					  in->r.cfg.id : in->r.cfg.life))
				continue;
			spindle_rdmc_hear(&in->r, rw_rank(w, g, from), &it.msg);
			in->dirty = true;
		}
	} else {
		if (!l->broken)
			deliver_write(w, from, to, &it);
		if (!it.garbage) {
			it.kind = RW_WRITTEN;
			it.node = from;
			it.peer = to;
			list_add(&w->wait, &it);
		}
	}
	/* The lane has room again, and there may be something to flush. */
	dirty(w, from);
}

static void report_written(struct rw_world *w, const struct rw_item *it)
{
	struct rw_inst *in = w->inst[it->node][it->group];

	lane(w, it->node, it->peer)->writing--;
	if (w->crashed[it->node])
		return;
	it->mem->writes--;
	if (!in || in->r.cfg.life != it->life)
		rw_bad(w, "a member left a write behind");
	else
		spindle_rdmc_written(&in->r, it->object);
	dirty(w, it->node);
}

static void report_revoked(struct rw_world *w, const struct rw_item *it)
{
	struct rw_inst *in = w->inst[it->node][it->group];
	struct rw_right *right = &w->right[it->key];

	if (w->crashed[it->node])
		return;
	if (right->state != RW_DEAD) {
		right->state = RW_DEAD;
		right->mem->grants--;
	}
	if (in && in->r.cfg.life == it->life)
		spindle_rdmc_revoked(&in->r, rw_rank(w, it->group, it->peer), it->number);
	dirty(w, it->node);
}

/* An event that a node waits for happens. Returns false if the event cannot happen yet. */
static bool report(struct rw_world *w, struct rw_item *it)
{
	struct rw_lane *l = lane(w, it->node, it->peer);
	u32 g, i;

	if (it->kind == RW_WRITTEN) {
		report_written(w, it);
		return true;
	}
	if (it->kind == RW_REVOKED) {
		report_revoked(w, it);
		return true;
	}
	/* The device is finished with a lane when all of the lane's writes have ended. */
	if (it->kind == RW_QUIET && l->writing)
		return false;
	if (it->kind == RW_LOST) {
		l->lost = true;
		wait_for(w, RW_QUIET, it->node, it->peer);
	}
	if (it->kind == RW_QUIET) {
		l->quiet = true;
		for (i = 0; i < w->rights; i++) {
			struct rw_right *right = &w->right[i];

			if (right->owner == it->node && right->holder == it->peer &&
			    right->state != RW_DEAD) {
				right->state = RW_DEAD;
				right->mem->grants--;
			}
		}
	}
	for (g = 0; g < w->groups; g++) {
		struct rw_inst *in = w->inst[it->node][g];
		u32 m = rw_rank(w, g, it->peer);

		if (!in)
			continue;
		if (it->kind == RW_UP)
			spindle_rdmc_up(&in->r, m);
		else if (it->kind == RW_LOST)
			spindle_rdmc_lost(&in->r, m);
		else
			spindle_rdmc_quiet(&in->r, m);
	}
	dirty(w, it->node);
	return true;
}

/* ---- processes ----------------------------------------------------------------- */

static struct rw_mem *new_mem(u64 object, u64 len, u32 blocks)
{
	struct rw_mem *me = calloc(1, sizeof(*me));

	me->object = object;
	me->len = len;
	me->bytes = malloc(len);
	memset(me->bytes, 0x77, len);
	if (blocks)
		me->have = calloc(blocks / 64 + 1, sizeof(u64));
	return me;
}

static bool process_send(struct rw_inst *in)
{
	struct rw_group *gr = &in->w->group[in->group];
	u64 o = in->incoming, object = U64_MAX, len = gr->len[o];
	struct rw_mem *me = new_mem(o, len, 0);
	int err;

	memcpy(me->bytes, gr->bytes[o], len);
	err = spindle_rdmc_send(&in->r, len, ~o, me, &object);
	if (err) {
		if (err == -EAGAIN ? in->incoming - in->done < SPINDLE_RDMC_QUEUE :
				     err != -ECONNABORTED)
			rw_bad(in->w, "send: %d", err);
		free(me->bytes);
		free(me);
		return false;
	}
	if (object != o || in->incoming - in->done >= SPINDLE_RDMC_QUEUE)
		rw_bad(in->w, "send: object %llu", (unsigned long long)object);
	in->mem[o] = me;
	in->incoming++;
	in->to_send--;
	return true;
}

static bool process_accept(struct rw_inst *in, u32 o)
{
	struct rw_world *w = in->w;
	const struct spindle_rdmc_object *obj = &in->r.object[o % SPINDLE_RDMC_OBJECTS];
	struct rw_mem *me = new_mem(o, obj->len, obj->blocks);
	int err;

	if (spindle_rdmc_accept(&in->r, o, obj->len + 1, in, NULL) == 0)
		rw_bad(w, "accepted with another length");
	err = spindle_rdmc_accept(&in->r, o, obj->len, me, me->have);
	in->waits[o] = false;
	if (!err) {
		in->mem[o] = me;
		return true;
	}
	if (err != -ENOENT)
		rw_bad(w, "accept: %d", err);
	free(me->bytes);
	free(me->have);
	free(me);
	return true;
}

void rw_accept(struct rw_world *w, u32 node, u32 group, u32 object)
{
	process_accept(w->inst[node][group], object);
	w->inst[node][group]->dirty = true;
}

static bool process_decide(struct rw_inst *in, u32 o)
{
	struct rw_world *w = in->w;
	int err;

	in->waits[o] = false;
	if (rng_chance(&w->rng, in->habits.never))
		return true;
	if (!rng_chance(&w->rng, in->habits.refuses))
		return process_accept(in, o);
	err = spindle_rdmc_cancel(&in->r, o, true, 5);
	if (err && err != -ENOENT)
		rw_bad(w, "refuse: %d", err);
	return true;
}

/* The process does one of the things that it wants to do. Returns false if there is none. */
static bool process(struct rw_inst *in)
{
	struct rw_world *w = in->w;
	struct rng *rng = &w->rng;
	u64 o;

	if (in->ended)
		return false;
	if (rng_chance(rng, in->habits.leaves)) {
		in->habits.leaves = 0;
		spindle_rdmc_fail(&in->r, in->r.cfg.me + 1, SPINDLE_RDMC_LEFT);
		return true;
	}
	if (in->incoming > in->done && rng_chance(rng, in->habits.cancels)) {
		o = in->done + rng_below(rng, in->incoming - in->done);
		spindle_rdmc_cancel(&in->r, o, false, 7);
		return true;
	}
	for (o = in->done; o < in->incoming && o < RW_OBJECTS; o++)
		if (in->waits[o])
			return process_decide(in, o);
	if (in->to_send && process_send(in))
		return true;
	if (in->told_close || in->habits.never_closes)
		return false;
	if (in->r.cfg.me ? in->closing || rng_chance(rng, in->habits.early_close) : !in->to_send) {
		in->told_close = true;
		spindle_rdmc_close(&in->r);
		return true;
	}
	return false;
}

/* ---- time ---------------------------------------------------------------------- */

static bool step_pass(struct rw_world *w)
{
	u32 i, at = rng_below(&w->rng, w->n * w->groups);

	for (i = 0; i < w->n * w->groups; i++) {
		u32 k = (at + i) % (w->n * w->groups);
		struct rw_inst **in = &w->inst[k / w->groups][k % w->groups];

		if (!*in || !(*in)->dirty || (*in)->node == w->stuck)
			continue;
		(*in)->deaf = false;
		(*in)->dirty = spindle_rdmc_pass(&(*in)->r, w->now) || (*in)->deaf;
		if (!(*in)->dirty && spindle_rdmc_due(&(*in)->r) <= w->now)
			rw_bad(w, "a pass is due, but the last one asked for none");
		if (spindle_rdmc_over(&(*in)->r)) {
			if (!(*in)->ended)
				rw_bad(w, "over, but the process was not told");
			free_inst(w, k / w->groups, k % w->groups);
		}
		return true;
	}
	return false;
}

static bool step_deliver(struct rw_world *w)
{
	u32 i, at = rng_below(&w->rng, w->n * w->n);

	for (i = 0; i < w->n * w->n; i++) {
		u32 k = (at + i) % (w->n * w->n);
		struct rw_lane *l = &w->lane[k];

		if (!list_len(&l->list))
			continue;
		/* Now and then the lane has no room at all, for a while. */
		l->shut = !l->shut && rng_chance(&w->rng, 10);
		deliver(w, k / w->n, k % w->n);
		return true;
	}
	for (i = 0; i < w->n * w->n; i++) {
		if (w->lane[i].shut) {
			w->lane[i].shut = false;
			dirty(w, i / w->n);
			return true;
		}
	}
	return false;
}

static bool step_report(struct rw_world *w)
{
	u32 i, n = list_len(&w->wait), at;

	if (!n)
		return false;
	at = rng_below(&w->rng, n);
	for (i = 0; i < n; i++) {
		u32 k = (at + i) % n;
		struct rw_item it = *list_at(&w->wait, k);

		if (it.kind == RW_QUIET && lane(w, it.node, it.peer)->writing)
			continue;
		list_take(&w->wait, k);
		if (w->crashed[it.node] && it.kind != RW_WRITTEN)
			return true;
		report(w, &it);
		return true;
	}
	return false;
}

static bool step_process(struct rw_world *w)
{
	u32 i, at = rng_below(&w->rng, w->n * w->groups);

	for (i = 0; i < w->n * w->groups; i++) {
		u32 k = (at + i) % (w->n * w->groups);
		struct rw_inst *in = w->inst[k / w->groups][k % w->groups];

		if (in && process(in)) {
			in->dirty = true;
			return true;
		}
	}
	return false;
}

/* The liar sends a random message, or makes a random write. */
static void lie(struct rw_world *w)
{
	u32 to = rng_below(&w->rng, w->n), g = rng_below(&w->rng, w->groups);
	struct rw_lane *l = lane(w, w->liar, to);
	struct rw_inst *me = w->inst[w->liar][g], *it_is = w->inst[to][g];
	struct rw_item it = { .kind = RW_MSG, .group = g };

	if (to == w->liar || l->lost || l->broken || list_len(&l->list) > 20)
		return;
	if (rng_chance(&w->rng, 20) && w->rights) {
		struct rw_right *right;

		it.kind = RW_WRITE;
		it.key = rng_below(&w->rng, w->rights);
		right = &w->right[it.key];
		/*
		 * A right of another owner or another holder is useless, because the device refuses
		 * it.
		 */
		if (right->owner != to || right->holder != w->liar)
			return;
		it.off = right->off;
		it.len = right->len;
		it.number = rng_chance(&w->rng, 50) ? right->g | right->group << 8 :
						       rng_below(&w->rng, 512);
		it.garbage = true;
		list_add(&l->list, &it);
		return;
	}
	if (!me || !it_is)
		return;
	it.msg.word = 1 + rng_below(&w->rng, 9);
	it.msg.to = it.msg.word == SPINDLE_RDMC_HELLO ? it_is->r.cfg.id : it_is->r.cfg.life;
	it.msg.w[0] = it_is->r.announced + rng_below(&w->rng, 4) - 2;
	it.msg.w[1] = it_is->r.ended + rng_below(&w->rng, 4) - 2;
	it.msg.w[2] = rng_below(&w->rng, 3);
	it.msg.arg = rng_below(&w->rng, 4);
	if (rng_chance(&w->rng, 40))
		spoil(w, &it.msg);
	l->said[g]++;
	list_add(&l->list, &it);
}

/* Make one event happen. Returns false if only the passage of time can cause another one. */
bool rw_step(struct rw_world *w)
{
	static bool (*const what[])(struct rw_world *w) = {
		step_pass, step_deliver, step_report, step_process,
	};
	u32 i, at = rng_below(&w->rng, 16);

	at = at < 7 ? 0 : at < 12 ? 1 : at < 15 ? 2 : 3;
	w->now += 1 + rng_below(&w->rng, 8);
	w->steps++;
	if (w->liar != RW_NONE && rng_below(&w->rng, 2000) < w->lies)
		lie(w);
	for (i = 0; i < 4; i++)
		if (what[(at + i) % 4](w))
			return true;
	return false;
}

void rw_wake(struct rw_world *w)
{
	u32 i, g;

	for (i = 0; i < w->n; i++)
		for (g = 0; g < w->groups; g++)
			if (w->inst[i][g] && i != w->stuck &&
			    spindle_rdmc_due(&w->inst[i][g]->r) <= w->now)
				w->inst[i][g]->dirty = true;
}

/* Let time pass until the first member runs into a timeout. Returns false if no member waits. */
bool rw_jump(struct rw_world *w)
{
	u64 at = U64_MAX;
	u32 i, g;

	for (i = 0; i < w->n; i++)
		for (g = 0; g < w->groups; g++)
			if (w->inst[i][g] && i != w->stuck)
				at = min(at, spindle_rdmc_due(&w->inst[i][g]->r));
	if (at == U64_MAX)
		return false;
	w->now = max(w->now, at);
	rw_wake(w);
	return true;
}

bool rw_all_over(const struct rw_world *w)
{
	u32 i, g;

	for (i = 0; i < w->n; i++)
		for (g = 0; g < w->groups; g++)
			if (w->inst[i][g])
				return false;
	return true;
}

void rw_leave_all(struct rw_world *w)
{
	u32 i, g;

	for (i = 0; i < w->n; i++) {
		for (g = 0; g < w->groups; g++) {
			struct rw_inst *in = w->inst[i][g];

			if (!in)
				continue;
			spindle_rdmc_fail(&in->r, in->r.cfg.me + 1, SPINDLE_RDMC_LEFT);
			in->dirty = true;
		}
	}
}
