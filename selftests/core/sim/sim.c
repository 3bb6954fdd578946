// SPDX-License-Identifier: GPL-2.0-only
/*
 * The schedule of a simulation, and the program. See sim.h.
 *
 *	sim [-e] [-p] [-v] [-j JOBS] [-s FIRST] [-n SEEDS] [-x FAULTS] [-m FAILURES]
 *
 * The status is 1 if a seed fails, or with -e if the schedules leave out an edge of the state
 * machine of membership, or a takeover with other rules. The program prints the number of a seed
 * that fails, and a mask for -x of the faults without which the seed still fails. "-v -n 1 -s SEED
 * -x FAULTS" prints the events of such a seed.
 */
#include <ctype.h>
#include <malloc.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sim.h"

#define MOST_JOBS 256
#define KEPT_BYTES (1 << 26)
#define HEAP_BYTES (1 << 25)	/* the most that glibc takes for M_MMAP_THRESHOLD */

void sim_fail(struct sim *sim, const char *fmt, ...)
{
	va_list ap;

	if (sim->failed)
		return;
	sim->failed = true;
	va_start(ap, fmt);
	vsnprintf(sim->why, sizeof(sim->why), fmt, ap);
	va_end(ap);
}

void sim_say(struct sim *sim, const char *fmt, ...)
{
	va_list ap;

	if (!sim->verbose)
		return;
	printf("%8llu  ", (unsigned long long)sim->now);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
}

/*
 * Small windows and rings, so that they wrap. In half of the schedules they have any size: the ring
 * is full before the window is, or the other way round. With few nodes they sometimes have the
 * sizes of the module.
 */
static void draw_sizes(struct sim *sim)
{
	struct rng rng = { rng_mix(sim->seed ^ 0x6666) };

	sim->window = 8;
	sim->ring = 1024;
	sim->max_msg = 300;
	if (sim->nodes <= 3 && rng_chance(&rng, 10)) {
		sim->window = SPINDLE_DEF_WINDOW;
		sim->max_msg = SPINDLE_DEF_MAX_MSG;
		sim->ring = spindle_view_default_ring(sim->window, sim->max_msg);
	} else if (rng_chance(&rng, 50)) {
		sim->window = 1U << rng_below(&rng, 8);
		sim->ring = 512U << rng_below(&rng, 4);
		sim->max_msg = 1 + rng_below(&rng, rng_chance(&rng, 50) ? 300 : sim->ring);
	}
}

/* In some schedules the layout refuses views with few members, or with many. */
static void limit_layouts(struct sim *sim)
{
	u32 old = sim->nodes - sim->late;

	sim->most = SIM_NODES;
	if (sim->liar)
		return;
	if (rng_chance(&sim->draw, 10))
		sim->least = 1 + rng_below(&sim->draw, old);
	if (rng_chance(&sim->draw, 10))
		sim->most = old;
}

static struct sim *sim_open(u64 seed, u64 skip, bool verbose)
{
	struct sim *sim = calloc(1, sizeof(*sim));
	u32 i, j;

