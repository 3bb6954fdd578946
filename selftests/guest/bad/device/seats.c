// SPDX-License-Identifier: GPL-2.0-only
/*
 * Seats: the place of each node in a view, the mappings of it, and their lifetime.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "dev-bad.h"
#include "map.h"
#include "queue.h"
#include "tap.h"

/* Instances that a live view has for others, and the one behind them: the node's own. */
#define SEATS 128U

/* The number of views that the module remembers. */
#define PAST_VIEWS 256U

static struct spindle_seat seat[SPINDLE_MAX_MEMBERS];

/* Read the seats of a view, with room for all members. Returns the errno. */
static int look(int fd, uint64_t *vid, uint32_t *count)
{
	struct spindle_seats arg = {
		.vid = *vid, .count = SPINDLE_MAX_MEMBERS, .ptr = (uintptr_t)seat,
	};
	int err;

	memset(seat, 0x5a, sizeof(seat));
	err = call(fd, SPINDLE_IOC_SEATS, &arg);
	*vid = arg.vid;
	*count = arg.count;
	return err;
}

/* Requests that are wrong for any view. */
static void check_errors(int fd, uint64_t vid, uint32_t members)
{
	struct spindle_seats arg = { .count = members, .ptr = (uintptr_t)seat }, *ro;

	is(call(fd, SPINDLE_IOC_SEATS, NULL), EFAULT, "seats: no argument");
	is(call(fd, SPINDLE_IOC_SEATS, (void *)8), EFAULT, "seats: bad argument");
	arg.resv = 1;
	is(call(fd, SPINDLE_IOC_SEATS, &arg), EINVAL, "seats: reserved word");
	arg.resv = 0;
	memset(seat, 0, sizeof(seat));
	arg.count = members - 1;
	is(call(fd, SPINDLE_IOC_SEATS, &arg), ENOSPC, "seats: not enough room");
	ok(arg.count == members && arg.vid == vid, "seats: room that is needed, and the view");
	ok(all_zero((void *)seat, sizeof(seat)), "seats: nothing was copied");
	arg.count = 0;
	arg.ptr = 0;
	is(call(fd, SPINDLE_IOC_SEATS, &arg), ENOSPC, "seats: a request for the number only");
	is(arg.count, members, "seats: the number");
	arg.ptr = 8;
	is(call(fd, SPINDLE_IOC_SEATS, &arg), EFAULT, "seats: bad pointer");
	arg.ptr = UINT64_MAX - 16;
	arg.count = members;
	is(call(fd, SPINDLE_IOC_SEATS, &arg), EFAULT, "seats: a pointer that wraps");
	arg.ptr = (uintptr_t)seat;
	arg.count = UINT32_MAX;
	is(call(fd, SPINDLE_IOC_SEATS, &arg), 0, "seats: room for any number of members");
	ok(all_zero((void *)&seat[members], sizeof(seat[0])),
	   "seats: only real members are copied");
	arg.vid = vid + 1;
	is(call(fd, SPINDLE_IOC_SEATS, &arg), ENOENT, "seats: the next view does not exist yet");
	arg.vid = UINT64_MAX;
	is(call(fd, SPINDLE_IOC_SEATS, &arg), ENOENT,
	   "seats: the last possible view does not exist");
	ro = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ro == MAP_FAILED)
		die("mmap");
	ro->count = SPINDLE_MAX_MEMBERS;
	ro->ptr = (uintptr_t)seat;
	mprotect(ro, PAGE, PROT_READ);
	is(call(fd, SPINDLE_IOC_SEATS, ro), EFAULT, "seats: an argument that is read-only");
	munmap(ro, PAGE);
	is(call(fd, _IOWR(SPINDLE_IOC_MAGIC, 4, struct spindle_members), &arg), ENOTTY,
	   "seats: of another size");
}

