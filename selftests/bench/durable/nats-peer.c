// SPDX-License-Identifier: GPL-2.0-only
/*
 * A client of JetStream of NATS: it makes a stream with three replicas, and publishes to it without
 * waiting for the acknowledgment of the message before. -e has the servers, like
 * nats://127.0.0.1:4222,nats://127.0.0.1:4223.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <nats/nats.h>

#include "client.h"
#include "common/clock.h"

#define STREAM		"bench"
#define REPLICAS	3
#define RETRY_US	200000

static struct client c = { .name = "nats-peer" };
/* A thread of the library calls acked(). */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved;
static char failure[256];

/* The time is in the message, because acknowledgments name nothing else. */
static void acked(jsCtx *js, natsMsg *msg, jsPubAck *pa, jsPubAckErr *err, void *arg)
{
	uint64_t now = perf_now(), sent = 0;

	(void)js;
	(void)arg;
	pthread_mutex_lock(&lock);
	if (err || !pa) {
		snprintf(failure, sizeof(failure), "%s", err && err->ErrText ? err->ErrText :
			 "a message was not acknowledged");
	} else if (natsMsg_GetDataLength(msg) >= (int)sizeof(sent)) {
		memcpy(&sent, natsMsg_GetData(msg), sizeof(sent));
		client_acked(&c, sent, now);
	}
	pthread_cond_signal(&moved);
	pthread_mutex_unlock(&lock);
	natsMsg_Destroy(msg);
}

static natsStatus try_stream(jsCtx *js)
{
	const char *subject = STREAM;
	jsStreamConfig conf;
	natsStatus s = jsStreamConfig_Init(&conf);

	if (s != NATS_OK)
		return s;
	conf.Name = STREAM;
	conf.Subjects = &subject;
	conf.SubjectsLen = 1;
	conf.Storage = js_FileStorage;
	conf.Replicas = REPLICAS;
	return js_AddStream(NULL, js, &conf, NULL, NULL);
}

/* Three servers need a while until they have a leader. */
static int make_stream(jsCtx *js)
{
	uint64_t since = perf_now();
	natsStatus s;

	do {
		s = try_stream(js);
		if (s == NATS_OK)
			return 0;
		usleep(RETRY_US);
	} while (perf_ns(perf_now() - since) < c.wait * 1e9);
	return client_say(&c, "no stream: %s", natsStatus_GetText(s));
}

/* Wait for an acknowledgment, or until @until. The lock is held. */
static void wait_until(uint64_t now, uint64_t until)
{
	double ns = until > now ? perf_ns(until - now) : 0;
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	ts.tv_nsec += ns < 20e6 ? ns : 20e6;
	ts.tv_sec += ts.tv_nsec / 1000000000;
	ts.tv_nsec %= 1000000000;
	pthread_cond_timedwait(&moved, &lock, &ts);
}

static int measure(jsCtx *js)
{
	char *body = calloc(1, c.size);
	uint64_t now, due, seen = 0, last;
	natsStatus s = NATS_OK;

	client_begin(&c);
	last = c.begin;
	pthread_mutex_lock(&lock);
	while (!*failure && s == NATS_OK) {
		now = perf_now();
		if (c.acked != seen)
			last = now;
		seen = c.acked;
		if ((now >= c.stop && c.sent == c.acked) ||
		    perf_ns(now - last) > c.wait * 1e9)
			break;
		if (!client_may_send(&c, now, &due)) {
			wait_until(now, due > now ? due : UINT64_MAX);
			continue;
		}
		memcpy(body, &due, sizeof(due));
		c.sent++;
		pthread_mutex_unlock(&lock);
		s = js_PublishAsync(js, STREAM, body, c.size, NULL);
		pthread_mutex_lock(&lock);
	}
	pthread_mutex_unlock(&lock);
	free(body);
	if (*failure)
		return client_say(&c, "%s", failure);
	if (s != NATS_OK)
		return client_say(&c, "publishing: %s", natsStatus_GetText(s));
	return c.sent == c.acked ? 0 : client_say(&c, "nothing has come for %g s", c.wait);
}

int main(int argc, char **argv)
{
	pthread_condattr_t attr;
	natsConnection *nc = NULL;
	jsOptions opts;
	uint64_t since;
	jsCtx *js = NULL;
	natsStatus s;

	client_options(&c, argc, argv);
	if (c.size < sizeof(uint64_t))
		return client_say(&c, "a message has %zu bytes at least", sizeof(uint64_t));
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&moved, &attr);
	since = perf_now();
	do {
		s = natsConnection_ConnectTo(&nc, c.servers);
	} while (s != NATS_OK && perf_ns(perf_now() - since) < c.wait * 1e9 && !usleep(RETRY_US));
	if (s == NATS_OK)
		s = jsOptions_Init(&opts);
	opts.PublishAsync.MaxPending = 2 * c.flight;
	opts.PublishAsync.AckHandler = acked;
	if (s == NATS_OK)
		s = natsConnection_JetStream(&js, nc, &opts);
	if (s != NATS_OK)
		return client_say(&c, "%s: %s", c.servers, natsStatus_GetText(s));
	return make_stream(js) || measure(js) || client_figures(&c);
}
