// SPDX-License-Identifier: GPL-2.0-only
/*
 * ring-garbage: a process that writes rubbish into its rings.
 *
 *	ring-garbage -n NODE -g SUBGROUP [-i ITERATIONS] [-f FILE] [-S SEED] [-r]
 *
 * In a loop, the program attaches, breaks a rule, checks the result, and detaches. The kernel must
 * freeze the attachment with the right error, and count and report that once. Later actions of the
 * process must have no effect. The loop runs at least ITERATIONS times, and until the file -f
 * exists. With -r the program only reads, so that it cannot disturb messages that others check.
 *
 * The random numbers follow from the seed and from the number of the iteration. So -o NUMBER
 * repeats a single iteration.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>
#include <spindle/spindle.h>

#include "loop.h"

#define BOTH	(SPINDLE_ATTACH_SEND | SPINDLE_ATTACH_RECV)
#define SEND	SPINDLE_ATTACH_SEND
#define RECV	SPINDLE_ATTACH_RECV
#define COPY	(SPINDLE_ATTACH_RECV | SPINDLE_ATTACH_COPY)
#define WAIT	20000

#define ERR(e)	(1U << SPINDLE_ERR_##e)
#define TX_ANY	(ERR(TX_READY) | ERR(TX_EXTENT) | ERR(TX_LEN) | ERR(TX_MASK))
#define ANY	(TX_ANY | ERR(CONSUMED))

static struct loop opt = { .iterations = 60, .seed = 1 };
static int only_number = -1;
static bool only_read;

static struct nl nl, events;

/* ---- wrong descriptors ------------------------------------------------ */

static struct spindle_tx_desc *desc_at(struct spindle_queue *q, uint64_t slot)
{
	return &q->usr_desc[slot & (q->window - 1)];
}

/* Write the descriptor of a correct commit, except for its ready word. */
static struct spindle_tx_desc *right_desc(struct spindle_queue *q, struct spindle_slot *s,
					  uint32_t len)
{
	struct spindle_tx_desc *d;
	int err, tries = WAIT / 10;

	/* Honest messages of this node may still be under way. */
	while ((err = spindle_reserve(q, len, s)) == -EAGAIN && tries--)
		usleep(10000);
	if (err)
		die("reserve: %s", strerror(-err));
	d = desc_at(q, s->slot);
	d->unit = s->unit;
	d->units = spindle_units(len);
	d->len = len;
	d->flags = 0;
	d->mask = 0;
	return d;
}

static void ready(struct spindle_tx_desc *d, const struct spindle_slot *s)
{
	spindle_store_release(&d->ready, s->slot + 1);
}

static void bad_ready(struct spindle_queue *q)
{
	struct spindle_slot s;
	struct spindle_tx_desc *d = right_desc(q, &s, 64);
	uint64_t v;

	do
		v = rnd() >> rnd() % 64;
	while (!v || v == s.slot + 1 || v == s.slot + 1 - q->window);
	spindle_store_release(&d->ready, v);
}

static void bad_ready_ahead(struct spindle_queue *q)
{
	struct spindle_slot s;
	struct spindle_tx_desc *d = right_desc(q, &s, 64);

	spindle_store_release(&d->ready, s.slot + 1 + q->window);
}

static void bad_unit(struct spindle_queue *q)
{
	struct spindle_slot s;
	struct spindle_tx_desc *d = right_desc(q, &s, 64);

	d->unit += rnd() % 2 ? 1 : (uint32_t)rnd() | 1;
	ready(d, &s);
}

static void bad_unit_back(struct spindle_queue *q)
{
	struct spindle_slot s;
	struct spindle_tx_desc *d = right_desc(q, &s, 64);

	d->unit -= q->tx_units;
	ready(d, &s);
}

static void bad_units(struct spindle_queue *q)
{
	struct spindle_slot s;
	struct spindle_tx_desc *d = right_desc(q, &s, 64);

	d->units = rnd() % 2 ? q->tx_units + 1 : UINT32_MAX - rnd() % 4;
	ready(d, &s);
}

static void bad_flags(struct spindle_queue *q)
{
	struct spindle_slot s;
	struct spindle_tx_desc *d = right_desc(q, &s, 64);

	d->flags = 2U << rnd() % 15;
	ready(d, &s);
}

/* Destinations that the view did not have, among others that it has. */
static void bad_mask(struct spindle_queue *q)
{
	struct spindle_slot s;
	struct spindle_tx_desc *d = right_desc(q, &s, 64);

	d->flags = (uint32_t)q->vid << SPINDLE_TX_VIEW_SHIFT;
	d->mask = 1ULL << (q->members + rnd() % (64 - q->members)) | rnd() % 2;
	ready(d, &s);
}