	sim->seed = seed;
	sim->skip = skip;
	sim->verbose = verbose;
	sim->rng.state = rng_mix(seed);
	/* These values come from other hashes, so that most seeds keep their schedules. */
	sim->imm = rng_mix(seed ^ 0x1111) % 4 == 0;
	sim->large = rng_mix(seed ^ 0x2222) % 3 == 0 ? 40 : 0;
	/* Small groups come more often, because they find more errors per second. */
	sim->nodes = 2 + rng_below(&sim->rng, rng_chance(&sim->rng, 80) ? 5 : SIM_NODES - 1);
	if (rng_chance(&sim->rng, 50) && sim->nodes + 2 <= SIM_NODES)
		sim->late = 1 + rng_below(&sim->rng, 2);
	sim->nodes += sim->late;
	sim->node = calloc(sim->nodes, sizeof(*sim->node));
	sim->draw.state = rng_mix(seed ^ 0x5555);
	sim->newer.state = rng_mix(seed ^ 0x8888);
	sim->tables.state = rng_mix(seed ^ 0xaaaa);
	sim->shards.state = rng_mix(seed ^ 0xbbbb);
	sim->joins = rng_chance(&sim->newer, 30) ? 1 : SPINDLE_DECREE_JOINS;
	sim->told_late = rng_chance(&sim->newer, 50);
	sim->first.vid = 1;
	sim->first.num_members = sim->nodes - sim->late;
	for (i = 0; i < sim->nodes; i++) {
		if (i < sim->nodes - sim->late)
			sim->first.member[i] = (struct spindle_view_member){
				.id = i + 1, .addr = address_of(i + 1),
			};
		for (j = 0; j < sim->nodes; j++) {
			struct link *link = &sim->link[i][j];

			link->tail = &link->head;
			link->slow = rng_chance(&sim->rng, 20) ? 600 : 30;
		}
	}
	liar_open(sim);
	sim->lineage = (struct spindle_lineage){
		.word = { rng_mix(seed) | 1, rng_mix(~seed) }, .era = rng_mix(seed ^ 0x7777) % 3,
	};
	draw_sizes(sim);
	logs_open(sim);
	rules_make(sim);
	limit_layouts(sim);
	spindle_rules_apply(&sim->rules, NULL, &sim->first);
	for (i = 0; i < SIM_BORN; i++)
		if (!spindle_view_is_table(&sim->first.subgroup[i]))
			sim->first.subgroup[i].former = rng_mix(seed ^ 0x9999) % 3 * 1000 * i;
	logs_follow(sim);
	for (i = 0; i < sim->nodes; i++)
		node_open(sim, i);
	for (i = 0; i < sim->nodes - sim->late; i++)
		node_start(&sim->node[i], &sim->first);
	return sim;
}

static void free_commits(struct sim *sim)
{
	u32 i, life, g;

	for (i = 0; i < SIM_NODES; i++)
		for (life = 0; life < SIM_LIVES; life++)
			for (g = 0; g < SIM_GROUPS; g++)
				free(sim->commits[i][life][g].msg);
}

static void sim_close(struct sim *sim)
{
	u32 i, j;

	for (i = 0; i < sim->nodes; i++)
		node_close(&sim->node[i]);
	large_close(sim);
	fabric_close(sim);
	liar_close(sim);
	for (i = 0; i < SIM_GROUPS; i++)
		for (j = 0; j < SIM_VIEWS; j++)
			free(sim->order[i][j].v);
	for (i = 0; i < SIM_IDS; i++)
		free(sim->positions[i].v);
	free_commits(sim);
	free(sim->node);
	free(sim);
}

/* The next event: a pass, a move on a link, or one of large messages. */
struct event {
	u64 at;
	u32 from;
	u32 to;
	bool large;
};

static struct event next_event(struct sim *sim)
{
	struct event e = { .large = true };
	u32 i, j, posted;

	e.at = large_next(sim, &e.from, &e.to);

	for (i = 0; i < sim->nodes; i++) {
		struct node *node = &sim->node[i];
		u64 at = max(node->pass_at, node->awake_at);

		if (!node->crashed && at < e.at)
			e = (struct event){ .at = at, .from = i, .to = i };
		for (posted = sim->posted[i]; posted; posted &= posted - 1) {
			const struct link *link = &sim->link[i][j = __builtin_ctz(posted)];

			if (!link->blocked && link->at < e.at)
				e = (struct event){ .at = link->at, .from = i, .to = j };
		}
	}
	return e;
}

static void step(struct sim *sim)
{
	struct event e = next_event(sim);

	sim->now = max(sim->now, e.at);
	if (e.large) {
		large_move(sim, e.from, e.to);
		return;
	}
	if (e.from != e.to) {
		fabric_move(sim, e.from, e.to);
		return;
	}
	if (liar_is(sim, e.from))
		liar_run(sim, e.from);
	node_processes(&sim->node[e.from]);
	node_pass(&sim->node[e.from]);
}

