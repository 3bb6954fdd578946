/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Addresses: the address of a node as a view has it, and as sockets have it.
 *
 * Context: any.
 */
#ifndef SPINDLE_BASE_ADDR_H
#define SPINDLE_BASE_ADDR_H

#include <linux/socket.h>

struct spindle_addr;

void spindle_sockaddr(struct sockaddr_storage *ss, const struct spindle_addr *addr);

#endif /* SPINDLE_BASE_ADDR_H */
