// SPDX-License-Identifier: GPL-2.0-only
/*
 * A cluster. See cluster.h.
 */
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "cluster.h"
#include "counters.h"
#include "core/multicast/stage.h"
#include "util.h"
#include "core/group/wire.h"

/* Batches under way: from the commit until all members have reported the delivery. */
#define DEPTH 6

/* After so many rounds without a delivery no message will be delivered any more. */
#define STILL_ROUNDS 64

/* ---- set up ------------------------------------------------------------- */

static u32 slot_bytes(const struct cluster_conf *conf, u32 max_msg)
{
	u32 len = conf->switches & SPINDLE_SW_PACKED ? conf->size : max_msg;

	return ALIGN(len, SPINDLE_UNIT);
}

static void make_view(struct spindle_view *view, const struct cluster_conf *conf)
{
	u32 i, max_msg = max_t(u32, conf->size, SPINDLE_DEF_MAX_MSG);
	u64 bytes = DEPTH * (u64)conf->batch * slot_bytes(conf, max_msg);

	memset(view, 0, sizeof(*view));
	view->vid = 1;
	view->num_members = conf->members;
	view->num_subgroups = conf->subgroups;
	for (i = 0; i < conf->members; i++)
		view->member[i] = (struct spindle_view_member){
			.id = i + 1,
			.addr = { .port = i + 1, .family = 4 },
		};
	for (i = 0; i < conf->subgroups; i++) {
		struct spindle_view_subgroup *sg = &view->subgroup[i];

		sg->id = i;
		sg->window = max_t(u32, SPINDLE_DEF_WINDOW,
				   roundup_pow_of_two(DEPTH * conf->batch));
		sg->max_msg = max_msg;
		sg->ring = spindle_view_default_ring(sg->window, max_msg);
		sg->ring = max_t(u32, sg->ring, bytes ? roundup_pow_of_two(bytes) : 0);
		sg->members = BIT_ULL(conf->members) - 1;
		sg->senders = conf->senders == CLUSTER_ONE ? 1 : sg->members;
	}
}

/**
 * cluster_bytes() - memory that the rows of a cluster take
 * @conf: the cluster
 *
 * Return: bytes
 */
u64 cluster_bytes(const struct cluster_conf *conf)
{
	u32 holders = conf->lone ? 1 : conf->members, i, j;
	struct spindle_layout lo;
	struct spindle_view view;
	u64 bytes = 0;

	make_view(&view, conf);
	for (i = 0; i < holders; i++) {
		for (j = 0; j < conf->members; j++) {
			spindle_layout_row(&lo, &view, j, i);
			bytes += lo.size;
		}
	}
	return bytes;
}

static void *zalloc(size_t n, size_t size)
{
	return bench_pages(n * size);
}

static const struct spindle_memory memory = { .zalloc = zalloc, .free = (void *)free };

struct rows {
	struct cluster_member *member;
	struct spindle_layout out;
};

static struct spindle_row row_of(void *ctx, u32 rank)
{
	struct rows *rows = ctx;
	struct cluster_member *m = rows->member;

	spindle_layout_row(&rows->out, &m->cluster->view, m->rank, rank);
	return (struct spindle_row){
		.base = m->row[rank],
		.in = &m->lo[rank],
		.out = rank == m->rank ? NULL : &rows->out,
	};
}