/*
 * Is there a reader, and are all committed messages at all members, if there are enough members?
 * Are the last values of a table?
 */
bool group_at_rest(struct node *node, u32 index)
{
	const struct group *g = &node->group[index];

	if (g->table)
		return spindle_mc_runs(g->mc) && table_at_rest(node, index);
	if (log_waits(node, index))
		return g->reading;
	return g->reading && (g->lacks || g->mc->send.txq.free_slot == g->slot) &&
	       log_at_rest(node, index);
}

static bool at_rest(const struct sim *sim)
{
	u32 up = 0, i, g;
	u64 vid = 0;

	if (sim->liar)
		return liar_at_rest(sim);
	for (i = 0; i < sim->nodes; i++)
		up += node_up(&sim->node[i]);
	for (i = 0; i < sim->nodes; i++) {
		struct node *node = &sim->node[i];
		const struct spindle_view *view = spindle_mb_view(&node->mb);

		if (sim->strict && node->started && !node->crashed && fabric_whole(sim, i) &&
		    node->mb.state == SPINDLE_MB_JOINING)
			return false;
		if (!node_up(node))
			continue;
		if (node->mb.state || node->mb.suspected || view->num_members != up ||
		    (vid && vid != view->vid))
			return false;
		vid = view->vid;
		for (g = 0; g < SIM_GROUPS; g++)
			if (node->group[g].mc && !group_at_rest(node, g))
				return false;
	}
	return true;
}

/*
 * Members of the first view connect one by one. A member that loses another one before it has
 * connected to all stops, so strict schedules do not do this.
 */
static void connect_late(struct sim *sim)
{
	u32 i, j;

	for (i = 0; i < sim->nodes - sim->late; i++) {
		sim->node[i].mg.formed = false;
		for (j = 0; j < sim->nodes - sim->late; j++)
			sim->link[i][j].up_at = rng_below(&sim->draw, SIM_TIMEOUT);
	}
	/* Or two of them never connect. */
	i = rng_below(&sim->draw, sim->nodes - sim->late);
	j = rng_below(&sim->draw, sim->nodes - sim->late);
	sim->apart = i != j && rng_chance(&sim->draw, 15);
	if (sim->apart) {
		sim->link[i][j].up_at = U64_MAX;
		sim->link[j][i].up_at = U64_MAX;
	}
}

/*
 * With a liar the schedule ends only after an administrator has evicted the liar at each honest
 * member. The remaining honest members may be too few, and members that believed a lie may have
 * stopped. But none of them waits for ever.
 */
static void evict_liars(struct sim *sim)
{
	u32 i, r;

	for (i = 0; i < sim->nodes; i++) {
		struct node *node = &sim->node[i];
		const struct spindle_view *view = spindle_mb_view(&node->mb);

		if (liar_is(sim, i) || !node_up(node) || !node->mg.formed)
			continue;
		for (r = 0; r < view->num_members; r++)
			if (liar_is(sim, view->member[r].id - 1))
				spindle_mb_suspect(&node->mb, r, SPINDLE_MB_ADMIN);
	}
}

static void sim_run(struct sim *sim)
{
	u64 end, steps = 0;
	u32 i;

	sim->strict = rng_chance(&sim->rng, 70);
	if (!sim->strict && rng_chance(&sim->draw, 40))
		connect_late(sim);
	fault_plan(sim);
	while (sim->now < SIM_WILD && !sim->failed) {
		fault_run(sim, false);
		step(sim);
	}
	fault_run(sim, true);
	/* From now on there are no new faults and no new messages. */
	sim->quiet = true;
	for (i = 0; i < sim->nodes; i++)
		sim->node[i].crash_after = 0;
	if (sim->apart)
		return;
	end = sim->now + SIM_CALM;
	while (sim->now < end && !sim->failed && (++steps % 64 || !at_rest(sim))) {
		if (sim->liar && steps % 64 == 0)
			evict_liars(sim);
		step(sim);
	}
	if (!sim->failed)
		check_end(sim);
}

