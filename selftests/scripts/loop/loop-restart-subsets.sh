#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# After a crash of all nodes, each subset of them starts: one node waits and names the others, two go
# on and the third one joins, and so do three at once. With and without load, with "ack all" and "ack
# majority", and with damaged logs. All that was acknowledged is there.
# vm: timeout=600 uml
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh
. ./lib-restart.sh

SGS="1 2"
life=0

# established NODE...: may messages become durable at these nodes?
established()
{
	local i g

	for i in "$@"; do
		for g in $SGS; do
			spindle-ctl -j subgroup show node "$i" id "$g" |
				grep -q '"established":true' || return 1
		done
	done
}

# each_has N NODE...: has each load of these nodes so many acknowledgements?
each_has()
{
	local n i g

	n=$1
	shift
	for i in "$@"; do
		for g in $SGS; do
			[ "$(wc -l <"/tmp/acks-$g.$i.$life")" -ge "$n" ] || return 1
		done
	done
}

# load NODE...: each of these nodes sends to both subgroups, and has acknowledgements
load()
{
	local i g options

	wait_until 60 established "$@" || return 1
	for i in "$@"; do
		for g in $SGS; do
			options=
			[ $(((life + g) % 2)) = 0 ] || options=-w
			# shellcheck disable=SC2086
			durable-load -n "$i" -g "$g" -l "$life" -o "/tmp/acks-$g.$i.$life" $options \
				>/dev/null 2>>/tmp/loads.err &
			echo $! >>/tmp/loads.pid
		done
	done
	wait_until 60 each_has 20 "$@" && return 0
	wc -l "/tmp/acks"*".$life"
	cat /tmp/loads.err
	return 1
}

loads_dead()
{
	local p

	while read -r p; do
		dead "$p" || return 1
	done </tmp/loads.pid
}

# load_ends: its processes are killed
load_ends()
{
	local p

	while read -r p; do
		kill -KILL "$p" 2>/dev/null
	done </tmp/loads.pid
	wait_until 30 loads_dead || return 1
	: >/tmp/loads.pid
	[ ! -s /tmp/loads.err ] && return 0
	cat /tmp/loads.err
	return 1
}

# is_whole NODE SUBGROUP: has its log all that was delivered?
is_whole()
{
	spindle-ctl log dump $DIR/"$1"/"$2" >"/tmp/dump-$2.$1" 2>/tmp/dump.err &&
		[ "$(wc -l <"/tmp/dump-$2.$1")" = "$(number_of "$1" "$2" lsn)" ]
}

# logs_are_right: all is durable, and each acknowledged message is in all logs
logs_are_right()
{
	local i g

	wait_until 60 all_durable 1 2 3 || return 1
	for g in $SGS; do
		for i in 1 2 3; do
			wait_until 60 is_whole $i "$g" || {
				head -n 2 /tmp/dump.err
				tail -n 8 "/tmp/logd$i.err"
				return 1
			}
		done
		durable-check "/tmp/dump-$g.1" "/tmp/dump-$g.2" "/tmp/dump-$g.3" -- /tmp/acks-"$g".* \
			>"/tmp/checked.$g" || return 1
	done
}

# go_down LOAD: all nodes crash, under load or when all is durable. The node names of a description are
# in $what.
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
	check "$what: all that was acknowledged is there" logs_are_right
	sed 's/^/# /' /tmp/checked.1 /tmp/checked.2
}

# in_turn LOAD NODE NODE NODE: the nodes start one after the other
in_turn()
{
	what="$1, nodes $2, $3, $4 in turn"
	go_down "$1"
	check "$what: one starts" boot "$2"
	check "$what: it waits, and names the others" waits_for "$2" \
		"1 more of these nodes has to be there: $(others "$2") "
	check "$what: it is in no view" status_says "$2" 'has no live view'
	check "$what: another one starts" boot "$3"
	check "$what: the two are a group" come_together "$2" "$3"
	life=$((life + 1))
	check "$what: they go on" load "$2" "$3"
	check "$what: the last one starts" boot "$4"
	all_is_well
}

# others NODE: "A, B"
others()
{
	case $1 in
	1) echo "2, 3" ;;
	2) echo "1, 3" ;;
	3) echo "1, 2" ;;
	esac
}

at_once()
{
	what="$1, all nodes at once"
	go_down "$1"
	check "$what: they start" boot 1 2 3
	all_is_well
}

# hurt NODE: damage its logs. The frame is the same one in each node of a round.
hurt()
{
	local g

	for g in $SGS; do
		damage "$1" "$g" $((life * 7)) && ! spindle-ctl log verify $DIR/"$1"/"$g" >/dev/null ||
			return 1
	done
}

# Another log covers what is damaged.
one_is_damaged()
{
	what="a damaged log"
	go_down calm
	check "$what: node 1 has it" hurt 1
	check "$what: two nodes start" boot 1 2
	check "$what: they are a group" come_together 1 2
	life=$((life + 1))
	check "$what: they go on" load 1 2
	check "$what: the last one starts" boot 3
	all_is_well
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
		'subgroup 1: 1 more of these nodes has to have a readable log: 1, 2, 3 '
	check "$what: ack majority waits for more" waits_for 2 \
		'subgroup 2: 2 more of these nodes have to have a readable log: 1, 2, 3 '
	check "$what: they are in no view" status_says 3 'has no live view'
	check "$what: the node with a log starts" boot 1
	all_is_well
}

: >/tmp/loads.pid
restart_begin subgroup 1 max-msg 256 log 1 subgroup 2 max-msg 256 log 1 ack majority
in_turn load 1 2 3
in_turn calm 3 1 2
at_once load
one_is_damaged
two_are_damaged
check "nodes go" crash 1 2 3
check "module goes" limit 60 rmmod spindle
finish
