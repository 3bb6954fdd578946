// SPDX-License-Identifier: GPL-2.0-only
/*
 * spindle-cast: files to all members of a view.
 */
#include "common/bar.h"
#include "common/opts.h"
#include "common/util.h"
#include "link.h"
#include "opts.h"
#include "out.h"
#include "send.h"

int main(int argc, char **argv)
{
	struct cast_opts o;
	int rc;

	ctl_program = "spindle-cast";
	rc = cast_opts_parse(&o, argc, argv, true);
	if (rc == CTL_OPT_SHOWN)
		return ctl_flush(CTL_OK);
	if (!rc)
		rc = cast_members_find(&o, true);
	if (rc)
		return rc;
	cast_out_init(&o);
	ctl_bar_init(o.quiet || o.json);
	cast_signal_catch();
	rc = cast_send(&o);
	cast_signal_die();
	return ctl_flush(rc);
}