/* ---- the program ------------------------------------------------------------------- */

struct total {
	u64 seeds, deliveries, writes, blocks, changes, stayed, closed, parted, lacked, refused;
	u64 failed, apart, abandoned, extras, cards, cards_refused, knocks_refused, unjoined;
	u64 met, lost_then, snapped, idled, renewed, any, lives, direct, others;
	u64 kept, came_back, overtaken;
	u64 edges[SPINDLE_MB_STATES][SPINDLE_MB_STATES];
	u64 stops[SPINDLE_MB_LAYOUT + 1];
	u64 happened[FAULT_KINDS];
	u64 liars, compared;
	u64 lies[LIE_KINDS];
	u64 found[LIE_KINDS];
	u64 rules_changed, sharded, rules_unmet, rules_adopted, tables, cells, flushes;
	u64 rows_fetched, rows_moved;
	u64 logged, durable, established, long_ranges, followed, gave_up, fetched, snapshots;
	u64 loggers, gated;
	u64 all_durable, stood_still, waited;
};

static void add(struct total *t, const struct sim *sim)
{
	u32 i, j, k;

	t->seeds++;
	t->deliveries += sim->deliveries;
	t->writes += sim->writes;
	t->blocks += sim->blocks;
	t->changes += sim->changes;
	t->stayed += sim->stayed;
	t->closed += sim->closed;
	t->parted += sim->parted;
	t->lacked += sim->lacked;
	t->refused += sim->refused;
	t->apart += sim->apart;
	t->abandoned += sim->abandoned;
	t->extras += sim->extras;
	t->cards += sim->cards;
	t->cards_refused += sim->cards_refused;
	t->knocks_refused += sim->knocks_refused;
	t->unjoined += sim->unjoined;
	t->met += sim->met;
	t->lost_then += sim->lost_then;
	t->snapped += sim->snapped;
	t->idled += sim->idled;
	t->renewed += sim->renewed;
	t->any += sim->any;
	t->lives += sim->lives;
	t->direct += sim->direct;
	t->others += sim->others;
	t->kept += sim->kept;
	t->came_back += sim->came_back;
	t->overtaken += sim->overtaken;
	t->rules_changed += sim->rules_changed;
	t->sharded += sim->sharded;
	t->rules_unmet += sim->rules_unmet;
	t->rules_adopted += sim->rules_adopted;
	t->tables += sim->tables_begun;
	t->cells += sim->cells_read;
	t->flushes += sim->flushes;
	t->rows_fetched += sim->rows_fetched;
	t->rows_moved += sim->rows_moved;
	t->logged += sim->logged;
	t->durable += sim->durable;
	t->established += sim->established;
	t->long_ranges += sim->long_ranges;
	t->followed += sim->followed;
	t->gave_up += sim->gave_up;
	t->fetched += sim->fetched;
	t->snapshots += sim->snapshots;
	t->loggers += sim->loggers;
	t->gated += sim->gated;
	t->all_durable += sim->all_durable;
	t->stood_still += sim->stood_still;
	t->waited += sim->waited;
	for (i = 0; i < FAULT_KINDS; i++)
		t->happened[i] += sim->happened[i];
	t->liars += !!sim->liar;
	t->compared += sim->compared;
	for (i = 0; i < LIE_KINDS; i++) {
		t->lies[i] += sim->lies[i];
		t->found[i] += sim->found[i];
	}
	for (i = 0; i < SPINDLE_MB_STATES; i++)
		for (j = 0; j < SPINDLE_MB_STATES; j++)
			for (k = 0, t->edges[i][j] += sim->edges[i][j]; k < sim->nodes; k++)
				t->edges[i][j] += sim->node[k].mb.edges[i][j];
	for (i = 0; i <= SPINDLE_MB_LAYOUT; i++)
		t->stops[i] += sim->stops[i];
}

