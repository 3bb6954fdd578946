/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Connections for reads of a table of mode read: each side may read the cells of the other one.
 */
#ifndef SPINDLE_HOSTILE_PEER_TABLE_H
#define SPINDLE_HOSTILE_PEER_TABLE_H

#include <stdbool.h>
#include <stdint.h>

/* The connection is for reads, of this table. */
extern bool reading;
extern uint32_t table_id;

/* Does the step ask for such a connection? */
bool wants_reads(const char *step);

/* Note for which table the connection of the step is, if for any. */
void take_table(const char *step);

/* The digest of a hello for reads of this table. */
uint64_t table_digest(void);

/* Bytes that the peer gives rights to, and bytes that we give rights to. */
uint64_t bytes_out(void);
uint64_t bytes_in(void);

/* What a read has brought, in words: versions of cells, or zeroes. */
const char *say_cells(const unsigned char *data, uint64_t len);

#endif /* SPINDLE_HOSTILE_PEER_TABLE_H */
