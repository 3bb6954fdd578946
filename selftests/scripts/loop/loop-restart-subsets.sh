#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# After a crash of all nodes, each subset of them starts. One node waits and names the others. Two
# go on and the third one joins, and three go on at once. Logs are damaged, too. All that was
# acknowledged is there, with "ack all" and with "ack majority".
# vm: timeout=600 uml
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh
. ./lib-restart.sh
. ./lib-durable.sh
. ./lib-damage.sh

SGS="1 2"

# go_down LOAD: all nodes crash, under load or when all is durable. The node names of a description
# are in $what.
go_down()
{
	life=$((life + 1))
	check "$what: messages are acknowledged" load 1 2 3
	if [ "$1" = calm ]; then
		check "$what: the load ends" load_ends
		check "$what: all is durable" wait_until 60 all_durable 1 2 3
	fi
	check "$what: all nodes crash" crash_at_once 1 2 3
	check "$what: no load is left" load_ends
}

# all_is_well: the three nodes are a group again
all_is_well()
{
	check "$what: three nodes are a group" come_together 1 2 3
	check "$what: the load ends" load_ends
	check_logs "$what: all that was acknowledged is there" 1 2 3
}

# others NODE: a pattern for "A, B" and "B, A", because a view that nodes have joined has any order
others()
{
	case $1 in
	1) echo '\(2, 3\|3, 2\)' ;;
	2) echo '\(1, 3\|3, 1\)' ;;
	3) echo '\(1, 2\|2, 1\)' ;;
	esac
}

# start_in_turn NODE NODE NODE: the nodes start one after the other
start_in_turn()
{
	check "$what: one starts" boot "$1"
	check "$what: it waits, and names the others" waits_for "$1" \
		"1 more of these nodes has to be there: $(others "$1") "
	check "$what: it is in no view" status_says "$1" 'has no live view'
	check "$what: another one starts" boot "$2"
	check "$what: the two are a group" come_together "$1" "$2"
	life=$((life + 1))
	check "$what: they go on" load "$1" "$2"
	check "$what: the last one starts" boot "$3"
	all_is_well
}

# in_turn LOAD NODE NODE NODE
in_turn()
{
	what="$1, nodes $2, $3, $4 in turn"
	go_down "$1"
	shift
	start_in_turn "$@"
}

at_once()
{
	what="$1, all nodes at once"
	go_down "$1"
	check "$what: they start" boot 1 2 3
	all_is_well
}

# hurt NODE: damage its logs, in the same frame at each node
hurt()
{
	local g

	for g in $SGS; do
		damage "$DIR/$1/$g" $((life * 7)) && is_damaged "$DIR/$1/$g" || return 1
	done
}

# all_mended NODE
all_mended()
{
	local g

	for g in $SGS; do
		mended "$1" "$g" "$DIR/$1/$g" "/tmp/logd$1.err" || return 1
	done
}

# Another log covers what is damaged.
one_is_damaged()
{
	what="a damaged log, nodes 1, 2, 3 in turn"
	go_down calm
	check "$what: node 1 has it" hurt 1
	start_in_turn 1 2 3
	check "$what: node 1 has noticed it, and repairs it" wait_until 60 all_mended 1
}

# No log covers it but that of the third node.
two_are_damaged()
{
	what="two damaged logs"
	go_down calm
	check "$what: node 2 has one" hurt 2
	check "$what: node 3 has one" hurt 3
	check "$what: these nodes start" boot 2 3
	check "$what: ack all waits for a log" waits_for 2 \
		'subgroup 1: 1 more of these nodes has to have a readable log: [123], [123], [123] '
	check "$what: ack majority waits for more" waits_for 2 \
		'subgroup 2: 2 more of these nodes have to have a readable log: [123], [123], [123] '
	check "$what: they are in no view" status_says 3 'has no live view'
	check "$what: the node with a log starts" boot 1
	all_is_well
	check "$what: node 2 has noticed it, and repairs it" wait_until 60 all_mended 2
	check "$what: so does node 3" wait_until 60 all_mended 3
}

restart_begin subgroup 1 max-msg 256 log 1 subgroup 2 max-msg 256 log 1 ack majority
at_once load
one_is_damaged
two_are_damaged
in_turn calm 2 3 1
in_turn load 3 1 2
check "nodes go" crash 1 2 3
check "module goes" limit 60 rmmod spindle
finish
