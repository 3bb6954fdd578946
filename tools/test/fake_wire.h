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
 * @sent: requests that were sent
 * @sents: entries of @sent
 * @refuse: command that is refused, or 0
 * @err: -errno of the refusal
 * @node: ids of the nodes that exist
 * @nodes: entries of @node
 * @keyed: the nodes have keys
 * @dead: the node that has lost its device, or 0
 * @status: status of each node; the last one is repeated
 * @statuses: entries of @status
 * @asked: number of requests for the status
 * @view: VIEW_GET of all nodes, or NULL
 * @rdmc: RDMC groups, one entry for each request; the last one is repeated
 * @rdmcs: entries of @rdmc; 0: there are no groups
 * @rdmc_asked: number of requests for the groups
 * @answer: answers, each to all requests with its command; other answers to these commands are off
 * @answers: entries of @answer
 * @tick: milliseconds that each request takes
 * @grow: the counters of @answer are larger at each request
 * @event: events, which arrive one at a time; NULL: @code arrives instead
 * @code: -ENOBUFS, or another -errno
 * @events: entries of @event
 * @next: index of the next event
 * @listens: the command listens to events
 * @heard: the command listened when the request came
 * @ms: the time
 */
struct wire {
	struct nlmsghdr *sent[SENT_MAX];
	unsigned int sents;
	int refuse;
	int err;
	uint32_t node[NODES_MAX];
	unsigned int nodes;
	bool keyed;
	uint32_t dead;
	struct nlmsghdr *status[EVENTS_MAX];
	unsigned int statuses;
	unsigned int asked;
	struct nlmsghdr *view;
	struct nlmsghdr *rdmc[EVENTS_MAX];
	unsigned int rdmcs;
	unsigned int rdmc_asked;
	struct nlmsghdr *answer[ANSWERS_MAX];
	unsigned int answers;
	unsigned int tick;
	bool grow;
	struct nlmsghdr *event[EVENTS_MAX];
	int code[EVENTS_MAX];
	unsigned int events;
	unsigned int next;
	bool listens;
	bool heard;
	uint64_t ms;
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
