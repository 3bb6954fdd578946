#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Generic netlink: refusals, rights, dumps in pieces, the ends of all ranges, and events. genl-bad
# sends requests that spindle-ctl would not send.
# vm: timeout=240 hostile each
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

events=/tmp/events

# event WORDS: has it come? Words of "spindle-ctl monitor", one blank between them.
event()
{
	tr -s ' ' <"$events" | grep -q "$1\( (.*)\)*\$"
}

# expect_event WORDS
expect_event()
{
	wait_until 20 event "$1"
	check "event: $1" event "$1" || sed 's/^/# /' "$events"
}

# ids_of NODE: the subgroups of its view
ids_of()
{
	spindle-ctl -j view show node "$1" | sed 's/.*"subgroups"//' | tr ',{[' '\n\n\n' |
		sed -n 's/^"id":\([0-9]*\)$/\1/p' | sort -n | xargs
}

check "module loads" loop_start
ip link add dummy1 type dummy && ip link set dummy1 up && ip addr add 10.9.0.1/24 dev dummy1
spindle-ctl monitor >"$events" &
monitor=$!
check "the monitor listens" wait_until 20 listens "$monitor"
check "nodes" loop_nodes 4
check "a view of three nodes is installed" loop_view 3 7 \
	subgroup 0 name zero window 16 max-msg 1024 ring 65536 \
	subgroup 5 mode unordered window 8 max-msg 512 ring 4096 members 1,2 senders 2
check "subgroups become active" wait_until 60 all_active 5
for i in 1 2 3; do
	expect_event "node-add node $i"
	expect_event "view-install node $i vid 7"
	expect_event "subgroup-active node $i vid 7 subgroup 0 \"zero\""
done
expect_event "subgroup-active node 2 vid 7 subgroup 5"
expect_event "peer-up node 1 peer 2"
expect_event "peer-up node 2 peer 1"
expect_event "peer-up node 3 peer 2"

tap_run limit 60 genl-bad refuse
check "all subgroups are still active" all_active 5
tap_run limit 30 genl-bad rights
tap_run limit 60 genl-bad dump
tap_run limit 60 genl-bad set
check "all subgroups are still active" all_active 5
tap_run limit 60 genl-bad shows
tap_run limit 30 genl-bad last-id
tap_run limit 60 genl-bad largest-view

check "a view with a higher id replaces the view" loop_view 3 8 subgroup 1 window 4 max-msg 64
check "the new view becomes active" wait_until 60 all_active 3
expect_event "view-remove node 1 vid 7 error view-gone"
expect_event "view-install node 1 vid 8"
expect_event "subgroup-active node 3 vid 8 subgroup 1"
check "the view of node 3 is removed" spindle-ctl view del node 3
expect_event "view-remove node 3 vid 8 error view-gone"
expect_event "peer-down node 1 peer 3 error peer-lost"
expect_event "subgroup-failed node 1 vid 8 subgroup 1 error peer-lost"
check "a lower view id is accepted after a removal" spindle-ctl view set node 3 vid 2 \
	member 3@10.0.0.1:5003 subgroup 0
expect_event "subgroup-active node 3 vid 2 subgroup 0"
check "nodes go" loop_del 4
expect_event "node-del node 4"
expect_event "view-remove node 3 vid 2 error view-gone"
kill "$monitor"

check "node 4 is there" spindle-ctl node add id 4 addr 10.0.0.1 port 5004
check "it is alone in a live view" spindle-ctl view set node 4 vid 1 live insecure \
	spares 2 spare-window 16 spare-ring 8192 member 4@10.0.0.1:5004 \
	subgroup 1 name one window 8 max-msg 64 subgroup 2 window 4 max-msg 64 shards 2 \
	subgroup 4 window 4 max-msg 64 log 1
check "its subgroup becomes active" wait_until 60 sg_active 1 4
tap_run limit 60 genl-bad change
check "four changes are made" wait_until 20 sg_active 7 4
is "they are one change of the view" "$(live_word 4 vid)" 2
is "the subgroups are the new ones" "$(ids_of 4)" "4 7 8"
check "node 4 goes" spindle-ctl node del id 4
tap_run limit 60 genl-bad most-nodes
check "module goes" rmmod spindle
finish
