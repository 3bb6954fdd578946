#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Devices that register fewer pages at once than soft-RoCE's 512: as if it were a device with
# 511 (mlx4) or 128 (vmw_pvrdma). Messages up to a MiB, by the ring and by RDMC, and objects;
# a live view that a node joins, with rows laid out by its rules; and nodes with chunks of different
# lengths in one view.
# vm: own
# vm: mem=2048
# vm: timeout=600
. ./guest-lib.sh
. ./lib-loop.sh
. ./lib-live.sh

pages()
{
	echo "$1" >/sys/module/spindle/parameters/fast_reg_pages
}

# load NODES SUBGROUP OPTIONS...
load()
{
	local nodes group

	nodes=$1
	group=$2
	shift 2
	limit 150 mcast-load -n "$nodes" -g "$group" -w 100 "$@"
}

objects()
{
	limit 120 rdmc-load "$@"
}

# The second subgroup's messages go by the ring, whatever their length.
by_ring()
{
	local i

	for i in 1 2 3; do
		spindle-ctl subgroup set node $i id 2 large 1048576 || return 1
	done
}

# view VID: on nodes 1 to 3
view()
{
	loop_view 3 "$1" \
		subgroup 1 window 16 max-msg 1048576 ring 4194304 \
		subgroup 2 window 16 max-msg 1048576 ring 4194304 && by_ring
}

# Nodes 1 and 2 begin, and node 3 joins.
grown_view()
{
	live_view 2 max-nodes 3 \
		subgroup 1 window 16 max-msg 1048576 ring 4194304 \
		subgroup 2 window 16 max-msg 1048576 ring 4194304 || return 1
	limit 90 spindle-ctl node join id 3 insecure contact 10.0.0.1:5001 timeout 60 &&
		wait_until 60 in_view 2 1 2 3 && by_ring
}

# traffic WHAT: by all ways, across the ends of chunks.
traffic()
{
	check "$1: small messages" load 1-3 1 -s all -c 100 -l 0-10000 -S 1
	check "$1: messages by RDMC" load 1-3 1 -s all -c 10 -l 1-1048576 -S 2
	check "$1: messages by the ring" load 1-3 2 -s all -c 30 -l 1-1048576 -S 3
	is "$1: RDMC sent no message of the second subgroup" "$(loop_stat 1 2 large)" 0
	check "$1: objects" objects -m 1-3 -b 262144 -l 1,262145,3000001 -c 3 -o 17
}

check "a device is set up" setup_rxe_loop
for n in 128 511; do
	check "the module is loaded for devices of $n pages" modprobe spindle fast_reg_pages=$n
	check "three nodes are added" loop_nodes 3
	check "a view of three nodes is installed" view 1
	traffic "$n pages"
	if [ $n = 128 ]; then
		rdmc-load -m 1-3 -b 524288 -l 600000 -c 1 >/tmp/out 2>&1
		check "a block that is too long is refused" grep -q "not supported" /tmp/out
	else
		check "blocks of the longest length arrive" \
			objects -m 1-3 -b 1048576 -l 3145729 -c 2 -o 17
	fi
	check "nodes go" loop_del 3
	check "three nodes are added" loop_nodes 3
	check "a node joins a live view" grown_view
	traffic "$n pages, live"
	check "nodes go" loop_del 3
	check "module goes" rmmod spindle
done

# A row's chunks are those of its holder: each node installs its view for another device.
check "the module is loaded" modprobe spindle
check "three nodes are added" loop_nodes 3
mixed()
{
	local i n members

	members=
	for i in 1 2 3; do
		members="$members member $i@10.0.0.1:$((5000 + i))"
	done
	i=0
	for n in 128 511 512; do
		i=$((i + 1))
		pages $n
		# shellcheck disable=SC2086
		spindle-ctl view set node $i vid 1 $members \
			subgroup 1 window 16 max-msg 1048576 ring 4194304 \
			subgroup 2 window 16 max-msg 1048576 ring 4194304 || return 1
	done
	by_ring
}
check "a view of three different devices is installed" mixed
traffic "three devices"
check "nodes go" loop_del 3
check "module goes" rmmod spindle
finish
