#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Large messages of ordered and unordered subgroups, which go by RDMC: alone and between small
# ones, of one sender and of all, in place and copied, around the threshold and the ring's end;
# mcast-load checks every byte and the order, and counters tell which way messages went.
# vm: own
# vm: mem=2048
# vm: timeout=600
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

# stats NODE SUBGROUP WORD...: counters
stats()
{
	local node sg word list

	node=$1
	sg=$2
	shift 2
	list=
	for word; do
		list="$list $(loop_stat "$node" "$sg" "$word")"
	done
	echo "${list# }"
}

check "module loads" loop_start
check "8 nodes" loop_nodes 8
check "a view" loop_view 8 1 \
	subgroup 1 window 16 max-msg 1048576 ring 4194304 members 1,2,3 \
	subgroup 2 window 8 max-msg 3000000 ring 8388608 members 4,5,6,7 senders 5 \
	subgroup 3 mode unordered window 8 max-msg 524288 ring 2097152 members 1,2,8 \
	subgroup 4 window 8 max-msg 524288 ring 1048576 \
	subgroup 5 window 8 max-msg 1048576 ring 2097152 members 8
is "none was sent" "$(stats 1 1 sent large large_bytes large_waiting)" "0 0 0 0"
check "one large message" load 1-3 1 -s one -c 1 -l 1000000
is "it went by RDMC" "$(stats 1 1 sent large large_bytes)" "1 1 1000000"
check "large ones of one sender" load 1-3 1 -s one -c 20 -l 262145-1048576 -S 2
is "so did they" "$(stats 1 1 large large_bytes)" "$(stats 1 1 sent sent_bytes)"
is "who sent none counts none" "$(stats 2 1 sent large large_bytes)" "0 0 0"
check "the largest that is not large" load 1-3 1 -s one -c 10 -l 262144 -S 12
is "none went by RDMC" "$(stats 1 1 sent large)" "31 21"
check "the smallest that is" load 1-3 1 -s one -c 10 -l 262145 -S 13
is "all did" "$(stats 1 1 sent large)" "41 31"
check "of all, between small ones" load 1-3 1 -s all -c 40 -l 1-1048576 -S 3
check "around the threshold" load 1-3 1 -s all -c 40 -l 262143-262146 -S 4
check "copied" load 1-3 1 -s all -c 30 -l 1-600000 -S 5 -C
check "out of order" load 1-3 1 -s all -c 40 -l 1-200000 -S 6 -R
check "3 MB from one to three" load 4-7 2 -c 15 -l 1000000-3000000 -S 7
check "unordered" load 1,2,8 3 -s all -c 30 -l 1-524288 -u -S 8
check "8 members, all send, a ring of two" load 1-8 4 -s all -c 8 -l 1-524288 -S 9
check "alone" load 8 5 -c 20 -l 1-1048576 -S 10
check "subgroups at once" load 1-8 1,3,4 -u -c 10 -l 1-500000 -S 11
is "nothing waits, and nothing had to begin again" \
	"$(stats 1 1 large_waiting large_again large_restarts)" "0 0 0"
says 0 "large-bytes  *$(stats 1 1 large_bytes) " stats node 1
check "nodes can be removed" loop_del 8
check "module goes" rmmod spindle
finish
