// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fetches: the reads of a table of mode read. See fetch.h.
 */
#include <linux/ktime.h>
#include <linux/slab.h>

#include "attachment.h"
#include "base/addr.h"
#include "base/engine.h"
#include "base/states.h"
#include "fabric/post.h"
#include "fetch.h"
#include "hello.h"
#include "installed.h"
#include "node.h"
#include "peer.h"
#include "subgroup.h"
#include "table.h"

/* Rows that a pass takes at most, so that large rows do not keep the engine from heartbeats. */
#define PASS_ROWS	8
/* Time until a connection that was lost is replaced. */
#define AGAIN_MS	500
/* Longest interval between two reads of a row, in microseconds: an hour. */
#define MAX_EVERY_US	3600000000ULL

/* ---- the connection introduces itself ----------------------------------- */

static struct spindle_fetch *conn_fetch(struct spindle_conn *conn)
{
	return container_of(conn, struct spindle_fetch, conn);
}

static struct spindle_node *conn_node(struct spindle_conn *conn)
{
	return conn_fetch(conn)->all->node;
}

static u32 check_hello(const struct spindle_hello *hello, const struct spindle_fetch *fetch)
{
	const struct spindle_hello_peer expected = {
		.id = fetch->id,
		.digest = fetch->all->digest,
		.incarnation = fetch->incarnation,
	};

	/* Another table is no other view. */
	if (hello->digest != cpu_to_le64(expected.digest))
		return SPINDLE_REFUSE_UNKNOWN;
	return spindle_hello_expected(hello, &expected);
}

static u8 fetch_greet(struct spindle_conn *conn, void *data)
{
	const struct spindle_fetch *fetch = conn_fetch(conn);
	struct spindle_reply *reply = data;

	spindle_hello_node(&reply->hello, conn_node(conn));
	reply->hello.flags |= SPINDLE_HELLO_F_READ;
	reply->hello.dst = cpu_to_le32(fetch->id);
	reply->hello.digest = cpu_to_le64(fetch->all->digest);
	return spindle_hello_greet(conn_node(conn), conn, reply);
}

static int fetch_greeted(struct spindle_conn *conn, const void *data, u8 len)
{
	const struct spindle_fetch *fetch = conn_fetch(conn);
	struct spindle_reply reply;
	int err = spindle_hello_answered(conn_node(conn), fetch->id, conn, data, len, &reply);

	if (err)
		return err;
	return reply.hello.flags & SPINDLE_HELLO_F_READ && !check_hello(&reply.hello, fetch) ?
	       0 : -EPROTO;
}

static void fetch_prove(struct spindle_conn *conn, u8 proof[SPINDLE_RIGHTS_LEN])
{
	spindle_hello_prove(conn_node(conn), conn, proof);
}

static int fetch_proven(struct spindle_conn *conn, const u8 proof[SPINDLE_RIGHTS_LEN])
{
	return spindle_hello_proven(conn_node(conn), conn_fetch(conn)->id, conn, proof);
}

static void fetch_up(struct spindle_conn *conn)
{
	/* Pairs with the acquire in watch(): the engine owns the queue pair then. */
	smp_store_release(&conn_fetch(conn)->came_up, 1);
	spindle_engine_wake(conn_node(conn)->engine);
}

static void fetch_down(struct spindle_conn *conn)
{
	/* Pairs with the acquire in watch(). */
	smp_store_release(&conn_fetch(conn)->went_down, 1);
	spindle_engine_wake(conn_node(conn)->engine);
}

/* No side of the connection may write. */
static void fetch_imm(struct spindle_conn *conn, u32 imm)
{
	spindle_conn_fail(conn, "the peer sent a write on a connection for reads");
}

/* No event for a refusal: the dialled end may just not have the table yet. */
static const char *fetch_refused(struct spindle_conn *conn, u32 code)
{
	return spindle_refusal_text(code);
}

static const struct spindle_conn_ops fetch_conn_ops = {
	.greet = fetch_greet,
	.greeted = fetch_greeted,
	.prove = fetch_prove,
	.proven = fetch_proven,
	.up = fetch_up,
	.down = fetch_down,
	.imm = fetch_imm,
	.refused = fetch_refused,
};

/**
 * spindle_fetch_match() - find the fetch that a connection request is for
 * @ep: the endpoint that received the request
 * @hello: a private copy of the hello, which is addressed to this node
 * @from: source address of the request
 * @found: out: the connection
 *
 * Context: rdma_cm handler, with the endpoint's lock.
 * Return: 0, or enum spindle_refusal
 */
