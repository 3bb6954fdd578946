/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Netlink requests of a measurement, on top of common/net.h. A list that one of these functions
 * reads is valid until the next one is read, because a sweep reads many of them.
 */
#ifndef SPINDLE_PERF_NET_H
#define SPINDLE_PERF_NET_H

#include <stdint.h>

#include "common/net.h"

struct ctl_node_stats;
struct ctl_running_subgroup;
struct ctl_status;
struct perf_tune;

struct ctl_req *perf_net_req(struct ctl_net *net, uint8_t cmd, uint32_t node, const char *what);
void perf_net_u32(struct ctl_req *req, int type, const char *word, uint32_t v);
int perf_net_call(struct ctl_net *net, struct ctl_req *req, struct ctl_replies *replies,
		  enum ctl_say say);
int perf_net_subgroups(struct ctl_net *net, struct ctl_running_subgroup **list,
		       unsigned int *count);
int perf_net_stats(struct ctl_net *net, struct ctl_node_stats **list, unsigned int *count);
int perf_net_status(struct ctl_net *net, uint32_t node, struct ctl_status **list,
		    unsigned int *count);
int perf_net_timing(struct ctl_net *net, uint32_t node, bool on);
int perf_net_tune(struct ctl_net *net, uint32_t node, uint32_t group,
		  const struct perf_tune *tune);
int perf_net_node_del(struct ctl_net *net, uint32_t node);

#endif /* SPINDLE_PERF_NET_H */
