// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lanes: the bulk connection of a node to another one. See lane.h.
 */
#include <linux/slab.h>

#include "base/addr.h"
#include "base/engine.h"
#include "lane.h"
#include "node/hello.h"
#include "node/installed.h"
#include "node/node.h"
#include "rdmc.h"

static struct spindle_lane *bulk_lane(struct spindle_bulk *bulk)
{
	return container_of(bulk, struct spindle_lane, bulk);
}

static struct spindle_lane *conn_lane(struct spindle_conn *conn)
{
	return bulk_lane(container_of(conn, struct spindle_bulk, conn));
}

/* ---- the connection introduces itself ----------------------------------- */

#define LANE_FLAGS (SPINDLE_HELLO_F_BULK | SPINDLE_HELLO_F_STREAM)

static u8 lane_flags(const struct spindle_lane *lane)
{
	return SPINDLE_HELLO_F_BULK | (lane->view ? SPINDLE_HELLO_F_STREAM : 0);
}

static u32 check_hello(const struct spindle_hello *hello, const struct spindle_lane *lane)
{
	if (hello->src != cpu_to_le32(lane->id) ||
	    (hello->flags & LANE_FLAGS) != lane_flags(lane))
		return SPINDLE_REFUSE_UNKNOWN;
	if (lane->incarnation && hello->incarnation != cpu_to_le64(lane->incarnation))
		return SPINDLE_REFUSE_LIFE;
	return 0;
}

static u8 lane_greet(struct spindle_conn *conn, void *data)
{
	const struct spindle_lane *lane = conn_lane(conn);
	struct spindle_reply *reply = data;

	spindle_hello_node(&reply->hello, lane->node);
	reply->hello.flags |= lane_flags(lane);
	reply->hello.dst = cpu_to_le32(lane->id);
	return spindle_hello_greet(lane->node, conn, reply);
}

static int lane_greeted(struct spindle_conn *conn, const void *data, u8 len)
{
	struct spindle_lane *lane = conn_lane(conn);
	struct spindle_reply reply;
	int err = spindle_hello_answered(lane->node, lane->id, conn, data, len, &reply);

	if (err)
		return err;
	return check_hello(&reply.hello, lane) ? -EPROTO : 0;
}

static void lane_prove(struct spindle_conn *conn, u8 proof[SPINDLE_RIGHTS_LEN])
{
	spindle_hello_prove(conn_lane(conn)->node, conn, proof);
}

static int lane_proven(struct spindle_conn *conn, const u8 proof[SPINDLE_RIGHTS_LEN])
{
	struct spindle_lane *lane = conn_lane(conn);

	return spindle_hello_proven(lane->node, lane->id, conn, proof);
}

static void lane_up(struct spindle_conn *conn)
{
	struct spindle_lane *lane = conn_lane(conn);

	/* Pairs with the acquire in spindle_lane_pass(): the engine owns the queue pair then. */
	smp_store_release(&lane->came_up, 1);
	spindle_engine_wake(lane->node->engine);
}

static void lane_down(struct spindle_conn *conn)
{
	struct spindle_lane *lane = conn_lane(conn);

	/* Pairs with the acquire in spindle_lane_pass(): the reason is set. */
	smp_store_release(&lane->went_down, 1);
	spindle_engine_wake(lane->node->engine);
}

static void lane_event(struct spindle_conn *conn)
{
	struct spindle_engine *engine = conn_lane(conn)->node->engine;

	if (spindle_engine_wake(engine))
		atomic64_inc(&engine->stats.bells);
}

static void free_regions(struct spindle_link *link)
{
	u32 g;

	for (g = 0; g < SPINDLE_RDMC_GRANTS; g++) {
		if (link->mr[g])
			ib_dereg_mr(link->mr[g]);
		link->mr[g] = NULL;
	}
}

/* The engine does not use the lane any more, and the namespace's lock protects the links. */
static void lane_drained(struct spindle_conn *conn)
{
	struct spindle_lane *lane = conn_lane(conn);
	u32 i;

	/* A failed attempt has no regions, and is drained without the namespace's lock. */
	if (!READ_ONCE(lane->closed))
		return;
	for (i = 0; i < lane->top; i++)
		if (lane->link[i])
			free_regions(lane->link[i]);
}

/* No event for a refusal: the dialled end may just not have the lane yet. */
static const char *lane_refused(struct spindle_conn *conn, u32 code)
{
	return spindle_refusal_text(code);
}

static const struct spindle_conn_ops lane_conn_ops = {
	.greet = lane_greet,
	.greeted = lane_greeted,
	.prove = lane_prove,
	.proven = lane_proven,
	.up = lane_up,
	.down = lane_down,
	.refused = lane_refused,
	.event = lane_event,
	.drained = lane_drained,
};