static void attach(struct cluster_subgroup *sg, u64 ring)
{
	struct spindle_mc *mc = &sg->mc;
	struct cluster_member *m = sg->member;
	bool sends = mc->my_sender != SPINDLE_NO_RANK;
	struct process_rings rings;
	struct process_conf conf = {
		.window = mc->window,
		.max_msg = mc->max_msg,
		.entries = mc->deliver.log_mask + 1,
		.senders = mc->senders,
		.sends = sends,
		.ring = ring,
	};
	u32 s;

	if (!(m->cluster->conf.switches & SPINDLE_SW_PACKED))
		conf.slot_units = spindle_units(mc->max_msg);
	if (sends)
		conf.tx = m->row[m->rank] + mc->own.pay;
	for (s = 0; s < mc->senders; s++)
		conf.rx[s] = mc->sender[s].pay;
	sg->process = process_open(&conf, &rings);
	if (sends)
		spindle_mc_attach_sender(mc, rings.desc, rings.free_slot, rings.free_unit);
	sg->dlvq.ring = rings.dlv;
	sg->dlvq.mask = conf.entries - 1;
	sg->dlvq.tail_word = rings.dlv_tail;
	sg->dlvq.consumed_word = rings.consumed;
	spindle_mc_attach_reader(mc, &sg->dlvq);
}

static void post_in_place(struct spindle_mc *mc);

static void open_subgroup(struct cluster_member *m, u32 g)
{
	const struct cluster *c = m->cluster;
	const struct spindle_view_subgroup *cfg = &c->view.subgroup[g];
	struct cluster_subgroup *sg = bench_pages(sizeof(*sg));
	struct spindle_mc *mc = &sg->mc;
	struct rows rows = { .member = m };

	sg->member = m;
	m->subgroup[g] = sg;
	/* The allocator ends the program if there is no memory. */
	spindle_mc_create(mc, &c->view, g, m->rank, NULL, NULL, &memory);
	mc->post = post_in_place;
	spindle_mc_wire(mc, &c->view, g, row_of, &rows);
	mc->tune.switches = c->conf.switches;
	attach(sg, cfg->ring);
	mc->formed = true;
}

/**
 * cluster_open() - make a cluster, ready for its first round
 * @conf: the configuration
 *
 * Return: the cluster
 */
struct cluster *cluster_open(const struct cluster_conf *conf)
{
	struct cluster *c = bench_pages(sizeof(*c));
	const char *err;
	u32 i, j;

	c->conf = *conf;
	make_view(&c->view, conf);
	err = spindle_view_check(&c->view, false, NULL);
	if (err) {
		fprintf(stderr, "core-bench: %s\n", err);
		exit(1);
	}
	c->cores = conf->lone ? 1 : conf->members;
	c->member = bench_pages(c->cores * sizeof(*c->member));
	for (i = 0; i < c->cores; i++) {
		struct cluster_member *m = &c->member[i];

		m->cluster = c;
		m->rank = i;
		for (j = 0; j < conf->members; j++) {
			spindle_layout_row(&m->lo[j], &c->view, j, i);
			m->row[j] = bench_pages(m->lo[j].size);
		}
		for (j = 0; j < conf->subgroups; j++)
			open_subgroup(m, j);
	}
	return c;
}

static void close_subgroup(const struct cluster_member *m, u32 g)
{
	struct cluster_subgroup *sg = m->subgroup[g];

	process_close(sg->process);
	spindle_mc_destroy(&sg->mc, &memory);
	free(sg);
}

void cluster_close(struct cluster *c)
{
	u32 i, j;

	for (i = 0; i < c->cores; i++) {
		for (j = 0; j < c->conf.subgroups; j++)
			close_subgroup(&c->member[i], j);
		for (j = 0; j < c->conf.members; j++)
			free(c->member[i].row[j]);
	}
	free(c->member);
	free(c);
}

/* ---- rounds ------------------------------------------------------------- */

/* Traffic is in the first subgroup. */
static struct spindle_mc *busy_mc(struct cluster *c, u32 r)
{
	return &c->member[r].subgroup[0]->mc;
}

static bench_noinline void push(struct cluster_member *m)
{
	struct spindle_mc *mc = &m->subgroup[0]->mc;
	u32 r;

	/* Make room for two guards, because acknowledgments may go one by one. */
	for (r = 0; r < mc->members; r++)
		if (spindle_push_wanted(mc, r))
			m->writes[r] = spindle_push(mc, r, 0,
						    SPINDLE_PUSH_SPLIT | SPINDLE_PUSH_EXPRESS,
						    m->write[r], SPINDLE_PUSH_MAX);
}

