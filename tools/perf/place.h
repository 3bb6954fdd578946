/* SPDX-License-Identifier: GPL-2.0-only */
/* The place of a measurement: nodes of this kernel, and the subgroups that are used. */
#ifndef SPINDLE_PERF_PLACE_H
#define SPINDLE_PERF_PLACE_H

#include <linux/spindle.h>

#include "common/key.h"
#include "common/net.h"
#include "conf.h"

struct ctl_view;

#define PERF_DEVICES	8
#define PERF_DEVICE_LEN	64

/**
 * struct perf_spot - a node at its end of a subgroup
 * @member: the node is a member of the subgroup
 * @sender: the node may send in it
 * @tune: tuning of the end before the measurement
 */
struct perf_spot {
	bool member;
	bool sender;
	struct perf_tune tune;
};

/**
 * struct perf_group - a subgroup that is used
 * @id: id of the subgroup
 * @members: members, here and elsewhere
 * @senders: members that may send
 * @window: slots of a sender
 * @max_msg: largest message
 * @ring: bytes of a sender's ring
 * @mode: enum spindle_mode
 * @spot: end of each node, by the index of the node in the place
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
 * @was_timed: whether the nodes measured their time before
 * @made: number of nodes that this program made; they are the first ones
 * @timed: number of nodes, from the first one, that measure their time because of this program
 * @tuned: the nodes have been tuned
 * @group: subgroups that are used
 * @groups: entries of @group
 * @subgroups: subgroups of the view
 * @visibility: enum spindle_visibility of the first node
 * @idle_us: idle time of the first node
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
 * struct perf_where - the place that the user wants
 * @setup: make nodes and a view
 * @addr: with @setup: address of all nodes
 * @spread: with @setup: @addr is the address of the first node, and each node has the next one
 * @port: with @setup: node I has the port @port + I
 * @first: with @setup: id of the first node
 * @node: without @setup: use only these nodes
 * @group: without @setup: use only these subgroups
 * @wait: seconds to wait for an event before giving up
 * @timing: make engines measure their time
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

/* setup.c */
const char *perf_setup_addr(struct ctl_addr *addr);
int perf_setup(struct perf_place *place, const struct perf_where *where,
	       const struct perf_conf *conf);
int perf_setup_node(struct perf_place *place, const struct perf_where *where,
		    const struct perf_conf *conf, uint32_t id);
int perf_setup_view(struct perf_place *place, const struct perf_where *where,
		    struct ctl_view *view, unsigned int nodes);

#endif /* SPINDLE_PERF_PLACE_H */