static void report_counts(const struct total *t, double seconds)
{
	printf("# %llu schedules, %llu failed; %.0f/s; %llu deliveries checked, %llu writes, %llu blocks, %llu views\n",
	       (unsigned long long)t->seeds, (unsigned long long)t->failed,
	       t->seeds / seconds, (unsigned long long)t->deliveries,
	       (unsigned long long)t->writes, (unsigned long long)t->blocks,
	       (unsigned long long)t->changes);
	printf("# subgroups that a change was nothing to: %llu; that lost all their members: %llu\n",
	       (unsigned long long)t->stayed, (unsigned long long)t->lives);
	printf("# messages for some of the members: %llu, kept from others: %llu\n",
	       (unsigned long long)t->direct, (unsigned long long)t->others);
	printf("# messages read in histories: %llu; readers that came back: %llu, overtaken: %llu\n",
	       (unsigned long long)t->kept, (unsigned long long)t->came_back,
	       (unsigned long long)t->overtaken);
	printf("# processes that have gone: %llu, %llu before all was sent; subgroups with too few members: %llu; views refused: %llu\n",
	       (unsigned long long)t->closed, (unsigned long long)t->parted,
	       (unsigned long long)t->lacked, (unsigned long long)t->refused);
	printf("# members that never connect: %llu schedules; slots abandoned: %llu; second readers: %llu\n",
	       (unsigned long long)t->apart, (unsigned long long)t->abandoned,
	       (unsigned long long)t->extras);
	printf("# cards given to joiners: %llu, refused %llu; knocks refused: %llu; never connected to all: %llu; a connection lost at the invitation: %llu\n",
	       (unsigned long long)t->cards, (unsigned long long)t->cards_refused,
	       (unsigned long long)t->knocks_refused, (unsigned long long)t->unjoined,
	       (unsigned long long)t->lost_then);
	printf("# joiners of one change that connected to each other: %llu\n",
	       (unsigned long long)t->met);
	printf("# nodes that changed their rules: %llu, with several shards: %llu; offers that another change ended: %llu; takeovers that adopted other rules: %llu; tables begun: %llu, cells read: %llu, rows at the end of a flush: %llu, reads of rows: %llu\n",
	       (unsigned long long)t->rules_changed, (unsigned long long)t->sharded,
	       (unsigned long long)t->rules_unmet, (unsigned long long)t->rules_adopted,
	       (unsigned long long)t->tables, (unsigned long long)t->cells,
	       (unsigned long long)t->flushes, (unsigned long long)t->rows_fetched);
	printf("# rows of nodes that came to another shard of a table: %llu\n",
	       (unsigned long long)t->rows_moved);
	printf("# schedules with logs: %llu, loggers %llu; moves of durable: %llu; views established: %llu, %llu behind others that were not, %llu behind views of earlier eras; loggers given up: %llu, fetches from other disks: %llu, snapshots: %llu; messages behind a gate: %llu\n",
	       (unsigned long long)t->logged, (unsigned long long)t->loggers,
	       (unsigned long long)t->durable, (unsigned long long)t->established,
	       (unsigned long long)t->long_ranges, (unsigned long long)t->followed,
	       (unsigned long long)t->gave_up,
	       (unsigned long long)t->fetched, (unsigned long long)t->snapshots,
	       (unsigned long long)t->gated);
	printf("# logs that had all in the end: %llu; that too few members were left for: %llu; whose disks were dead: %llu\n",
	       (unsigned long long)t->all_durable, (unsigned long long)t->stood_still,
	       (unsigned long long)t->waited);
	printf("# lanes that broke alone: %llu, idle and closed: %llu, other ends replaced: %llu; schedules without quorum: %llu\n",
	       (unsigned long long)t->snapped, (unsigned long long)t->idled,
	       (unsigned long long)t->renewed, (unsigned long long)t->any);
}

