/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Repair of damaged ranges by messages of other nodes, beside the writer. See repair.c.
 *
 * Owner: the log. Context: the main thread, in its loop.
 */
#ifndef SPINDLE_LOGD_REPAIR_H
#define SPINDLE_LOGD_REPAIR_H

#include <poll.h>

#include "fix.h"
#include "peer.h"

struct logd;

/**
 * struct logd_witness - a whole message of the own log, which a peer has to have, too
 */
struct logd_witness {
	/** @known: there is one */
	bool known;
	/** @lsn: its position */
	uint64_t lsn;
	/** @slot: index among the messages of its sender */
	uint64_t slot;
	/** @node: id of the sender's node */
	uint32_t node;
	/** @len: bytes */
	uint32_t len;
	/** @crc: CRC-32C of its bytes */
	uint32_t crc;
};

/**
 * struct logd_repair - repairs of a log
 */
struct logd_repair {
	/** @on: there are ranges to repair */
	bool on;
	/** @ready: @fix has its memory */
	bool ready;
	/** @asked: the administrator waits for the end of a round */
	bool asked;
	/** @tail: the end of the log is damaged, and the log waits for its repair */
	bool tail;
	/** @fix: the segment that is being repaired */
	struct spindle_dlog_repair fix;
	/** @range: what is damaged, in the memory of the scan */
	struct spindle_dlog_range *range;
	/** @ranges: entries of @range */
	uint32_t ranges;
	/** @at: the first range that was not given up */
	uint32_t at;
	/** @begun: first position of the log when a repair was begun again after a trim */
	uint64_t begun;
	/** @looked: end of the range that @witness and @bounds belong to */
	uint64_t looked;
	/** @witness: near the range */
	struct logd_witness witness;
	/** @bounds: the view in front of the range, and the newest one that it may be in */
	struct peer_want bounds;
	/** @fetch: the peer that is asked */
	struct peer_fetch fetch;
	/** @checked: the peer has the witness */
	bool checked;
	/** @checks: the peer was asked for the witness */
	bool checks;
	/** @i: the peer that is asked next, in this round */
	unsigned int i;
	/** @moved: something has come in this round */
	bool moved;
	/** @backoff_ms: between the last two rounds */
	uint32_t backoff_ms;
	/** @next_ms: when the next peer is asked */
	uint64_t next_ms;
	/** @moved_ms: when the last message came */
	uint64_t moved_ms;
	/** @told_ms: when the administrator was told last; 0: never */
	uint64_t told_ms;
	/** @why: what the peers of this round have said */
	char why[256];
};

void logd_repair_open(struct logd *l);
void logd_repair_ask(struct logd *l, uint64_t lsn);
void logd_repair_work(struct logd *l);
unsigned int logd_repair_poll(struct logd *l, struct pollfd *fd, int *ms);
void logd_repair_end(struct logd *l);

#endif /* SPINDLE_LOGD_REPAIR_H */
