// SPDX-License-Identifier: GPL-2.0-only
/*
 * table-perf: the speed of a table whose members are nodes of this kernel (SST paper, section 5).
 *
 *	table-perf MODE [OPTION]...	a heading and a row of CSV on standard output
 *
 *	write	a process writes a cell of node 1, and looks at the rows of node 1 at all others
 *	wake	the same, but the process sleeps until a row of the last node may have changed
 *	back	node 1 and the last node answer each other by predicates
 *	all	the same, but all nodes answer, and node 1 waits for all
 *	count	all nodes count in step by predicates, as Documentation/examples/counting.c
 *	read	of mode read: a process of node 1 asks for a read of all rows, and waits for its end
 *	raw	the same, but the kernel reads whole rows again and again, without the table
 *
 * In a table of mode read, nodes that wait for rows of others read without pause in all modes but
 * the last two.
 *
 * With one member, "back" is predicates that always hold, each of which counts in a field of the
 * own row.
 *
 *	-n N	members, which are nodes 1 to N (2)
 *	-t ID	table (1)
 *	-x C	the cell (1)
 *	-r R	rows that the predicate of node 1 looks at: 1 to 24, or all others (all others)
 *	-c N	rounds of a repetition (1000)
 *	-k N	repetitions (5)
 *	-p P	predicates of the one member, 1 to 6 (1)
 *
 * One process attaches to the table at all nodes. The field is the last one of the value, so cells
 * of any size are read to the end. A time is the median of repetitions, with the least and the
 * most. The first repetition does not count.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <spindle/predicate.h>

#include "nl.h"
#include "times.h"

#define MAX_REPS	64
#define MAX_ROUNDS	1000000
#define PATIENCE_MS	120000

/* Four terms with eight nodes each, and one term is needed for the end. */
#define MAX_ROWS	24

/* As many fields as the smallest cell has. */
#define MAX_COUNTERS	6

/* The value of a row that nobody has to wait for. */
#define FAR_AHEAD	(1ULL << 62)

enum mode { WRITE, WAKE, BACK, ALL, COUNT, READ, RAW, MODES };

static struct spindle_table table[SPINDLE_MAX_MEMBERS];	/* of node i + 1 */
static uint32_t nodes = 2, id = 1, cell = 1, rows, rounds = 1000, reps = 5, counters = 1, mode;
static struct spindle_field field;
static uint64_t value;			/* that all rows have, or are to have */

/* The samples of a repetition, and medians of all repetitions, in nanoseconds. */
static double sample[2][MAX_ROUNDS], result[2][MAX_REPS];

#define fail(...) do { fprintf(stderr, "table-perf: " __VA_ARGS__); exit(1); } while (0)

static int check(struct spindle_table *t, int ret)
{
	char why[256];

	if (ret < 0)
		fail("node %u: %s\n", t->node,
		     spindle_table_call_strerror(t, ret, why, sizeof(why)));
	return ret;
}

/* ---- rows ----------------------------------------------------------------- */

static void attach(uint32_t node)
{
	struct spindle_table_attr o = {
		.node = node, .table = id,
		.flags = SPINDLE_TABLE_WRITE | (mode == WAKE ? 0 : SPINDLE_TABLE_SIGNALS),
	};
	struct spindle_table *t = &table[node - 1];
	int err = spindle_table_attach(t, &o);
	char why[256];

	if (err)
		fail("%s\n", spindle_table_attach_strerror(t, &o, err, why, sizeof(why)));
}

/* Write the field of a node's own row, and those of further predicates. */
static void put(struct spindle_table *t, uint64_t v)
{
	unsigned char *p = spindle_cell_begin(t, cell);
	uint32_t i;

	if (!p)
		fail("there is no cell %u\n", cell);
	for (i = 0; i < counters; i++)
		memcpy(p + field.offset - i * sizeof(v), &v, sizeof(v));
	check(t, spindle_cell_end(t, cell));
}

/* The field of the row of @owner at another node; 0 while the cell is torn. */
static uint64_t get(struct spindle_table *t, uint32_t owner)
{
	static unsigned char buf[SPINDLE_MAX_CELL];
	uint32_t instance, len = spindle_cell_bytes(t);
	uint64_t v = 0;

	if (!spindle_table_instance(t, owner, &instance) &&
	    !spindle_cell_get(t, instance, cell, buf, len, NULL))
		memcpy(&v, buf + field.offset, sizeof(v));
	return v;
}

/* Look until all nodes have this value of @owner. The caller of the program limits its time. */
static void await(uint32_t owner, uint64_t v)
{
	uint32_t i;

	for (i = 0; i < nodes; i++)
		while (i + 1 != owner && get(&table[i], owner) != v)
			sched_yield();
}