/* Destinations in a view that never was. */
static void bad_view(struct spindle_queue *q)
{
	struct spindle_slot s;
	struct spindle_tx_desc *d = right_desc(q, &s, 64);

	d->flags = (uint32_t)(q->vid - 1 - rnd() % 1000) << SPINDLE_TX_VIEW_SHIFT;
	d->mask = 1;
	ready(d, &s);
}

static void bad_len(struct spindle_queue *q)
{
	struct spindle_slot s;
	struct spindle_tx_desc *d = right_desc(q, &s, 64);

	d->len = rnd() % 2 ? 65 : q->max_msg + 1 + rnd() % 1000;
	ready(d, &s);
}

static void bad_len_huge(struct spindle_queue *q)
{
	struct spindle_slot s;
	struct spindle_tx_desc *d = right_desc(q, &s, 64);

	d->len = UINT32_MAX - rnd() % 64;
	ready(d, &s);
}

/* Wait until no message of this node is under way. */
static void settle(struct spindle_queue *q)
{
	struct spindle_msg m;
	int i;

	for (i = 0; i < WAIT; i++) {
		while (spindle_peek(q, &m) > 0)
			;
		spindle_release(q);
		if ((uint32_t)spindle_load_acquire(q->ctl_tx_slot) ==
		    (uint32_t)spindle_load_acquire(q->usr_reserve))
			return;
		usleep(1000);
	}
	die("own messages do not come back");
}

/* A full window of honest messages, none of them released, and one more. */
static void bad_lap(struct spindle_queue *q)
{
	struct spindle_slot s = { 0 };
	struct spindle_tx_desc *d;
	struct spindle_msg m;
	uint32_t i, own = 0;
	int wait = WAIT;

	settle(q);
	for (i = 0; i < q->window; i++) {
		if (spindle_reserve(q, 8, &s))
			die("a window has less than %u slots", q->window);
		memset(s.data, 1, 8);
		spindle_commit(q, &s, 8);
	}
	while (own < q->window && wait--) {
		while (spindle_peek(q, &m) > 0)
			own += m.node == opt.node;
		usleep(1000);
	}
	d = desc_at(q, s.slot + 1);
	d->unit = s.unit + 1;
	s.slot++;
	ready(d, &s);
}

/* More units than are free, while some are in use. */
static void bad_room(struct spindle_queue *q)
{
	struct spindle_slot s;
	struct spindle_tx_desc *d;

	right_desc(q, &s, 64);
	spindle_commit(q, &s, 64);
	d = right_desc(q, &s, 64);
	d->units = q->tx_units;
	ready(d, &s);
}

/* ---- wrong counters --------------------------------------------------- */

static void bad_consumed(struct spindle_queue *q)
{
	uint64_t tail = spindle_load_acquire(q->ctl_dlv_tail), v;

	/* The tail may grow, but not by so much. */
	v = tail + (1 << 20) + (rnd() >> rnd() % 64);
	spindle_store_release(q->usr_consumed, rnd() % 2 ? v : UINT64_MAX);
}

/*
 * Go back, but only after the kernel has read a larger number. An own slot becomes free after the
 * own reader has consumed its message, so the kernel has read that number.
 */
static void bad_consumed_back(struct spindle_queue *q)
{
	uint64_t noticed = 0;
	struct spindle_slot s;
	struct spindle_msg m;
	int i;

	settle(q);
	right_desc(q, &s, 64);
	spindle_commit(q, &s, 64);
	for (i = 0; i < WAIT && spindle_load_acquire(q->ctl_tx_slot) <= s.slot; i++) {
		while (spindle_peek(q, &m) > 0)
			if (m.node == opt.node)
				noticed = q->rx_cursor;
		spindle_release(q);
		usleep(1000);
	}
	if (!noticed)
		die("an own message did not come back");
	spindle_store_release(q->usr_consumed, noticed - 1);
}

/* ---- both ------------------------------------------------------------- */

static void scribble(void *p, size_t len)
{
	uint64_t *word = p;
	size_t i;

	for (i = 0; i < len / 8; i++)
		word[i] = rnd() >> rnd() % 64;
}

/* Random words may be right by chance, so add words that cannot be. */
static void spoil(struct spindle_queue *q)
{
	uint32_t i;

	for (i = 0; (q->flags & SEND) && i < q->window; i++)
		spindle_store_release(&q->usr_desc[i].ready, rnd() | 1ULL << 40);
	if (q->flags & RECV)
		spindle_store_release(q->usr_consumed, rnd() | 1ULL << 62);
}

