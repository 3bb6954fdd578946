#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A hostile member of the groups that bring large messages: node 1 is played by hostile-peer. It
# keeps its connections to nodes 2 and 3, and says to node 2 by the connection for blocks that
# node 3 is missing. Node 2 makes the group anew, and believes only what it has seen itself: the
# subgroup that the liar is not in goes on.
# vm: own
# vm: uml
# vm: timeout=300
. ./guest-lib.sh
. ./lib-loop.sh

view="vid 1 member 1@10.0.0.1:5001 member 2@10.0.0.1:5002 member 3@10.0.0.1:5003
	subgroup 1 window 8 max-msg 524288 ring 1048576 senders 2
	subgroup 2 window 8 max-msg 524288 ring 1048576 members 2,3"

# liar NODE STEP...: as node 1, to this node; again while nobody there expects it.
liar()
{
	local to said tries

	to=$1
	shift
	tries=0
	while [ $tries -lt 200 ]; do
		# shellcheck disable=SC2086
		said=$(limit 250 hostile-peer -i 1 -t "$to" $view -- "$@" 2>&1 |
			sed 's/^[a-z]*: //' | paste -s -d '|')
		case $said in
		"rejected 1" | "rejected 1|"* | "rejected 20") ;;
		*) break ;;
		esac
		tries=$((tries + 1))
		usleep 20000
	done
	echo "$said"
}

# active: both subgroups, at both nodes
active()
{
	local i

	for i in 2 3; do
		[ "$(spindle-ctl -j subgroup show node $i | grep -o '"state": *"active"' | wc -l)" = 2 ] ||
			return 1
	done
}

# anew COUNT: node 2 has made the groups of subgroup 1 anew, more often than that
anew()
{
	[ "$(loop_stat 2 1 large_restarts)" -gt "$1" ]
}

check "module loads" loop_start
check "nodes" sh -c "for i in 2 3; do spindle-ctl node add id \$i addr 10.0.0.1 port 500\$i || exit 1; done"
for i in 2 3; do
	# shellcheck disable=SC2086
	check "a view of node $i with a member that is played" \
		spindle-ctl view set node $i $view
done
for i in 2 3; do
	liar $i dial setup "until=/tmp/done" >/tmp/liar.$i &
done
check "the liar is a member" wait_until 30 active
check "large messages without it" limit 60 mcast-load -n 2,3 -g 2 -s all -c 5 -l 1-500000 -w 20

# FAIL {TIMEOUT}, FAIL {LOST}, of rank 2: node 3.
for error in 3 4; do
	before=$(loop_stat 2 1 large_restarts)
	said=$(liar 2 dial,flags=8 setup hi,echo hear,word=2,ms=1500 "msg,word=8,a=$error,arg=2" \
		gone,ms=1500)
	diag "error $error: $said"
	check "node 2 has heard it" wait_until 30 anew "$before"
	check "and goes on, as node 3 does, in both subgroups" active
	check "with large messages" limit 60 mcast-load -n 2,3 -g 2 -s all -c 5 -l 1-500000 -w 20
done
: >/tmp/done
wait
check "nodes go" sh -c "spindle-ctl node del id 2 && spindle-ctl node del id 3"
check "module goes" limit 60 rmmod spindle
finish