void part_seats(void)
{
	struct spindle_attach a = args(1, 1, BOTH), b = args(1, 2, SPINDLE_ATTACH_RECV);
	struct spindle_seats arg = { .count = 8, .ptr = (uintptr_t)seat };
	int fd = open_dev();
	uint64_t vid = 0;
	uint32_t n, i;

	is(call(fd, SPINDLE_IOC_SEATS, &arg), ENOTCONN, "seats of an unattached file");
	if (call(fd, SPINDLE_IOC_ATTACH, &a))
		die("attach: %s", strerror(errno));
	check_errors(fd, a.vid, 3);
	is(look(fd, &vid, &n), 0, "seats of a static view");
	ok(vid == a.vid && n == 3, "seats: id and members of the static view");
	for (i = 0; i < 3; i++)
		ok(seat[i].node == i + 1 && seat[i].sender_rank == i && seat[i].rx == i &&
		   seat[i].sst == i && !seat[i].resv &&
		   seat[i].flags == (i ? 0 : SPINDLE_SEAT_ME), "seats: rank %u", i);
	vid = a.vid;
	is(look(fd, &vid, &n), 0, "seats: the view by its id");
	close(fd);

	fd = open_dev();
	if (call(fd, SPINDLE_IOC_ATTACH, &b))
		die("attach: %s", strerror(errno));
	vid = 0;
	is(look(fd, &vid, &n), 0, "seats of a subgroup with one sender");
	ok(n == 2 && seat[0].sender_rank == SPINDLE_NO_RANK && !seat[1].sender_rank,
	   "seats: the reply names the senders");
	close(fd);
}

/* ---- of a live view -------------------------------------------------------- */

static int run(const char *command)
{
	return system(command);
}

static const struct spindle_seat *seat_of(uint32_t node, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (seat[i].node == node)
			return &seat[i];
	die("node %u has no seat", node);
}

static int map_rx(int fd, const struct spindle_attach *a, uint32_t instance, int prot)
{
	return map_errno(fd, a->rx.cookie + instance * a->rx_stride, a->rx.len, prot, MAP_SHARED);
}

static int map_sst(int fd, const struct spindle_attach *a, uint32_t instance, int prot)
{
	return map_errno(fd, a->sst.cookie + instance * a->sst_stride, a->sst.len, prot,
			 MAP_SHARED);
}

/* Check which mappings of members, and of free instances, are possible, and with which rights. */
static void check_maps(int fd, const struct spindle_attach *a, uint32_t n)
{
	static const uint32_t nobody[] = { SEATS - 1, SEATS + 1, 200, 255, 256, 1 << 20 };
	const int rw = PROT_READ | PROT_WRITE;
	uint32_t i;
	void *m;

	for (i = 0; i < n; i++) {
		const struct spindle_seat *s = &seat[i];

		is(map_rx(fd, a, s->rx, PROT_READ), 0, "rx of node %u", s->node);
		is(map_sst(fd, a, s->sst, PROT_READ), 0, "sst of node %u", s->node);
		is(map_rx(fd, a, s->rx, rw), EACCES, "writable rx of node %u", s->node);
		is(map_sst(fd, a, s->sst, rw), EACCES, "writable sst of node %u", s->node);
		is(map_errno(fd, a->rx.cookie + s->rx * a->rx_stride, 2 * a->rx.len, PROT_READ,
			     MAP_SHARED), 0, "rx of node %u, doubled", s->node);
		is(map_errno(fd, a->rx.cookie + s->rx * a->rx_stride, 3 * a->rx.len, PROT_READ,
			     MAP_SHARED), EINVAL, "rx of node %u, three times", s->node);
		m = mmap(NULL, a->rx.len, PROT_READ, MAP_SHARED, fd,
			 a->rx.cookie + s->rx * a->rx_stride);
		if (m == MAP_FAILED)
			continue;
		is(mprotect(m, a->rx.len, rw) ? errno : 0, EACCES,
		   "rx of node %u, writable afterwards", s->node);
		munmap(m, a->rx.len);
	}
	for (i = 0; i < ARRAY_SIZE(nobody); i++) {
		is(map_rx(fd, a, nobody[i], PROT_READ), EINVAL, "rx of seat %u", nobody[i]);
		is(map_sst(fd, a, nobody[i], PROT_READ), EINVAL, "sst of seat %u", nobody[i]);
	}
}

