/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the clients of the peers share: processes, pace, checks, counts, figures.
 *
 * A client is a process per member, each in a network namespace of its own. What differs
 * between systems is how to join, send, receive; all else, and with it what is counted,
 * is here once, and as spindle-perf(1) does it: by its clock and its histogram, too.
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
 * struct peer_head - how a message begins
 * @member: who sent it, from 0
 * @rep: in which repetition
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
 * struct peer_conf - what is to be measured
 * @members: processes; all of them send
 * @reps: repetitions that count
 * @batch: a member sends or receives at most so many messages before the other has its turn
 * @wait: seconds after which it is a failure that nothing moves
 * @size: bytes of a message
 * @seconds: how long a repetition counts
 * @warmup: how long all send before, in percent of that: queues are full then
 * @rate: messages per second of each member, 0: as many as possible
 * @netns: members are in the network namespaces of this name and their number from 1
 * @dev: the same of the network devices there whose packets are counted
 * @csv: where the figures go
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
 * @board: what all processes see
 * @link: the system
 * @me: number of this member, from 0
 * @fd: what to poll
 * @present: members that have joined, this one included
 * @blocked: the system takes no message now
 * @failed: something that was received was wrong
 * @rep: repetition, from 0
 * @start: ticks when it began
 * @from: ticks from when on it counts
 * @stop: ticks when it is over
 * @now: ticks, of the last look at the clock
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
 * @tells_room: poll() says when there is room; else it is tried again
 * @join: become a member; @peer->fd is then what to poll
 * @send: send at most so many messages, filled by peer_fill(). Return: how many, 0 and
 *	@peer->blocked if there is no room, or -errno
 * @receive: give at most so many messages that are there to peer_take(), and changes of
 *	membership to @peer->present. Return: how many of both, or -errno
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
