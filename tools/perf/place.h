/* SPDX-License-Identifier: GPL-2.0-only */
/* The place of a measurement: nodes of this kernel, and the subgroups that are used. */
#ifndef SPINDLE_PERF_PLACE_H
#define SPINDLE_PERF_PLACE_H

#include <linux/spindle.h>

#include "common/key.h"
#include "common/net.h"
#include "conf.h"
#include "logger.h"

struct ctl_view;

#define PERF_DEVICES	8
#define PERF_DEVICE_LEN	64

/**
 * struct perf_spot - a node at its end of a subgroup
 */
struct perf_spot {
	/** @member: the node is a member of the subgroup */
	bool member;
	/** @sender: the node may send in it */
	bool sender;
	/** @tune: tuning of the end before the measurement */
	struct perf_tune tune;
};

/**
 * struct perf_group - a subgroup that is used
 */
struct perf_group {
	/** @id: id of the subgroup */
	uint32_t id;
	/** @members: members, here and elsewhere */
	uint32_t members;
	/** @spot: end of each node, by the index of the node in the place */
	struct perf_spot spot[SPINDLE_MAX_MEMBERS];
};

/**
 * struct perf_place - nodes and subgroups
 */
struct perf_place {
	/** @net: socket */
	struct ctl_net *net;
	/**
	 * @conf: configuration, with the properties of the first node and of the first subgroup as
	 * found, because the view may have existed before
	 */
	struct perf_conf conf;
	/** @node: ids of the nodes of this kernel that are driven */
	uint32_t node[SPINDLE_MAX_MEMBERS];
	/** @nodes: entries of @node */
	unsigned int nodes;
	/** @was_timed: whether the nodes measured their time before */
	bool was_timed[SPINDLE_MAX_MEMBERS];
	/** @made: number of nodes that this program made; they are the first ones */
	unsigned int made;
	/**
	 * @timed: number of nodes, from the first one, that measure their time because of this
	 * program
	 */
	unsigned int timed;
	/** @tuned: the nodes have been tuned */
	bool tuned;
	/** @group: subgroups that are used */
	struct perf_group group[SPINDLE_MAX_SUBGROUPS];
	/** @groups: entries of @group */
	unsigned int groups;
	/** @device: RDMA devices of the nodes */
	char device[PERF_DEVICES][PERF_DEVICE_LEN];
	/** @devices: entries of @device */
	unsigned int devices;
	/** @loggers: of the nodes that this program made */
	struct perf_loggers loggers;
};

/**
 * struct perf_where - the place that the user wants
 */
struct perf_where {
	/** @setup: make nodes and a view */
	bool setup;
	/** @addr: with @setup: address of all nodes */
	struct ctl_addr addr;
	/**
	 * @spread: with @setup: @addr is the address of the first node, and each node has the next
	 * one
	 */
	bool spread;
	/** @port: with @setup: node I has the port @port + I */
	uint16_t port;
	/** @first: with @setup: id of the first node */
	uint32_t first;
	/** @log_dir: with @setup, of subgroups with logs: loggers write below this directory */
	const char *log_dir;
	/** @node: without @setup: use only these nodes */
	const char *node;
	/** @group: without @setup: use only these subgroups */
	const char *group;
	/** @wait: seconds to wait for an event before giving up */
	unsigned int wait;
	/** @timing: make engines measure their time */
	bool timing;
};

int perf_place_enter(struct perf_place *place, struct ctl_net *net,
		     const struct perf_where *where, const struct perf_conf *conf);
void perf_place_leave(struct perf_place *place);
int perf_place_devices(struct perf_place *place);
int perf_place_index(const struct perf_place *place, uint32_t node);
bool perf_place_remote(const struct perf_place *place);

/* setup.c */
int perf_setup_addr(struct perf_where *where);
int perf_setup(struct perf_place *place, const struct perf_where *where,
	       const struct perf_conf *conf);
int perf_setup_nodes(struct perf_place *place, const struct perf_where *where,
		     const struct perf_conf *conf, uint32_t first, unsigned int nodes);
int perf_setup_view(struct perf_place *place, const struct perf_where *where,
		    struct ctl_view *view, unsigned int nodes);

#endif /* SPINDLE_PERF_PLACE_H */
