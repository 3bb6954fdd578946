/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Post: chains of one-sided writes, or reads, on a connection that is up.
 *
 * spindle_post_write(), spindle_post_imm() and spindle_post_read() build a chain,
 * spindle_post_flush() gives it to the device in one call. No lock, no allocation, no division.
 *
 * Context: the engine that serves the connection.
 */
#ifndef SPINDLE_FABRIC_POST_H
#define SPINDLE_FABRIC_POST_H

#include "conn.h"

/* Bytes of a write at most. */
#define SPINDLE_POST_BYTES	BIT(20)

u32 spindle_post_room(const struct spindle_conn *conn);
u32 spindle_post_pieces(u32 local_shift, u32 remote_shift);
bool spindle_post_fits(const struct spindle_conn *conn, u32 writes);
void spindle_post_write(struct spindle_conn *conn, const void *data, u64 local, u64 remote,
			u32 len);
void spindle_post_read(struct spindle_conn *conn, u64 local, u64 remote, u32 len);
void spindle_post_imm(struct spindle_conn *conn, u32 imm);
u64 spindle_post_place(const struct spindle_conn *conn);
int spindle_post_flush(struct spindle_conn *conn, bool signal);
void spindle_post_poll(struct spindle_conn *conn);
bool spindle_post_idle(const struct spindle_conn *conn);

#endif /* SPINDLE_FABRIC_POST_H */
