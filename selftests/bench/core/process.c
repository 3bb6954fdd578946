// SPDX-License-Identifier: GPL-2.0-only
/*
 * The process of a member. See process.h.
 */
#include <stdlib.h>
#include <string.h>
#include <spindle/spindle.h>

#include "process.h"
#include "util.h"

#define BATCH 64

/* The same as in kmod/node/attachment.h: each side writes to lines of its own. */
struct ctl {
	__u32 state;
	__u32 error;
	__u32 need_wakeup;
	__u32 pad0[13];
	__u64 dlv_tail;
	__u64 pad1[7];
	__u64 tx_slot;
	__u64 tx_unit;
};

struct usr {
	__u64 consumed;
	__u64 pad0[7];
	__u64 reserve;
	__u64 pad1[7];
	struct spindle_tx_desc desc[];
};

struct process {
	struct spindle_queue q;
	struct ctl *ctl;
	struct usr *usr;
	struct spindle_dlv *dlv;
	struct spindle_source source[PROCESS_SENDERS];
	uint64_t *slot;
	struct process_saw saw;
};

/* The engine of a benchmark never sleeps. */
int spindle_kick(struct spindle_queue *q)
{
	(void)q;
	return 0;
}

/* A benchmark has no views. */
int spindle_enter_view(struct spindle_queue *q, const struct spindle_dlv *d, struct spindle_msg *m)
{
	(void)q;
	(void)d;
	(void)m;
	return -EPROTO;
}

void spindle_unmap_left(struct spindle_queue *q)
{
	(void)q;
}

/**
 * process_open() - make the memory of an attachment
 * @conf: what it attaches to
 * @rings: out, for the engine
 *
 * Return: the process
 */
struct process *process_open(const struct process_conf *conf, struct process_rings *rings)
{
	struct process *p = bench_pages(sizeof(*p));
	struct spindle_queue *q = &p->q;
	uint32_t s;

	p->ctl = bench_pages(sizeof(*p->ctl));
	p->usr = bench_pages(sizeof(*p->usr) + conf->window * sizeof(p->usr->desc[0]));
	p->dlv = bench_pages(conf->entries * sizeof(*p->dlv));
	p->ctl->state = SPINDLE_STATE_ACTIVE;
	q->senders = conf->senders;
	q->window = conf->window;
	q->max_msg = conf->max_msg;
	q->tx_slot_units = conf->slot_units;
	q->ctl_state = &p->ctl->state;
	q->ctl_error = &p->ctl->error;
	q->ctl_need_wakeup = &p->ctl->need_wakeup;
	q->ctl_dlv_tail = &p->ctl->dlv_tail;
	q->ctl_tx_slot = &p->ctl->tx_slot;
	q->ctl_tx_unit = &p->ctl->tx_unit;
	q->usr_consumed = &p->usr->consumed;
	q->usr_reserve = &p->usr->reserve;
	q->usr_desc = p->usr->desc;
	q->tx_ring = conf->sends ? conf->tx : NULL;
	q->tx_mask = conf->ring - 1;
	q->tx_units = conf->ring >> SPINDLE_UNIT_SHIFT;
	q->dlv_entries = conf->entries;
	q->dlv = (const unsigned char *)p->dlv;
	q->dlv_stride = sizeof(*p->dlv);
	q->rx_bytes = conf->ring;
	q->source = p->source;
	for (s = 0; s < conf->senders; s++)
		p->source[s].ring = conf->rx[s];
	*rings = (struct process_rings){
		.desc = p->usr->desc,
		.free_slot = (uint64_t *)&p->ctl->tx_slot,
		.free_unit = (uint64_t *)&p->ctl->tx_unit,
		.dlv = p->dlv,
		.dlv_tail = (uint64_t *)&p->ctl->dlv_tail,
		.consumed = (uint64_t *)&p->usr->consumed,
	};
	return p;
}

void process_close(struct process *p)
{
	free(p->ctl);
	free(p->usr);
	free(p->dlv);
	free(p);
}

/**
 * process_send() - build and commit messages
 * @p: the process, of a member that sends
 * @len: bytes of each
 * @n: how many
 *
 * The function writes only the first eight bytes, with the number of the message. Neither the
 * engine nor the clock reads the others, and a ring that is mapped once has no bytes behind its
 * end.
 *
 * Return: the number of messages that there was room for
 */
uint32_t process_send(struct process *p, uint32_t len, uint32_t n)
{
	struct spindle_slot slot;
	uint32_t i;

	for (i = 0; i < n && !spindle_reserve(&p->q, len, &slot); i++) {
		if (len >= sizeof(slot.slot))
			memcpy(slot.data, &slot.slot, sizeof(slot.slot));
		spindle_commit_quiet(&p->q, &slot, len);
	}
	return i;
}

/**
 * process_read() - read and release all delivered messages
 * @p: the process
 */
void process_read(struct process *p)
{
	struct spindle_msg msg[BATCH];
	int i, n;

	while ((n = spindle_next_batch(&p->q, msg, BATCH)) > 0) {
		for (i = 0; i < n; i++) {
			p->saw.order = (p->saw.order + msg[i].lsn) * 0x9e3779b97f4a7c15ULL;
			p->saw.order ^= msg[i].slot << 8 | msg[i].sender;
			if (msg[i].len >= sizeof(msg[i].slot) &&
			    memcmp(msg[i].data, &msg[i].slot, sizeof(msg[i].slot)))
				p->saw.wrong++;
		}
		p->saw.messages += n;
	}
	spindle_release(&p->q);
}

struct process_saw process_saw(const struct process *p)
{
	return p->saw;
}
