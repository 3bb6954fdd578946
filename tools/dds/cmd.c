// SPDX-License-Identifier: GPL-2.0-only
/* The verbs, between the start and the end of a participant. See cmd.h. */
#include <errno.h>

#include "cmd.h"
#include "common/util.h"

/**
 * dds_cmd() - do what the command line says
 * @o: options
 *
 * Return: exit code, for ctl_flush(); dds_signal() tells whether a signal has ended the verb
 */
int dds_cmd(const struct dds_opts *o)
{
	static int (*const verb[DDS_VERBS])(struct dds_link *) = {
		[DDS_LIST] = dds_cmd_list, [DDS_INFO] = dds_cmd_info, [DDS_ECHO] = dds_cmd_echo,
		[DDS_PUB] = dds_cmd_pub, [DDS_HZ] = dds_cmd_rate, [DDS_BW] = dds_cmd_rate,
	};
	struct dds_link l;
	int rc;

	ctl_opts.json = o->json;
	ctl_opts.pretty = o->pretty;
	rc = dds_link_open(&l, o);
	if (!rc)
		rc = verb[o->verb](&l);
	dds_link_close(&l);
	/* ctl_flush() says why the output has failed. */
	errno = l.output;
	return rc;
}
