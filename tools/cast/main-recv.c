// SPDX-License-Identifier: GPL-2.0-only
/*
 * spindle-recv: files of a spindle-cast into a directory.
 */
#include "common/bar.h"
#include "common/opts.h"
#include "common/util.h"
#include "link.h"
#include "opts.h"
#include "out.h"
#include "recv.h"

int main(int argc, char **argv)
{
	static struct ctl_pool pool;
	struct cast_store store;
	struct cast_opts o;
	bool hopeless;
	int rc;

	ctl_program = "spindle-recv";
	rc = cast_opts_parse(&o, argc, argv, false);
	if (rc == CTL_OPT_SHOWN)
		return ctl_flush(CTL_OK);
	if (!rc)
		rc = cast_members_find(&o, false);
	if (!rc)
		rc = cast_store_open(&store, &o);
	if (rc)
		return rc;
	cast_out_init(&o);
	ctl_bar_init(o.quiet || o.json);
	cast_signal_catch();
	do {
		/* The texts of a batch are freed with the batch. */
		ctl_pool_use(&pool);
		rc = cast_recv(&o, &store, &hopeless);
		ctl_pool_use(NULL);
		ctl_pool_drop(&pool);
	} while (o.loop && !hopeless && !cast_signal());
	cast_signal_die();
	return ctl_flush(rc);
}
