#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Each allocation of what live views are asked for, and of the work items that follow, fails
# once: it is refused, tried again, or a node stops and says so, and afterwards all of it
# works. Of the work items of other subgroups, one allocation of seven fails. See
# selftests/guest/fail-nth.
# vm: own
# vm: timeout=1000
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

[ -e /sys/kernel/debug/failslab/require-start ] ||
	skip_all "a kernel whose fault injection does not look at stacks"

check "device" setup_rxe_loop
check "module loads" modprobe spindle
check "nodes" loop_nodes 3
tap_run limit 900 fail-nth live
check "two nodes begin a live view" live_view 2 subgroup 1 window 32 max-msg 256
check "two nodes are in the first view" wait_until 60 in_view 1 1 2
check "node 3 joins" spindle-ctl node join id 3 insecure contact 10.0.0.1:5002
check "three nodes are in view 2" wait_until 60 in_view 2 1 2 3
for i in 1 2 3; do
	load_start $i -c 200
done
for i in 1 2 3; do
	check "messages of node $i are delivered" wait_until 60 eval "dead \$load_$i"
done
check "no load reports an error" [ ! -s $LOGS/errors ]
check "logs agree" loads_agree
check "nodes go" loop_del 3
check "module goes" rmmod spindle
finish
