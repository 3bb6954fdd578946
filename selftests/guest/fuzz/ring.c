// SPDX-License-Identifier: GPL-2.0-only
/*
 * The words of an attachment: correct and wrong commits, consumed entries, and rubbish in all
 * writable words. Words that the kernel writes are checked, because they stay valid whatever the
 * process does.
 *
 * Pages may have been unmapped, and the caller catches the fault.
 */
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "device.h"

#define WORD32(base, off)	((uint32_t *)((base) + (off)))
#define WORD64(base, off)	((uint64_t *)((base) + (off)))
#define load(p)			__atomic_load_n((p), __ATOMIC_ACQUIRE)
#define store(p, v)		__atomic_store_n((p), (v), __ATOMIC_RELEASE)

/* Read the positions at which to go on. Returns false if they are unknown. */
static bool begin(struct file *f)
{
	unsigned char *ctl = mapped(f, CTL), *usr = mapped(f, USR);
	uint64_t reserve, slot;

	if (!ctl || !usr)
		return false;
	if (f->begun)
		return true;
	reserve = load(WORD64(usr, f->a.usr_reserve));
	slot = load(WORD64(ctl, f->a.ctl_tx_slot));
	f->slot = slot + ((uint32_t)reserve - (uint32_t)slot);
	f->unit = reserve >> 32;
	f->read = load(WORD64(usr, f->a.usr_consumed));
	f->begun = true;
	return true;
}

static struct spindle_tx_desc *desc_at(struct file *f, unsigned char *usr, uint64_t slot)
{
	return (struct spindle_tx_desc *)(usr + f->a.usr_desc) + slot % f->a.window;
}

static void wake(struct file *f, unsigned char *ctl)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (load(WORD32(ctl, f->a.ctl_need_wakeup)) || one_in(4))
		count(OP_KICK, ioctl(f->fd, SPINDLE_IOC_KICK) ? -1 : 0);
}

/*
 * A rule was certainly broken, so the kernel has to freeze the attachment. The check works only
 * where no request removes the view at the same time.
 */
static void must_freeze(struct file *f, const char *what)
{
	unsigned char *ctl = mapped(f, CTL);
	unsigned int tries;

	/* One failure is enough, and waiting for each takes minutes. */
	if (f->a.node > BYSTANDERS || f->scribbled || not_alone || any_broken())
		return;
	for (tries = 0; tries < 500; tries++) {
		if (load(WORD32(ctl, f->a.ctl_state)) > SPINDLE_STATE_ACTIVE)
			return;
		ioctl(f->fd, SPINDLE_IOC_KICK);
		usleep(10000);
	}
	if (!f->scribbled && !not_alone)
		broken("node %u subgroup %u: %s, and nothing was frozen", f->a.node, f->a.subgroup,
		       what);
}

/* ---- sending ----------------------------------------------------------- */

static void spoil_desc(struct file *f, struct spindle_tx_desc *d, uint64_t *ready)
{
	switch (below(7)) {
	case 0:
		d->unit = one_in(2) ? d->unit + 1 - 2 * below(2) : odd();
		break;
	case 1:
		d->units = one_in(2) ? f->a.ring_bytes / SPINDLE_UNIT + below(3) - 1 : odd();
		break;
	case 2:
		d->len = one_in(2) ? f->a.max_msg + below(3) : odd();
		break;
	case 3:
		d->flags = odd();
		break;
	case 4:
		*ready += one_in(2) ? f->a.window : odd();
		break;
	case 5:
		d->mask = odd();
		break;
	case 6:	/* more room than is free */
		d->units = f->a.ring_bytes / SPINDLE_UNIT;
		d->len = one_in(2) ? d->len : f->a.max_msg;
		break;
	}
}

