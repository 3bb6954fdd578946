/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Peers of this process: the other members of its view, the service for them, and how a log catches
 * up from them.
 *
 * Owner: the main thread. Context: the main thread, in its loop.
 */
#ifndef SPINDLE_LOGD_PEERS_H
#define SPINDLE_LOGD_PEERS_H

#include <linux/spindle.h>

#include "common/key.h"
#include "common/net.h"
#include "common/util.h"
#include "load.h"
#include "peer.h"

struct logd;
struct logd_state;
struct logd_opts;

/**
 * struct logd_place - the address of a peer
 */
struct logd_place {
	/** @node: id of its node */
	uint32_t node;
	/** @len: bytes of @addr */
	socklen_t len;
	/** @addr: address and port */
	struct sockaddr_storage addr;
};

/**
 * struct logd_peers - the peers, for all logs of the process
 */
struct logd_peers {
	/** @on: logs are served and fetched */
	bool on;
	/** @listens: logd_peers_listen() was called */
	bool listens;
	/** @server: the service */
	struct peer_server server;
	/** @net: netlink */
	struct ctl_net net;
	/** @node: id of the local node */
	uint32_t node;
	/** @vid: newest view that is known */
	uint64_t vid;
	/** @keyed: the kernel has a key for the node */
	bool keyed;
	/** @self: own address */
	struct logd_place self;
	/** @place: the other members */
	struct logd_place place[SPINDLE_MAX_MEMBERS];
	/** @places: entries of @place */
	unsigned int places;
	/** @logs: logs that are served */
	struct logd *logs;
	/** @count: how many */
	unsigned int count;
	/** @views: netlink for the group file */
	struct ctl_net views;
	/** @asks: @views is open */
	bool asks;
	/** @pool: memory of the answers of netlink */
	struct ctl_pool pool;
};

/**
 * struct logd_catch - how a log catches up
 */
struct logd_catch {
	/** @fetch: the peer that is asked */
	struct peer_fetch fetch;
	/** @on: the log catches up, and reads no history */
	bool on;
	/** @trusted: the log is known to be one of this group */
	bool trusted;
	/** @own: no message has come from another node */
	bool own;
	/** @oldest: position of the oldest message of the history */
	uint64_t oldest;
	/** @load: how the log gets snapshots */
	struct logd_load load;
	/** @behind: peers of this round whose logs begin behind the end of this one */
	unsigned int behind;
	/** @least: the smallest position that their logs begin with */
	uint64_t least;
	/** @skip: position that the log goes on with when a snapshot is there; 0: none */
	uint64_t skip;
	/** @i: the peer that is asked next, in this round */
	unsigned int i;
	/** @first: end of the log when it began to catch up */
	uint64_t first;
	/** @begun: end of the log when this round began */
	uint64_t begun;
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

/* peers.c: addresses, and the service. */

bool logd_peers_begin(struct logd_peers *p, const struct logd_opts *opts);
bool logd_peers_place(const char *text);
bool logd_peers_parse(const char *text, uint32_t node, struct logd_place *place);
bool logd_peers_refresh(struct logd_peers *p);
int logd_peers_keep(struct logd_peers *p, struct logd_state *state);
void logd_peers_listen(struct logd_peers *p, const struct logd_opts *opts, struct logd *logs,
		       unsigned int count);
unsigned int logd_peers_room(const struct logd_peers *p);
void logd_peers_poll(struct logd_peers *p, struct pollfd *fd, unsigned int room, int *ms);
void logd_peers_work(struct logd_peers *p);

/* peers-key.c: the key. */

bool logd_peers_key(struct peer_id *id, const char *path);

/* catch.c: catch up. */

bool logd_catch_up(struct logd *l, uint64_t oldest);
uint64_t logd_catch_lowest(struct logd *l, uint64_t oldest);
unsigned int logd_catch_poll(struct logd *l, struct pollfd *fd, int *ms);
void logd_catch_work(struct logd *l);
void logd_catch_end(struct logd *l);

#endif /* SPINDLE_LOGD_PEERS_H */
