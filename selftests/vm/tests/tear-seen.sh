#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Is this a processor that tears words at all? Blocks have to be found half written, and
# all that is delivered has to be right nevertheless. Without this test the other scripts
# of the lane would pass on any processor and say nothing.
# vm: timeout=200
. ./guest-lib.sh
. ./lib-loop.sh

NODES=4

# torn: blocks found half written, by all nodes.
torn()
{
	local i

	for i in $(seq $NODES); do
		spindle-ctl -j -p stats show node "$i"
	done | awk '/"torn":/ { gsub(/[^0-9]/, ""); n += $0 } END { print n + 0 }'
}

nodes()
{
	local i

	for i in $(seq $NODES); do
		spindle-ctl node add id "$i" addr 10.0.0.1 port $((5000 + i)) \
			visibility poll engine $((i % 2)) cpu $((i % 2)) || return 1
	done
}

check "module loads" loop_start
# Two engines: a block is written by the processor of the one that posts it, as
# soft-RoCE delivers what is looped back, and read by the other.
check "nodes on two processors" nodes
check "a view" loop_view $NODES 1 subgroup 1 window 4 max-msg 200
round=0
while [ "$(torn)" = 0 ] && [ $round -lt 150 ]; do
	round=$((round + 1))
	limit 100 mcast-load -n 1-$NODES -g 1 -c 500 -l 1-200 -S $round -w 60 >/tmp/load.out ||
		break
done
check "all is delivered" grep -q order /tmp/load.out
n=$(torn)
check "blocks were seen half written ($n in $round rounds)" test "$n" -gt 0
check "nodes go" loop_del $NODES
check "module goes" rmmod spindle
finish
