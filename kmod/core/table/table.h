/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Table: rows of cells that programs share (SST paper). See <linux/spindle_table.h> for cells.
 *
 * A table is a subgroup without messages. Each member has a row, and one process of that member
 * writes the row. The process marks changed cells by dirty bits. In each pass the engine takes the
 * bits, and adds them to the cells that each other member lacks. A push sends these as ranges, then
 * the guard (cell 0), and last the table's block, which tells the member's engine to look. Where
 * devices keep writes in order, engines also look at the seals of guards. There a guard that is
 * pushed ends the push, and a block follows only cells without a guard.
 *
 * The guard keeps what the contract promises about it:
 *
 *	- its bit is taken before the other bits. So the cells that the process sealed before it are
 *	  marked by then;
 *	- the engine copies it before it takes them, and pushes the copy. The device reads all other
 *	  cells later, and sends what they contain then. It must not read the guard later, because
 *	  the process may have sealed a newer one, and other cells before that;
 *	- a member gets the guard when it lacks no other cell.
 *
 * The copy goes inline, in pieces if it is longer than a device takes. The seal of the cell hides
 * from readers that only some pieces have arrived.
 *
 * The engine itself changes cells when predicates of processes fire, see predicate.h. It looks at
 * predicates before it takes dirty bits. So if a predicate sets the guard, the bits of the cells
 * that the process sealed before that are taken after the guard was copied.
 *
 * A process can ask for a flush: to learn when all other members have in memory what it has marked
 * so far. The engine takes the number of the flush in the pass that takes the bits. It pushes to
 * each member what that member lacks, or a block alone, and notes the place of the last write in
 * the queue. The flush has ended when the queues to all members are complete up to there.
 *
 * In mode read nothing is pushed. Each node fetches the rows of others, see fetch.h, and changes of
 * the own row only matter to the own node. Flushes end at once.
 *
 * A process can also skip members. They then lack what changes until the process takes them in
 * again, and no flush waits for them.
 *
 * What is in a row comes from a process, and nothing here believes it. A peer's block or guard
 * makes readers look, and predicates.
 *
 * Context: engine, where nothing else is said.
 */
#ifndef SPINDLE_CORE_TABLE_H
#define SPINDLE_CORE_TABLE_H

#include "core/base/push.h"
#include "core/base/sst.h"
#include <linux/spindle_table.h>

/* Words of a bit mask of cells. */
#define SPINDLE_TB_WORDS	(SPINDLE_MAX_CELLS / 64)

/* Bytes of an inline write: what every device takes, see SPINDLE_INLINE_MIN of fabric/. */
#define SPINDLE_TB_PIECE	64U

/* Columns of a table's block. */
enum spindle_tb_column {
	SPINDLE_TB_PUSHES,	/* changes of the row that were taken; grows */
	SPINDLE_TB_GUARD,	/* version of the guard that was pushed before this block */
};

/**
 * struct spindle_tb_member - a member of the table, by its rank in the subgroup
 */
struct spindle_tb_member {
	/** @lacks: cells that it does not have as they are now; bit 0: the guard */
	u64 lacks[SPINDLE_TB_WORDS];
	/** @first: the first word of @lacks that may not be 0 */
	u32 first;
	/** @piece: bytes of the guard that were pushed already */
	u32 piece;
	/** @due: it lacks something, or was not told to look at what it got */
	bool due;
	/** @node: id of its node */
	u32 node;
	/** @cells: its cells, in the copy of its row that we hold; NULL at the own rank */
	u8 *cells;
	/** @remote_cells: offset of the own cells in its copy of the own row */
	u64 remote_cells;
	/** @remote_block: offset of the own block there */
	u64 remote_block;
	/** @block: its block, in the copy of its row that we hold; NULL at the own rank */
	const struct spindle_block *block;
	/** @seal: seal of the last block that was accepted */
	u64 seal;
	/** @guard_seal: seal of its last guard that was whole; only where writes keep order */
	u64 guard_seal;
	/** @guard: version of its guard that all that came before it is here for */
	u64 guard;
	/**
	 * @vouch: low bits of the changes that a completion has vouched for; NULL where the device
	 * keeps writes in order
	 */
	const u32 *vouch;
	/** @torn_run: reads in a row that found its block or its guard half written */
	u32 torn_run;
	/** @instance: its bit in the process's mask of members to skip */
	u32 instance;
	/** @flush: the last flush that it was sent a last write for */
	u64 flush;
	/** @place: behind that write, in the queue to it */
	u64 place;
	/** @done: how far that queue is complete; the embedder's */
	const u64 *done;
};

/**
 * struct spindle_tb_stats - counters, written by the engine, read by any thread
 */