/**
 * spindle_lane_match() - find the lane that a request is for
 * @ep: the endpoint that received the request
 * @hello: a private copy of the hello, which is addressed to this node
 * @from: source address of the request
 * @found: out: the lane's connection
 *
 * Context: rdma_cm handler, with the endpoint's lock.
 * Return: 0, or enum spindle_refusal
 */
u32 spindle_lane_match(struct spindle_endpoint *ep, const struct spindle_hello *hello,
		       const struct sockaddr_storage *from, struct spindle_conn **found)
{
	u32 refusal = SPINDLE_REFUSE_UNKNOWN;
	struct spindle_conn *conn;

	lockdep_assert_held(&ep->lock);
	list_for_each_entry(conn, &ep->conns, list) {
		struct spindle_lane *lane = conn_lane(conn);

		if (!conn->cfg.bulk || READ_ONCE(conn->state) >= SPINDLE_CONN_FAILED ||
		    hello->src != cpu_to_le32(lane->id) ||
		    (hello->flags & LANE_FLAGS) != lane_flags(lane))
			continue;
		refusal = conn->cfg.active ? SPINDLE_REFUSE_DIRECTION : check_hello(hello, lane);
		if (!refusal)
			refusal = spindle_hello_admit(hello, lane->node, &lane->heard,
						      &lane->addr, from);
		if (!refusal) {
			*found = conn;
			break;
		}
	}
	return refusal;
}

/* ---- life --------------------------------------------------------------- */

static void drop_fn(void *ctx)
{
	struct spindle_lane *lane = ctx;
	u32 i;

	spindle_bulk_drop(&lane->bulk);
	list_del(&lane->run);
	if (lane->lost)
		return;
	lane->lost = true;
	for (i = 0; i < lane->top; i++)
		if (lane->link[i])
			spindle_rdmc_lost(lane->link[i]->r, lane->link[i]->m);
}

static void quiet_fn(void *ctx)
{
	struct spindle_lane *lane = ctx;
	u32 i;

	spindle_bulk_abandon(&lane->bulk);
	for (i = 0; i < lane->top; i++) {
		struct spindle_link *link = lane->link[i];

		if (!link)
			continue;
		/*
		 * Ask once more, because the group may have failed since, or the link may have
		 * been added after the lane was lost.
		 */
		link->again = spindle_rdmc_down(link->r, link->m);
		if (link->again)
			spindle_rdmc_replaced(link->r, link->m);
		else
			spindle_rdmc_quiet(link->r, link->m);
	}
}

/**
 * spindle_lane_close() - close the connection, after which the device uses no memory of it
 * @lane: the lane; may be closed already
 *
 * Context: process, the namespace's lock.
 */
void spindle_lane_close(struct spindle_lane *lane)
{
	lockdep_assert_held(&lane->node->sn->lock);
	if (lane->closed)
		return;
	WRITE_ONCE(lane->closed, true);
	list_del(&lane->list);
	spindle_engine_call(lane->node->engine, drop_fn, lane);
	spindle_conn_close(&lane->bulk.conn);
	spindle_engine_call(lane->node->engine, quiet_fn, lane);
}

static void run_fn(void *ctx)
{
	struct spindle_lane *lane = ctx;

	list_add_tail(&lane->run, &lane->node->lanes_run);
}

static void lane_chore(struct spindle_chore *chore);

static struct spindle_lane *create(struct spindle_node *node,
				   const struct spindle_view_member *who, u64 incarnation,
				   bool view)
{
	struct spindle_lane *lane = kvzalloc(sizeof(*lane), GFP_KERNEL_ACCOUNT);
	struct spindle_addr src = node->addr;
	struct spindle_conn_config cfg = {
		.ep = &node->ep,
		.net = node->net,
		.ops = &lane_conn_ops,
		.active = node->id < who->id,
		.patient = node->inst->live,
		.secret = spindle_key_given(&node->key),
		.bulk = true,
	};

	if (!lane)
		return NULL;
	lane->node = node;
	lane->view = view;
	lane->id = who->id;
	lane->addr = who->addr;
	lane->incarnation = incarnation;
	spindle_chore_init(&lane->chore, node->sn, lane_chore);
	/* The engine may fail the connection as soon as it knows the lane. */
	spindle_bulk_init(&lane->bulk, &spindle_lane_bulk_ops);
	list_add_tail(&lane->list, &node->lanes);
	spindle_engine_call(node->engine, run_fn, lane);
	src.port = 0;
	spindle_sockaddr(&cfg.src, &src);
	spindle_sockaddr(&cfg.dst, &lane->addr);
	cfg.in = &lane->bulk.none;
	cfg.own = &lane->bulk.none;
	spindle_conn_open(&lane->bulk.conn, &cfg);
	return lane;
}

