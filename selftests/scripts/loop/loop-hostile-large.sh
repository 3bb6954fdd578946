#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A hostile member of the streams that bring large messages: node 1 is played by hostile-peer. It
# keeps its connections to nodes 2 and 3, and says to node 2 by the connection for blocks that
# node 3 is missing. A stream has no such word: node 2 has no more to do with the liar, and the
# subgroup that the liar is not in goes on.
# vm: own
# vm: uml
# vm: timeout=300 hostile
. ./guest-lib.sh
. ./lib-loop.sh

view="vid 1 member 1@10.0.0.1:5001 member 2@10.0.0.1:5002 member 3@10.0.0.1:5003
	subgroup 1 window 8 max-msg 524288 ring 1048576 senders 2
	subgroup 2 window 8 max-msg 524288 ring 1048576 members 2,3"

# liar NODE STEP...: act as node 1 to this node, and repeat while the node does not expect it.
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

# state NODE SUBGROUP
state()
{
	spindle-ctl -j subgroup show node "$1" id "$2" | grep -o '"state": *"[a-z]*"' |
		sed 's/.*"\([a-z]*\)"$/\1/'
}

# states WORD: of both subgroups, at both nodes
states()
{
	[ "$(state 2 1) $(state 3 1) $(state 2 2) $(state 3 2)" = "$*" ]
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
check "the liar is a member" wait_until 30 states active active active active
check "large messages flow without the liar" \
	limit 60 mcast-load -n 2,3 -g 2 -s all -c 5 -l 1-500000 -w 20
# The message does not arrive, because the liar grants nothing.
limit 60 mcast-load -n 2 -g 1 -s one -c 1 -l 500000 -w 10 >/dev/null 2>&1 &
# FAIL {LOST}, of rank 2: node 3.
said=$(liar 2 dial,flags=24 setup hear,word=2 "msg,word=8,a=4,arg=2" gone,ms=20000)
is "the liar sees a message, and is cut off" "$said" "up|up|announce|success|yes"
check "only the subgroup of the liar has failed" wait_until 30 states failed failed active active
check "large messages still flow without the liar" \
	limit 60 mcast-load -n 2,3 -g 2 -s all -c 5 -l 1-500000 -w 20
: >/tmp/done
wait
check "nodes go" sh -c "spindle-ctl node del id 2 && spindle-ctl node del id 3"
check "module goes" limit 60 rmmod spindle
finish
