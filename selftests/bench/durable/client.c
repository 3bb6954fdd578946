// SPDX-License-Identifier: GPL-2.0-only
/* What the clients of the other logs have in common. See client.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "common/clock.h"
#include "perf/hist.h"

static struct perf_hist hist;

/**
 * client_say() - say what is wrong
 * @c: measurement
 * @fmt: as printf
 *
 * Return: 1
 */
int client_say(const struct client *c, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", c->name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return 1;
}

static void usage(const struct client *c)
{
	client_say(c, "usage: %s -e SERVERS [-S BYTES] [-q IN-FLIGHT] [-R RATE] [-t SECONDS] [-W SECONDS] [-w SECONDS] [-C FILE]",
		   c->name);
	exit(2);
}

/* A number from @least to @most, or the end. */
static double number(const struct client *c, const char *text, double least, double most)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end || !(v >= least && v <= most))
		usage(c);
	return v;
}

/**
 * client_options() - read the command line; wrong use ends the program with status 2
 * @c: out: measurement; the caller sets its name
 * @argc: as of main()
 * @argv: the same
 */
void client_options(struct client *c, int argc, char **argv)
{
	int opt;

	c->size = 64;
	c->flight = 1024;
	c->seconds = 1;
	c->wait = 30;
	while ((opt = getopt(argc, argv, "e:S:q:R:t:W:w:C:")) != -1) {
		switch (opt) {
		case 'e': c->servers = optarg; break;
		case 'C': c->csv = optarg; break;
		case 'S': c->size = number(c, optarg, 1, CLIENT_SIZE_MAX); break;
		case 'q': c->flight = number(c, optarg, 1, CLIENT_FLIGHT_MAX); break;
		case 'R': c->rate = number(c, optarg, 0, 1e6); break;
		case 't': c->seconds = number(c, optarg, 0.01, 3600); break;
		case 'W': c->warmup = number(c, optarg, 0, 3600); break;
		case 'w': c->wait = number(c, optarg, 1, 3600); break;
		default: usage(c);
		}
	}
	if (optind != argc || !c->servers)
		usage(c);
	perf_clock_init();
}

/* The first message may be sent now. */
void client_begin(struct client *c)
{
	c->begin = perf_now();
	c->from = c->begin + perf_ticks(c->warmup * 1e9);
	c->stop = c->from + perf_ticks(c->seconds * 1e9);
}

/**
 * client_may_send() - may one more message be sent?
 * @c: measurement
 * @now: ticks
 * @due: out: ticks that its time counts from: with a rate, when it is due
 */
bool client_may_send(const struct client *c, uint64_t now, uint64_t *due)
{
	*due = now;
	if (now >= c->stop || c->sent - c->acked >= c->flight)
		return false;
	if (c->rate > 0)
		*due = c->begin + perf_ticks(c->sent * 1e9 / c->rate);
	return *due <= now;
}

/* A message that was sent at @sent was acknowledged. */
void client_acked(struct client *c, uint64_t sent, uint64_t now)
{
	c->acked++;
	if (now < c->from || now >= c->stop)
		return;
	c->counted++;
	perf_hist_add(&hist, perf_since(now, sent));
}

/**
 * client_figures() - print the figures, and write them as CSV
 * @c: measurement, which is over
 *
 * Return: 0, or 1 after a message
 */
int client_figures(const struct client *c)
{
	FILE *f = c->csv ? fopen(c->csv, "w") : stdout;

	if (!c->counted)
		return client_say(c, "nothing was acknowledged in time");
	if (!f)
		return client_say(c, "%s: %s", c->csv, strerror(errno));
	fprintf(f, "rate,goodput,seconds,sent,acknowledged,ack_p50,ack_p99\n");
	fprintf(f, "%.9g,%.9g,%.9g,%llu,%llu,%.9g,%.9g\n", c->counted / c->seconds,
		c->counted / c->seconds * c->size, c->seconds, (unsigned long long)c->sent,
		(unsigned long long)c->counted, perf_us(perf_hist_quantile(&hist, 0.5)),
		perf_us(perf_hist_quantile(&hist, 0.99)));
	if (f != stdout && fclose(f))
		return client_say(c, "%s: %s", c->csv, strerror(errno));
	return 0;
}