static void free_lane(struct spindle_lane *lane)
{
	spindle_lane_close(lane);
	spindle_chore_cancel(&lane->chore);
	kvfree(lane);
}

static struct spindle_lane *find(struct spindle_node *node, u32 id, u64 incarnation, bool view)
{
	struct spindle_lane *lane;

	list_for_each_entry(lane, &node->lanes, list) {
		/* A lost lane is about to be closed. */
		if (lane->id == id && lane->view == view && !READ_ONCE(lane->lost) &&
		    (!incarnation || !lane->incarnation || lane->incarnation == incarnation))
			return lane;
	}
	return NULL;
}

/* An index in a lane, and the link for it. */
struct place {
	struct spindle_lane *lane;
	u32 index;
	struct spindle_link *link;
};

static void link_fn(void *ctx)
{
	const struct place *place = ctx;
	struct spindle_lane *lane = place->lane;
	struct spindle_link *link = place->link;

	link->lane = lane;
	link->index = place->index;
	link->said = lane->bulk.acked;
	lane->link[link->index] = link;
	lane->top = max(lane->top, link->index + 1);
}

/**
 * spindle_lane_get() - add a link to the lane to another node
 * @link: link of a group or stream; its owner has set @r, @group, @chore and @m
 * @node: the node
 * @who: the other node
 * @incarnation: incarnation of the other node, 0: any
 *
 * Context: process, the namespace's lock.
 * Return: 0; -ENOMEM; -ENOSPC: too many groups or streams have these two nodes as members
 */
int spindle_lane_get(struct spindle_link *link, struct spindle_node *node,
		     const struct spindle_view_member *who, u64 incarnation)
{
	bool view = !link->group;
	u32 limit = view ? SPINDLE_LANE_LINKS : SPINDLE_LANE_GROUPS;
	struct place place = { .lane = find(node, who->id, incarnation, view), .link = link };

	lockdep_assert_held(&node->sn->lock);
	if (!place.lane)
		place.lane = create(node, who, incarnation, view);
	if (!place.lane)
		return -ENOMEM;
	while (place.index < limit && place.lane->link[place.index])
		place.index++;
	if (place.index == limit)
		return -ENOSPC;
	place.lane->links++;
	spindle_engine_call(node->engine, link_fn, &place);
	return 0;
}

static void unlink_fn(void *ctx)
{
	const struct place *place = ctx;

	place->lane->link[place->index] = NULL;
}

/**
 * spindle_lane_put() - remove a link; the last one closes the lane
 * @link: the link; its regions are not in use
 *
 * Context: process, the namespace's lock.
 */
void spindle_lane_put(struct spindle_link *link)
{
	struct place old = { .lane = link->lane, .index = link->index };
	struct spindle_lane *lane = link->lane;

	lockdep_assert_held(&lane->node->sn->lock);
	spindle_engine_call(lane->node->engine, unlink_fn, &old);
	free_regions(link);
	link->lane = NULL;
	if (!--lane->links)
		free_lane(lane);
}

static void fail_fn(void *ctx)
{
	struct spindle_link *link = ctx;

	spindle_rdmc_quiet(link->r, link->m);
}

/* Move a link from its closed lane to another one. */
static void move(struct spindle_link *link)
{
	struct place old = { .lane = link->lane, .index = link->index };
	struct spindle_lane *lane = link->lane;
	struct spindle_view_member who = { .id = lane->id, .addr = lane->addr };

	link->again = false;
	if (spindle_lane_get(link, lane->node, &who, lane->incarnation)) {
		spindle_engine_call(lane->node->engine, fail_fn, link);
		return;
	}
	spindle_engine_call(lane->node->engine, unlink_fn, &old);
	lane->links--;
	spindle_chore_queue(link->chore, 0);
}

/* The lane broke: close it, and move the links that go on. */
static void lane_chore(struct spindle_chore *chore)
{
	struct spindle_lane *lane = container_of(chore, struct spindle_lane, chore);
	u32 i;

	spindle_lane_close(lane);
	for (i = 0; i < lane->top; i++)
		if (lane->link[i] && lane->link[i]->again)
			move(lane->link[i]);
	if (!lane->links)
		free_lane(lane);
}

/**
 * spindle_lane_prepare() - allocate the memory regions for grants of a link
 * @link: the link; its lane is up, and not closed
 * @pages: pages of a block
 *
 * Context: process, the namespace's lock.
 * Return: 0 or -errno
 */
