// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device of tables: files that are attached with any argument, mapped at any offset, and
 * written. No rule of a table can be broken, so no attachment may end before its view.
 *
 * Pages may have been unmapped, and the caller catches the fault.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <linux/spindle_table.h>

#include "device.h"

#define TABLE_FILES	3
#define PART_SHIFT	40
#define RANK_SHIFT	32

/**
 * struct sst - an open file of the device of tables
 * @fd: 0: none
 * @attached: it was attached, and this is the reply
 * @a: the reply
 * @added: id of the predicate that was added last
 * @map: its mappings
 */
struct sst {
	int fd;
	bool attached;
	struct spindle_table_attach a;
	uint32_t added;
	struct map map[MAPS];
};

static struct sst sst[TABLE_FILES];

/* Sections in the order of their cookies. */
static struct spindle_section section_of(const struct sst *t, enum part p)
{
	switch (p) {
	case CTL: return t->a.ctl;
	case USR: return t->a.usr;
	case TX: return t->a.own;
	case RX: return t->a.rows;
	default: return (struct spindle_section){ 0 };
	}
}

static unsigned char *at_part(struct sst *t, enum part p)
{
	unsigned int i;

	for (i = 0; i < MAPS; i++)
		if (t->map[i].at && t->map[i].part == p)
			return t->map[i].at;
	return NULL;
}

static void keep(struct sst *t, unsigned char *at, size_t len, enum part p)
{
	struct map *m = &t->map[below(MAPS)];

	if (m->at)
		munmap(m->at, m->len);
	*m = (struct map){ .at = at, .len = len, .part = p };
}

/* ---- attach --------------------------------------------------------------- */

static void spoil_args(struct spindle_table_attach *a)
{
	uint64_t v = odd();

	switch (below(6)) {
	case 0:
		a->size = one_in(2) ? sizeof(*a) + below(16) - 8 : v;
		break;
	case 1:
		a->flags = v;
		break;
	case 2:
		a->node = v;
		break;
	case 3:
		a->event_fd = one_in(2) ? (int)below(20) : (int)v;
		break;
	case 4:
		a->name = v;
		break;
	case 5:	/* any word */
		((uint64_t *)a)[below(sizeof(*a) / 8)] = v;
		break;
	}
}

static void check_reply(const struct spindle_table_attach *a)
{
	if (!a->members || a->members > SPINDLE_MAX_MEMBERS || a->rank >= a->members ||
	    a->own_instance >= a->instances || !a->cells || a->cells > SPINDLE_MAX_CELLS ||
	    (uint64_t)a->cells * a->cell > a->rows.len || !a->ctl.len || !a->usr.len ||
	    !a->own.len != !(a->flags & SPINDLE_TABLE_WRITE))
		broken("table %u of node %u: rank %u of %u, %u cells of %u bytes, %llu in a row",
		       a->table, a->node, a->rank, a->members, a->cells, a->cell,
		       (unsigned long long)a->rows.len);
}

static void map_sections(struct sst *t)
{
	enum part p;

	for (p = CTL; p <= RX; p++) {
		struct spindle_section s = section_of(t, p);
		int prot = for_writing(p) ? PROT_READ | PROT_WRITE : PROT_READ;
		uint64_t off = s.cookie + (p == RX ? below(t->a.instances) : 0) * t->a.row_stride;
		unsigned char *at;

		if (!s.len)
			continue;
		if (one_in(10))
			starve();
		at = mmap(NULL, s.len, prot, MAP_SHARED, t->fd, off);
		feed();
		count(OP_TABLE_MMAP, at == MAP_FAILED ? errno : 0);
		if (at != MAP_FAILED)
			keep(t, at, s.len, p);
	}
}

static void attach(struct sst *t)
{
	struct spindle_table_attach a = {
		.size = sizeof(a), .node = 1 + below(BYSTANDERS),
		.table = one_in(2) ? FUZZ_TABLE : FUZZ_READ,
		.flags = one_in(2) ? SPINDLE_TABLE_WRITE : 0,
		.event_fd = one_in(3) ? eventfd(0, EFD_NONBLOCK) : -1,
	};
	bool odd_one = one_in(3);
	int efd = a.event_fd, err;

	if (odd_one)
		spoil_args(&a);
	if (one_in(5))
		starve();
	err = ioctl(t->fd, SPINDLE_TABLE_IOC_ATTACH, one_in(30) ? (void *)odd() : &a) ? errno : 0;
	feed();
	count(odd_one ? OP_TABLE_ODD : OP_TABLE_ATTACH, err);
	if (efd >= 0)
		close(efd);
	if (err || a.size != sizeof(a) || !a.ctl.len)
		return;
	check_reply(&a);
	t->attached = true;
	t->a = a;
	map_sections(t);
}

/* ---- uses of an attachment --------------------------------------------------- */