u32 spindle_fetch_match(struct spindle_endpoint *ep, const struct spindle_hello *hello,
			const struct sockaddr_storage *from, struct spindle_conn **found)
{
	u32 refusal = SPINDLE_REFUSE_UNKNOWN, found_refusal;
	struct spindle_conn *conn;

	lockdep_assert_held(&ep->lock);
	list_for_each_entry(conn, &ep->conns, list) {
		struct spindle_fetch *fetch = conn_fetch(conn);

		if (!conn->cfg.read || READ_ONCE(conn->state) >= SPINDLE_CONN_FAILED)
			continue;
		found_refusal = check_hello(hello, fetch);
		if (found_refusal == SPINDLE_REFUSE_UNKNOWN)
			continue;
		refusal = conn->cfg.active ? SPINDLE_REFUSE_DIRECTION : found_refusal;
		if (!refusal)
			refusal = spindle_hello_admit(hello, fetch->all->node, &fetch->heard,
						      &fetch->addr, from);
		if (!refusal) {
			*found = conn;
			break;
		}
	}
	return refusal;
}

/* ---- engine -------------------------------------------------------------- */

/* Change the phase; no other function does. Returns false if the change is not legal. */
static bool enter_phase(struct spindle_fetch *fetch, enum spindle_fetch_phase to)
{
	static const u8 from[] = {
		/* No phase leads back to AWAITED: another fetch takes the place of a lost one. */
		[SPINDLE_FETCH_IDLE] = BIT(SPINDLE_FETCH_AWAITED) | BIT(SPINDLE_FETCH_READING),
		/* One read at a time, because the next one depends on what arrives. */
		[SPINDLE_FETCH_READING] = BIT(SPINDLE_FETCH_IDLE),
		[SPINDLE_FETCH_LOST] = BIT(SPINDLE_FETCH_IDLE) | BIT(SPINDLE_FETCH_READING),
	};

	if (!spindle_may(from, fetch->phase, to))
		return false;
	WRITE_ONCE(fetch->phase, to);
	return true;
}

static void post_read(struct spindle_fetch *fetch)
{
	const struct spindle_tb *tb = &fetch->all->sg->table->tb;
	struct spindle_range range = spindle_tb_fetch_next(&fetch->tb, tb);
	struct spindle_conn *conn = &fetch->conn;

	spindle_post_read(conn, range.at, range.at, range.len);
	fetch->place = spindle_post_place(conn);
	/* An error fails the connection, and watch() finds that. */
	spindle_post_flush(conn, true);
	enter_phase(fetch, SPINDLE_FETCH_READING);
}

static void begin(struct spindle_fetch *fetch, u64 now)
{
	fetch->began_ns = now;
	fetch->round = fetch->all->round;
	spindle_tb_fetch_begin(&fetch->tb, &fetch->all->sg->table->tb);
	post_read(fetch);
}

/* The device has read. The row may be that of a node which is no member any more. */
static void arrived(struct spindle_fetch *fetch)
{
	struct spindle_subgroup *sg = fetch->all->sg;

	enter_phase(fetch, SPINDLE_FETCH_IDLE);
	if (fetch->rank == SPINDLE_NO_RANK)
		return;
	if (spindle_tb_fetch_take(&fetch->tb, &sg->table->tb, fetch->rank,
				  fetch->landing.mem.va))
		fetch->covered = fetch->round;
	else
		post_read(fetch);
	/* The visit of this pass shows the processes what has changed. */
	spindle_subgroup_touch(sg);
}

/* Look after the connection. Returns true if something has changed. */
static bool watch(struct spindle_fetch *fetch)
{
	/* Pairs with the release in fetch_up(). */
	if (fetch->phase == SPINDLE_FETCH_AWAITED && smp_load_acquire(&fetch->came_up))
		enter_phase(fetch, SPINDLE_FETCH_IDLE);
	if (fetch->phase == SPINDLE_FETCH_READING)
		spindle_post_poll(&fetch->conn);
	/* Pairs with the release in fetch_down(). */
	if (!smp_load_acquire(&fetch->went_down) || !enter_phase(fetch, SPINDLE_FETCH_LOST))
		return false;
	spindle_chore_queue(&fetch->all->chore, AGAIN_MS);
	return true;
}

