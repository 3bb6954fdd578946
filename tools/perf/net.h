/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Netlink requests of a measurement, on top of common/net.h. Their memory is freed, because a sweep
 * makes many of them.
 */
#ifndef SPINDLE_PERF_NET_H
#define SPINDLE_PERF_NET_H

#include <stdint.h>

#include "common/net.h"

struct nlattr;
struct perf_tune;

/**
 * typedef perf_net_fn - take one message of an answer
 * @arg: argument that was passed with the function
 * @attrs: attributes of the message by enum spindle_attr; of those that repeat, the last one
 * @nlh: the message
 *
 * Return: 0 to go on, or a negative errno
 */
typedef int (*perf_net_fn)(void *arg, struct nlattr **attrs, struct nlmsghdr *nlh);

int perf_net_call(struct ctl_net *net, struct ctl_req *req, perf_net_fn fn, void *arg,
		  enum ctl_say say);
int perf_net_nodes(struct ctl_net *net, perf_net_fn fn, void *arg);
int perf_net_subgroups(struct ctl_net *net, perf_net_fn fn, void *arg);
int perf_net_stats(struct ctl_net *net, perf_net_fn fn, void *arg);
int perf_net_timing(struct ctl_net *net, uint32_t node, bool on);
int perf_net_tune(struct ctl_net *net, uint32_t node, uint32_t group,
		  const struct perf_tune *tune);
int perf_net_node_del(struct ctl_net *net, uint32_t node, enum ctl_say say);

#endif /* SPINDLE_PERF_NET_H */
