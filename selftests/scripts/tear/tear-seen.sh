#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Does this processor tear words at all? Readers have to find blocks that are half written, and all
# deliveries have to be right nevertheless. Without this test, the other scripts of the lane would
# prove nothing on a processor that does not tear.
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
# Two engines: the processor of the posting engine writes a block, because soft-RoCE delivers
# looped-back packets there. The other processor reads the block.
check "nodes on two processors" nodes
check "a view is installed" loop_view $NODES 1 subgroup 1 window 4 max-msg 200
round=0
while [ "$(torn)" = 0 ] && [ $round -lt 150 ]; do
	round=$((round + 1))
	limit 100 mcast-load -n 1-$NODES -g 1 -c 500 -l 1-200 -S $round -w 60 >/tmp/load.out ||
		break
done
check "all messages are delivered in order" grep -q order /tmp/load.out
n=$(torn)
check "blocks were seen half written ($n in $round rounds)" test "$n" -gt 0
check "nodes go" loop_del $NODES
check "module goes" rmmod spindle
finish
