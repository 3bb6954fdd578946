#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Sixteen nodes in one kernel: all, half and one sending; sizes from one byte to
# 64 KiB; ordered and unordered, in place and copied; overlapping subgroups as in
# Table I of the Spindle paper; both ways of believing a guard; IPv4 and IPv6.
# mcast-load checks every delivery.
# vm: own
# vm: mem=2048
# vm: timeout=420 each
# vm: tear
. ./guest-lib.sh
. ./lib-loop.sh

# load NODES SUBGROUPS OPTIONS...
load()
{
	local nodes groups

	nodes=$1
	groups=$2
	shift 2
	limit 150 mcast-load -n "$nodes" -g "$groups" -w 100 "$@"
}

check "module loads" loop_start

check "16 nodes" loop_nodes 16 visibility poll
check "a view of 16 nodes is installed" loop_view 16 1 \
	subgroup 1 window 64 max-msg 1024 \
	subgroup 2 window 16 max-msg 65536 ring 131072 members 1,2,3 \
	subgroup 3 mode unordered window 32 max-msg 512 members 1,2,3,4 \
	subgroup 4 window 8 max-msg 300 ring 4096 members 5,6,7 senders 6 \
	subgroup 5 window 1 max-msg 100 members 8
check "16 nodes, all send" load 1-16 1 -s all -c 30
check "16 nodes, half send, out of order" load 1-16 1 -s half -c 30 -R -S 2
check "16 nodes, one sends" load 1-16 1 -s one -c 100 -S 3
check "16 nodes, the last alone sends" load 1-16 1 -s 15 -c 60 -S 4
check "messages of 1 byte" load 1-3 2 -c 50 -l 1
check "messages without bytes" load 1-3 2 -c 50 -l 0
check "messages of 64 KiB" load 1-3 2 -c 12 -l 65536
check "messages up to 64 KiB, copied, out of order" load 1-3 2 -c 30 -l 0-65536 -C -R
check "unordered" load 1-4 3 -u -c 200 -l 0-512 -R
check "a ring that wraps in every batch" load 5-7 4 -c 300 -l 0-300 -R
check "a window of one, a group of one" load 8 5 -c 200 -l 0-100
is "a subgroup of one sender needs no nulls" \
	"$(loop_stat 6 4 nulls)" 0
check "nodes go" loop_del 16

# Table I of the Spindle paper: five nodes, three subgroups.
check "5 nodes, guards by completion" loop_nodes 5 visibility imm
check "a view of overlapping subgroups is installed" loop_view 5 1 \
	subgroup 1 members 1,2,3 window 32 max-msg 2000 \
	subgroup 2 members 1,2,4 window 32 max-msg 2000 \
	subgroup 3 members 1,3,5 window 32 max-msg 2000
check "all subgroups have traffic at once" load 1-5 1,2,3 -c 100 -l 0-2000 -R
check "the last sender of each subgroup sends alone" load 1-5 1,2,3 -s 2 -c 60 -S 5
check "nodes go" loop_del 5

LOOP_ADDR=fd00::1
check "3 nodes have IPv6 addresses and own engines" sh -c '. ./lib-loop.sh
	LOOP_ADDR=fd00::1
	for i in 1 2 3; do
		spindle-ctl node add id $i addr fd00::1 port $((5000 + i)) engine $i || exit 1
	done'
check "an IPv6 view is installed" loop_view 3 1 subgroup 1
check "messages flow over IPv6" load 1-3 1 -c 50
check "nodes go" loop_del 3
check "module goes" rmmod spindle
finish