/* Let a node read the rows of others without pause, or not at all. */
static void every(uint32_t i, bool on)
{
	if (spindle_table_is_read(&table[i]))
		check(&table[i], spindle_table_every(&table[i], on));
}

/* Does a node have a predicate that counts? */
static bool answers(uint32_t i)
{
	return !i || i == nodes - 1 || mode == ALL || mode == COUNT;
}

/* Does a node wait for rows of others while the time runs? */
static bool waits(uint32_t i)
{
	switch (mode) {
	case WRITE:
		return i;
	case WAKE:
		return i == nodes - 1;
	case READ:
	case RAW:
		return false;
	default:
		return answers(i);
	}
}

/* Write all rows. When they have arrived, all connections are there. */
static void put_all(void)
{
	uint32_t i;

	value = 1;
	for (i = 0; i < nodes; i++) {
		put(&table[i], answers(i) ? value : FAR_AHEAD);
		every(i, true);
	}
	for (i = 0; i < nodes; i++)
		await(i + 1, answers(i) ? value : FAR_AHEAD);
	for (i = 0; i < nodes; i++)
		every(i, waits(i));
}

/* ---- writes of a process -------------------------------------------------- */

static void await_awake(struct spindle_table *t, uint64_t v)
{
	while (get(t, 1) != v)
		if (!check(t, spindle_table_wait(t, PATIENCE_MS)))
			fail("node %u does not get the row of node 1\n", t->node);
}

static void run_write(uint32_t rep)
{
	uint64_t begin, posted;
	uint32_t i;

	for (i = 0; i < rounds; i++) {
		begin = now();
		put(&table[0], ++value);
		posted = now();
		if (mode == WAKE)
			await_awake(&table[nodes - 1], value);
		else
			await(1, value);
		sample[0][i] = now() - begin;
		sample[1][i] = posted - begin;
	}
	result[0][rep] = median(sample[0], rounds);
	result[1][rep] = median(sample[1], rounds);
}

/* ---- reads ---------------------------------------------------------------- */

static void run_read(uint32_t rep)
{
	struct spindle_table *t = &table[0];
	uint64_t begin, posted;
	uint32_t i;

	for (i = 0; i < rounds; i++) {
		begin = now();
		check(t, spindle_table_refresh(t, 0));
		posted = now();
		while (!spindle_table_refreshed(t))
			sched_yield();
		sample[0][i] = now() - begin;
		sample[1][i] = posted - begin;
	}
	result[0][rep] = median(sample[0], rounds);
	result[1][rep] = median(sample[1], rounds);
}

/* The sums of all answers. */
struct raw {
	uint64_t done, ns, post_ns;
};

static int take_raw(void *ctx, const struct nlmsghdr *nlh)
{
	const struct nlattr *nest = nl_find(nl_attrs(nlh), nl_attrs_len(nlh), SPINDLE_A_RAW);
	struct raw *raw = ctx;

	if (!nest)
		return 0;
	raw->done += nl_num(nl_find(nl_data(nest), nl_len(nest), SPINDLE_RAW_A_COUNT));
	raw->ns += nl_num(nl_find(nl_data(nest), nl_len(nest), SPINDLE_RAW_A_NS));
	raw->post_ns += nl_num(nl_find(nl_data(nest), nl_len(nest), SPINDLE_RAW_A_POST_NS));
	return 0;
}

static void ask_raw(struct nl *nl, uint32_t count, struct raw *raw)
{
	uint8_t kind = SPINDLE_RAW_READ;
	static struct nl_req r;
	struct nl_ack ack;
	int err;

	do {
		nl_begin(nl, &r, SPINDLE_CMD_RAW_RUN, 0);
		nl_put_u32(&r, SPINDLE_A_NODE_ID, 1);
		nl_put_u32(&r, SPINDLE_A_SUBGROUP_ID, id);
		nl_nest(&r, SPINDLE_A_RAW | NLA_F_NESTED);
		nl_put(&r, SPINDLE_RAW_A_KIND, &kind, sizeof(kind));
		nl_put_u32(&r, SPINDLE_RAW_A_SIZE, table[0].cells * table[0].cell);
		nl_put_u32(&r, SPINDLE_RAW_A_COUNT, count);
		nl_nest_end(&r);
		err = nl_talk(nl, &r, &ack, take_raw, raw);
		/* The last read of a row may not have ended. */
	} while (!err && ack.err == -EBUSY);
	if (err || ack.err)
		fail("raw reads: %s\n", err ? strerror(-err) : ack.text);
}

