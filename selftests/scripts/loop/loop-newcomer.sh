#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The history of a newcomer: a node that joins gets the messages from before it was a member, with
# their positions, senders and views, from the replica that gives it the state. A node whose
# administrator does not want that gets the state only. A filled history fills the next one.
# vm: timeout=300 uml
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh
. ./lib-replica.sh

A=10.0.0.1

# joins NODE WORDS...: a node becomes a member, and keeps a history
joins()
{
	local node

	node=$1
	shift
	spindle-ctl node join id "$node" insecure contact $A:5001 timeout 60 &&
		spindle-ctl subgroup set "$node" id 1 history 1M "$@"
}

# history_of NODE FROM N: N messages from a position on, with their positions and senders
history_of()
{
	limit 60 spindle-pipe -n "$1" -g 1 -r -w -f "$2" -N "$3" >"/tmp/history$1" \
		2>"/tmp/views$1"
}

# same_history NODE NODE FROM N: do two nodes have the same messages?
same_history()
{
	history_of "$1" "$3" "$4" && history_of "$2" "$3" "$4" &&
		cmp "/tmp/history$1" "/tmp/history$2"
}

# begins_at NODE LSN: is that the oldest message of its history?
begins_at()
{
	[ "$(number_of "$1" 1 oldest)" = "$2" ]
}

# next_of NODE: position of the next message
next_of()
{
	number_of "$1" 1 lsn
}

check "module loads" loop_start
check "five nodes" loop_nodes 5
check "three nodes begin a live view" live_view 3 subgroup 1 max-msg 4096 window 16 hold 0
check "they are in the first view" wait_until 60 in_view 1 1 2 3
for i in 1 2 3; do
	check "node $i keeps a history" spindle-ctl subgroup set $i id 1 history 1M
done

# Messages of views with different members, ranks and senders.
replica a 1 -t 900 -b 300000 -c 300
replica b 2 -t 900 -b 300000 -c 300
check "two replicas are current" wait_until 30 is_now current a b
check "node 3 leaves" spindle-ctl node leave id 3
check "node 5 joins" joins 5 history-fill 0
replica e 5 -t 900 -b 300000 -c 300
check "three replicas have all messages" wait_until 60 totals a b e
is "node 5 keeps what came since it joined" $(($(number_of 5 1 oldest) > 0)) 1
kill_off e
check "node 5 leaves" spindle-ctl node leave id 5

check "node 4 joins" joins 4 history-fill 1
check "it may be filled" sh -c 'spindle-ctl subgroup show node 4 id 1 -v | grep -q "history-fill 1"'
joined=$(number_of 4 1 oldest)
check "its history is short" test "$joined" -gt 900
replica d 4 -t 900 -b 300000
check "its replica has the state" wait_until 60 totals a b d
check "its history begins where that of node 1 does" \
	wait_until 30 begins_at 4 0
next=$(next_of 1)
check "messages, positions and senders are the same" same_history 1 4 0 "$next"
check "a sender is known that had gone before" grep -q '^[0-9]* 5 ' /tmp/history4
# A view without a message may be left out.
check "so are the members of a view" grep -q '^view 1: 1 2 3$' /tmp/views4
check "and those of a view of that sender" grep -q '^view 3: 1 2 5' /tmp/views4
check "a reader begins in the middle" same_history 1 4 400 $((next - 400))

# The filled history is the source of the next one.
kill_off a
kill_off b
all="d"
check "node 3 joins again" joins 3 history-fill 1
replica c 3 -t 4900 -b 300000
check "node 4 gives the state" wait_until 60 grep -q '^state current donor 4' /tmp/c
check "the history of node 3 is filled, too" wait_until 30 begins_at 3 0
check "it has the same messages" same_history 3 1 0 "$(next_of 1)"

# A node joins while others send, and its history has no gap and no message twice.
replica a2 1 -t 4900 -b 300000 -c 2000
replica b2 2 -t 4900 -b 300000 -c 2000
check "node 5 joins again" joins 5 history-fill 1
replica e2 5 -t 4900 -b 300000
check "all have the same state" wait_until 120 totals a2 b2 c e2
check "the history of node 5 is filled" wait_until 30 begins_at 5 0
check "it has the same messages as node 1" same_history 5 1 0 "$(next_of 1)"
end_round "the replicas end"
for i in 1 2 3 4 5; do
	spindle-ctl node leave id $i >/dev/null 2>&1
done
check "all nodes go" loop_del 5
check "module goes" rmmod spindle
finish
