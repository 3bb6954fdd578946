// SPDX-License-Identifier: MIT
/*
 * Texts for the errors of large objects, with what can be done.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <spindle/rdmc.h>

#include "internal.h"

static const char * const errors[] = {
	[SPINDLE_RDMC_OK] = "no error",
	[SPINDLE_RDMC_CANCELLED] = "a member has cancelled the object; send it again if it is wanted",
	[SPINDLE_RDMC_REFUSED] = "a member has refused the object; see its reason, "
		"often memory or disk space that is missing there",
	[SPINDLE_RDMC_TIMEOUT] = "nothing went on for the timeout of the group; "
		"find the member that does not read, or raise the timeout",
	[SPINDLE_RDMC_LOST] = "the connection to a member broke; "
		"see that it is alive and reachable, and create the group again",
	[SPINDLE_RDMC_LEFT] = "a member has left before all was done; "
		"its process has ended or given up: start it and create the group again",
	[SPINDLE_RDMC_PROTOCOL] = "a member broke the protocol; "
		"update the module where it is older",
	[SPINDLE_RDMC_MISMATCH] = "a member created the group with other arguments; "
		"members and their order, algorithm, block and timeout must be the same",
	[SPINDLE_RDMC_VIEW] = "a member is not in the view any more, or this node has no view; "
		"create the group with members of the present view",
	[SPINDLE_RDMC_NOMEM] = "the kernel of a member had no memory for the group; "
			       "use smaller blocks, or fewer groups",
	[SPINDLE_RDMC_INCOMPLETE] = "not all members have all objects; send what is missing again",
};

const char *spindle_rdmc_strerror(uint32_t error)
{
	return error < ARRAY_SIZE(errors) ? errors[error] : "unknown error";
}

static const char * const algorithms[] = {
	[SPINDLE_RDMC_PIPELINE] = "pipeline",
	[SPINDLE_RDMC_SEQUENTIAL] = "sequential",
	[SPINDLE_RDMC_CHAIN] = "chain",
	[SPINDLE_RDMC_TREE] = "tree",
	[SPINDLE_RDMC_HYBRID] = "hybrid",
};

const char *spindle_rdmc_algorithm_string(uint32_t algorithm)
{
	return algorithm < ARRAY_SIZE(algorithms) ? algorithms[algorithm] : NULL;
}

const char *spindle_rdmc_create_strerror(int err, uint32_t node, uint64_t group,
					 const struct spindle_rdmc_options *o, char *buf,
					 size_t len)
{
	const char *device = o && o->device ? o->device : SPINDLE_RDMC_DEVICE;
	unsigned long long id = group;

	switch (-err) {
	case 0:
		snprintf(buf, len, "success");
		break;
	case ENXIO:
		snprintf(buf, len, "%s: no such device; load the module with 'modprobe spindle'",
			 device);
		break;
	case EACCES:
		snprintf(buf, len, "%s: permission denied; see the owner and mode of the device",
			 device);
		break;
	case EINVAL:
		snprintf(buf, len, "group %llu of node %u: invalid id, members, algorithm, block "
			 "or timeout, or the node is not among the members", id, node);
		break;
	case ENODEV:
		snprintf(buf, len, "node %u: no such node in this network namespace", node);
		break;
	case ENOTCONN:
		snprintf(buf, len, "node %u: no view is installed there", node);
		break;
	case ENOENT:
		snprintf(buf, len, "group %llu of node %u: a member is not in the node's view",
			 id, node);
		break;
	case EEXIST:
		snprintf(buf, len, "group %llu of node %u: the node is in a group with this id",
			 id, node);
		break;
	case ENOSPC:
		snprintf(buf, len, "group %llu of node %u: the node has 256 groups in common with "
			 "another member", id, node);
		break;
	case EOPNOTSUPP:
		snprintf(buf, len, "group %llu of node %u: the node's RDMA device cannot register a "
			 "block of that length at once", id, node);
		break;
	case ENOTTY:
	case EPROTO:
		snprintf(buf, len, "%s: does not fit this library; update one", device);
		break;
	default:
		snprintf(buf, len, "group %llu of node %u: %s", id, node, strerror(-err));
	}
	return buf;
}