static bool is_due(const struct spindle_fetch *fetch, u64 now)
{
	const struct spindle_fetches *all = fetch->all;

	if (fetch->phase != SPINDLE_FETCH_IDLE || fetch->rank == SPINDLE_NO_RANK)
		return false;
	return fetch->round != all->round ||
	       (all->every_ns && now - fetch->began_ns >= all->every_ns);
}

/* Note what the processes want now. */
static void hear_processes(struct spindle_fetches *all)
{
	struct spindle_attachment *att;
	u64 every_us = U64_MAX;

	list_for_each_entry(att, &all->sg->attachments, link) {
		const struct spindle_table_usr *usr = spindle_table_usr(att);
		u64 us = READ_ONCE(usr->every), ask;

		if (us)
			every_us = min(every_us, us);
		if (att->round)
			continue;
		/* Pairs with the release of the process: what it did before has been done. */
		ask = smp_load_acquire(&usr->refresh);
		if (ask == spindle_table_ctl(att)->refreshed)
			continue;
		att->ask = ask;
		att->round = ++all->round;
	}
	all->every_ns = every_us == U64_MAX ? 0 : min(every_us, MAX_EVERY_US) * NSEC_PER_USEC;
}

/* Were the rows of all other members fetched for a round? */
static bool is_covered(const struct spindle_fetches *all, u64 round)
{
	const struct spindle_fetch *fetch;
	u32 others = 0;

	list_for_each_entry(fetch, &all->fetching, run) {
		if (fetch->rank == SPINDLE_NO_RANK)
			continue;
		if (fetch->covered < round)
			return false;
		others++;
	}
	return others == all->sg->table->tb.members - 1;
}

/* End the requests whose rows the visit of the last pass has shown. Returns true if there were. */
static bool end_requests(struct spindle_fetches *all)
{
	struct spindle_attachment *att;
	bool work = false;

	list_for_each_entry(att, &all->sg->attachments, link) {
		if (!att->round || !is_covered(all, att->round))
			continue;
		att->round = 0;
		att->ops->refreshed(att, att->ask);
		work = true;
	}
	return work;
}

/**
 * spindle_fetches_pass() - one pass of the engine over the fetches of a table
 * @all: the fetches
 * @now: time
 *
 * To be called in front of the visits of tables.
 *
 * Return: true if there was work
 */
bool spindle_fetches_pass(struct spindle_fetches *all, u64 now)
{
	struct spindle_fetch *fetch;
	bool work = false;
	u32 rows = 0;

	spindle_engine_assert(all->node->engine);
	if (all->sg->state > SPINDLE_STATE_ACTIVE)
		return false;
	work |= end_requests(all);
	hear_processes(all);
	list_for_each_entry(fetch, &all->fetching, run) {
		work |= watch(fetch);
		if (fetch->phase == SPINDLE_FETCH_READING && rows < PASS_ROWS &&
		    fetch->conn.retired >= fetch->place) {
			arrived(fetch);
			rows++;
		} else if (is_due(fetch, now)) {
			begin(fetch, now);
			work = true;
		}
	}
	/* For fairness, let another row be first in the next pass. */
	list_rotate_left(&all->fetching);
	return work || rows;
}

/**
 * spindle_fetches_settled() - can the engine sleep without polling for reads?
 * @all: the fetches
 *
 * Return: true if no read is outstanding
 */
bool spindle_fetches_settled(const struct spindle_fetches *all)
{
	const struct spindle_fetch *fetch;

	spindle_engine_assert(all->node->engine);
	if (all->sg->state > SPINDLE_STATE_ACTIVE)
		return true;
	list_for_each_entry(fetch, &all->fetching, run)
		if (fetch->phase == SPINDLE_FETCH_READING)
			return false;
	return true;
}

/*
 * When has the engine to take what the device has read? No event says that a read has completed. So
 * a sleeping engine looks again after the time that the fetch has taken so far.
 */
static u64 arrival(struct spindle_fetch *fetch, u64 now)
{
	spindle_post_poll(&fetch->conn);
	return fetch->conn.retired >= fetch->place ? now : now + (now - fetch->began_ns);
}

/**
 * spindle_fetches_due() - time until the engine has to read a row, or to take what was read
 * @all: the fetches
 * @now: time
 *
 * Return: nanoseconds; U64_MAX: no process wants a row, and no read is outstanding
 */
