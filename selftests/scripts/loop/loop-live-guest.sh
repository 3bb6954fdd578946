#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A joiner waits for a member that a slow reader holds up in the last view. The others keep its
# seat as long as it tries, because it is connected.
# vm: timeout=200
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

# Seconds: a guest that is not connected has 10, and a joiner tries for 20.
LOOKS=14
TRIES=18

# The joiner has its seat at every look. A look that comes too late is none.
keeps_guest()
{
	local begun now looks

	begun=$(date +%s)
	now=$begun
	looks=0
	while [ $((now - begun)) -lt $LOOKS ]; do
		if ! has_guests "$1" 5 && [ $(($(date +%s) - begun)) -lt $TRIES ]; then
			echo "the seat is gone after $((now - begun)) s and $looks looks"
			return 1
		fi
		looks=$((looks + 1))
		usleep 500000
		now=$(date +%s)
	done
}

check "module loads" loop_start
check "five nodes" loop_nodes 5
check "four nodes begin a live view" live_view 4 subgroup 1 window 8 max-msg 64
check "four nodes are in the first view" wait_until 60 in_view 1 1 2 3 4
hold_up_node_2
spindle-ctl node join id 5 insecure contact 10.0.0.1:5001 no-wait
check "the joiner is connected to node 3" wait_until 60 has_guests 3 5
check "the joiner keeps its seat at node 3" keeps_guest 3
is "node 2 is still in the first view" "$(live_word 2 vid)" 1
kill -CONT "$held_reader"
check "the reader reads, and all nodes are in the third view" wait_until 60 in_view 3 1 2 3 5
kill "$held_sender"
check "nodes go" loop_del 5
check "processes end" wait_until 60 held_are_dead
check "module goes" limit 60 rmmod spindle
finish