/* The reader consumes all its entries, views included. */
static void consume_all(int fd, const struct spindle_attach *a)
{
	unsigned char *ctl = mmap(NULL, a->ctl.len, PROT_READ, MAP_SHARED, fd, a->ctl.cookie);
	unsigned char *usr = mmap(NULL, a->usr.len, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
				  a->usr.cookie);
	uint64_t tail;

	if (ctl == MAP_FAILED || usr == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	tail = __atomic_load_n((uint64_t *)(ctl + a->ctl_dlv_tail), __ATOMIC_ACQUIRE);
	__atomic_store_n((uint64_t *)(usr + a->usr_consumed), tail, __ATOMIC_RELEASE);
	call(fd, SPINDLE_IOC_KICK, NULL);
	munmap(ctl, a->ctl.len);
	munmap(usr, a->usr.len);
}

/* A departed member's row is freed when its connection is gone and readers have released it. */
static bool becomes_empty(int fd, const struct spindle_attach *a, uint32_t instance)
{
	int i;

	for (i = 0; i < 600; i++) {
		consume_all(fd, a);
		if (map_rx(fd, a, instance, PROT_READ) == EINVAL)
			return true;
		usleep(50000);
	}
	return false;
}

/* Node 4 sends one message, and its bytes arrive in the memory that node 1 has mapped. */
static void fill_row(const unsigned char *m, size_t len)
{
	struct spindle_queue q;
	int i;

	must_attach(&q, 4, 1, BOTH, -1);
	is(send_one(&q, 0, 500), 0, "node 4 sends a message");
	for (i = 0; i < 600 && all_zero(m, len); i++)
		usleep(50000);
	ok(!all_zero(m, len), "the row of node 4 has the message");
	spindle_detach(&q);
}

/* Has the view, or any later one, been installed here? */
static bool seats_reach(int fd, uint64_t vid)
{
	uint64_t now;
	uint32_t n;
	int i;

	for (i = 0; i < 600; i++) {
		now = 0;
		if (!look(fd, &now, &n) && now >= vid)
			return true;
		usleep(50000);
	}
	return false;
}

static void late_reader(uint64_t vid)
{
	struct spindle_attach a = args(4, 1, SPINDLE_ATTACH_RECV);
	int fd = open_dev();
	uint64_t before = vid - 1;
	uint32_t n;

	if (call(fd, SPINDLE_IOC_ATTACH, &a))
		die("attach: %s", strerror(errno));
	is(look(fd, &vid, &n), 0, "a joiner: the view of its admission is known");
	is(look(fd, &before, &n), ESTALE, "a joiner: the view before is unknown");
	close(fd);
}

void part_seats_live(void)
{
	struct spindle_attach a = args(1, 1, BOTH);
	uint64_t first, vid = 0;
	uint32_t n, rx4, i;
	unsigned char *m;
	int fd = open_dev();

	if (call(fd, SPINDLE_IOC_ATTACH, &a))
		die("attach: %s", strerror(errno));
	ok(a.features & SPINDLE_FEAT_LIVE, "the view is live");
	first = a.vid;
	check_errors(fd, first, 3);
	is(look(fd, &vid, &n), 0, "seats of the first view");
	ok(vid == first && n == 3, "the reply has id and members of the first view");
	for (i = 0; i < 3; i++)
		ok(seat[i].node == i + 1 && seat[i].sender_rank == i && !seat[i].resv &&
		   seat[i].flags == (i ? 0 : SPINDLE_SEAT_ME), "rank %u", i);
	is(seat[0].rx, SEATS, "the own seat");
	check_maps(fd, &a, 3);
	vid = first - 1;
	is(look(fd, &vid, &n), ESTALE, "a view before the first");
	vid = 1;
	is(look(fd, &vid, &n), ESTALE, "view 1, long before the first");

	ok(!run("spindle-ctl node join id 4 insecure contact 10.0.0.1:5001"), "4 joins");
	ok(seats_reach(fd, first + 1), "the second view is installed");
	vid = 0;
	is(look(fd, &vid, &n), 0, "seats of the second view");
	ok(vid == first + 1 && n == 4, "the reply has id and members of the second view");
	for (i = 0; i < 4; i++)
		is(seat[i].flags, seat[i].node == 1 ? SPINDLE_SEAT_ME :
		   seat[i].node == 4 ? SPINDLE_SEAT_JOINED : 0, "flags of node %u",
		   seat[i].node);
	rx4 = seat_of(4, n)->rx;
	is(seat_of(4, n)->sst, rx4, "rx and sst of node 4 have one seat");
	check_maps(fd, &a, 4);
	vid = first;
	is(look(fd, &vid, &n), 0, "the first view is remembered");
	is(n, 3, "the reply has the members of the first view");
	late_reader(first + 1);

	m = mmap(NULL, a.rx.len, PROT_READ, MAP_SHARED, fd, a.rx.cookie + rx4 * a.rx_stride);
	if (m == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	fill_row(m, a.rx.len);
	ok(!run("spindle-ctl node leave id 4"), "4 leaves");
	ok(seats_reach(fd, first + 2), "the third view is installed");
	is(map_rx(fd, &a, rx4, PROT_READ), 0,
	   "rx of a member that has left, before its messages are consumed");
	is(map_rx(fd, &a, rx4, PROT_READ | PROT_WRITE), EACCES,
	   "writable rx of a member that has left");
	vid = first + 1;
	is(look(fd, &vid, &n), 0, "the view with 4 in it is remembered");
	is(seat_of(4, n)->rx, rx4, "node 4 had the same seat in that view");
	ok(becomes_empty(fd, &a, rx4), "the seat of node 4 becomes empty");
	is(map_sst(fd, &a, rx4, PROT_READ), EINVAL, "sst of an empty seat");
	ok(all_zero(m, a.rx.len), "a mapping of the empty seat stays and has zeroes");
	munmap(m, a.rx.len);
	vid = 0;
	is(look(fd, &vid, &n), 0, "seats of the third view");
	ok(n == 3 && vid == first + 2, "the reply has id and members of the third view");
	for (i = 0; i < n; i++)
		is(seat[i].flags & SPINDLE_SEAT_JOINED, 0, "no member has joined: node %u",
		   seat[i].node);

	/* The file outlives the membership, the view and the node. */
	ok(!run("spindle-ctl node leave id 1"), "1 leaves");
	vid = first + 2;
	n = look(fd, &vid, &n);
	ok(!n || n == ENOTCONN, "seats of a view that was left");
	ok(!run("spindle-ctl node del id 1"), "1 is removed");
	vid = 0;
	is(look(fd, &vid, &n), ENOTCONN, "seats after the node was removed");
	is(map_rx(fd, &a, SEATS, PROT_READ), ENOTCONN, "rx after the node was removed");
	close(fd);
}

/* Views change until the module forgets the first ones. A reader is attached all the time. */
void part_seats_past(void)
{
	struct spindle_attach a = args(1, 1, BOTH);
	int fd = open_dev(), err = 0;
	uint64_t first, vid = 0;
	uint32_t i, n;

	if (call(fd, SPINDLE_IOC_ATTACH, &a))
		die("attach: %s", strerror(errno));
	first = a.vid;
	is(look(fd, &vid, &n), 0, "seats of the first view");
	for (i = 0; !err && i < PAST_VIEWS; i += 2) {
		err = run("spindle-ctl node join id 2 insecure contact 10.0.0.1:5001 && "
			  "spindle-ctl node leave id 2");
		if (!err && !seats_reach(fd, first + i + 2))
			err = -1;
		consume_all(fd, &a);
	}
	is(err, 0, "a node joins and leaves, %u times", PAST_VIEWS / 2);
	vid = 0;
	is(look(fd, &vid, &n), 0, "seats of the latest view");
	ok(vid == first + PAST_VIEWS && n == 1, "the reply has id and member of the latest view");
	vid = first + 1;
	is(look(fd, &vid, &n), 0, "seats of the oldest view that is remembered");
	ok(n == 2 && seat[1].node == 2, "the oldest view has two members");
	vid = first;
	is(look(fd, &vid, &n), ESTALE, "seats of the view before");
	vid = first + PAST_VIEWS + 1;
	is(look(fd, &vid, &n), ENOENT, "seats of a view to come");
	close(fd);
}
