// SPDX-License-Identifier: GPL-2.0-only
/*
 * spindle-dds: look at topics, read and write their samples.
 */
#include "cmd.h"
#include "common/opts.h"
#include "common/util.h"

int main(int argc, char **argv)
{
	struct dds_opts o;
	int rc;

	ctl_program = "spindle-dds";
	rc = dds_opts_parse(&o, argc, argv);
	if (rc)
		return ctl_flush(rc == CTL_OPT_SHOWN ? CTL_OK : rc);
	rc = ctl_flush(dds_cmd(&o));
	dds_signal_die();
	return rc;
}
