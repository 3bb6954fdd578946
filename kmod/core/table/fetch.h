/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fetch: the row of another member, as the device has read it from that member's memory. For tables
 * of mode read, see table.h.
 *
 * The device reads a row into memory that no process maps. From there the engine copies whole cells
 * into the row that processes map. So that row never has a cell that is half written, and no
 * version in it goes back.
 *
 * A reader that sees a guard must see what the owner sealed before it, or something newer. So the
 * engine copies a new guard last, when each other cell was whole in a read that began after the
 * guard had arrived. The order in which a device reads means nothing here. A fetch repeats reads
 * until this is so:
 *
 *	begin --> whole row --> cells behind the guard --> end
 *	           ^  |  |            |  ^                  ^
 *	           +--+  |            +--+                  |
 *	  guard is torn  |       a cell is torn             |
 *	                 +----------------------------------+
 *	                    the guard is the one that is shown
 *
 * What is read comes from a process of another node, and nothing here believes it. A cell without a
 * seal is no value, and the number of reads is limited.
 *
 * Context: engine.
 */
#ifndef SPINDLE_CORE_FETCH_H
#define SPINDLE_CORE_FETCH_H

#include "table.h"

/* Reads of a fetch at most. A cell that is torn in all of them keeps its value. */
#define SPINDLE_FETCH_READS	16U

/**
 * struct spindle_range - a part of a row
 */
struct spindle_range {
	/** @at: bytes from the begin of the row */
	u32 at;
	/** @len: bytes */
	u32 len;
};

/**
 * struct spindle_tb_fetch - one fetch after the other, of the row of a member
 */
struct spindle_tb_fetch {
	/** @guard: copy of the guard, a cell; the embedder's memory */
	u64 *guard;
	/** @guarded: @guard is whole, or shows already; it shows when no cell is @torn any more */
	bool guarded;
	/** @torn: cells that were in no read since the guard, or torn in all of them */
	u64 torn[SPINDLE_TB_WORDS];
	/** @reads: reads of this fetch so far */
	u32 reads;
};

void spindle_tb_fetch_begin(struct spindle_tb_fetch *f, const struct spindle_tb *tb);
struct spindle_range spindle_tb_fetch_next(const struct spindle_tb_fetch *f,
					   const struct spindle_tb *tb);
bool spindle_tb_fetch_take(struct spindle_tb_fetch *f, struct spindle_tb *tb, u32 rank,
			   const u64 *row);

#endif /* SPINDLE_CORE_FETCH_H */
