/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The host that the program runs on.
 */
#ifndef SPINDLE_CTL_HOST_H
#define SPINDLE_CTL_HOST_H

#include "common/key.h"

int ctl_netns_enter(const char *name);
int ctl_host_has(const struct ctl_addr *addr);

#endif /* SPINDLE_CTL_HOST_H */
