#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Silence. No member waits for a sender that has declared silence, and that sender sends no nulls.
# If it sends before its time is over, or has messages to send first, these have their place in the
# order. A silent sender without a declaration gives up rounds in advance, more and more of them. If
# only one member may send, no member gives up rounds.
# vm: timeout=300
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh

# all_stat SUBGROUP NAME: a counter of all four nodes, added up.
all_stat()
{
	local i sum

	sum=0
	for i in 1 2 3 4; do
		sum=$((sum + $(loop_stat $i "$1" "$2")))
	done
	echo $sum
}

# load OPTION...
load()
{
	limit 100 mcast-load -w 60 -l 0-256 "$@"
}

check "module loads" loop_start
for how in poll imm; do
	check "four nodes ($how)" loop_nodes 4 visibility $how
	check "a view of four nodes is installed" \
		loop_view 4 1 subgroup 1 window 32 max-msg 64 members 1,2,3 \
		subgroup 2 window 32 max-msg 256 senders 3 \
		subgroup 3 window 32 max-msg 256 \
		subgroup 4 window 32 max-msg 256
	check "all subgroups are active" wait_until 60 all_active 15
	# No member gives up rounds in advance, so counts are exact.
	for i in 1 2 3; do
		spindle-ctl subgroup set $i id 1 silence 0 || not_ok "silence of node $i"
	done
	tap_run limit 100 technique silence -n 1-3 -g 1

	check "the only sender sends" load -n 1-4 -g 2 -c 300
	is "no member gives up a round" "$(all_stat 2 nulls) $(all_stat 2 silent)" "0 0"

	# One of four sends, and no other one has declared silence. With a window of 32, each answer
	# gives up at most 32 needed rounds. The rounds in advance double each time.
	check "the last of four senders sends alone" load -n 1-4 -g 3 -s 3 -c 1000
	nulls=$(loop_stat 1 3 nulls)
	silent=$(loop_stat 1 3 silent)
	diag "one of the others: $nulls rounds as they were needed, $silent in advance"
	check "idle senders are silent for most rounds" test "$silent" -gt "$nulls"
	is "the decided rounds equal nulls plus silence" \
		"$(loop_stat 1 3 round)" $((nulls + silent))
	is "the active sender sends no nulls" "$(loop_stat 4 3 nulls)" 0
	check "all senders send after the silence" load -n 1-4 -g 3 -c 50

	for i in 1 2 3 4; do
		spindle-ctl subgroup set $i id 4 silence 0 || not_ok "silence of node $i"
	done
	check "the last of four senders sends alone without silence" load -n 1-4 -g 4 -s 3 -c 300
	is "no round is given up in advance" "$(all_stat 4 silent)" 0
	is "every needed round is a null" "$(loop_stat 1 4 nulls)" 300
	check "nodes go" loop_del 4
done
check "module goes" limit 60 rmmod spindle
finish