static void report(const struct total *t, double seconds)
{
	static const char * const state[] = {
		"ACTIVE", "WEDGED", "FENCED", "ECHOED", "COMMITTED", "STOPPED",
		"JOINING"
	};
	static const char * const reason[] = {
		"-", "silent", "lost", "gone", "admin", "gossip", "lied", "minority", "evicted", "left",
		"layout"
	};
	static const char * const fault[] = {
		"crash", "pause", "cut", "deaf", "mute", "leave", "evict", "join",
		"split", "freeze", "back", "rules", "link", "stop"
	};
	static const char * const lie[] = {
		"bytes", "torn", "state", "fence", "decree", "have", "wish", "block", "header",
		"express", "card", "hello", "talk", "log"
	};
	u32 i, j;

	report_counts(t, seconds);
	for (i = 0; i < SPINDLE_MB_STATES; i++)
		for (j = 0; j < SPINDLE_MB_STATES; j++)
			if (t->edges[i][j])
				printf("# %-9s -> %-9s %10llu\n", state[i], state[j],
				       (unsigned long long)t->edges[i][j]);
	for (i = 0; i < FAULT_KINDS; i++)
		printf("# fault: %-16s %9llu\n", fault[i], (unsigned long long)t->happened[i]);
	printf("# schedules with a liar: %llu; deliveries there that another node had made: %llu\n",
	       (unsigned long long)t->liars, (unsigned long long)t->compared);
	for (i = 0; i < LIE_KINDS; i++)
		printf("# lie: %-10s told %9llu, found out %7llu\n", lie[i],
		       (unsigned long long)t->lies[i], (unsigned long long)t->found[i]);
	for (i = 0; i <= SPINDLE_MB_LAYOUT; i++)
		if (t->stops[i])
			printf("# stopped: %-14s %9llu\n", reason[i],
			       (unsigned long long)t->stops[i]);
}

/* Run one seed. Returns true if it fails. */
static bool run_one(u64 seed, u64 skip, bool verbose, struct total *t)
{
	struct sim *sim = sim_open(seed, skip, verbose);
	bool failed;

	sim_run(sim);
	failed = sim->failed;
	if (t && failed)
		printf("seed %llu, %u nodes, time %llu: %s\n", (unsigned long long)seed,
		       sim->nodes, (unsigned long long)sim->now, sim->why);
	if (t)
		add(t, sim);
	sim_close(sim);
	return failed;
}

