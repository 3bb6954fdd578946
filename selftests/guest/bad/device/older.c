// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which messages may a process put in front of a history, and which process may do that?
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dev-bad.h"
#include "tap.h"

#define SUBGROUP	5U
#define FIRST		1000U	/* position that the subgroup begins with */
#define MAX_MSG		1024U
#define HISTORY		65536U
#define NUM		8U

/* Messages FIRST - NUM to FIRST - 1, of two members that have gone. */
static struct spindle_seat seat[2];
static struct spindle_dlv dlv[NUM];
static unsigned char data[NUM * 100];

static struct spindle_fill good(void)
{
	uint32_t i;

	seat[0] = (struct spindle_seat){ .node = 77, .sender_rank = 0 };
	seat[1] = (struct spindle_seat){ .node = 78, .sender_rank = 1,
					 .flags = SPINDLE_SEAT_JOINED };
	for (i = 0; i < NUM; i++) {
		dlv[i] = (struct spindle_dlv){
			.lsn = FIRST - NUM + i, .offset = i * 100, .len = 100, .sender = i % 2,
			.slot = i / 2,
		};
		memset(data + i * 100, 'a' + (int)i, 100);
	}
	dlv[3].kind = SPINDLE_DLV_OTHER;
	dlv[3].len = 0;
	return (struct spindle_fill){
		.lsn = FIRST, .seats = (uintptr_t)seat, .members = 2, .dlv = (uintptr_t)dlv,
		.count = NUM, .data = (uintptr_t)data, .bytes = sizeof(data),
	};
}

static int fill(int fd, struct spindle_fill f)
{
	return call(fd, SPINDLE_IOC_FILL, &f);
}

/* The same messages, one position later. */
static void later(struct spindle_fill *f)
{
	uint32_t i;

	f->lsn++;
	for (i = 0; i < NUM; i++)
		dlv[i].lsn++;
}

#define REFUSED(err, text, change) do {						\
	struct spindle_fill f = good();						\
	change;									\
	is(fill(fd, f), err, "older: %s", text);				\
} while (0)

static void numbers(int fd)
{
	REFUSED(EINVAL, "a reserved word", f.resv = 1);
	REFUSED(EINVAL, "no members", f.members = 0);
	REFUSED(EINVAL, "too many members", f.members = SPINDLE_MAX_MEMBERS + 1);
	REFUSED(EINVAL, "too many messages", f.count = SPINDLE_MAX_FILL_MSGS + 1);
	REFUSED(EINVAL, "the largest number of messages", f.count = UINT32_MAX);
	REFUSED(EINVAL, "too many bytes", f.bytes = SPINDLE_MAX_FILL + 1);
	REFUSED(EINVAL, "neither messages nor a view", f.count = 0);
	REFUSED(EINVAL, "the view before none", f.before = 1);
	REFUSED(EINVAL, "a view that was the first one", f.vid = 1);
	REFUSED(EINVAL, "a view before itself", (f.vid = 1, f.before = 1));
	REFUSED(EINVAL, "more messages than positions", f.lsn = NUM - 1);
	REFUSED(ESTALE, "messages from the future", later(&f));
	REFUSED(ESTALE, "a view from the future", (f.vid = UINT64_MAX, f.before = 1));
	REFUSED(EXDEV, "another lineage", f.lineage[1] = 1);
	REFUSED(EXDEV, "another era", f.era = 1);
}

static void seats(int fd)
{
	REFUSED(EINVAL, "a member twice", seat[1].node = 77);
	REFUSED(EINVAL, "a member without id", seat[0].node = 0);
	REFUSED(EINVAL, "a sender's rank twice", seat[1].sender_rank = 0);
	REFUSED(EINVAL, "a sender's rank left out", seat[1].sender_rank = 2);
	REFUSED(EINVAL, "the own seat", seat[0].flags = SPINDLE_SEAT_ME);
	REFUSED(EINVAL, "a seat with a row", seat[0].sst = 1);
	REFUSED(EINVAL, "a seat with a ring", seat[0].rx = 1);
	REFUSED(EINVAL, "a seat with a reserved word", seat[0].resv = 1);
	REFUSED(EINVAL, "a message of a member that does not send",
		seat[1].sender_rank = SPINDLE_NO_RANK);
}

static void messages(int fd)
{
	REFUSED(EINVAL, "a position left out", dlv[0].lsn--);
	REFUSED(EINVAL, "a position twice", dlv[1].lsn--);
	REFUSED(EINVAL, "an unknown sender", dlv[0].sender = 2);
	REFUSED(EINVAL, "a view among the messages", dlv[2].kind = SPINDLE_DLV_VIEW);
	REFUSED(EINVAL, "an unknown kind", dlv[2].kind = 99);
	REFUSED(EINVAL, "bytes of a message for others", dlv[3].len = 1);
	REFUSED(EINVAL, "bytes behind the data", dlv[7].offset++);
	REFUSED(EINVAL, "the largest offset", dlv[7].offset = UINT64_MAX);
	REFUSED(EINVAL, "the largest length", dlv[0].len = UINT32_MAX);
	REFUSED(EINVAL, "data that is too short", f.bytes--);
}

