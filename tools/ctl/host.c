// SPDX-License-Identifier: GPL-2.0-only
/* The host: its network namespaces and its addresses. */
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "common/util.h"
#include "host.h"

#define NETNS_DIR	"/var/run/netns/"

/**
 * ctl_netns_enter() - enter another network namespace
 * @name: name that "ip netns" knows, or a path such as /proc/PID/ns/net
 *
 * Return: CTL_OK, or CTL_FAILED after a message
 */
int ctl_netns_enter(const char *name)
{
	const char *path = strchr(name, '/') ? name : ctl_asprintf(NETNS_DIR "%s", name);
	int fd, rc = CTL_OK;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		ctl_err("network namespace '%s': %s: %s", name, path, strerror(errno));
		return CTL_FAILED;
	}
	if (setns(fd, CLONE_NEWNET)) {
		ctl_err("network namespace '%s': %s%s", name, strerror(errno),
			errno == EPERM ? " (entering it takes CAP_SYS_ADMIN; try sudo)" : "");
		rc = CTL_FAILED;
	}
	close(fd);
	return rc;
}

/**
 * ctl_host_has() - does this host have the address?
 * @addr: the address
 *
 * Return: 1, 0, or -errno
 */
int ctl_host_has(const struct ctl_addr *addr)
{
	struct ifaddrs *list, *ifa;
	int found = 0;

	if (getifaddrs(&list))
		return -errno;
	for (ifa = list; ifa && !found; ifa = ifa->ifa_next) {
		const struct sockaddr *sa = ifa->ifa_addr;

		if (!sa || sa->sa_family != addr->family)
			continue;
		if (sa->sa_family == AF_INET)
			found = !memcmp(&((const struct sockaddr_in *)sa)->sin_addr,
					addr->ip, 4);
		else if (sa->sa_family == AF_INET6)
			found = !memcmp(&((const struct sockaddr_in6 *)sa)->sin6_addr,
					addr->ip, 16);
	}
	freeifaddrs(list);
	return found;
}
