/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common parts of the clients of the peers: processes, pace, checks, counts, figures.
 *
 * A client is a process per member, each in a network namespace of its own. The systems differ in
 * how a member joins, sends and receives. All else, and with it the rules of counting, is here. The
 * rules, the clock and the histogram are those of spindle-perf(1).
 */
#ifndef SPINDLE_BENCH_PEER_H
#define SPINDLE_BENCH_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PEER_MAX	8
#define PEER_BATCH	64
#define PEER_SIZE_MAX	65536

/**
 * struct peer_head - the beginning of a message
 * @member: the sender, from 0
 * @rep: the repetition
 * @number: from 0 in each repetition
 * @time: ticks when it was sent or, by the clock, should have been
 */
struct peer_head {
	uint32_t member;
	uint32_t rep;
	uint64_t number;
	uint64_t time;
};

/**
 * struct peer_conf - the measurement
 * @members: processes; all of them send
 * @reps: repetitions that count
 * @batch: the most messages that a member sends before it receives, and the other way round
 * @wait: seconds without progress that count as a failure
 * @size: bytes of a message
 * @seconds: how long a repetition counts
 * @warmup: how long all send before that, in percent of @seconds, to fill the queues
 * @rate: messages per second of each member, 0: as many as possible
 * @netns: prefix of the members' network namespaces; the number of a member follows, from 1
 * @dev: the same for the network devices whose packets are counted
 * @csv: file for the figures
 */
struct peer_conf {
	unsigned int members;
	unsigned int reps;
	unsigned int batch;
	unsigned int wait;
	size_t size;
	double seconds;
	double warmup;
	double rate;
	const char *netns;
	const char *dev;
	const char *csv;
};

struct peer_board;
struct peer_link;

/**
 * struct peer - a member, as its process sees it
 * @conf: what is measured
 * @board: the shared memory
 * @link: the system
 * @me: number of this member, from 0
 * @fd: descriptor to poll
 * @present: members that have joined, this one included
 * @blocked: the system takes no message now
 * @failed: a received message was wrong
 * @rep: repetition, from 0
 * @start: ticks when it began
 * @from: ticks when counting begins
 * @stop: ticks when it is over
 * @now: ticks, of the last reading of the clock
 * @sent: messages in this repetition
 * @got: the same, delivered here, of each member
 * @counted: of all these, those that count
 * @buf: messages to be sent, @conf->size apart
 */
struct peer {
	const struct peer_conf *conf;
	struct peer_board *board;
	const struct peer_link *link;
	unsigned int me;
	int fd;
	unsigned int present;
	bool blocked;
	bool failed;
	uint32_t rep;
	uint64_t start;
	uint64_t from;
	uint64_t stop;
	uint64_t now;
	uint64_t sent;
	uint64_t got[PEER_MAX];
	uint64_t counted;
	unsigned char *buf;
};

/**
 * struct peer_link - a system
 * @name: of it
 * @tells_room: poll() tells when there is room; otherwise the client tries again
 * @join: become a member, and set @peer->fd
 * @send: send at most @most messages, filled by peer_fill(). Return: the number, 0 and
 *	@peer->blocked if there is no room, or -errno
 * @receive: pass at most @most received messages to peer_take(), and count changes of
 *	membership in @peer->present. Return: the number of both, or -errno
 */
struct peer_link {
	const char *name;
	bool tells_room;
	int (*join)(struct peer *peer);
	int (*send)(struct peer *peer, unsigned int most);
	int (*receive)(struct peer *peer, unsigned int most);
};

void *peer_fill(struct peer *peer, unsigned int nth);
void peer_take(struct peer *peer, const void *msg, size_t len);
int peer_say(const struct peer *peer, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
int peer_main(int argc, char **argv, const struct peer_link *link);

#endif /* SPINDLE_BENCH_PEER_H */