int spindle_lane_prepare(struct spindle_link *link, u32 pages)
{
	u32 g;

	lockdep_assert_held(&link->lane->node->sn->lock);
	for (g = 0; g < SPINDLE_RDMC_GRANTS; g++) {
		struct ib_mr *mr = ib_alloc_mr(link->lane->bulk.conn.pd, IB_MR_TYPE_MEM_REG, pages);

		if (IS_ERR(mr)) {
			free_regions(link);
			return PTR_ERR(mr);
		}
		link->mr[g] = mr;
	}
	return 0;
}

/* ---- engine ------------------------------------------------------------- */

/*
 * Is a HELLO for the group of a link? The id is not enough, because groups that processes have
 * left may still exist beside a new group with the same id.
 */
static bool wants_hello(const struct spindle_link *link, const struct spindle_rdmc_msg *msg)
{
	const struct spindle_rdmc *r = link->r;

	if (!link->group || msg->to != r->cfg.id)
		return false;
	if (msg->w[2])
		return msg->w[2] == r->cfg.life;
	/*
	 * A group without a process only needs a HELLO from a member that it knows: that may
	 * say that this member has left, too.
	 */
	return r->m[link->m].life || !READ_ONCE(link->group->orphan);
}

static void lane_message(struct spindle_bulk *bulk, const void *text)
{
	const struct spindle_rdmc_msg *msg = text;
	bool hello = msg->word == SPINDLE_RDMC_HELLO;
	struct spindle_lane *lane = bulk_lane(bulk);
	u32 i;

	for (i = 0; i < lane->top; i++) {
		struct spindle_link *link = lane->link[i];

		if (!link || !(hello ? wants_hello(link, msg) : msg->to == link->r->cfg.life))
			continue;
		spindle_rdmc_hear(link->r, link->m, msg);
		if (!hello)
			return;
	}
	/* A message for no link is dropped: its group is not created yet, or has gone. */
}

static void lane_arrived(struct spindle_bulk *bulk, u32 number)
{
	struct spindle_lane *lane = bulk_lane(bulk);
	u32 g = number % SPINDLE_RDMC_GRANTS;
	u32 index = (number & 0xffff) / SPINDLE_RDMC_GRANTS;
	struct spindle_link *link = index < lane->top ? lane->link[index] : NULL;

	if (link && link->turn[g] == number >> 16)
		spindle_rdmc_arrived(link->r, link->m, g);
	else
		spindle_conn_fail(&bulk->conn, "the peer sent a block that no group expects");
}

const struct spindle_bulk_ops spindle_lane_bulk_ops = {
	.message = lane_message,
	.arrived = lane_arrived,
};

static void lose(struct spindle_lane *lane)
{
	u32 i;

	WRITE_ONCE(lane->lost, true);
	for (i = 0; i < lane->top; i++) {
		struct spindle_link *link = lane->link[i];

		if (!link)
			continue;
		link->again = spindle_rdmc_down(link->r, link->m);
		if (link->again)
			WRITE_ONCE(link->ready, false);
	}
	spindle_chore_queue(&lane->chore, 0);
}

/**
 * spindle_lane_pass() - handle new messages, blocks and the state of a lane
 * @lane: the lane
 *
 * Return: true if there was work
 */
bool spindle_lane_pass(struct spindle_lane *lane)
{
	bool work = false;
	u32 i;

	spindle_engine_assert(lane->node->engine);
	if (lane->lost)
		return false;
	if (!lane->joined) {
		/* Pairs with the release in lane_up(). */
		if (!smp_load_acquire(&lane->came_up))
			return false;
		/* Handle messages that arrived early. Those without a link are not wanted. */
		spindle_bulk_take(&lane->bulk);
		lane->joined = true;
		for (i = 0; i < lane->top; i++)
			if (lane->link[i])
				spindle_chore_queue(lane->link[i]->chore, 0);
		work = true;
	}
	work |= spindle_bulk_poll(&lane->bulk);
	/* Pairs with the release in lane_down(). */
	if (!smp_load_acquire(&lane->went_down))
		return work;
	/* The last messages may say why the other end closed the lane, so read them first. */
	while (spindle_bulk_poll(&lane->bulk))
		;
	lose(lane);
	return true;
}

/**
 * spindle_lane_arm() - request a wake-up for the next completion, before the engine sleeps
 * @lane: the lane
 *
 * Return: true if there is a completion already
 */
bool spindle_lane_arm(struct spindle_lane *lane)
{
	spindle_engine_assert(lane->node->engine);
	return lane->joined && !lane->lost && spindle_bulk_arm(&lane->bulk);
}
