// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared memory of a client, and figures. See peer-board.h.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "peer-board.h"
#include "common/clock.h"

static const char * const names[PEER_FIGURES] = {
	[PEER_GOODPUT] = "goodput",
	[PEER_SLOWEST] = "goodput_slowest",
	[PEER_RATE] = "rate",
	[PEER_SECONDS] = "seconds",
	[PEER_SENT] = "sent",
	[PEER_DELIVERED] = "delivered",
	[PEER_OWN_P50] = "own_p50",
	[PEER_OWN_P99] = "own_p99",
	[PEER_LAST_P50] = "slowest_p50",
	[PEER_LAST_P99] = "slowest_p99",
	[PEER_PACKETS] = "packets_per_message",
};

/**
 * peer_board_new() - make the memory that the later processes share
 * @conf: how much of it
 *
 * Return: memory, or NULL
 */
struct peer_board *peer_board_new(const struct peer_conf *conf)
{
	/* With a rate, one message is due at the very start. */
	double seconds = conf->seconds * (1 + conf->warmup / 100);
	uint64_t room = conf->rate > 0 ? conf->rate * seconds + 2 : 0;
	size_t bytes = sizeof(struct peer_board) +
		       room * conf->members * (conf->members + 1) * sizeof(uint64_t);
	pthread_barrierattr_t attr;
	struct peer_board *board;

	board = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (board == MAP_FAILED)
		return NULL;
	board->room = room;
	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	if (pthread_barrier_init(&board->gate, &attr, conf->members))
		return NULL;
	return board;
}

/**
 * peer_board_times() - the times of a message
 * @board: board
 * @conf: what is measured
 * @member: its sender
 * @number: number
 *
 * Return: the time when it was sent, followed by the times of its deliveries at each member; NULL
 * if there is no room for it
 */
uint64_t *peer_board_times(struct peer_board *board, const struct peer_conf *conf,
			   unsigned int member, uint64_t number)
{
	if (number >= board->room)
		return NULL;
	return &board->time[(member * board->room + number) * (conf->members + 1)];
}

static void put_last(struct peer_board *board, const struct peer_conf *conf)
{
	const uint64_t *t;
	uint64_t number, late, most;
	unsigned int i, to;

	perf_hist_clear(&board->last);
	for (i = 0; i < conf->members; i++) {
		for (number = 0; number < board->part[i].sent; number++) {
			t = peer_board_times(board, conf, i, number);
			if (!t)
				break;
			if (t[0] < board->from)
				continue;
			for (most = 0, to = 1; to <= conf->members; to++) {
				late = perf_since(t[to], t[0]);
				if (late > most)
					most = late;
			}
			perf_hist_add(&board->last, most);
		}
	}
}

static double us(const struct perf_hist *h, double q)
{
	return h->count ? perf_ns(perf_hist_quantile(h, q)) / 1000 : NAN;
}

/**
 * peer_board_figures() - compute the figures of a repetition
 * @board: the board, after all members have finished
 * @conf: what is measured
 * @result: out
 */
void peer_board_figures(struct peer_board *board, const struct peer_conf *conf,
			struct peer_result *result)
{
	double *v = result->v;
	static struct perf_hist own;
	double rate, sum = 0, least = INFINITY, packets = 0;
	unsigned int i;

	memset(result, 0, sizeof(*result));
	perf_hist_clear(&own);
	for (i = 0; i < conf->members; i++) {
		const struct peer_part *part = &board->part[i];

		rate = part->counted / conf->seconds;
		sum += rate;
		if (rate < least)
			least = rate;
		v[PEER_SENT] += part->sent;
		v[PEER_DELIVERED] += part->delivered;
		packets += part->packets;
		perf_hist_merge(&own, &part->own);
	}
	put_last(board, conf);
	v[PEER_RATE] = sum / conf->members;
	v[PEER_GOODPUT] = v[PEER_RATE] * conf->size;
	v[PEER_SLOWEST] = least * conf->size;
	v[PEER_SECONDS] = conf->seconds;
	v[PEER_OWN_P50] = us(&own, 0.5);
	v[PEER_OWN_P99] = us(&own, 0.99);
	v[PEER_LAST_P50] = us(&board->last, 0.5);
	v[PEER_LAST_P99] = us(&board->last, 0.99);
	v[PEER_PACKETS] = conf->dev && v[PEER_SENT] > 0 ? packets / v[PEER_SENT] : NAN;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Unknown values are empty, as in spindle-perf. */
static void put_value(FILE *f, double v)
{
	if (isnan(v))
		fputc(',', f);
	else
		fprintf(f, ",%.10g", v);
}

static void put_row(FILE *f, const struct peer_conf *conf, const struct peer_result *result)
{
	unsigned int i, k, n = conf->reps;
	double *one = calloc(n, sizeof(*one));

	if (!one)
		return;
	for (k = 0; k < PEER_FIGURES; k++) {
		for (i = 0; i < n; i++)
			one[i] = result[i].v[k];
		qsort(one, n, sizeof(*one), by_size);
		put_value(f, (one[(n - 1) / 2] + one[n / 2]) / 2);
		put_value(f, one[0]);
		put_value(f, one[n - 1]);
	}
	free(one);
}

/**
 * peer_board_csv() - write head and row
 * @name: system
 * @conf: what was measured; @conf->csv is the file, standard output without
 * @result: of each repetition
 *
 * Return: 0 or -errno
 */
int peer_board_csv(const char *name, const struct peer_conf *conf,
		   const struct peer_result *result)
{
	FILE *f = conf->csv ? fopen(conf->csv, "w") : stdout;
	unsigned int k;

	if (!f)
		return -errno;
	fputs("system,nodes,size,repetitions", f);
	for (k = 0; k < PEER_FIGURES; k++)
		fprintf(f, ",%s,%s_min,%s_max", names[k], names[k], names[k]);
	fprintf(f, "\n%s,%u,%zu,%u", name, conf->members, conf->size, conf->reps);
	put_row(f, conf, result);
	fputc('\n', f);
	return f == stdout ? fflush(f) : fclose(f);
}
