// SPDX-License-Identifier: GPL-2.0-only
/*
 * Addresses of nodes. See addr.h.
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/string.h>

#include "addr.h"
#include "core/base/view.h"

/**
 * spindle_sockaddr() - convert an address to a sockaddr
 * @ss: out
 * @addr: the address
 */
void spindle_sockaddr(struct sockaddr_storage *ss, const struct spindle_addr *addr)
{
	memset(ss, 0, sizeof(*ss));
	if (addr->family == 6) {
		struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)ss;

		sin6->sin6_family = AF_INET6;
		sin6->sin6_port = htons(addr->port);
		memcpy(&sin6->sin6_addr, addr->ip, sizeof(sin6->sin6_addr));
	} else {
		struct sockaddr_in *sin = (struct sockaddr_in *)ss;

		sin->sin_family = AF_INET;
		sin->sin_port = htons(addr->port);
		memcpy(&sin->sin_addr, addr->ip, sizeof(sin->sin_addr));
	}
}