static void bad_everything(struct spindle_queue *q)
{
	scribble(q->map_usr.addr, q->map_usr.len);
	if (q->map_tx.len)
		scribble(q->map_tx.addr, q->map_tx.len / 2);
	spoil(q);
}

static void bad_words(struct spindle_queue *q)
{
	__u64 *word = q->map_usr.addr;
	int i;

	for (i = 0; i < 64; i++)
		spindle_store_release(&word[rnd() % (q->map_usr.len / 8)], rnd() >> rnd() % 64);
	spoil(q);
}

static uint64_t delivered(void);

/* The deliveries of this node when delivery was blocked. */
static uint64_t blocked_at;

/* A full copying reader blocks delivery. A frozen one must not. */
static void bad_while_full(struct spindle_queue *q)
{
	uint64_t tail = 0, now;
	int still = 0;

	while (still < 20) {
		struct spindle_slot s;
		int err = spindle_reserve(q, q->max_msg, &s);

		if (!err) {
			memset(s.data, 2, s.len);
			spindle_commit(q, &s, s.len);
			continue;
		}
		now = spindle_load_acquire(q->ctl_dlv_tail);
		still = now == tail ? still + 1 : 0;
		tail = now;
		usleep(20000);
	}
	blocked_at = delivered();
	/* The engine has taken all commits, so this is the next slot. */
	spindle_store_release(&desc_at(q, spindle_load_acquire(q->usr_reserve))->ready,
			      1ULL << 40);
}

/* Words that change while the kernel looks at them. */
struct racer {
	struct spindle_queue *q;
	struct spindle_slot s;
	uint64_t seed;
};

static void poke(__u32 *word, uint32_t right, uint64_t v)
{
	__atomic_store_n(word, v >> 8 & 1 ? v >> 32 : right, __ATOMIC_RELAXED);
}

static void *race(void *arg)
{
	struct racer *r = arg;
	struct spindle_tx_desc *d = desc_at(r->q, r->s.slot);
	uint64_t v = r->seed;
	int i;

	for (i = 0; i < 20000 && spindle_state(r->q) <= SPINDLE_STATE_ACTIVE; i++) {
		v = mix(v + i);
		switch (v % 6) {
		case 0:
			poke(&d->len, 64, v);
			break;
		case 1:
			poke(&d->units, 1, v);
			break;
		case 2:
			poke(&d->unit, r->s.unit, v);
			break;
		case 3:
			poke(&d->flags, 0, v);
			break;
		case 4:
			__atomic_store_n(&d->mask, v >> 8 & 1 ? 1ULL << 63 : 0, __ATOMIC_RELAXED);
			break;
		case 5:
			ready(d, &r->s);
			break;
		}
		memcpy(r->s.data, &v, sizeof(v));
	}
	return NULL;
}

static void bad_race(struct spindle_queue *q)
{
	struct racer r = { .q = q, .seed = rnd() };
	pthread_t thread;
	int i;

	right_desc(q, &r.s, 64);
	if (pthread_create(&thread, NULL, race, &r))
		die("no thread");
	for (i = 0; i < 200; i++)
		spindle_kick(q);
	pthread_join(thread, NULL);
	/* The words may have been right by chance, so write wrong ones. */
	bad_words(q);
}

/* ---- harmless changes -------------------------------------------------- */

static void own_reserve(struct spindle_queue *q)
{
	uint64_t was = spindle_load_acquire(q->usr_reserve);
	struct pollfd p = { .fd = spindle_fd(q), .events = POLLIN | POLLOUT };
	int i;

	for (i = 0; i < 20; i++) {
		spindle_store_release(q->usr_reserve, rnd());
		spindle_kick(q);
		poll(&p, 1, 0);
	}
	spindle_store_release(q->usr_reserve, was);
}

/* Payload that changes while it is sent. The kernel does not interpret these bytes. */
static void own_payload(struct spindle_queue *q)
{
	struct spindle_slot s;
	int i;

	for (i = 0; i < 10; i++) {
		right_desc(q, &s, q->max_msg);
		spindle_commit(q, &s, q->max_msg);
		scribble(q->map_tx.addr, q->map_tx.len / 2);
	}
}

static void own_future(struct spindle_queue *q)
{
	struct spindle_slot s;
	struct spindle_tx_desc *d = right_desc(q, &s, 64);
	uint32_t i;

	/* The engine does not look at slots behind one that is not ready. */
	for (i = 1; i < q->window; i++)
		scribble(desc_at(q, s.slot + i), sizeof(*d));
	spindle_kick(q);
	usleep(10000);
	for (i = 1; i < q->window; i++)
		memset(desc_at(q, s.slot + i), 0, sizeof(*d));
	memset(s.data, 3, 64);
	ready(d, &s);
}

