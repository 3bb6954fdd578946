#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# /dev/spindle-rdmc: its refusals, its charges to users, and the end of a group and of pinned memory
# when the file, the mappings, the process, the view or the node goes.
# vm: own
# vm: uml
# vm: mem=1024
# vm: timeout=600 hostile
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh

no_groups()
{
	[ "$(spindle-ctl -j rdmc show)" = '[]' ]
}

check "module loads" loop_start
check "nodes" loop_nodes 4
check "a view has a member that does not exist" loop_view 3 1 member 9@10.0.0.1:5009 \
	subgroup 1 members 1,2,3 window 16 max-msg 1024 ring 16384
check "subgroup becomes active" wait_until 60 all_active 3
is "only root may open the device" "$(stat -c %a /dev/spindle-rdmc)" 600
for part in create order queue unread send accept memlock vanish death fair race churn pins; do
	tap_run limit 120 rdmc-bad "$part"
	# Groups that were left stay until all is said: no longer than their time-outs, however
	# their processes ended.
	check "$part: no group is left" wait_until 70 no_groups
done
check "groups of other processes work" limit 60 rdmc-load -m 1-3 -c 8 -l 1-300000
tap_run limit 120 rdmc-bad gone
# The program itself removes two of the nodes, if it gets that far.
for i in 1 2 3 4; do
	spindle-ctl node del id "$i" >/dev/null 2>&1
done
check "module goes" rmmod spindle
finish