/* Map with any offset, length and protection. Only a success is checked. */
static void map_any_cookie(struct sst *t)
{
	enum part p = below(PARTS + 1);
	uint64_t off = ((uint64_t)p << PART_SHIFT) + ((uint64_t)below(4) << RANK_SHIFT);
	size_t len = one_in(2) ? section_of(t, p).len << below(2) : (1 + below(16)) * PAGE;
	int prot = below(8), flags = one_in(8) ? MAP_PRIVATE : MAP_SHARED;
	uint64_t own;
	unsigned char *at;

	if (one_in(4))
		off = odd() & ~(PAGE - 1);
	if (!len)
		len = PAGE;
	at = mmap(NULL, len, prot, flags, t->fd, off);
	count(OP_TABLE_MMAP, at == MAP_FAILED ? errno : 0);
	if (at == MAP_FAILED)
		return;
	p = off >> PART_SHIFT;
	own = p <= RX ? section_of(t, p).len : 0;
	if (flags == MAP_PRIVATE || (prot & PROT_EXEC) || (off & ((1ULL << RANK_SHIFT) - 1)) ||
	    ((prot & PROT_WRITE) && !for_writing(p)) || (len != own && len != 2 * own))
		broken("table mmap: offset %#llx, %zu bytes, protection %d",
		       (unsigned long long)off, len, prot);
	/* Others take a section for one that can be read and written. */
	munmap(at, len);
}

/* A word of the user page that the engine looks at, or any. */
static uint32_t usr_word(const struct sst *t)
{
	switch (below(6)) {
	case 0:
		return t->a.usr_dirty / 8;
	case 1:
		return t->a.usr_flush / 8;
	case 2:
		return t->a.usr_skip / 8 + below((t->a.instances + 63) / 64);
	case 3:
		return t->a.usr_every / 8;
	case 4:
		return t->a.usr_refresh / 8;
	default:
		return below(t->a.usr.len / 8);
	}
}

/* Random words in all that can be written: cells, dirty bits, numbers, intervals, masks. */
static void scribble(struct sst *t)
{
	uint64_t *usr = (uint64_t *)at_part(t, USR), *own = (uint64_t *)at_part(t, TX);
	unsigned int i, n = 1 + below(64);

	for (i = 0; i < n; i++) {
		if (own)
			own[below(t->a.own.len / 8)] = odd();
		if (usr)
			usr[usr_word(t)] = odd();
	}
	count(OP_TABLE_SCRIBBLE, 0);
}

static void look(struct sst *t)
{
	unsigned char *ctl = at_part(t, CTL), *row = at_part(t, RX);
	uint32_t state, error;

	if (row)
		(void)*(volatile unsigned char *)(row + below(t->a.rows.len));
	if (!ctl)
		return;
	state = __atomic_load_n((uint32_t *)(ctl + t->a.ctl_state), __ATOMIC_ACQUIRE);
	error = __atomic_load_n((uint32_t *)(ctl + t->a.ctl_error), __ATOMIC_ACQUIRE);
	/* The view of a bystander stays. */
	if ((state > SPINDLE_STATE_ACTIVE || error) && t->a.node <= BYSTANDERS)
		broken("node %u: a table in state %u with error %u", t->a.node, state, error);
}

static void poll_and_kick(struct sst *t)
{
	struct pollfd p = { .fd = t->fd, .events = one_in(4) ? rnd() : POLLIN };
	int err = ioctl(t->fd, SPINDLE_TABLE_IOC_KICK) ? errno : 0;

	count(OP_TABLE_CALL, err);
	if (!err != t->attached)
		broken("kick of a table: %d, attached %d", err, t->attached);
	poll(&p, 1, below(12));
	/* A writer has flushes. */
	if ((p.revents & POLLOUT) && !(t->a.flags & SPINDLE_TABLE_WRITE))
		broken("poll of a table: %#x", p.revents);
}

static void seats(struct sst *t)
{
	struct spindle_seat seat[SPINDLE_MAX_MEMBERS];
	struct spindle_seats arg = {
		.vid = one_in(4) ? odd() : 0,
		.count = one_in(2) ? SPINDLE_MAX_MEMBERS : below(4),
		.resv = one_in(8) ? odd() : 0,
		.ptr = one_in(4) ? odd() : (uintptr_t)seat,
	};

	/* A random address may be one of this stack. */
	if (arg.ptr != (uintptr_t)seat && arg.ptr >= 1ULL << 16)
		arg.ptr |= 1ULL << 63;
	count(OP_TABLE_CALL, ioctl(t->fd, SPINDLE_TABLE_IOC_SEATS, &arg) ? errno : 0);
}

static void odd_number(struct sst *t)
{
	unsigned char buf[512] = { 0 };
	unsigned int cmd = _IOC(below(4), SPINDLE_IOC_MAGIC, below(80), below(512));

	count(OP_TABLE_CALL, ioctl(t->fd, cmd, one_in(4) ? (void *)8 : buf) ? errno : 0);
}