static void carry_out(struct cluster_member *m)
{
	struct cluster *c = m->cluster;
	const struct spindle_write *w;
	u32 r, i;

	for (r = 0; r < c->conf.members; r++) {
		u8 *to = c->member[r].row[m->rank];

		for (i = 0; i < m->writes[r]; i++) {
			w = &m->write[r][i];
			memcpy(to + w->remote, w->data ?: m->row[m->rank] + w->local, w->len);
		}
		m->writes[r] = 0;
	}
}

static bench_noinline void carry_out_in_place(struct cluster_member *m)
{
	if (m->cluster->look == LOOK_COUNT)
		counters_off();
	carry_out(m);
	if (m->cluster->look == LOOK_COUNT)
		counters_on();
}

/* Called without SPINDLE_SW_LATE_POST, in the middle of a pass that is timed. */
static void post_in_place(struct spindle_mc *mc)
{
	struct cluster_member *m = ((struct cluster_subgroup *)mc)->member;
	struct cluster *c = m->cluster;
	u64 begin, last;

	if (c->look == LOOK_NOT || c->look == LOOK_COUNT) {
		push(m);
		carry_out_in_place(m);
		return;
	}
	begin = clock_ticks();
	last = begin;
	push(m);
	c->tally.push += clock_lap(&last);
	carry_out(m);
	c->tally.wire += clock_lap(&last);
	/* Three readings of the clock split one interval into four. */
	c->inner += last - begin + bench_clock.overhead;
}

static bench_noinline void run_all(struct cluster *c)
{
	u32 r;

	for (r = 0; r < c->cores; r++) {
		struct cluster_member *m = &c->member[r];
		bool work = spindle_mc_run(busy_mc(c, r), m->idle);

		if (m->idle)
			work |= spindle_mc_flush_acks(busy_mc(c, r));
		m->idle = !work;
	}
}

static bench_noinline void push_all(struct cluster *c)
{
	u32 r;

	for (r = 0; r < c->cores; r++)
		push(&c->member[r]);
}

static void run_timed(struct cluster *c)
{
	u64 last = clock_ticks();

	c->inner = 0;
	run_all(c);
	c->tally.run += clock_lap(&last) - c->inner;
	push_all(c);
	c->tally.push += clock_lap(&last);
}

static void run_counted(struct cluster *c)
{
	counters_on();
	run_all(c);
	push_all(c);
	counters_off();
}

static void run_stage(struct spindle_mc *mc, enum cluster_stage stage)
{
	switch (stage) {
	case STAGE_RECEIVE:
		if (spindle_receive_test(mc))
			spindle_receive_trigger(mc);
		break;
	case STAGE_SEND:
		if (spindle_send_test(mc))
			spindle_send_trigger(mc);
		break;
	case STAGE_DELIVER:
		if (spindle_deliver_test(mc))
			spindle_deliver_trigger(mc);
		break;
	case STAGE_RELEASE:
		if (spindle_release_test(mc))
			spindle_release_trigger(mc);
		break;
	default:
		break;
	}
}

/*
 * Do the work of run_all() stage by stage instead of member by member, so that one stage of all
 * members is one interval. The result is the same, because the writes of a pass reach the others
 * after the pass. The exception is a post in the middle of a pass.
 */
static void run_stages(struct cluster *c)
{
	u64 last = clock_ticks();
	u32 i, r;

	for (r = 0; r < c->cores; r++)
		busy_mc(c, r)->idle = false;
	for (i = 0; i < STAGE_PUBLISH; i++) {
		c->inner = 0;
		for (r = 0; r < c->cores; r++)
			run_stage(busy_mc(c, r), i);
		c->tally.stage[i] += clock_lap(&last) - c->inner;
	}
	for (r = 0; r < c->cores; r++) {
		spindle_mc_publish(busy_mc(c, r));
		spindle_mc_count_late(busy_mc(c, r));
	}
	c->tally.stage[STAGE_PUBLISH] += clock_lap(&last);
	push_all(c);
	c->tally.push += clock_lap(&last);
}

