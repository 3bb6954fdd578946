/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common parts of the clients of the other logs: options, pace, counts, figures. A client has many
 * requests under way, and counts those that were acknowledged. The clock and the histogram are
 * those of spindle-perf(1).
 */
#ifndef SPINDLE_BENCH_CLIENT_H
#define SPINDLE_BENCH_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLIENT_SIZE_MAX		65536
#define CLIENT_FLIGHT_MAX	8192

/**
 * struct client - a measurement
 * @name: of the program
 * @servers: where they are
 * @csv: file for the figures
 * @size: bytes of a message
 * @flight: requests that may be under way
 * @seconds: how long it counts
 * @warmup: seconds before that
 * @wait: seconds without progress that are a failure
 * @rate: messages per second, 0: as many as possible
 * @begin: ticks when the first message was sent
 * @from: ticks from which on acknowledgements count
 * @stop: ticks from which on they do not
 * @sent: messages, in all
 * @acked: the same that were acknowledged
 * @counted: of these, those in time
 */
struct client {
	const char *name;
	const char *servers;
	const char *csv;
	size_t size;
	unsigned int flight;
	double seconds;
	double warmup;
	double wait;
	double rate;
	uint64_t begin;
	uint64_t from;
	uint64_t stop;
	uint64_t sent;
	uint64_t acked;
	uint64_t counted;
};

void client_options(struct client *c, int argc, char **argv);
void client_begin(struct client *c);
bool client_may_send(const struct client *c, uint64_t now, uint64_t *due);
void client_acked(struct client *c, uint64_t sent, uint64_t now);
int client_figures(const struct client *c);
int client_say(const struct client *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* SPINDLE_BENCH_CLIENT_H */