u64 spindle_fetches_due(const struct spindle_fetches *all, u64 now)
{
	struct spindle_fetch *fetch;
	u64 due = U64_MAX;

	spindle_engine_assert(all->node->engine);
	if (all->sg->state > SPINDLE_STATE_ACTIVE)
		return due;
	list_for_each_entry(fetch, &all->fetching, run) {
		if (fetch->phase == SPINDLE_FETCH_READING)
			due = min(due, arrival(fetch, now));
		else if (all->every_ns && fetch->phase == SPINDLE_FETCH_IDLE &&
			 fetch->rank != SPINDLE_NO_RANK)
			due = min(due, fetch->began_ns + all->every_ns);
	}
	if (due == U64_MAX)
		return due;
	return due > now ? due - now : 0;
}

/* The rank of the member that has this row, by node and instance. */
static u32 rank_of(const struct spindle_tb *tb, const struct spindle_fetch *fetch)
{
	u32 r;

	for (r = 0; r < tb->members; r++)
		if (tb->member[r].node == fetch->id && tb->member[r].instance == fetch->instance)
			return r;
	return SPINDLE_NO_RANK;
}

/**
 * spindle_fetches_follow() - go on in the next view
 * @all: the fetches
 * @sg: the table's object in that view
 */
void spindle_fetches_follow(struct spindle_fetches *all, struct spindle_subgroup *sg)
{
	struct spindle_fetch *fetch;

	spindle_engine_assert(all->node->engine);
	all->sg = sg;
	WRITE_ONCE(all->cut, 0);
	list_for_each_entry(fetch, &all->fetching, run) {
		fetch->rank = rank_of(&sg->table->tb, fetch);
		/* A read that is on its way counts as the first one, with the guard before it. */
		spindle_tb_fetch_begin(&fetch->tb, &sg->table->tb);
	}
}

/**
 * spindle_fetches_cut() - read no more of a member that is suspected: its row stays as it is
 * @all: the fetches
 * @id: node id of the member
 *
 * The chore closes the fetch, and makes no other one in this view.
 */
void spindle_fetches_cut(struct spindle_fetches *all, u32 id)
{
	const struct spindle_tb *tb = &all->sg->table->tb;
	struct spindle_fetch *fetch;
	u32 r;

	spindle_engine_assert(all->node->engine);
	for (r = 0; r < tb->members; r++)
		if (tb->member[r].node == id)
			WRITE_ONCE(all->cut, all->cut | BIT_ULL(r));
	list_for_each_entry(fetch, &all->fetching, run) {
		if (fetch->id != id)
			continue;
		fetch->rank = SPINDLE_NO_RANK;
		spindle_conn_fail(&fetch->conn, "the peer is suspected");
	}
	spindle_chore_queue(&all->chore, 0);
}

/**
 * spindle_fetches_end() - the table has ended: no other node may read the own cells any more
 * @all: the fetches
 *
 * The chore closes connections that are not up yet, too, and frees the memory.
 */
void spindle_fetches_end(struct spindle_fetches *all)
{
	struct spindle_fetch *fetch;

	spindle_engine_assert(all->node->engine);
	list_for_each_entry(fetch, &all->fetching, run)
		spindle_conn_fail(&fetch->conn, "the table has ended");
	spindle_chore_queue(&all->chore, 0);
}

/* ---- life: process, the namespace's lock --------------------------------- */

static void add_fn(void *ctx)
{
	struct spindle_fetch *fetch = ctx;

	if (fetch->all->cut & BIT_ULL(fetch->rank))
		fetch->rank = SPINDLE_NO_RANK;
	list_add_tail(&fetch->run, &fetch->all->fetching);
}

static void remove_fn(void *ctx)
{
	struct spindle_fetch *fetch = ctx;

	list_del(&fetch->run);
}

static void free_fetch(struct spindle_fetch *fetch)
{
	if (fetch->conn.cfg.ep)
		spindle_conn_close(&fetch->conn);
	spindle_payer_row_free(&fetch->all->node->payer, &fetch->landing);
	kfree(fetch->guard);
	kvfree(fetch);
}

/* Close a fetch: the peer cannot read any more, and the device does not write to the landing. */
static void close_fetch(struct spindle_fetch *fetch)
{
	list_del(&fetch->list);
	spindle_engine_call(fetch->all->node->engine, remove_fn, fetch);
	free_fetch(fetch);
}

