/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory that the processes of a client share, and the figures that follow from it.
 */
#ifndef SPINDLE_BENCH_PEER_BOARD_H
#define SPINDLE_BENCH_PEER_BOARD_H

#include <pthread.h>
#include <stdatomic.h>

#include "peer.h"
#include "perf/hist.h"

/**
 * enum peer_figure - figures of a repetition, by the names of spindle-perf
 * @PEER_GOODPUT: bytes per second that were delivered at a member, the mean of all
 * @PEER_SLOWEST: the same of the member with the fewest deliveries
 * @PEER_RATE: messages per second
 * @PEER_SECONDS: how long it was counted
 * @PEER_SENT: messages that were sent
 * @PEER_DELIVERED: deliveries at all members
 * @PEER_OWN_P50: median until a sender's own delivery
 * @PEER_OWN_P99: 99 % of them
 * @PEER_LAST_P50: median until the last member has been delivered, by the clock only
 * @PEER_LAST_P99: 99 % of them
 * @PEER_PACKETS: packets of all members per message that was sent
 * @PEER_FIGURES: how many there are
 */
enum peer_figure {
	PEER_GOODPUT,
	PEER_SLOWEST,
	PEER_RATE,
	PEER_SECONDS,
	PEER_SENT,
	PEER_DELIVERED,
	PEER_OWN_P50,
	PEER_OWN_P99,
	PEER_LAST_P50,
	PEER_LAST_P99,
	PEER_PACKETS,
	PEER_FIGURES
};

/**
 * struct peer_result - the figures of a repetition
 * @v: by enum peer_figure; NaN: not known
 */
struct peer_result {
	double v[PEER_FIGURES];
};

/**
 * struct peer_part - counts of a member in a repetition
 * @sent: messages that it has sent, once @ended
 * @counted: deliveries that count
 * @delivered: all deliveries
 * @packets: that its network device has sent
 * @own: ticks until its own delivery
 */
struct peer_part {
	_Atomic uint64_t sent;
	uint64_t counted;
	uint64_t delivered;
	uint64_t packets;
	struct perf_hist own;
};

/**
 * struct peer_board - shared memory
 * @gate: all members
 * @ended: members that send no more in this repetition
 * @start: ticks when it begins
 * @from: ticks when counting begins
 * @room: messages of a member that @time has room for
 * @part: of each member
 * @last: scratch for the ticks until the last delivery
 * @time: by the clock: for each sender and message, when it was sent, and when it came to
 *	each member
 */
struct peer_board {
	pthread_barrier_t gate;
	_Atomic unsigned int ended;
	uint64_t start;
	_Atomic uint64_t from;
	uint64_t room;
	struct peer_part part[PEER_MAX];
	struct perf_hist last;
	uint64_t time[];
};

struct peer_board *peer_board_new(const struct peer_conf *conf);
uint64_t *peer_board_times(struct peer_board *board, const struct peer_conf *conf,
			   unsigned int member, uint64_t number);
void peer_board_figures(struct peer_board *board, const struct peer_conf *conf,
			struct peer_result *result);
int peer_board_csv(const char *name, const struct peer_conf *conf,
		   const struct peer_result *result);

#endif /* SPINDLE_BENCH_PEER_BOARD_H */
