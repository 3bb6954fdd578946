/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An attachment to the fake, for tests that have one at a time.
 */
#ifndef SPINDLE_TEST_ATTACH_H
#define SPINDLE_TEST_ATTACH_H

#include <unistd.h>

#include "internal.h"
#include "fake.h"
#include "tap.h"

static inline int attach_as(struct spindle_queue *q, uint32_t flags)
{
	struct spindle_attach_opts o = { .node = 7, .subgroup = 2, .flags = flags };

	return spindle_attach(q, &o);
}

/* Attach, or bail out, because the rest of a test needs the attachment. */
static inline void start(struct spindle_queue *q, uint32_t flags, const struct fake_opts *o)
{
	fake_setup(o);
	/* SIGALRM ends a test that hangs. */
	alarm(300);
	if (attach_as(q, flags))
		bail_out("cannot attach");
}

/* End a test: check that the rules of the rings were kept, and that nothing is left. */
static inline struct fake_report stop(struct spindle_queue *q)
{
	struct fake_report r;

	spindle_detach(q);
	r = fake_look();
	CHECK(r.open_files == 0);
	CHECK(r.mappings == 0);
	CHECK(r.lost_wakeups == 0);
	CHECK(r.tx_error == 0);
	CHECK(r.dlv_error == 0);
	return r;
}

static inline unsigned char pattern(uint64_t slot, uint32_t i)
{
	return (unsigned char)(slot * 13 + i * 3 + (slot >> 8));
}

static inline void fill(struct spindle_slot *s, uint32_t len)
{
	unsigned char *p = s->data;
	uint32_t i;

	for (i = 0; i < len; i++)
		p[i] = pattern(s->slot, i);
}

#endif /* SPINDLE_TEST_ATTACH_H */