static void open_fetch(struct spindle_fetch *fetch)
{
	struct spindle_node *node = fetch->all->node;
	struct spindle_conn_config cfg = {
		.ep = &node->ep,
		.net = node->net,
		.ops = &fetch_conn_ops,
		.active = node->id < fetch->id,
		.secret = spindle_key_given(&node->key),
		.read = true,
		.in = &fetch->all->cells,
		.own = &fetch->landing,
		.remote_bytes = (u64)fetch->all->cells.mem.n << PAGE_SHIFT,
	};
	struct spindle_addr src = node->addr;

	src.port = 0;
	spindle_sockaddr(&cfg.src, &src);
	spindle_sockaddr(&cfg.dst, &fetch->addr);
	spindle_conn_open(&fetch->conn, &cfg);
}

/* A request that was made before the connection was lost cannot be replayed after that. */
static void replace(struct spindle_fetch *fetch, struct spindle_fetch *lost)
{
	struct spindle_endpoint *ep = &fetch->all->node->ep;

	spin_lock(&ep->lock);
	fetch->heard = lost->heard;
	spin_unlock(&ep->lock);
	close_fetch(lost);
}

/* Make a fetch for a member. @rank: rank in the table; @lost: the one before, or NULL */
static int make_fetch(struct spindle_fetches *all, const struct spindle_peer *peer, u32 rank,
		      struct spindle_fetch *lost)
{
	struct spindle_fetch *fetch = kvzalloc(sizeof(*fetch), GFP_KERNEL_ACCOUNT);
	const struct spindle_tb *tb = &all->sg->table->tb;
	struct spindle_node *node = all->node;

	if (!fetch)
		return -ENOMEM;
	fetch->all = all;
	fetch->id = peer->id;
	fetch->addr = peer->addr;
	/* As for the peer's own connection. In a static view the peer may begin again. */
	fetch->incarnation = peer->expected;
	fetch->rank = rank;
	fetch->instance = tb->member[rank].instance;
	fetch->guard = kzalloc(tb->cell, GFP_KERNEL_ACCOUNT);
	fetch->tb.guard = fetch->guard;
	spindle_conn_init(&fetch->conn);
	if (!fetch->guard || spindle_payer_row(&node->payer, &fetch->landing, node->ep.ib,
					       (u64)all->cells.mem.n << PAGE_SHIFT)) {
		free_fetch(fetch);
		return -ENOMEM;
	}
	if (lost)
		replace(fetch, lost);
	list_add_tail(&fetch->list, &all->list);
	spindle_engine_call(node->engine, add_fn, fetch);
	open_fetch(fetch);
	return 0;
}

static struct spindle_fetch *find_fetch(const struct spindle_fetches *all, u32 rank)
{
	struct spindle_fetch *fetch;

	list_for_each_entry(fetch, &all->list, list)
		if (rank_of(&all->sg->table->tb, fetch) == rank)
			return fetch;
	return NULL;
}

static bool is_lost(const struct spindle_fetch *fetch)
{
	return READ_ONCE(fetch->phase) == SPINDLE_FETCH_LOST;
}

/* May the table read the row of a member, and be read by it? */
static bool may_fetch(const struct spindle_fetches *all, u32 rank)
{
	return rank != SPINDLE_NO_RANK && !(READ_ONCE(all->cut) & BIT_ULL(rank)) &&
	       READ_ONCE(all->sg->state) <= SPINDLE_STATE_ACTIVE;
}

/*
 * Close what is for nodes that are no members any more, because they have left or are in another
 * shard, and all of a table that has ended.
 */
static void close_useless(struct spindle_fetches *all)
{
	struct spindle_fetch *fetch, *next;

	list_for_each_entry_safe(fetch, next, &all->list, list)
		if (!may_fetch(all, rank_of(&all->sg->table->tb, fetch)))
			close_fetch(fetch);
}

/* Have a fetch for a member, unless there is one. @peer: the member */
static int settle_with(struct spindle_fetches *all, const struct spindle_peer *peer, u32 rank)
{
	struct spindle_fetch *fetch = find_fetch(all, rank);

	return !fetch || is_lost(fetch) ? make_fetch(all, peer, rank, fetch) : 0;
}

/**
 * spindle_fetches_settle() - have one fetch for each other member, and no others
 * @all: the fetches
 *
 * There is none for members that are suspected, and none in a table that has ended. Without memory
 * this is tried again later.
 *
 * Context: process, the namespace's lock; the engine runs the view.
 */
