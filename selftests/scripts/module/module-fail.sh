#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Each allocation of a process's request to the module fails once. The request is refused without
# effect, or succeeds. Traffic works after each path, everything can be removed, and the debug guest
# looks for leaks at the end. See selftests/guest/fail-nth.
# vm: own
# vm: timeout=600
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh

[ -d /sys/kernel/debug/fail_page_alloc ] || skip_all "a kernel without fault injection"

small_view()
{
	loop_view 3 "$1" subgroup 1 window 16 max-msg 512 ring 8192 \
		subgroup 2 window 8 max-msg 64 ring 4096 members 1,2 \
		table 6 cells 8 members 1,2 && wait_until 60 all_active 7
}

traffic()
{
	check "traffic after $1" limit 60 mcast-load -n 1-3 -g 1,2 -c 50 -l 1-64
}

# Views that are larger than one message of a dump, without other members.
large_views()
{
	local i subgroups

	subgroups=
	for i in $(seq 64); do
		subgroups="$subgroups subgroup $i window 1 max-msg 64 ring 4096"
	done
	for i in 1 2 3; do
		# shellcheck disable=SC2086
		spindle-ctl view set node "$i" vid "$1" member "$i@10.0.0.1:$((5000 + i))" \
			$subgroups || return 1
	done
	wait_until 60 all_active 192
}

check "a device is added" setup_rxe_loop
tap_run limit 300 fail-nth load "/lib/modules/$(uname -r)/updates/spindle.ko"
check "module loads" modprobe spindle
check "nodes" loop_nodes 3
check "a view" small_view 1
traffic "module load"
check "nodes go" loop_del 3
tap_run limit 300 fail-nth node
check "nodes" loop_nodes 3
tap_run limit 300 fail-nth view
check "a view" small_view 10
traffic "node add and view set"
tap_run limit 300 fail-nth attach
traffic attach
tap_run limit 300 fail-nth map
traffic mmap
tap_run limit 300 fail-nth table
traffic "attach to a table"
tap_run limit 300 fail-nth rdmc
check "large objects after that" limit 60 rdmc-load -m 1-3 -c 5 -l 1-100000
tap_run limit 60 fail-nth silence
tap_run limit 300 fail-nth set
traffic "silence and changes"
check "large views" large_views 20
tap_run limit 300 fail-nth dump
check "a view goes" spindle-ctl view del node 3
tap_run limit 300 fail-nth event
check "a view" small_view 200
traffic "dumps and events"
check "nodes go" loop_del 3
check "module goes" rmmod spindle
finish
