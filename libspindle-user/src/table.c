// SPDX-License-Identifier: MIT
/*
 * Tables: attach and detach, the members and their rows.
 *
 * The kernel only lists the members of the present view. A process may miss views, and a node that
 * left and came back in them may have other memory in the same instance. So all rows are mapped
 * again when the view is another one. New rows are completely mapped before they replace the old
 * ones, so a failure changes nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <linux/spindle_genl.h>

#include "table.h"

/* How often members are read again because the view has changed while their rows were mapped. */
#define TRIES	8

/* ---- members ---------------------------------------------------------- */

static void rows_free(struct spindle_rows *r)
{
	uint32_t i;

	for (i = 0; r && i < r->instances; i++)
		spindle_unmap_section(&r->row[i]);
	free(r);
}

/* List the members of a view, 0: the present one. */
static int ask_seats(const struct spindle_table *t, struct spindle_rows *r, uint64_t vid)
{
	struct spindle_seats arg = {
		.vid = vid, .count = SPINDLE_MAX_MEMBERS, .ptr = (uintptr_t)r->seat,
	};
	int err = spindle_sys_ioctl(t->fd, SPINDLE_TABLE_IOC_SEATS, &arg);

	if (err)
		return err < 0 && err != -ENOSPC ? err : -EPROTO;
	if (!arg.count || arg.count > SPINDLE_MAX_MEMBERS || (vid && arg.vid != vid))
		return -EPROTO;
	r->vid = arg.vid;
	r->members = arg.count;
	return 0;
}

static int map_row(const struct spindle_table *t, uint32_t instance, struct spindle_map *m)
{
	int err = spindle_sys_mmap(t->fd, t->row_cookie + instance * t->row_stride,
				   (size_t)t->row_len, PROT_READ, MAP_POPULATE, &m->addr);

	if (!err)
		m->len = (size_t)t->row_len;
	return err;
}

/* Map the rows of all members. Each has an instance of its own, and one of them is this node. */
static int map_rows(const struct spindle_table *t, struct spindle_rows *r)
{
	uint32_t i, instance;
	int err;

	r->rank = SPINDLE_NO_RANK;
	for (i = 0; i < r->members; i++) {
		instance = r->seat[i].sst;
		if (instance >= r->instances || r->row[instance].len)
			return -EPROTO;
		if (instance == t->own_instance)
			r->rank = i;
		err = map_row(t, instance, &r->row[instance]);
		if (err)
			return err;
	}
	return r->rank == SPINDLE_NO_RANK ? -EPROTO : 0;
}

/*
 * Build the rows of the present view. If that view ends while they are mapped, the instance of a
 * member may belong to another one already. The second question finds that out.
 */
static int rows_make(const struct spindle_table *t, struct spindle_rows **made)
{
	struct spindle_rows *r = calloc(1, sizeof(*r) + t->instances * sizeof(r->row[0]));
	int err;

	if (!r)
		return -ENOMEM;
	r->instances = t->instances;
	err = ask_seats(t, r, 0);
	if (!err && t->rows && t->rows->vid == r->vid) {
		free(r);
		*made = t->rows;
		return 0;
	}
	if (!err)
		err = map_rows(t, r);
	if (!err)
		err = ask_seats(t, r, r->vid);
	if (err)
		rows_free(r);
	else
		*made = r;
	return err;
}

static int refresh(struct spindle_table *t)
{
	struct spindle_rows *r = NULL;
	int i, err = -ESTALE;

	for (i = 0; i < TRIES && err == -ESTALE; i++)
		err = rows_make(t, &r);
	if (err || r == t->rows)
		return err;
	rows_free(t->rows);
	t->rows = r;
	t->vid = r->vid;
	t->members = r->members;
	t->rank = r->rank;
	return 0;
}

int spindle_table_seats(struct spindle_table *t, struct spindle_seat *seat, unsigned int n)
{
	int err = refresh(t);

	if (err)
		return err;
	if (n && n < t->members)
		return -ENOSPC;
	if (n)
		memcpy(seat, t->rows->seat, t->members * sizeof(*seat));
	return (int)t->members;
}

int spindle_table_instance(const struct spindle_table *t, uint32_t node, uint32_t *instance)
{
	uint32_t i;

	for (i = 0; t->rows && i < t->rows->members; i++) {
		if (t->rows->seat[i].node != node)
			continue;
		*instance = t->rows->seat[i].sst;
		return 0;
	}
	return -ENOENT;
}

/* ---- attach and detach ------------------------------------------------ */

static int map_section(const struct spindle_table *t, const struct spindle_section *s, int prot,
		       struct spindle_map *m)
{
	int err = spindle_sys_mmap(t->fd, s->cookie, (size_t)s->len, prot, MAP_POPULATE, &m->addr);

	if (!err)
		m->len = (size_t)s->len;
	return err;
}

