#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Live views: nodes join, leave, are evicted and come back while messages flow, and all that
# stay agree about it.
# vm: timeout=600 each
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

# Has the subgroup of two delivered more than this number?
few_beyond()
{
	[ "$(grep -c ^m $LOGS/few/1)" -gt "$1" ]
}

check "module loads" loop_start
# live VISIBILITY: guards are believed when they are seen, or when their completion has come.
live()
{
	rm -rf $LOGS
	mkdir -p $LOGS/few
	check "nodes, visibility $1" loop_nodes 5 visibility "$1"
	# The second subgroup is for two nodes, whichever others join and leave.
	check "three nodes begin a live view" live_view 3 subgroup 1 window 32 max-msg 256 \
		subgroup 2 window 32 max-msg 256 members 1,3
	check "three nodes are in the first view" wait_until 60 in_view 1 1 2 3
	for i in 1 2 3; do
		load_start $i
	done
	live-load -n 1 -g 2 -o $LOGS/few/1 2>>$LOGS/errors &
	few_1=$!
	live-load -n 3 -g 2 -o $LOGS/few/3 2>>$LOGS/errors &
	few_3=$!
	usleep 300000
	check "a node joins" spindle-ctl node join id 4 insecure contact 10.0.0.1:5001
	check "four nodes are in the second view" wait_until 60 in_view 2 1 2 3 4
	load_start 4
	usleep 300000
	check "a node leaves" spindle-ctl node leave id 2
	check "three nodes are in the third view" wait_until 60 in_view 3 1 3 4
	usleep 300000
	check "the subgroup of two sees no view change" sh -c "! grep -q ^v $LOGS/few/1 $LOGS/few/3"
	few=$(grep -c ^m $LOGS/few/1)
	check "the subgroup of two goes on" wait_until 60 few_beyond "$few"
	check "a node is evicted" spindle-ctl node evict id 1 node 3
	check "two nodes are in the fourth view" wait_until 60 in_view 4 1 4
	usleep 300000
	check "the subgroup of two sees the fourth view" grep "^v 4 1$" $LOGS/few/1
	kill -TERM "$few_1"
	check "processes end" load_stop 1 2 3 4
	check "the first process of the subgroup of two ends" wait_until 30 dead "$few_1"
	check "the second process of the subgroup of two ends" wait_until 30 dead "$few_3"
	check "logs agree" loads_agree
	check "logs of the subgroup of two agree" limit 60 live-check $LOGS/few/1 $LOGS/few/3
	diag "$(limit 60 live-check $LOGS/[0-9]*)"
	check "nodes go" loop_del 5
}

live poll
live imm
check "module goes" rmmod spindle
finish