static const struct act {
	const char *name;
	uint32_t flags;		/* role */
	uint32_t errors;	/* the expected errors, as bits; 0: it is not frozen */
	void (*fn)(struct spindle_queue *q);
} acts[] = {
	{ "a ready word from nowhere", SEND, ERR(TX_READY), bad_ready },
	{ "a unit that is not next", BOTH, ERR(TX_EXTENT), bad_unit },
	{ "consumed beyond the tail", RECV, ERR(CONSUMED), bad_consumed },
	{ "more units than the ring has", SEND, ERR(TX_EXTENT), bad_units },
	{ "unknown flags", BOTH | COPY, ERR(TX_EXTENT), bad_flags },
	{ "members that there are not", SEND, ERR(TX_MASK), bad_mask },
	{ "a view that there was not", BOTH, ERR(TX_MASK), bad_view },
	{ "a message longer than it may be", SEND, ERR(TX_LEN), bad_len },
	{ "a huge length", BOTH, ERR(TX_LEN), bad_len_huge },
	{ "consumed goes back", BOTH, ERR(CONSUMED), bad_consumed_back },
	{ "everything", BOTH, ANY, bad_everything },
	{ "a ready word of the next lap", SEND, ERR(TX_READY), bad_ready_ahead },
	{ "a slot that is not free", BOTH, ERR(TX_READY), bad_lap },
	{ "units that are not free", BOTH, ERR(TX_EXTENT), bad_room },
	{ "a unit one ring back", SEND, ERR(TX_EXTENT), bad_unit_back },
	{ "words here and there", BOTH | COPY, ANY, bad_words },
	{ "words that change", SEND, TX_ANY, bad_race },
	{ "consumed beyond the tail, copying", COPY, ERR(CONSUMED), bad_consumed },
	{ "a copying reader that is full", BOTH | COPY, ERR(TX_READY), bad_while_full },
	{ "everything of a reader", RECV, ERR(CONSUMED), bad_everything },
	{ "a reserve word of its own", BOTH, 0, own_reserve },
	{ "payload that changes", SEND, 0, own_payload },
	{ "slots of the future", SEND, 0, own_future },
};

/* ---- the loop --------------------------------------------------------- */

struct seen {
	int count, wrong;
	uint32_t error;
};

static void take_event(void *ctx, const struct nlmsghdr *nlh)
{
	const void *a = nl_attrs(nlh);
	int len = nl_attrs_len(nlh);
	struct seen *seen = ctx;
	const struct nlattr *reason = nl_find(a, len, SPINDLE_A_REASON);

	if (nl_num(nl_find(a, len, SPINDLE_A_EVENT)) != SPINDLE_EVENT_RING_ERROR)
		return;
	if (nl_num(nl_find(a, len, SPINDLE_A_SUBGROUP_ID)) != opt.group ||
	    nl_num(nl_find(a, len, SPINDLE_A_NODE_ID)) != opt.node)
		return;
	seen->count++;
	seen->error = nl_num(nl_find(a, len, SPINDLE_A_ERROR));
	seen->wrong += !reason || nl_len(reason) < 2;
}

static uint64_t stat(enum spindle_subgroup_stat which)
{
	struct nl_subgroup sg;

	loop_look(&opt, &nl, &sg);
	if (sg.state != SPINDLE_STATE_ACTIVE || sg.error)
		die("subgroup %u of node %u: state %u, error %u", opt.group, opt.node, sg.state,
		    sg.error);
	return sg.stat[which];
}

static uint64_t frozen(void)
{
	return stat(SPINDLE_SUBGROUP_S_FROZEN);
}

static uint64_t delivered(void)
{
	return stat(SPINDLE_SUBGROUP_S_DELIVERED);
}

/* Does this node go on delivering while the frozen attachment still exists? */
static bool goes_on(void)
{
	int i;

	for (i = 0; i < WAIT / 10; i++) {
		if (delivered() > blocked_at)
			return true;
		usleep(10000);
	}
	return false;
}

