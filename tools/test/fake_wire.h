/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A simulated kernel. The commands run unchanged, but their requests are recorded, and the test
 * defines the answers, the events and the time.
 */
#ifndef SPINDLE_FAKE_WIRE_H
#define SPINDLE_FAKE_WIRE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <netlink/msg.h>

#include "common/net.h"
#include "common/util.h"
#include "ctl/args.h"
#include "tap.h"

#define SENT_MAX	1024
#define EVENTS_MAX	16
#define NODES_MAX	4
#define OUTPUT_MAX	65536
#define ANSWERS_MAX	32

/**
 * struct wire - the simulated kernel
 */
struct wire {
	/** @sent: requests that were sent */
	struct nlmsghdr *sent[SENT_MAX];
	/** @sents: entries of @sent */
	unsigned int sents;
	/** @refuse: command that is refused, or 0 */
	int refuse;
	/** @err: -errno of the refusal */
	int err;
	/** @node: ids of the nodes that exist */
	uint32_t node[NODES_MAX];
	/** @nodes: entries of @node */
	unsigned int nodes;
	/** @keyed: the nodes have keys */
	bool keyed;
	/** @dead: the node that has lost its device, or 0 */
	uint32_t dead;
	/** @status: status of each node; the last one is repeated */
	struct nlmsghdr *status[EVENTS_MAX];
	/** @statuses: entries of @status */
	unsigned int statuses;
	/** @asked: number of requests for the status */
	unsigned int asked;
	/** @view: VIEW_GET of all nodes, or NULL */
	struct nlmsghdr *view;
	/** @rdmc: RDMC groups, one entry for each request; the last one is repeated */
	struct nlmsghdr *rdmc[EVENTS_MAX];
	/** @rdmcs: entries of @rdmc; 0: there are no groups */
	unsigned int rdmcs;
	/** @rdmc_asked: number of requests for the groups */
	unsigned int rdmc_asked;
	/**
	 * @answer: answers, each to all requests with its command; other answers to these commands
	 * are off
	 */
	struct nlmsghdr *answer[ANSWERS_MAX];
	/** @answers: entries of @answer */
	unsigned int answers;
	/** @tick: milliseconds that each request takes */
	unsigned int tick;
	/** @grow: the counters of @answer are larger at each request */
	bool grow;
	/** @event: events, which arrive one at a time; NULL: @code arrives instead */
	struct nlmsghdr *event[EVENTS_MAX];
	/** @code: -ENOBUFS, or another -errno */
	int code[EVENTS_MAX];
	/** @events: entries of @event */
	unsigned int events;
	/** @next: index of the next event */
	unsigned int next;
	/** @listens: the command listens to events */
	bool listens;
	/** @heard: the command listened when the request came */
	bool heard;
	/** @ms: the time */
	uint64_t ms;
	/** @step_ms: how long a look at the clock takes */
	uint64_t step_ms;
};

extern struct wire wire;
extern char output[OUTPUT_MAX];

/* The linker puts these functions in the place of the real ones. */
int __wrap_ctl_net_open(struct ctl_net *net, enum ctl_say say);
int __wrap_ctl_net_call(struct ctl_net *net, struct ctl_req *req, struct ctl_replies *replies,
			enum ctl_say say);
int __wrap_ctl_event_join(const struct ctl_net *net, const char *what, bool unload);
int __wrap_ctl_event_recv(const struct ctl_net *net, int timeout_ms, struct nlmsghdr **nlh);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);

void same(const char *have, const char *want, const char *what);

void begin(uint32_t node);
struct nl_msg *message(int cmd);
void event(int kind, uint32_t node, uint64_t vid, uint32_t error, const char *reason);
void lost(void);
int run(int (*cmd)(struct ctl_args *a), const char *noun, const char *words);
struct nlattr **sent(int cmd);
bool attr_is(const struct nlattr *attr, int len, uint64_t num);

struct nl_msg *status_msg(uint32_t node, int state, const char *reason, struct nlattr **live);
void put_member(struct nl_msg *msg, uint32_t id, int rank, int state, uint64_t lag);
void status(uint32_t node, int state, int why, const char *reason);
void status_two(uint32_t node, int state, int peer, uint64_t lag);

#endif /* SPINDLE_FAKE_WIRE_H */
