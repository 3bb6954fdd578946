// SPDX-License-Identifier: MIT
/*
 * Attach and detach: open, one ioctl, and the mappings that its reply lists.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "internal.h"

/*
 * MAP_POPULATE avoids page faults later, when messages flow. The rings of a history may be so large
 * that a process that comes back would spend most of its time here, for pages that it may never
 * read. They come with page faults, each of which brings many pages.
 */
static int map_flags(const struct spindle_queue *q, int prot)
{
	return (q->features & SPINDLE_FEAT_HISTORY) && !(prot & PROT_WRITE) ? 0 : MAP_POPULATE;
}

int spindle_map_section(const struct spindle_queue *q, uint64_t cookie, uint64_t len,
			unsigned int times, int prot, struct spindle_map *m)
{
	size_t bytes = (size_t)len * times;
	int err = spindle_sys_mmap(q->fd, cookie, bytes, prot, map_flags(q, prot), &m->addr);

	if (!err)
		m->len = bytes;
	return err;
}

void spindle_unmap_section(struct spindle_map *m)
{
	if (m->len)
		spindle_sys_munmap(m->addr, m->len);
	m->addr = NULL;
	m->len = 0;
}

static int map_section(struct spindle_queue *q, const struct spindle_section *s,
		       unsigned int times, int prot, struct spindle_map *m)
{
	return spindle_map_section(q, s->cookie, s->len, times, prot, m);
}

static int map_all(struct spindle_queue *q, const struct spindle_attach *a)
{
	struct spindle_layout l = { 0 };
	int err;

	err = map_section(q, &a->ctl, 1, PROT_READ, &q->map_ctl);
	if (err)
		return err;
	err = map_section(q, &a->usr, 1, PROT_READ | PROT_WRITE, &q->map_usr);
	if (err)
		return err;
	if (a->flags & SPINDLE_ATTACH_SEND) {
		err = map_section(q, &a->tx, 2, PROT_READ | PROT_WRITE, &q->map_tx);
		if (err)
			return err;
	}
	if (a->flags & SPINDLE_ATTACH_RECV) {
		err = map_section(q, &a->dlv, 1, PROT_READ, &q->map_dlv);
		if (err)
			return err;
	}
	if (spindle_reads_copies(a)) {
		err = map_section(q, &a->copy, 2, PROT_READ, &q->map_copy);
		if (err)
			return err;
	}
	l.ctl = q->map_ctl.addr;
	l.usr = q->map_usr.addr;
	l.tx = q->map_tx.addr;
	l.dlv = q->map_dlv.addr;
	spindle_layout_apply(q, a, &l);
	return spindle_logs_begin(q, a);
}

static int check_opts(const struct spindle_attach_opts *o)
{
	if ((o->want & ~(SPINDLE_WANT_VIEWS | SPINDLE_WANT_OLDEST)) ||
	    (o->log_end && !(o->flags & SPINDLE_ATTACH_LOG)))
		return -EINVAL;
	if (o->from && (o->want & SPINDLE_WANT_OLDEST))
		return -EINVAL;
	/* The kernel checks the rest, because it may know more roles than this library. */
	return 0;
}

static void ask_place(const struct spindle_attach_opts *o, struct spindle_attach *a)
{
	a->next = o->log_end;
	if (o->want & SPINDLE_WANT_OLDEST)
		a->from = SPINDLE_FROM_OLDEST;
	if (!o->from)
		return;
	a->from = SPINDLE_FROM_LSN;
	a->lsn = o->from->lsn;
	a->lineage[0] = o->from->lineage[0];
	a->lineage[1] = o->from->lineage[1];
	a->era = o->from->era;
}

/* The sequence of steps; the caller undoes what was done. */
static int attach_steps(struct spindle_queue *q, const struct spindle_attach_opts *o)
{
	struct spindle_attach a = { .size = sizeof(a) };
	int ret;

	ret = check_opts(o);
	if (ret)
		return ret;

	q->step = SPINDLE_STEP_OPEN;
	ret = spindle_sys_open(o->device ? o->device : SPINDLE_DEVICE, 0);
	if (ret < 0)
		return ret;
	q->fd = ret;

	q->step = SPINDLE_STEP_ATTACH;
	a.flags = o->flags;
	if (o->flags & SPINDLE_ATTACH_RECV)
		a.flags |= SPINDLE_ATTACH_HISTORY;
	a.node = o->node;
	a.subgroup = o->subgroup;
	a.name = (uintptr_t)o->name;
	a.event_fd = o->event_fd > 0 ? o->event_fd : -1;
	a.copy_bytes = o->copy_bytes;
	ask_place(o, &a);
	ret = spindle_sys_ioctl(q->fd, SPINDLE_IOC_ATTACH, &a);
	q->memlock = a.memlock;
	q->oldest = a.oldest;
	q->next = a.next;
	if (ret < 0)
		return ret;

	q->step = SPINDLE_STEP_LAYOUT;
	a.flags = o->flags;
	ret = spindle_layout_check(&a);
	if (ret)
		return ret;
	q->flags = o->flags;
	q->subgroup = a.subgroup;
	q->members = a.members;
	q->senders = a.senders;
	q->rank = a.rank;
	q->sender_rank = a.sender_rank;
	q->window = a.window;
	q->max_msg = a.max_msg;
	q->vid = a.vid;
	q->features = a.features;
	q->lineage[0] = a.lineage[0];
	q->lineage[1] = a.lineage[1];
	q->era = a.era;
	q->rx_lsn = a.lsn;
	q->want = o->want;

	q->step = SPINDLE_STEP_MAP;
	ret = map_all(q, &a);
	if (ret)
		return ret;
	ret = spindle_first_view(q);
	if (ret)
		return ret;

	q->step = SPINDLE_STEP_DONE;
	return 0;
}

int spindle_attach(struct spindle_queue *q, const struct spindle_attach_opts *o)
{
	int err;

	memset(q, 0, sizeof(*q));
	q->fd = -1;
	q->node = o->node;
	q->subgroup = o->subgroup;
	err = attach_steps(q, o);
	if (err)
		spindle_detach(q);
	return err;
}

void spindle_detach(struct spindle_queue *q)
{
	spindle_logs_end(q);
	spindle_forget_views(q);
	spindle_unmap_section(&q->map_copy);
	spindle_unmap_section(&q->map_dlv);
	spindle_unmap_section(&q->map_tx);
	spindle_unmap_section(&q->map_usr);
	spindle_unmap_section(&q->map_ctl);
	/* With NULL here the hot path returns -EBADF instead of using an unmapped ring. */
	q->tx_ring = NULL;
	q->dlv = NULL;
	if (q->fd >= 0)
		spindle_sys_close(q->fd);
	q->fd = -1;
}

int spindle_members(const struct spindle_queue *q, struct spindle_member *m, unsigned int n)
{
	struct spindle_members arg = { .count = n, .ptr = (uintptr_t)m };
	int err = spindle_sys_ioctl(q->fd, SPINDLE_IOC_MEMBERS, &arg);

	if (err)
		return err < 0 ? err : -EPROTO;
	return arg.count <= n ? (int)arg.count : -EPROTO;
}

int spindle_sender_node(const struct spindle_queue *q, uint32_t sender, uint32_t *node)
{
	if (!q->source || sender >= q->senders)
		return -EINVAL;
	*node = q->source[sender].node;
	return 0;
}