/* A round without the commits. */
static void run_round(struct cluster *c, enum cluster_look look)
{
	u64 last;
	u32 r;

	c->look = look;
	switch (look) {
	case LOOK_NOT:
		run_all(c);
		push_all(c);
		break;
	case LOOK_TIME:
		run_timed(c);
		break;
	case LOOK_STAGES:
		run_stages(c);
		break;
	case LOOK_COUNT:
		run_counted(c);
		break;
	}
	last = clock_ticks();
	for (r = 0; r < c->cores; r++)
		carry_out(&c->member[r]);
	c->tally.wire += clock_lap(&last);
	for (r = 0; r < c->cores; r++) {
		busy_mc(c, r)->events = 0;
		process_read(c->member[r].subgroup[0]->process);
	}
	c->tally.rounds++;
}

/**
 * cluster_round() - one round
 * @c: the cluster
 * @look: the kind of measurement
 */
void cluster_round(struct cluster *c, enum cluster_look look)
{
	u32 senders = c->conf.senders == CLUSTER_ALL ? c->conf.members : 1, r;

	for (r = 0; r < senders; r++)
		process_send(c->member[r].subgroup[0]->process, c->conf.size, c->conf.batch);
	run_round(c, look);
}

/**
 * cluster_clear() - begin to measure
 * @c: the cluster
 */
void cluster_clear(struct cluster *c)
{
	u32 r;

	memset(&c->tally, 0, sizeof(c->tally));
	/* The engines' counters are never reset, so subtract their present values. */
	for (r = 0; r < c->cores; r++) {
		c->tally.sent -= busy_mc(c, r)->stats.sent;
		c->tally.delivered -= busy_mc(c, r)->stats.delivered;
	}
}

/**
 * cluster_tally() - get the measurements
 * @c: the cluster
 *
 * Return: sums since cluster_clear()
 */
struct cluster_tally cluster_tally(struct cluster *c)
{
	struct cluster_tally tally = c->tally;
	u32 r;

	for (r = 0; r < c->cores; r++) {
		tally.sent += busy_mc(c, r)->stats.sent;
		tally.delivered += busy_mc(c, r)->stats.delivered;
	}
	return tally;
}

/**
 * cluster_idle() - a pass of the first member over all of its subgroups
 * @c: the cluster
 *
 * Return: subgroups that had work
 */
u32 cluster_idle(struct cluster *c)
{
	struct cluster_member *m = &c->member[0];
	u32 i, n = 0;

	for (i = 0; i < c->conf.subgroups; i++)
		n += spindle_mc_run(&m->subgroup[i]->mc, true);
	return n;
}

/**
 * cluster_finish() - deliver all messages that were sent, and check them
 * @c: the cluster, with traffic
 *
 * Return: NULL, or what is wrong
 */
const char *cluster_finish(struct cluster *c)
{
	struct process_saw first, saw;
	u64 sent = 0, delivered = 0;
	u32 still, r;

	for (still = 0; still < STILL_ROUNDS; still++) {
		run_round(c, LOOK_NOT);
		if (cluster_tally(c).delivered != delivered)
			still = 0;
		delivered = cluster_tally(c).delivered;
	}
	for (r = 0; r < c->cores; r++)
		sent += busy_mc(c, r)->stats.sent;
	first = process_saw(c->member[0].subgroup[0]->process);
	for (r = 0; r < c->cores; r++) {
		saw = process_saw(c->member[r].subgroup[0]->process);
		if (!spindle_mc_runs(busy_mc(c, r)))
			return "a member ended the subgroup";
		if (saw.messages != sent)
			return "not all that was sent was delivered";
		if (saw.wrong)
			return "bytes arrived that were not sent";
		if (saw.order != first.order)
			return "members delivered in different orders";
	}
	return NULL;
}
