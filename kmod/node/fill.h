/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fill: a process puts messages in front of a history that were delivered before it began.
 *
 * Context: process.
 */
#ifndef SPINDLE_NODE_FILL_H
#define SPINDLE_NODE_FILL_H

#include <linux/types.h>

struct spindle_attachment;
struct spindle_dlv;
struct spindle_fill;
struct spindle_seat;

int spindle_fill_check(const struct spindle_fill *args);
int spindle_fill(struct spindle_attachment *att, struct spindle_fill *args,
		 const struct spindle_seat *seat, const struct spindle_dlv *dlv, const u8 *data);

#endif /* SPINDLE_NODE_FILL_H */