/* The kernel bounds the time of a request, so that there may be several. */
static void run_raw(uint32_t rep)
{
	struct raw raw = { 0 };
	struct nl nl;
	int err = nl_open(&nl);

	if (err)
		fail("netlink: %s\n", strerror(-err));
	while (raw.done < rounds)
		ask_raw(&nl, rounds - raw.done, &raw);
	close(nl.fd);
	result[0][rep] = (double)raw.ns / raw.done;
	result[1][rep] = (double)raw.post_ns / raw.done;
}

/* ---- predicates ----------------------------------------------------------- */

static uint32_t add(struct spindle_table *t, struct spindle_predicate *p)
{
	int ret = spindle_predicate_add(t, p);
	char why[256];

	if (ret < 0)
		fail("%s\n", spindle_predicate_strerror(t, p, ret, why, sizeof(why)));
	return ret;
}

/* The rows of nodes from @first on, @count of them. */
static struct spindle_number each_of(uint32_t first, uint32_t count)
{
	uint32_t node[SPINDLE_MAX_ROW_NODES], i;

	for (i = 0; i < count && i < SPINDLE_MAX_ROW_NODES; i++)
		node[i] = first + i;
	return spindle_number_nodes(spindle_number_each(field), node, i);
}

/* The last @rows nodes are at least at @right. */
static void when_rows(struct spindle_predicate *p, struct spindle_number right)
{
	uint32_t left = rows, count;
	struct spindle_number each;

	if (rows == nodes - 1) {
		each = spindle_number_others(spindle_number_each(field));
		spindle_predicate_when(p, spindle_term_rows(SPINDLE_ALL_ROWS, each, SPINDLE_CMP_GE,
							    right));
		return;
	}
	while (left) {
		count = left < SPINDLE_MAX_ROW_NODES ? left : SPINDLE_MAX_ROW_NODES;
		each = each_of(nodes - left + 1, count);
		spindle_predicate_when(p, spindle_term_rows(SPINDLE_ALL_ROWS, each, SPINDLE_CMP_GE,
							    right));
		left -= count;
	}
}

/* A predicate that adds 1 to the own field while it is below @end. */
static void begin_step(struct spindle_predicate *p, uint64_t end)
{
	spindle_predicate_init(p, SPINDLE_KIND_RECURRENT);
	spindle_predicate_when(p, spindle_term_compare(spindle_number_own(field), SPINDLE_CMP_LT,
						       spindle_number_constant(end)));
	spindle_predicate_then(p, spindle_do_add(field, 1));
}

/* Node 1: the rows that it looks at are where it is. */
static uint32_t add_caller(uint64_t end)
{
	struct spindle_predicate p;

	begin_step(&p, end);
	when_rows(&p, spindle_number_own(field));
	return add(&table[0], &p);
}

/* Another node: node 1 is ahead. */
static uint32_t add_answer(struct spindle_table *t, uint64_t end)
{
	struct spindle_predicate p;

	begin_step(&p, end);
	spindle_predicate_when(&p, spindle_term_rows(SPINDLE_ALL_ROWS, each_of(1, 1),
						     SPINDLE_CMP_GT, spindle_number_own(field)));
	return add(t, &p);
}

static uint32_t add_count(struct spindle_table *t, uint64_t end)
{
	struct spindle_predicate p;

	begin_step(&p, end);
	spindle_predicate_when(&p, spindle_term_all(field, SPINDLE_CMP_GE,
						    spindle_number_own(field)));
	return add(t, &p);
}

/* A predicate that holds in each look up to @end, and counts in field @i from the cell's end. */
static uint32_t add_counter(uint32_t i, uint64_t end)
{
	struct spindle_field at = field;
	struct spindle_predicate p;

	at.offset -= i * sizeof(uint64_t);
	spindle_predicate_init(&p, SPINDLE_KIND_RECURRENT);
	spindle_predicate_when(&p, spindle_term_compare(spindle_number_own(at), SPINDLE_CMP_LT,
							spindle_number_constant(end)));
	spindle_predicate_then(&p, spindle_do_add(at, 1));
	return add(&table[0], &p);
}

/* Signal to the process when the rows, and that of node 1, are at @end. */
static uint32_t add_end(uint64_t end)
{
	struct spindle_predicate p;

	spindle_predicate_init(&p, SPINDLE_KIND_ONCE);
	spindle_predicate_when(&p, spindle_term_compare(spindle_number_own(field), SPINDLE_CMP_GE,
							spindle_number_constant(end)));
	if (nodes > 1)
		when_rows(&p, spindle_number_constant(end));
	spindle_predicate_then(&p, spindle_do_signal());
	return add(&table[0], &p);
}