/* The error of a descriptor, or NULL. Missing room does not count as one. */
static const char *fault(const struct file *f, const struct spindle_tx_desc *d, uint64_t ready)
{
	if (!ready || ready == f->slot + 1 - f->a.window)
		return NULL;
	if (ready != f->slot + 1)
		return "a ready word of nowhere";
	if (d->flags & ~(SPINDLE_TX_ABANDON | SPINDLE_TX_VIEW))
		return "unknown flags";
	if (d->unit != f->unit)
		return "a unit that is not next";
	if (d->units > f->a.ring_bytes / SPINDLE_UNIT)
		return "more units than there are";
	if (d->len > f->a.max_msg)
		return "a message that is too long";
	if (((uint64_t)d->len + SPINDLE_UNIT - 1) / SPINDLE_UNIT > d->units)
		return "a message longer than its extent";
	if (d->mask && !d->flags)
		return "members of view 0, which there never was";
	return NULL;
}

static bool has_room(const struct file *f, unsigned char *ctl, uint32_t units)
{
	uint32_t free_unit = load(WORD64(ctl, f->a.ctl_tx_unit));

	return f->slot - load(WORD64(ctl, f->a.ctl_tx_slot)) < f->a.window &&
	       (uint32_t)(f->unit + units - free_unit) <= f->a.ring_bytes / SPINDLE_UNIT;
}

/* Commit one message, if there is room: correctly, or with an error. */
void ring_commit(struct file *f, bool right)
{
	unsigned char *ctl = mapped(f, CTL), *usr = mapped(f, USR), *tx = mapped(f, TX);
	struct spindle_tx_desc *d, now;
	const char *wrong = NULL;
	uint32_t len, units;
	uint64_t ready, at;

	if (!tx || !begin(f))
		return;
	len = one_in(8) ? f->a.max_msg : below(f->a.max_msg + 1);
	units = (len + SPINDLE_UNIT - 1) / SPINDLE_UNIT;
	if (!has_room(f, ctl, units))
		return;
	at = (uint64_t)f->unit * SPINDLE_UNIT % f->a.ring_bytes;
	memset(tx + at, len, at + len > f->a.ring_bytes ? f->a.ring_bytes - at : len);
	now = (struct spindle_tx_desc){ .unit = f->unit, .units = units, .len = len };
	now.flags = one_in(16) ? SPINDLE_TX_ABANDON : 0;
	ready = f->slot + 1;
	if (!right) {
		spoil_desc(f, &now, &ready);
		wrong = fault(f, &now, ready);
		f->spoilt = true;
		/* A descriptor that is not ready blocks those behind it. */
		f->scribbled |= ready != f->slot + 1 && !wrong;
	}
	d = desc_at(f, usr, f->slot);
	d->unit = now.unit;
	d->units = now.units;
	d->len = now.len;
	d->flags = now.flags;
	d->mask = now.mask;
	store(&d->ready, ready);
	f->slot++;
	f->unit += now.units;
	store(WORD64(usr, f->a.usr_reserve), (uint64_t)f->unit << 32 | (uint32_t)f->slot);
	if (right)
		count(OP_COMMIT, 0);
	wake(f, ctl);
	if (wrong)
		must_freeze(f, wrong);
}

/* ---- reading ----------------------------------------------------------- */

static void check_entry(struct file *f, const struct spindle_dlv *e)
{
	uint64_t ring = f->a.copy.len ? f->a.copy.len : f->a.ring_bytes;

	bool live = f->a.features & SPINDLE_FEAT_LIVE;
	/* Later views may have more senders. */
	uint32_t senders = live ? SPINDLE_MAX_MEMBERS : f->a.senders;

	if (live && e->kind == SPINDLE_DLV_VIEW) {
		if (!e->slot || e->offset || e->len || e->sender)
			broken("a delivery of view %llu that is more than that",
			       (unsigned long long)e->slot);
		return;
	}
	if (e->kind == SPINDLE_DLV_OTHER && (e->offset || e->len))
		broken("a message for others with %u bytes at %llu", e->len,
		       (unsigned long long)e->offset);
	if (e->sender >= senders ||
	    (e->kind != SPINDLE_DLV_MSG && e->kind != SPINDLE_DLV_OTHER) || e->len > f->a.max_msg ||
	    e->offset >= ring)
		broken("a delivery of sender %u of %u, kind %u, %u bytes at %llu of %llu",
		       e->sender, f->a.senders, e->kind, e->len, (unsigned long long)e->offset,
		       (unsigned long long)ring);
}

