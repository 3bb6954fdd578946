#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Each allocation of the work items that make a connection fails once: the attempt is
# undone and tried again until it succeeds. See selftests/guest/fail-nth.
# vm: own
# vm: timeout=600
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh

[ -e /sys/kernel/debug/failslab/require-start ] ||
	skip_all "a kernel whose fault injection does not look at stacks"

check "device" setup_rxe_loop
check "module loads" modprobe spindle
check "nodes" loop_nodes 2
tap_run limit 500 fail-nth connect
check "traffic" limit 60 mcast-load -n 1,2 -g 1 -c 50
check "a view without subgroups" loop_view 2 100000
tap_run limit 300 fail-nth lanes
check "large objects after that" limit 60 rdmc-load -m 1,2 -c 5 -l 1-100000
check "nodes go" loop_del 2
check "module goes" rmmod spindle
finish
