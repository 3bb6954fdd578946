/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SST: the shared state table.
 *
 * One row per member, one writer per row. A row lives in the memory of every
 * member; the owner changes its own copy and pushes it by one-sided writes. The
 * columns of a row come in blocks: four monotonic words that are always pushed
 * together, and a seal over them. One block per subgroup, one for the node.
 *
 * The seal makes a block readable without trust in the width of the device's stores. Eight-byte
 * words do tear: QEMU's "rep movsb" goes byte by byte. A torn counter can exceed the true one while
 * it is still inside the legal window. So a range check alone would turn rounds that are under way
 * into nulls. A reader takes the words, recomputes the seal, and believes the words only if the
 * seal matches the one that it loaded first. Otherwise it looks again in the next pass. As a side
 * effect a poll of an idle block is one load, because the seal has not changed.
 *
 * Block writers: the engine of the row's owner. Readers: the engine of the node
 * that holds the copy, and processes that mapped it.
 */
#ifndef SPINDLE_CORE_SST_H
#define SPINDLE_CORE_SST_H

#include "port.h"

#define SPINDLE_BLOCK_WORDS 4

/**
 * struct spindle_block - sealed columns, one cache line, as it is on the wire
 */
struct spindle_block {
	/** @word: the columns; little-endian hosts only, see layout.c */
	u64 word[SPINDLE_BLOCK_WORDS];
	/** @seal: spindle_seal() of @word */
	u64 seal;
	/** @resv: not pushed */
	u64 resv[3];
};

static_assert(sizeof(struct spindle_block) == 64, "a block is one cache line");

/* The part of a block that is pushed. */
#define SPINDLE_BLOCK_PUSH offsetof(struct spindle_block, resv)

/* Columns of a subgroup's block. Counts, so all start at 0. */
enum spindle_column {
	SPINDLE_COL_SENT,	/* own rounds decided: message or null */
	SPINDLE_COL_RECEIVED,	/* all sequence numbers below are here */
	SPINDLE_COL_DELIVERED,	/* all below are delivered, slots may be reused */
	SPINDLE_COL_SLOTS,	/* own messages sent */
};

/* Columns of a subgroup's log block. Positions, so all start at 0. */
enum spindle_log_column {
	SPINDLE_LOG_COL_PERSISTED, /* messages below are on this member's disk */
	SPINDLE_LOG_COL_LOW,	/* the first position that its log keeps */
	SPINDLE_LOG_COL_SNAPSHOT, /* position of its newest snapshot; 0: none */
	SPINDLE_LOG_COL_RECORD,	/* newest view whose record is on its disk, and bits; see below */
};

/* SPINDLE_LOG_COL_RECORD: enum spindle_log_state, SPINDLE_LOG_ESTABLISHED, and the id of a view. */
#define SPINDLE_LOG_STATE	0x7ULL
/* The writer knows that the present view of the subgroup is established. */
#define SPINDLE_LOG_ESTABLISHED	BIT_ULL(3)
#define SPINDLE_LOG_RECORD_SHIFT 4

/* Columns of the node's block. */
enum spindle_node_column {
	SPINDLE_NODE_COL_SLEEP,	/* odd: the engine sleeps, ring the doorbell */
	SPINDLE_NODE_COL_VID,	/* installed view */
	SPINDLE_NODE_COL_LOST,	/* ranks that this member has lost */
	/*
	 * Of a joiner: the view whose members it is connected to. Of a member, to a guest: the
	 * installed view, in which the guest is no member.
	 */
	SPINDLE_NODE_COL_READY,
};

/*
 * Passes in a row that may find a block half written. They take seconds, because the CPU that
 * writes may be preempted in the middle. A seal that stays wrong longer is a lie, and would keep
 * the engine awake for ever.
 */
#define SPINDLE_MAX_TORN	BIT(22)

/* What spindle_block_read() found. */
enum spindle_read {
	SPINDLE_READ_SAME,	/* nothing new */
	SPINDLE_READ_NEW,	/* consistent and different from the last one */
	SPINDLE_READ_TORN,	/* being written, look again */
};

/**
 * spindle_mix_next() - add a word to a mix
 * @h: mix of the words before it; 0 of none
 * @word: the word
 *
 * Return: the mix of all of them, see spindle_mix()
 */
static inline u64 spindle_mix_next(u64 h, u64 word)
{
	h ^= word;
	h *= 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 32;
}

u64 spindle_mix(const u64 *word, u32 words);
u64 spindle_seal(const u64 word[SPINDLE_BLOCK_WORDS]);
void spindle_block_write(struct spindle_block *block, const u64 word[SPINDLE_BLOCK_WORDS]);
enum spindle_read spindle_block_read(const struct spindle_block *block, u64 *seal,
				     u64 word[SPINDLE_BLOCK_WORDS]);

#endif /* SPINDLE_CORE_SST_H */
