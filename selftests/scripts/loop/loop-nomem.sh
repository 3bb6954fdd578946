#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# More memory than there is: a refusal, not the end of other processes.
# vm: own
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh

oom_kills()
{
	sed -n 's/^oom_kill //p' /proc/vmstat
}

check "module loads" loop_start
check "nodes" loop_nodes 4
check "a view of three nodes is installed" loop_view 3 1 subgroup 1
check "subgroups become active" wait_until 60 all_active 3
sleep 1000 &
bystander=$!
tap_run limit 120 genl-bad memory
tap_run limit 60 dev-bad nomem
is "no process was killed for lack of memory" "$(oom_kills)" 0
check "a process of no node still runs" kill -0 "$bystander"
check "traffic goes on" limit 60 mcast-load -n 1-3 -g 1 -c 50
kill "$bystander"
check "nodes go" loop_del 4
check "module goes" rmmod spindle
finish
