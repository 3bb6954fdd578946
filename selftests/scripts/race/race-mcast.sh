#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# loop-mcast for the race checker: fewer nodes and messages, but several engines, and a process that
# reads all counters all the time. All deliveries are checked.
# vm: timeout=400
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-race.sh

# load NODES SUBGROUPS OPTIONS...
load()
{
	local nodes groups

	nodes=$1
	groups=$2
	shift 2
	limit 200 mcast-load -n "$nodes" -g "$groups" -w 150 "$@"
}

check "module loads" loop_start
for how in poll imm; do
	check "4 nodes on 2 engines ($how)" race_nodes 4 visibility $how
	check "a view of 4" loop_view 4 1 \
		subgroup 1 window 16 max-msg 1024 \
		subgroup 2 window 8 max-msg 9000 ring 65536 members 1,2,3 \
		subgroup 3 mode unordered window 16 max-msg 512 members 1,2,4 \
		subgroup 4 window 8 max-msg 300 ring 4096 members 2,3,4 senders 3
	look_start
	check "all send, out of order ($how)" load 1-4 1 -c 60 -R
	check "one sends" load 1-4 1 -s one -c 40 -S 2
	check "two packets and more, copied" load 1-3 2 -c 15 -l 0-9000 -C -R
	check "unordered" load 1,2,4 3 -u -c 60 -l 0-512 -R
	check "a ring that wraps in every batch" load 2-4 4 -c 80 -l 0-300 -R
	check "all subgroups at once" load 1-4 1,2,4 -c 20 -l 0-300 -S 3
	look_stop
	check "nodes go" loop_del 4
done
check "module goes" rmmod spindle
finish