static void await_signal(uint32_t end)
{
	struct spindle_table *t = &table[0];

	while (!spindle_predicate_fired(t, end))
		if (!check(t, spindle_table_wait_signal(t, PATIENCE_MS)))
			fail("time is up at %llu\n", (unsigned long long)get(t, 1));
}

/* Node 1 begins when it gets its predicate, which is the last one. */
static uint32_t add_step(uint32_t i, uint64_t end)
{
	if (mode == COUNT)
		return add_count(&table[i], end);
	if (!i)
		return add_caller(end);
	return answers(i) ? add_answer(&table[i], end) : 0;
}

static void run_predicates(uint32_t rep)
{
	uint32_t p[SPINDLE_MAX_MEMBERS], more[MAX_COUNTERS], last, i;
	uint64_t end = value + rounds, begin;

	last = add_end(end);
	for (i = 1; i < counters; i++)
		more[i] = add_counter(i, end);
	for (i = nodes - 1; i; i--)
		p[i] = add_step(i, end);
	begin = now();
	p[0] = add_step(0, end);
	await_signal(last);
	result[0][rep] = (double)(now() - begin) / rounds;
	check(&table[0], spindle_predicate_remove(&table[0], last));
	for (i = 1; i < counters; i++)
		check(&table[0], spindle_predicate_remove(&table[0], more[i]));
	for (i = 0; i < nodes; i++)
		if (answers(i))
			check(&table[i], spindle_predicate_remove(&table[i], p[i]));
	value = end;
}

/* ---- all of it ------------------------------------------------------------ */

static void repeat(uint32_t rep)
{
	switch (mode) {
	case WRITE:
	case WAKE:
		run_write(rep);
		break;
	case READ:
		run_read(rep);
		break;
	case RAW:
		run_raw(rep);
		break;
	default:
		run_predicates(rep);
	}
}

static void print_time(double *ns, double share)
{
	double middle = median(ns, reps);

	printf(",%.4f,%.4f,%.4f", middle * share / 1000, ns[0] * share / 1000,
	       ns[reps - 1] * share / 1000);
}

/* A detection is half a round of two that answer each other. */
static void print_row(void)
{
	double share = mode == BACK && nodes > 1 ? 0.5 : 1;

	printf("nodes,cell,rows,rounds,time_us,time_us_min,time_us_max,post_us,post_us_min,"
	       "post_us_max,rate\n%u,%u,%u,%u", nodes, table[0].cell, rows, rounds);
	print_time(result[0], share);
	if (mode == WRITE || mode == WAKE || mode == READ || mode == RAW)
		print_time(result[1], 1);
	else
		printf(",,,");
	printf(",%.0f\n", 1e9 / (median(result[0], reps) * share));
}

static uint32_t number(const char *text, uint32_t max)
{
	char *end;
	unsigned long v = strtoul(text, &end, 10);

	if (!*text || *end || v > max) {
		fprintf(stderr, "table-perf: not a number up to %u: %s\n", max, text);
		exit(2);
	}
	return v;
}

static void parse(int argc, char **argv)
{
	static const char *const name[] = {
		"write", "wake", "back", "all", "count", "read", "raw",
	};
	int c;

	for (mode = 0; mode < MODES && (argc < 2 || strcmp(argv[1], name[mode])); mode++)
		;
	while (mode < MODES && (c = getopt(argc - 1, argv + 1, "n:t:x:r:c:k:p:")) != -1) {
		switch (c) {
		case 'n':
			nodes = number(optarg, SPINDLE_MAX_MEMBERS);
			break;
		case 't':
			id = number(optarg, ~0U);
			break;
		case 'x':
			cell = number(optarg, SPINDLE_MAX_CELLS);
			break;
		case 'r':
			rows = number(optarg, MAX_ROWS);
			break;
		case 'c':
			rounds = number(optarg, MAX_ROUNDS);
			break;
		case 'k':
			reps = number(optarg, MAX_REPS);
			break;
		case 'p':
			counters = number(optarg, MAX_COUNTERS);
			break;
		default:
			mode = MODES;
		}
	}
	if (mode == MODES || !nodes || !rounds || !reps || (counters != 1 && nodes != 1)) {
		fprintf(stderr,
			"usage: table-perf write|wake|back|all|count|read|raw [OPTION]...\n");
		exit(2);
	}
	if (!rows || rows >= nodes || mode == ALL || mode == COUNT)
		rows = nodes - 1;
}

int main(int argc, char **argv)
{
	uint32_t i, rep;

	parse(argc, argv);
	for (i = 0; i < nodes; i++)
		attach(i + 1);
	field = spindle_field_u64(cell, spindle_cell_bytes(&table[0]) - 8);
	put_all();
	repeat(0);
	for (rep = 0; rep < reps; rep++)
		repeat(rep);
	print_row();
	return 0;
}