/* Leave out one fault after the other. A fault stays out if the seed fails without it. */
static u64 shrink(u64 seed, u64 skip)
{
	u32 i;

	for (i = 0; i < SIM_FAULTS; i++)
		if (!(skip & BIT_ULL(i)) && run_one(seed, skip | BIT_ULL(i), false, NULL))
			skip |= BIT_ULL(i);
	return skip;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void progress(u64 done, u64 n)
{
	static double last;
	double now = seconds();
	char bar[41];
	u32 i;

	if (now - last < 0.2 && done != n)
		return;
	last = now;
	for (i = 0; i < 40; i++)
		bar[i] = i < 40 * done / n ? '#' : '.';
	bar[40] = 0;
	fprintf(stderr, "\r[%s] %llu of %llu%s", bar, (unsigned long long)done,
		(unsigned long long)n, done == n ? "\n" : "");
}

struct options {
	u64 first;
	u64 n;
	u64 skip;
	u64 most; /* failures until the program gives up */
	u32 jobs;
	bool verbose;
	bool progress;
	bool cover;
};

/* Run each seed of a job: every o->jobs-th one, from number @job on. */
static void run_some(const struct options *o, u32 job, struct total *t)
{
	u64 i, skip;

	for (i = job; i < o->n && t->failed < o->most; i += o->jobs) {
		if (run_one(o->first + i, o->skip, o->verbose, t)) {
			t->failed++;
			skip = shrink(o->first + i, o->skip);
			printf("# the same: -n 1 -s %llu -x 0x%llx\n",
			       (unsigned long long)(o->first + i), (unsigned long long)skip);
		}
		if (o->progress && !job)
			progress(min(i + o->jobs, o->n), o->n);
	}
}

/* A total has only counters. */
static void sum(struct total *to, const struct total *t)
{
	u64 *a = (u64 *)to;
	const u64 *b = (const u64 *)t;
	u32 i;

	for (i = 0; i < sizeof(*to) / sizeof(u64); i++)
		a[i] += b[i];
}

/* Each job is a process, which writes its counters into a pipe. */
static bool run_jobs(const struct options *o, struct total *total)
{
	int fd[2], status, n;
	struct total t;
	bool ok = true;
	u32 job;

	if (o->jobs == 1) {
		run_some(o, 0, total);
		return true;
	}
	if (pipe(fd))
		return false;
	for (job = 0; job < o->jobs; job++) {
		if (fork())
			continue;
		memset(&t, 0, sizeof(t));
		run_some(o, job, &t);
		/* A total is small enough for one atomic write to a pipe. */
		exit(write(fd[1], &t, sizeof(t)) != sizeof(t));
	}
	close(fd[1]);
	while ((n = read(fd[0], &t, sizeof(t))) > 0) {
		ok &= n == sizeof(t);
		sum(total, &t);
	}
	while (wait(&status) > 0)
		ok &= !status;
	return ok;
}

/* Was every edge of the state machine taken, and was a decree with other rules adopted? */
static bool covered(const struct total *t)
{
	bool all = t->rules_adopted;
	u32 i, j;

	if (!all)
		printf("not ok - no takeover has adopted a decree with other rules\n");
	for (i = 0; i < SPINDLE_MB_STATES; i++) {
		for (j = 0; j < SPINDLE_MB_STATES; j++) {
			if (!spindle_mb_may(i, j) || t->edges[i][j])
				continue;
			printf("not ok - no member has gone from state %u to %u\n", i, j);
			all = false;
		}
	}
	return all;
}

/*
 * The number of an option. A wrong number ends the program, because 1e6 for 1000000 would be one
 * seed.
 */
static u64 number(char option, const char *text, u64 least, u64 most)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (!isdigit((unsigned char)*text) || *end || errno || value < least || value > most) {
		fprintf(stderr, "sim: -%c %s: not a number from %llu to %llu\n", option, text,
			(unsigned long long)least, (unsigned long long)most);
		exit(2);
	}
	return value;
}

/* Keep freed memory for the next schedule, because page faults would take a third of the time. */
static void keep_memory(void)
{
	mallopt(M_MMAP_THRESHOLD, HEAP_BYTES);
	mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
	mallopt(M_TOP_PAD, KEPT_BYTES);
}

int main(int argc, char **argv)
{
	struct options o = { .first = 1, .n = 1000, .jobs = 1, .most = 10 };
	struct total total = {};
	double begin = seconds();
	bool ok;
	int c;

	while ((c = getopt(argc, argv, "epvs:n:x:j:m:")) != -1) {
		switch (c) {
		case 'e':
			o.cover = true;
			break;
		case 'p':
			o.progress = isatty(STDERR_FILENO);
			break;
		case 'v':
			o.verbose = true;
			break;
		case 's':
			o.first = number(c, optarg, 0, U64_MAX);
			break;
		case 'n':
			o.n = number(c, optarg, 1, U64_MAX);
			break;
		case 'x':
			o.skip = number(c, optarg, 0, U64_MAX);
			break;
		case 'm':
			o.most = number(c, optarg, 1, U64_MAX);
			break;
		case 'j':
			o.jobs = number(c, optarg, 1, MOST_JOBS);
			break;
		default:
			fprintf(stderr, "usage: sim [-e] [-p] [-v] [-j JOBS] [-s FIRST] [-n SEEDS] [-x FAULTS] [-m FAILURES]\n");
			return 2;
		}
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	keep_memory();
	ok = run_jobs(&o, &total);
	report(&total, seconds() - begin);
	ok &= !o.cover || covered(&total);
	return ok && !total.failed ? 0 : 1;
}