void spindle_fetches_settle(struct spindle_fetches *all)
{
	const struct spindle_subgroup *sg = all->sg;
	const struct spindle_tb *tb = &sg->table->tb;
	struct mem_cgroup *before;
	u64 members = sg->cfg->members;
	int err = 0;
	u32 r;

	lockdep_assert_held(&all->node->sn->lock);
	close_useless(all);
	before = spindle_payer_enter(&all->node->payer);
	for (r = 0; r < tb->members && !err; r++, members &= members - 1)
		if (r != tb->me && may_fetch(all, r))
			err = settle_with(all, sg->inst->peer[__ffs64(members)], r);
	spindle_payer_leave(before);
	if (err)
		spindle_chore_queue(&all->chore, AGAIN_MS);
}

static void fetches_chore(struct spindle_chore *chore)
{
	spindle_fetches_settle(container_of(chore, struct spindle_fetches, chore));
}

static void run_fn(void *ctx)
{
	struct spindle_fetches *all = ctx;

	list_add_tail(&all->run, &all->node->fetches);
}

static void stop_fn(void *ctx)
{
	struct spindle_fetches *all = ctx;

	list_del(&all->run);
}

/**
 * spindle_fetches_create() - prepare the fetches of a table, without connections
 * @sg: the table's object; its table has been created
 *
 * Context: process, the namespace's lock.
 * Return: the fetches, or NULL if there is no memory
 */
struct spindle_fetches *spindle_fetches_create(struct spindle_subgroup *sg)
{
	struct spindle_fetches *all = kzalloc(sizeof(*all), GFP_KERNEL_ACCOUNT);
	const struct spindle_installed *inst = sg->inst;

	lockdep_assert_held(&inst->node->sn->lock);
	if (!all)
		return NULL;
	if (spindle_region_share(&all->cells, &inst->row, inst->layout.pay[sg->index],
				 sg->cfg->ring)) {
		kfree(all);
		return NULL;
	}
	all->sg = sg;
	all->node = inst->node;
	/* A table that takes the place of another one may have its id, and never has its index. */
	all->digest = sg->cfg->id | (u64)sg->index << 32;
	INIT_LIST_HEAD(&all->list);
	INIT_LIST_HEAD(&all->fetching);
	spindle_chore_init(&all->chore, inst->node->sn, fetches_chore);
	spindle_engine_call(all->node->engine, run_fn, all);
	return all;
}

/**
 * spindle_fetches_destroy() - close all connections: no other node can read the own cells any more
 * @all: the fetches, or NULL
 *
 * No process attaches to what comes to the place of these cells before this has returned, because
 * that needs the namespace's lock.
 *
 * Context: process, the namespace's lock.
 */
void spindle_fetches_destroy(struct spindle_fetches *all)
{
	struct spindle_fetch *fetch, *next;

	if (!all)
		return;
	lockdep_assert_held(&all->node->sn->lock);
	/* The engine queues the chore, so it lets go of the fetches first. */
	spindle_engine_call(all->node->engine, stop_fn, all);
	spindle_chore_cancel(&all->chore);
	list_for_each_entry_safe(fetch, next, &all->list, list)
		close_fetch(fetch);
	spindle_region_free(&all->cells);
	kfree(all);
}

static u64 count(const struct spindle_fetches *all)
{
	const struct list_head *at;
	u64 n = 0;

	lockdep_assert_held(&all->node->sn->lock);
	list_for_each(at, &all->list)
		n++;
	return n;
}

/**
 * spindle_fetches_landings() - memory in which reads arrive, which is counted with rows
 * @all: the fetches, or NULL
 *
 * Context: process, the namespace's lock.
 * Return: bytes
 */
u64 spindle_fetches_landings(const struct spindle_fetches *all)
{
	return all ? count(all) * ((u64)all->cells.mem.n << PAGE_SHIFT) : 0;
}

/**
 * spindle_fetches_bytes() - memory of the fetches and their connections, without landings
 * @all: the fetches, or NULL
 *
 * Context: process, the namespace's lock.
 * Return: bytes
 */
u64 spindle_fetches_bytes(const struct spindle_fetches *all)
{
	return all ? sizeof(*all) + count(all) * (sizeof(struct spindle_fetch) +
						  all->sg->table->tb.cell) : 0;
}