struct spindle_tb_stats {
	/** @taken: passes that found the row changed, by the process or by a predicate */
	u64 taken;
	/** @cells: cells that were changed then */
	u64 cells;
	/** @writes: one-sided writes for cells */
	u64 writes;
	/** @blocks: blocks pushed: at most one for each member and batch */
	u64 blocks;
	/** @heard: changes of other rows */
	u64 heard;
	/** @reads: reads of rows by the device, in mode read */
	u64 reads;
	/** @fetches: rows that were fetched whole */
	u64 fetches;
	/** @torn: reads that found a block or a guard half written */
	u64 torn;
	/** @half: guards that the process was writing, left for its next dirty bit */
	u64 half;
	/** @looks: looks at predicates */
	u64 looks;
	/** @fired: predicates that have fired */
	u64 fired;
};

/**
 * struct spindle_tb - a table at one member
 */
struct spindle_tb {
	/** @members: members of the subgroup */
	u32 members;
	/** @me: own rank among them */
	u32 me;
	/** @cells: cells of a row */
	u32 cells;
	/** @cell: bytes of a cell */
	u32 cell;
	/** @read: mode read: rows are fetched (fetch.h), and not pushed */
	bool read;
	/** @member: by rank; the embedder's memory */
	struct spindle_tb_member *member;
	/** @row: own cells, in the own row */
	u8 *row;
	/** @local: offset of @row in the own row */
	u64 local;
	/** @dirty: the process's dirty bits; NULL: no process writes */
	u64 *dirty;
	/** @ask: number of the flush that the process wants; NULL: no process writes */
	const u64 *ask;
	/** @skip: the process's mask of members to skip, by instance; NULL: the same */
	u64 *skip;
	/** @flush: number of the flush that is under way, or was the last one */
	u64 flush;
	/** @flushed: number of the last flush that has ended */
	u64 flushed;
	/** @withheld: ranks of members that lack something, and are skipped */
	u64 withheld;
	/** @half: the last copy of the guard was half written */
	bool half;
	/** @guard: copy of the guard, @cell bytes; the embedder's memory */
	u64 *guard;
	/** @next: place of the next copy, the same */
	u64 *next;
	/** @copy: copy of a cell that predicates are about, the same */
	u64 *copy;
	/** @word: own columns */
	u64 word[SPINDLE_BLOCK_WORDS];
	/** @block: own block, as it is pushed; zeroes are the block of a new table */
	struct spindle_block block;
	/** @bad: ranks of members that wrote what no correct member writes */
	u64 bad;
	/** @preds: predicates of all processes, in the order in which they were added */
	struct spindle_tb_pred *preds;
	/** @changed: ranks of rows that have changed since the last look at @preds */
	u64 changed;
	/** @turns: predicates that were added so far */
	u64 turns;
	/** @turn: of the predicate at which the next pass begins; 0: at the first one */
	u64 turn;
	/** @signals: signals that they have sent */
	u64 signals;
	/** @sets: fields that predicates have set */
	u64 sets;
	/** @sets_taken: those of them that the own block counts */
	u64 sets_taken;
	/** @stats: counters */
	struct spindle_tb_stats stats;
};

/**
 * spindle_tb_words() - words of a mask of cells
 * @tb: the table
 *
 * Return: how many of SPINDLE_TB_WORDS the table uses
 */
static inline u32 spindle_tb_words(const struct spindle_tb *tb)
{
	return DIV_ROUND_UP(tb->cells, 64);
}

/**
 * spindle_tb_cells() - bits that stand for cells
 * @tb: the table
 * @w: word of a mask; a process may set the other bits, too
 *
 * Return: the bits
 */
static inline u64 spindle_tb_cells(const struct spindle_tb *tb, u32 w)
{
	u32 left = tb->cells - 64 * w;

	return left >= 64 ? U64_MAX : BIT_ULL(left) - 1;
}

/* row.c */
bool spindle_tb_copy_cell(const u64 *from, u32 n, u64 *copy);
bool spindle_tb_take_dirty(struct spindle_tb *tb);
void spindle_tb_set(struct spindle_tb *tb, const struct spindle_field *field, u64 value);

/* flush.c */
u64 spindle_tb_asked(const struct spindle_tb *tb);
bool spindle_tb_take_flush(struct spindle_tb *tb, u64 ask);
bool spindle_tb_end_flush(struct spindle_tb *tb);
bool spindle_tb_skips(const struct spindle_tb *tb, u32 rank);
bool spindle_tb_withhold(struct spindle_tb *tb);
void spindle_tb_take_in(struct spindle_tb *tb, u32 rank);

/* table.c */
void spindle_tb_follow(struct spindle_tb *tb, struct spindle_tb *old, const u32 *from);
void spindle_tb_attach(struct spindle_tb *tb, u64 *dirty, const u64 *ask, u64 *skip);
void spindle_tb_adopt(struct spindle_tb *tb);
void spindle_tb_detach(struct spindle_tb *tb);
bool spindle_tb_run(struct spindle_tb *tb);
bool spindle_tb_wanted(const struct spindle_tb *tb, u32 rank);
bool spindle_tb_pending(const struct spindle_tb *tb);
u32 spindle_tb_push(struct spindle_tb *tb, u32 rank, u32 index, u32 how,
		    struct spindle_write *write, u32 max);

#endif /* SPINDLE_CORE_TABLE_H */