/* ---- predicates --------------------------------------------------------------- */

static struct spindle_field any_field(const struct sst *t, bool sign)
{
	unsigned int width = 1U << below(4);

	return (struct spindle_field){
		.cell = below(t->a.cells ? t->a.cells : 1), .offset = below(48 / width) * width,
		.width = width, .flags = sign,
	};
}

static struct spindle_number any_number(const struct sst *t, bool sign)
{
	struct spindle_number n = {
		.fold = SPINDLE_FOLD_OWN + below(5), .add = one_in(2) ? odd() : below(3),
	};

	/* Only terms have these. */
	if (n.fold == SPINDLE_FOLD_EACH)
		n.fold = SPINDLE_FOLD_MIN;
	n.field = any_field(t, sign);
	if (n.fold != SPINDLE_FOLD_OWN)
		n.rows = below(2);
	return n;
}

static struct spindle_term any_term(const struct sst *t)
{
	bool sign = one_in(2);
	struct spindle_term term = {
		.compare = below(6), .left = any_number(t, sign), .right = any_number(t, sign),
	};

	if (one_in(2)) {
		term.left.fold = SPINDLE_FOLD_EACH;
		term.left.add = 0;
		term.least = one_in(2) ? SPINDLE_ALL_ROWS : 1 + below(4);
	}
	return term;
}

static struct spindle_trigger any_trigger(const struct sst *t)
{
	struct spindle_trigger trigger = { .what = below(4) };

	switch (trigger.what) {
	case SPINDLE_DO_SET:
		trigger.field = any_field(t, false);
		trigger.value = any_number(t, false);
		break;
	case SPINDLE_DO_ARM:
	case SPINDLE_DO_DISARM:
		trigger.id = below(SPINDLE_MAX_PREDICATES);
		break;
	}
	return trigger;
}

/* Add a predicate that is right, or one with a word that may be wrong. */
static void add_predicate(struct sst *t)
{
	struct spindle_predicate p = {
		.size = sizeof(p), .id = one_in(2) ? SPINDLE_ANY_ID : below(32),
		.kind = below(3), .flags = below(4), .terms = 1 + below(SPINDLE_MAX_TERMS),
		.triggers = 1 + below(SPINDLE_MAX_TRIGGERS),
	};
	bool odd_one = one_in(3);
	unsigned int i;
	int err;

	for (i = 0; i < p.terms; i++)
		p.term[i] = any_term(t);
	for (i = 0; i < p.triggers; i++)
		p.trigger[i] = any_trigger(t);
	if (odd_one)
		((uint32_t *)&p)[one_in(2) ? below(8) : below(sizeof(p) / 4)] = odd();
	if (one_in(5))
		starve();
	err = ioctl(t->fd, SPINDLE_TABLE_IOC_ADD, one_in(30) ? (void *)odd() : &p) ? errno : 0;
	feed();
	count(odd_one ? OP_TABLE_ODD_ADD : OP_TABLE_ADD, err);
	if (err)
		return;
	if (p.id >= SPINDLE_MAX_PREDICATES)
		broken("a predicate has id %u", p.id);
	t->added = p.id;
}

static void remove_predicate(struct sst *t)
{
	uint64_t id = one_in(8) ? odd() : below(SPINDLE_MAX_PREDICATES);

	if (one_in(2))
		id = t->added;
	count(OP_TABLE_REMOVE, ioctl(t->fd, SPINDLE_TABLE_IOC_REMOVE, id) ? errno : 0);
}

static void use(struct sst *t)
{
	switch (below(11)) {
	case 0:
		map_any_cookie(t);
		break;
	case 1:
		seats(t);
		break;
	case 2:
		odd_number(t);
		break;
	case 3:
	case 4:
		poll_and_kick(t);
		break;
	case 5:
	case 6:
		add_predicate(t);
		break;
	case 7:
		remove_predicate(t);
		break;
	default:
		scribble(t);
		break;
	}
}

/* The mappings may stay, because they hold the file. */
static void close_one(struct sst *t)
{
	unsigned int i;

	for (i = 0; i < MAPS; i++)
		if (t->map[i].at && !one_in(8))
			munmap(t->map[i].at, t->map[i].len);
	close(t->fd);
	memset(t, 0, sizeof(*t));
}

void table_act(void)
{
	struct sst *t = &sst[below(TABLE_FILES)];
	unsigned int n = 1 + below(8);

	if (t->fd <= 0) {
		t->fd = open("/dev/spindle-sst", (one_in(8) ? O_RDONLY : O_RDWR) | O_CLOEXEC);
		count(OP_OPEN, t->fd < 0 ? errno : 0);
		if (t->fd < 0)
			return;
	}
	while (n--) {
		if (!t->attached || one_in(16))
			attach(t);
		use(t);
		look(t);
	}
	if (one_in(3))
		close_one(t);
}
