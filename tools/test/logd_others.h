/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A log and the logs of other nodes, with servers, for tests of what spindle-logd fetches. The logs
 * are in real directories, and the connections are real. What spindle-logd says is kept.
 *
 * Owner: the test. Context: one thread.
 */
#ifndef SPINDLE_TEST_LOGD_OTHERS_H
#define SPINDLE_TEST_LOGD_OTHERS_H

#include <netinet/in.h>

#include "logd/logd.h"
#include "logd_store.h"

#define OTHERS		2U
#define OTHERS_KEY	"the key of the group"

/**
 * struct other - a log of another node
 */
struct other {
	/** @store: the log */
	struct store store;
	/** @server: its server */
	struct peer_server server;
	/** @addr: where the server listens */
	struct sockaddr_in addr;
};

/**
 * struct others_work - what a test has spindle-logd do
 */
struct others_work {
	/** @poll: what to wait for */
	unsigned int (*poll)(struct logd *l, struct pollfd *fd, int *ms);
	/** @done: an operation of the own log has ended */
	logd_done_fn done;
	/** @work: what can be done without waiting */
	void (*work)(struct logd *l);
};

extern struct other other[OTHERS];
extern struct store own;
extern struct logd logd;
extern struct logd_opts opts;
extern struct logd_peers peers;
/* All that was said, a line each, and the number of lines. */
extern char said[4000];
extern unsigned int said_lines;

bool has_said(const char *words);
void forget_said(void);
struct peer_id other_id(uint32_t node, const char *key);
int other_socket(struct sockaddr_in *addr);
void other_serve(struct other *o, uint32_t node);
void other_drop(struct other *o);
void other_place(uint32_t node, const struct sockaddr_in *addr);
void others_turn(unsigned int servers, const struct others_work *w);

#endif /* SPINDLE_TEST_LOGD_OTHERS_H */
