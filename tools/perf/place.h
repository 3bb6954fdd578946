/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where it is measured: the nodes of this kernel, and the subgroups that are used.
 */
#ifndef SPINDLE_PERF_PLACE_H
#define SPINDLE_PERF_PLACE_H

#include <linux/spindle.h>

#include "ctl-key.h"
#include "ctl-net.h"
#include "perf-conf.h"

struct ctl_view;

#define PERF_DEVICES	8
#define PERF_DEVICE_LEN	64

/**
 * struct perf_spot - a node at its end of a subgroup
 * @member: it is a member of it
 * @sender: it may send there
 * @tune: how it was tuned before
 */
struct perf_spot {
	bool member;
	bool sender;
	struct perf_tune tune;
};

/**
 * struct perf_group - a subgroup that is used
 * @id: its id
 * @members: members, here and elsewhere
 * @senders: those that may send
 * @window: slots of a sender
 * @max_msg: largest message
 * @ring: bytes of a sender's ring
 * @mode: enum spindle_mode
 * @spot: of each node, by its index in the place
 */
struct perf_group {
	uint32_t id;
	uint32_t members;
	uint32_t senders;
	uint32_t window;
	uint32_t max_msg;
	uint32_t ring;
	uint32_t mode;
	struct perf_spot spot[SPINDLE_MAX_MEMBERS];
};

/**
 * struct perf_place - nodes and subgroups
 * @net: socket
 * @node: ids of the nodes of this kernel that are driven
 * @nodes: entries of @node
 * @was_timed: they measured their time before
 * @made: so many of them were made by us, the first ones
 * @timed: so many of them have been told to measure their time
 * @tuned: they have been tuned
 * @group: subgroups that are used
 * @groups: entries of @group
 * @subgroups: subgroups of the view
 * @visibility: enum spindle_visibility of the first node
 * @idle_us: of the first node
 * @device: RDMA devices of the nodes
 * @devices: entries of @device
 */
struct perf_place {
	struct ctl_net *net;
	uint32_t node[SPINDLE_MAX_MEMBERS];
	unsigned int nodes;
	bool was_timed[SPINDLE_MAX_MEMBERS];
	unsigned int made;
	unsigned int timed;
	bool tuned;
	struct perf_group group[SPINDLE_MAX_SUBGROUPS];
	unsigned int groups;
	unsigned int subgroups;
	uint64_t visibility;
	uint64_t idle_us;
	char device[PERF_DEVICES][PERF_DEVICE_LEN];
	unsigned int devices;
};

/**
 * struct perf_where - what the user says about the place
 * @setup: make nodes and a view
 * @addr: with @setup: address of all nodes
 * @spread: with @setup: no, of the first node; each node has the one that follows
 * @port: with @setup: node I has this port and I more
 * @first: with @setup: id of the first node
 * @node: without: only these nodes
 * @group: without: only these subgroups
 * @wait: seconds to wait for what does not come
 * @timing: have engines measure their time
 */
struct perf_where {
	bool setup;
	struct ctl_addr addr;
	bool spread;
	uint16_t port;
	uint32_t first;
	const char *node;
	const char *group;
	unsigned int wait;
	bool timing;
};

int perf_place_enter(struct perf_place *place, struct ctl_net *net,
		     const struct perf_where *where, const struct perf_conf *conf);
void perf_place_leave(struct perf_place *place);
int perf_place_devices(struct perf_place *place);
int perf_place_index(const struct perf_place *place, uint32_t node);
bool perf_place_remote(const struct perf_place *place);

/* perf-setup.c */
const char *perf_setup_addr(struct ctl_addr *addr);
int perf_setup(struct perf_place *place, const struct perf_where *where,
	       const struct perf_conf *conf);
int perf_setup_node(struct perf_place *place, const struct perf_where *where,
		    const struct perf_conf *conf, uint32_t id);
int perf_setup_view(struct perf_place *place, const struct perf_where *where,
		    struct ctl_view *view, unsigned int nodes);

#endif /* SPINDLE_PERF_PLACE_H */
