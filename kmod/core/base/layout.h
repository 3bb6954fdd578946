/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where everything is in a row.
 *
 * The row of member W as member H holds it (W writes, H reads) contains
 *
 *   0            node block                                        64 bytes
 *   64 (1 + i)   block of subgroup i of the view                   64 bytes each
 *   64 (1 + n + i)  in a live view of n subgroups, log block of i  64 bytes each
 *   ...          of each subgroup that both are members of and in which W sends
 *                a message by express                             192 bytes
 *                header ring                                       32 w bytes
 *                of each table that both are members of
 *                a block of the table                              64 bytes
 *   page         payload ring of each subgroup, cells of each table  ring bytes
 *
 * The blocks have the same offset in all rows, whichever member holds them; rings and cells exist
 * only where they are needed. A table that is in a spare has its block where headers would begin. W
 * computes the offsets in H's copy itself, because a layout is a pure function of the view and two
 * ranks.
 *
 * In a live view, a layout is a pure function of the rules and two node ids. So it is the same in
 * all views. The membership's part is behind the headers: spindle_rules_row().
 */
#ifndef SPINDLE_CORE_LAYOUT_H
#define SPINDLE_CORE_LAYOUT_H

#include "express.h"
#include "view.h"

/* No such ring in this row. */
#define SPINDLE_NO_OFFSET U64_MAX

/**
 * struct spindle_layout - offsets in bytes from the start of a row
 */
struct spindle_layout {
	/** @sst: bytes of all blocks, a multiple of the page size; mapped by processes */
	u64 sst;
	/** @size: bytes of the row, a multiple of the page size */
	u64 size;
	/** @mb: membership's part, struct spindle_mb_row, or SPINDLE_NO_OFFSET */
	u64 mb;
	/**
	 * @hdr: header ring of each subgroup, or SPINDLE_NO_OFFSET. Of a table: a block, aligned to
	 * its size; a place for express is in front of it only in a spare
	 */
	u64 hdr[SPINDLE_MAX_SUBGROUPS];
	/**
	 * @pay: payload ring of each subgroup, or cells of each table, page aligned; or
	 * SPINDLE_NO_OFFSET
	 */
	u64 pay[SPINDLE_MAX_SUBGROUPS];
};

#define SPINDLE_NODE_BLOCK 0UL

/**
 * spindle_layout_block() - offset of a subgroup's block in any row
 * @index: index of the subgroup in the view
 *
 * Return: bytes
 */
static inline u64 spindle_layout_block(u32 index)
{
	return (1 + (u64)index) * sizeof(struct spindle_block);
}

/**
 * spindle_layout_log() - offset of a subgroup's log block in any row of a live view
 * @subgroups: number of subgroups of the view, which is the same in all views
 * @index: index of the subgroup in the view
 *
 * Return: bytes
 */
static inline u64 spindle_layout_log(u32 subgroups, u32 index)
{
	return spindle_layout_block(subgroups + index);
}

/**
 * spindle_layout_express() - offset of the place for messages by express
 * @lo: layout of the row
 * @index: index in the view of a subgroup that has a header ring in the row
 *
 * Return: bytes
 */
static inline u64 spindle_layout_express(const struct spindle_layout *lo, u32 index)
{
	return lo->hdr[index] - sizeof(struct spindle_express);
}

/**
 * spindle_layout_hdr() - put a header ring, and the place for express, into a row
 * @lo: layout of the row
 * @index: index of the subgroup
 * @at: the first byte that is free
 * @window: headers
 *
 * Return: the first byte that is free behind them
 */
static inline u64 spindle_layout_hdr(struct spindle_layout *lo, u32 index, u64 at, u32 window)
{
	lo->hdr[index] = at + sizeof(struct spindle_express);
	return lo->hdr[index] + (u64)window * sizeof(struct spindle_hdr);
}

/**
 * spindle_layout_table() - put the block of a table into a row
 * @lo: layout of the row
 * @index: index of the table
 * @at: the first byte that is free
 *
 * Return: the first byte that is free behind the block
 */
static inline u64 spindle_layout_table(struct spindle_layout *lo, u32 index, u64 at)
{
	lo->hdr[index] = ALIGN(at, sizeof(struct spindle_block));
	return lo->hdr[index] + sizeof(struct spindle_block);
}

void spindle_layout_row(struct spindle_layout *lo, const struct spindle_view *view,
			u32 writer, u32 holder);

#endif /* SPINDLE_CORE_LAYOUT_H */