static int map_all(struct spindle_table *t, const struct spindle_table_attach *a)
{
	int err;

	err = map_section(t, &a->ctl, PROT_READ, &t->map_ctl);
	if (err)
		return err;
	err = map_section(t, &a->usr, PROT_READ | PROT_WRITE, &t->map_usr);
	if (err)
		return err;
	if (t->flags & SPINDLE_TABLE_WRITE) {
		err = map_section(t, &a->own, PROT_READ | PROT_WRITE, &t->map_own);
		if (err)
			return err;
	}
	return 0;
}

/* Point the table into the mapped sections. */
static void apply(struct spindle_table *t, const struct spindle_table_attach *a)
{
	const unsigned char *ctl = t->map_ctl.addr;
	unsigned char *usr = t->map_usr.addr;

	t->ctl_state = (const void *)(ctl + a->ctl_state);
	t->ctl_error = (const void *)(ctl + a->ctl_error);
	t->ctl_need_wakeup = (const void *)(ctl + a->ctl_need_wakeup);
	t->ctl_generation = (const void *)(ctl + a->ctl_generation);
	t->ctl_vouched = (const void *)(ctl + a->ctl_vouched);
	t->ctl_signals = (const void *)(ctl + a->ctl_signals);
	t->ctl_fired = (const void *)(ctl + a->ctl_fired);
	t->ctl_flushed = (const void *)(ctl + a->ctl_flushed);
	t->ctl_refreshed = (const void *)(ctl + a->ctl_refreshed);
	t->ctl_fields = (const char *)(ctl + a->ctl_fields);
	t->usr_seen = (void *)(usr + a->usr_seen);
	t->usr_heard = (void *)(usr + a->usr_heard);
	t->usr_refresh = (void *)(usr + a->usr_refresh);
	t->usr_every = (void *)(usr + a->usr_every);
	if (t->flags & SPINDLE_TABLE_WRITE) {
		t->usr_dirty = (void *)(usr + a->usr_dirty);
		t->usr_flush = (void *)(usr + a->usr_flush);
		t->usr_skip = (void *)(usr + a->usr_skip);
		t->own = t->map_own.addr;
	}
}

/* Copy what the reply says about the table. */
static void note(struct spindle_table *t, const struct spindle_table_attach *a)
{
	t->flags = a->flags;
	t->read = a->mode == SPINDLE_MODE_TABLE_READ;
	t->table = a->table;
	t->members = a->members;
	t->rank = a->rank;
	t->cells = a->cells;
	t->cell = a->cell;
	t->own_instance = a->own_instance;
	t->instances = a->instances;
	t->vid = a->vid;
	t->features = a->features;
	t->lineage[0] = a->lineage[0];
	t->lineage[1] = a->lineage[1];
	t->era = a->era;
	t->row_cookie = a->rows.cookie;
	t->row_stride = a->row_stride;
	t->row_len = a->rows.len;
}

/* The sequence of steps; the caller undoes what was done. */
static int attach_steps(struct spindle_table *t, const struct spindle_table_attr *o)
{
	struct spindle_table_attach a = {
		.size = sizeof(a), .node = o->node, .table = o->table, .flags = o->flags,
		.event_fd = o->event_fd > 0 ? o->event_fd : -1, .name = (uintptr_t)o->name,
	};
	int ret;

	/* The kernel checks the rest, because it may know more flags than this library. */
	if (o->resv[0] || o->resv[1])
		return -EINVAL;
	t->step = SPINDLE_STEP_OPEN;
	ret = spindle_sys_open(o->device ? o->device : SPINDLE_TABLE_DEVICE, 0);
	if (ret < 0)
		return ret;
	t->fd = ret;

	t->step = SPINDLE_STEP_ATTACH;
	ret = spindle_sys_ioctl(t->fd, SPINDLE_TABLE_IOC_ATTACH, &a);
	if (ret < 0)
		return ret;

	t->step = SPINDLE_STEP_LAYOUT;
	a.flags = o->flags;
	ret = spindle_table_check(&a);
	if (ret)
		return ret;
	note(t, &a);

	t->step = SPINDLE_STEP_MAP;
	ret = map_all(t, &a);
	if (ret)
		return ret;
	apply(t, &a);
	ret = refresh(t);
	if (ret)
		return ret;

	t->step = SPINDLE_STEP_DONE;
	return 0;
}

int spindle_table_attach(struct spindle_table *t, const struct spindle_table_attr *o)
{
	int err;

	memset(t, 0, sizeof(*t));
	t->fd = -1;
	t->node = o->node;
	t->table = o->table;
	err = attach_steps(t, o);
	if (err)
		spindle_table_detach(t);
	return err;
}

void spindle_table_detach(struct spindle_table *t)
{
	rows_free(t->rows);
	t->rows = NULL;
	spindle_unmap_section(&t->map_own);
	spindle_unmap_section(&t->map_usr);
	spindle_unmap_section(&t->map_ctl);
	/* With NULL here calls return an error instead of using what is unmapped. */
	t->own = NULL;
	t->usr_seen = NULL;
	t->usr_heard = NULL;
	t->usr_refresh = NULL;
	t->usr_every = NULL;
	t->ctl_fired = NULL;
	if (t->fd >= 0)
		spindle_sys_close(t->fd);
	t->fd = -1;
}