static void pointers(int fd)
{
	unsigned char *page = last_page();

	is(call(fd, SPINDLE_IOC_FILL, NULL), EFAULT, "older: no argument");
	is(call(fd, SPINDLE_IOC_FILL, page + PAGE - 8), EFAULT, "older: half an argument");
	REFUSED(EFAULT, "no seats", f.seats = 0);
	REFUSED(EFAULT, "half a seat", f.seats = (uintptr_t)(page + PAGE - 24));
	REFUSED(EFAULT, "the kernel's messages", f.dlv = (uint64_t)-4096);
	REFUSED(EFAULT, "half the messages", f.dlv = (uintptr_t)(page + PAGE - 32));
	REFUSED(EFAULT, "no data", f.data = 0);
	REFUSED(EFAULT, "half the data", f.data = (uintptr_t)(page + PAGE - 100));
	munmap(page, PAGE);
}

/* The first entries of the history, for a new reader. */
static void look(int fd, const struct spindle_attach *a)
{
	const struct spindle_dlv *ring = mmap(NULL, a->dlv.len, PROT_READ, MAP_SHARED, fd,
					      (off_t)a->dlv.cookie);
	const unsigned char *copy = mmap(NULL, a->copy.len, PROT_READ, MAP_SHARED, fd,
					 (off_t)a->copy.cookie);
	const uint64_t *usr = mmap(NULL, a->usr.len, PROT_READ, MAP_SHARED, fd,
				   (off_t)a->usr.cookie);
	const struct spindle_dlv *d;
	uint64_t at;
	uint32_t i;

	if (ring == MAP_FAILED || copy == MAP_FAILED || usr == MAP_FAILED)
		die("mmap");
	at = usr[a->usr_consumed / 8];
	for (i = 0; i < NUM; i++) {
		d = &ring[(at + i) % a->dlv_entries];
		ok(d->lsn == FIRST - NUM + i && d->sender == i % 2 && d->slot == i / 2 &&
		   d->len == (i == 3 ? 0 : 100) && (d->len || !d->offset) &&
		   (!d->len || (copy[d->offset] == 'a' + i && copy[d->offset + 99] == 'a' + i)),
		   "older: message %u is there, with its bytes", FIRST - NUM + i);
	}
	d = &ring[(at + NUM) % a->dlv_entries];
	ok(d->kind == SPINDLE_DLV_VIEW && d->slot == a->vid + 2 && d->offset == a->vid &&
	   d->lsn == FIRST, "older: then the view begins");
}

static void is_there(uint64_t before)
{
	struct spindle_seat got[SPINDLE_MAX_MEMBERS];
	struct spindle_seats s = { .vid = before, .count = SPINDLE_MAX_MEMBERS,
				   .ptr = (uintptr_t)got };
	struct spindle_attach a = args(1, SUBGROUP, SPINDLE_ATTACH_RECV | SPINDLE_ATTACH_HISTORY);
	int fd = open_dev();

	a.from = SPINDLE_FROM_LSN;
	a.lsn = FIRST - NUM;
	is(call(fd, SPINDLE_IOC_ATTACH, &a), 0, "older: a reader begins with the oldest one");
	is(a.oldest, FIRST - NUM, "older: that is the first position");
	is(a.vid, before, "older: in the view that it was delivered in");
	look(fd, &a);
	is(call(fd, SPINDLE_IOC_SEATS, &s), 0, "older: the members of that view are known");
	ok(s.count == 2 && got[0].node == 77 && got[1].node == 78 && got[1].sender_rank == 1,
	   "older: they are those that the filler named");
	is(fill(fd, good()), EPERM, "older: a reader may not put messages there");
	close(fd);
}

/* Messages come until there is no room, and then once more. */
static void fills_up(int fd)
{
	struct spindle_fill f = good();
	uint64_t lsn;
	uint32_t i;
	int err;

	f.lsn = FIRST - NUM;
	do {
		lsn = f.lsn;
		for (i = 0; i < NUM; i++)
			dlv[i].lsn = lsn - NUM + i;
		err = call(fd, SPINDLE_IOC_FILL, &f);
	} while (!err && f.lsn >= NUM);
	is(err, ENOSPC, "older: messages come until there is no room");
	ok(f.lsn < FIRST - HISTORY / 256 && f.lsn > FIRST - HISTORY / 128,
	   "older: then the history is full");
	f.lsn = lsn;
	is(fill(fd, f), ESTALE, "older: the same messages once more");
}

void part_older(void)
{
	struct spindle_fill f = good();
	struct spindle_attach a = args(1, SUBGROUP, BOTH | SPINDLE_ATTACH_HISTORY);
	int fd = open_dev();

	is(fill(fd, f), ENOTCONN, "older: an unattached file");
	if (call(fd, SPINDLE_IOC_ATTACH, &a))
		die("attach");
	ok(a.features & SPINDLE_FEAT_FILL, "older: the sender may fill this history");
	is(a.lsn, FIRST, "older: the history is empty");
	numbers(fd);
	seats(fd);
	messages(fd);
	pointers(fd);
	f = good();
	f.vid = a.vid;
	f.before = a.vid - 2;
	is(call(fd, SPINDLE_IOC_FILL, &f), 0, "older: messages of a view of the past");
	is(f.lsn, FIRST - NUM, "older: the history begins there");
	is_there(a.vid - 2);
	fills_up(fd);
	close(fd);
	if (attach_new(1, 1, BOTH, &fd))
		die("attach");
	is(fill(fd, good()), EPERM, "older: a subgroup without a history");
	close(fd);
	if (attach_new(2, SUBGROUP, BOTH | SPINDLE_ATTACH_HISTORY, &fd))
		die("attach");
	is(fill(fd, good()), EPERM, "older: a node where the administrator did not allow it");
	close(fd);
}
