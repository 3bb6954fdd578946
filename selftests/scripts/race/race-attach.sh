#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Processes that attach, send, read and detach, in several subgroups and in zero-copy and copying
# rings; at the same time nodes and views are added and removed, and dump-loop reads all state.
# (loop-kill has such processes in one subgroup.)
# vm: timeout=400
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-race.sh

CYCLES=${CYCLES:-6}
stop=/tmp/stop

# attach_loop NODES SUBGROUP COUNT [OPTION]...: attach everywhere, send, read, detach.
attach_loop()
{
	local n nodes group count

	nodes=$1
	group=$2
	count=$3
	shift 3
	n=0
	while [ ! -e "$stop" ]; do
		n=$((n + 1))
		limit 200 mcast-load -n "$nodes" -g "$group" -c "$count" -S "$n" -w 150 \
			-l 0-500 "$@" >/dev/null || return 1
	done
	echo "# $n times"
}

# Nodes with a view of their own that is replaced, and sometimes under traffic.
view_cycle()
{
	local vid id

	spindle-ctl node add id 11 addr 10.0.0.1 port 5011 engine 1 || return 1
	spindle-ctl node add id 12 addr 10.0.0.1 port 5012 engine 2 visibility imm || return 1
	for vid in 1 2; do
		for id in 11 12; do
			spindle-ctl view set node $id vid $vid member 11@10.0.0.1:5011 \
				member 12@10.0.0.1:5012 subgroup 1 window 4 max-msg 500 || return 1
		done
		limit 200 mcast-load -n 11,12 -g 1 -c 10 -l 0-500 -w 150 || return 1
	done
	limit 200 mcast-load -n 11,12 -g 1 -c 1000000 -l 0-500 -f /tmp/sends >/dev/null 2>&1 &
	wait_until 100 test -e /tmp/sends || return 1
	rm -f /tmp/sends
	spindle-ctl node del id 12 && spindle-ctl node del id 11 || return 1
	# The process loses its subgroup, and reports that.
	! wait $!
}

check "module loads" loop_start
check "4 nodes on 2 engines" race_nodes 4
check "a view" loop_view 4 1 \
	subgroup 1 window 16 max-msg 512 \
	subgroup 2 window 8 max-msg 512 ring 4096 \
	subgroup 3 window 4 max-msg 512 members 1,3
check "subgroups become active" wait_until 100 all_active 10
look_start
attach_loop 1-4 1 20 -R >/tmp/one 2>&1 &
one=$!
attach_loop 1-4 2 3 -C >/tmp/two 2>&1 &
two=$!
attach_loop 1,3 3 3 >/tmp/three 2>&1 &
three=$!
check "nodes and views come and go $CYCLES times" cycles "$CYCLES" view_cycle
touch "$stop"
tap_wait "traffic" "$one" /tmp/one
tap_wait "with rings of their own" "$two" /tmp/two
tap_wait "and in a small subgroup" "$three" /tmp/three
look_stop
check "nodes go" loop_del 4
check "module goes" rmmod spindle
finish