/* The event comes right after the state. No second one may follow. */
static bool one_event(uint32_t error)
{
	struct seen seen = { 0 };
	int i, n = 0;

	for (i = 0; i < WAIT / 10 && !seen.count && n >= 0; i++) {
		n = nl_events(&events, take_event, &seen);
		if (!seen.count)
			usleep(10000);
	}
	usleep(1000);
	if (n >= 0)
		n = nl_events(&events, take_event, &seen);
	if (n >= 0 && seen.count == 1 && !seen.wrong && seen.error == error)
		return true;
	printf("# %d events, the last with error %u, %d without a reason, %s\n", seen.count,
	       seen.error, seen.wrong, n < 0 ? strerror(-n) : "none lost");
	return false;
}

static bool check_frozen(const struct act *act, struct spindle_queue *q, uint64_t before)
{
	struct pollfd p = { .fd = spindle_fd(q), .events = POLLIN | POLLOUT };
	struct spindle_slot s;
	uint64_t now;
	int i;

	for (i = 0; i < WAIT / 10 && spindle_state(q) <= SPINDLE_STATE_ACTIVE; i++) {
		spindle_kick(q);
		usleep(10000);
	}
	if (spindle_state(q) != SPINDLE_STATE_FROZEN) {
		printf("# state is %s\n", spindle_state_string(spindle_state(q)));
		return false;
	}
	if (!(act->errors >> spindle_error_code(q) & 1)) {
		printf("# error is '%s'\n", spindle_strerror(spindle_error_code(q)));
		return false;
	}
	if (poll(&p, 1, 0) != 1 || (p.revents & (POLLERR | POLLHUP | POLLOUT)) !=
				   (POLLERR | POLLHUP)) {
		printf("# poll says %#x\n", p.revents);
		return false;
	}
	if ((q->flags & SEND) && spindle_reserve(q, 1, &s) != -EPIPE) {
		printf("# something can be reserved\n");
		return false;
	}
	/* The attachment counts once, whatever the process does after that. */
	bad_everything(q);
	for (i = 0; i < 10; i++)
		spindle_kick(q);
	now = frozen();
	if (now != before + 1) {
		printf("# counted %" PRIu64 " times\n", now - before);
		return false;
	}
	return one_event(spindle_error_code(q));
}

static bool check_free(struct spindle_queue *q, uint64_t before)
{
	usleep(10000);
	if (spindle_state(q) != SPINDLE_STATE_ACTIVE || frozen() != before) {
		printf("# state is %s, error '%s'\n", spindle_state_string(spindle_state(q)),
		       spindle_strerror(spindle_error_code(q)));
		return false;
	}
	return true;
}

/* One life: attach, break a rule, check the result, detach. */
static bool once(const struct act *act, int number)
{
	uint64_t before = frozen();
	struct spindle_queue q;
	bool good;
	int err;

	rnd_begin(&opt, number);
	err = loop_attach(&opt, &q, act->flags);
	if (err) {
		printf("# attach: %s\n", strerror(-err));
		return false;
	}
	nl_events(&events, NULL, NULL);
	act->fn(&q);
	spindle_kick(&q);
	good = act->errors ? check_frozen(act, &q, before) : check_free(&q, before);
	if (good && act->fn == bad_while_full && !goes_on()) {
		printf("# this node delivers nothing any more\n");
		good = false;
	}
	spindle_detach(&q);
	return good;
}

int main(int argc, char **argv)
{
	int times[ARRAY_SIZE(acts)] = { 0 }, bad[ARRAY_SIZE(acts)] = { 0 };
	unsigned int i, number;
	int c, lives = 0;

	while ((c = getopt(argc, argv, LOOP_OPTIONS "o:r")) != -1) {
		switch (c) {
		case 'o':
			only_number = atoi(optarg);
			break;
		case 'r':
			only_read = true;
			break;
		default:
			if (!loop_option(&opt, c, optarg))
				return 2;
		}
	}
	if (nl_open(&nl) || nl_open(&events) || nl_listen(&events))
		die("the family cannot be opened");
	printf("# node %u subgroup %u seed %" PRIu64 "\n", opt.node, opt.group, opt.seed);
	for (number = 0; loop_goes_on(&opt, number); number++) {
		i = number % ARRAY_SIZE(acts);
		if (only_read && (acts[i].flags & SEND))
			continue;
		if (only_number >= 0 && (int)number != only_number)
			continue;
		times[i]++;
		lives++;
		if (once(&acts[i], number))
			continue;
		bad[i]++;
		printf("# iteration %u: %s\n", number, acts[i].name);
	}
	for (i = 0; i < ARRAY_SIZE(acts); i++)
		if (times[i])
			ok(!bad[i], "garbage: %s%s", acts[i].name, acts[i].errors ? "" :
			   ": no error");
	printf("# node %u subgroup %u: %d lives\n", opt.node, opt.group, lives);
	return tap_bad != 0;
}