/* Store a wrong number of consumed entries. */
static void misread(struct file *f, unsigned char *ctl, unsigned char *usr, uint64_t tail)
{
	/* The tail may grow, but not by so much. */
	bool beyond = one_in(2);

	f->spoilt = true;
	store(WORD64(usr, f->a.usr_consumed), beyond ? tail + (1 << 20) + (odd() >> 2) :
	      one_in(2) ? tail + 1 + below(3) : one_in(2) ? f->read - 1 : odd());
	wake(f, ctl);
	if (beyond)
		must_freeze(f, "more consumed than delivered");
}

/* Read the entries and report that, or report another number. */
void ring_consume(struct file *f, bool right)
{
	unsigned char *ctl = mapped(f, CTL), *usr = mapped(f, USR), *dlv = mapped(f, DLV);
	uint64_t tail, i;

	if (!dlv || !begin(f))
		return;
	tail = load(WORD64(ctl, f->a.ctl_dlv_tail));
	if (!right) {
		misread(f, ctl, usr, tail);
		return;
	}
	if (tail - f->read > f->a.dlv_entries && !f->spoilt && !not_alone)
		broken("%llu entries in a ring of %u", (unsigned long long)(tail - f->read),
		       f->a.dlv_entries);
	for (i = f->read; i < tail; i++)
		check_entry(f, (void *)(dlv + i % f->a.dlv_entries * f->a.dlv_stride));
	if (tail != f->read)
		count(OP_CONSUME, 0);
	f->read = one_in(4) && tail != f->read ? f->read + 1 : tail;
	store(WORD64(usr, f->a.usr_consumed), f->read);
	wake(f, ctl);
}

/* ---- both -------------------------------------------------------------- */

/* Write random words into writable pages. */
void ring_scribble(struct file *f)
{
	unsigned char *usr = mapped(f, USR), *tx = mapped(f, TX);
	unsigned int i, n = 1 + below(one_in(4) ? 200 : 4);

	f->spoilt = f->scribbled = true;
	for (i = 0; i < n; i++) {
		if (usr)
			store(WORD64(usr, below(f->a.usr.len / 8) * 8), odd());
		if (tx)
			store(WORD64(tx, below(f->a.tx.len / 8) * 8), rnd());
	}
}

/*
 * Count the reason for which the attachment was frozen. A process cannot cause an undefined state,
 * or a state without a reason.
 */
void ring_look(struct file *f)
{
	unsigned char *ctl = mapped(f, CTL);
	uint32_t state, error;

	if (!ctl || f->frozen)
		return;
	state = load(WORD32(ctl, f->a.ctl_state));
	error = load(WORD32(ctl, f->a.ctl_error));
	if (state > SPINDLE_STATE_GONE || error > SPINDLE_ERR_TX_MASK ||
	    (state > SPINDLE_STATE_ACTIVE && !error))
		broken("node %u: an attachment in state %u with error %u", f->a.node, state, error);
	if (state <= SPINDLE_STATE_ACTIVE)
		return;
	/* A reader that is too slow for the tuning of the subgroup has broken no rule. */
	if (state == SPINDLE_STATE_FROZEN && error != SPINDLE_ERR_STALLED && !f->spoilt &&
	    !not_alone)
		broken("node %u subgroup %u: frozen for error %u, and all was right",
		       f->a.node, f->a.subgroup, error);
	f->frozen = true;
	count(OP_FREEZE, error);
}
