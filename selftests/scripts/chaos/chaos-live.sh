#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# "make chaos": not a test of any lane. Each of four guests has two nodes, and the seed, the same on
# all guests, chooses the faults of each round. One guest has a fault of its own. At the same time a
# node of another guest joins or leaves. At most three of eight nodes are affected, so the others
# must go on. At the end of a round all stopped nodes join again.
# vm: uml nodes=4 timeout=300
# shellcheck disable=SC2154 # node and nodes come from lib-wire.sh
. ./lib-wire-live.sh

ALL="1 2 3 4 11 12 13 14"
SEED=${SEED:-1}
MINUTES=${MINUTES:-1}

# dice N: 1..N; the same seed gives the same numbers, and all guests throw at the same time.
dice()
{
	SEED=$(((SEED * 1103515245 + 12345) % 2147483648))
	result=$((SEED / 65536 % $1 + 1))
}

# without A B...: all nodes but these
without()
{
	local i

	for i in $ALL; do
		case " $* " in
		*" $i "*) ;;
		*) printf '%s ' "$i" ;;
		esac
	done
}

# Nodes of this guest that are members of nothing: they come back, by one that did not suffer.
come_back()
{
	local i

	for i in $((10 + node)) $node; do
		[ "$(live_word "$i" state)" != active ] || continue
		[ "$(live_word "$i" state)" != changing ] ||
			wait_until 30 settled "$i"
		[ "$(live_word "$i" state)" != active ] || continue
		process_ended "$i" || { broken "the process of $i does not see the end"; continue; }
		# shellcheck disable=SC2046
		try_join "$i" $(without "$((10 + victim))" "$victim" "$second" "$i") \
			>/tmp/come 2>&1 || {
			broken "node $i does not come back"
			sed 's/^/# /' /tmp/come
			status_of "$i"
			continue
		}
		load_start "$i" -r 500
	done
}

settled()
{
	[ "$(live_word "$1" state)" != changing ]
}

broken()
{
	bad=1
	diag "round $round: $*"
}

# fault NAME: of this guest
fault()
{
	case $1 in
	pause) pause_me $((TIMEOUT * amount / 10)) || broken "no pause" ;;
	cut)
		port both
		usleep $((TIMEOUT * amount * 100))
		cut_off none
		;;
	deaf)
		port in
		usleep $((TIMEOUT * amount * 100))
		cut_off none
		;;
	mute)
		port out
		usleep $((TIMEOUT * amount * 100))
		cut_off none
		;;
	slow)
		tc qdisc add dev eth0 root netem delay 1ms slot 1ms 4ms limit 100000
		usleep $((TIMEOUT * amount * 100))
		tc qdisc del dev eth0 root
		;;
	device)
		limit 60 rdma link delete rxe0 || broken "the device stays"
		for i in $node $((10 + node)); do
			spindle-ctl node del id "$i" || broken "node $i stays"
		done
		rxe_add rxe0 eth0 || broken "no new device"
		for i in $node $((10 + node)); do
			wl_node "$i" || broken "no new node $i"
		done
		;;
	kill)
		# Processes, not nodes: the nodes go on and discard.
		for i in $node $((10 + node)); do
			eval "kill -9 \$load_$i"
		done
		usleep 300000
		for i in $node $((10 + node)); do
			[ "$(live_word "$i" state)" != active ] || load_start "$i" -r 500
		done
		;;
	esac
}

# change NAME NODE: a wish, of a node of this guest
change()
{
	case $1 in
	leave) spindle-ctl node leave id "$2" || broken "node $2 does not leave" ;;
	remove)
		spindle-ctl node del id "$2" && wl_node "$2" || broken "node $2 is not removed"
		;;
	rejoin)
		# The node's next life takes its place in the view, perhaps before it is free.
		spindle-ctl node del id "$2" && wl_node "$2"
		# shellcheck disable=SC2046
		try_join "$2" $(without "$((10 + victim))" "$victim" "$2") >/dev/null 2>&1 &&
			load_start "$2" -r 500
		;;
	esac
}

diag "seed $SEED, $MINUTES minutes"
wl_start 11 12 13 14
LOAD="-r 500"
# shellcheck disable=SC2086
wl_begin $ALL
until=$(($(uptime_s) + MINUTES * 60))
bad=0
round=0
over=
while [ ! "$over" ]; do
	round=$((round + 1))
	# The first guest serves the barriers, so nothing happens to it but by its own wish.
	dice 3
	victim=$((result + 1))
	dice 9
	what=$(echo "none pause cut deaf mute slow device kill pause" | cut -d ' ' -f "$result")
	dice 30
	amount=$result
	dice 4
	other=$(echo "none leave remove rejoin" | cut -d ' ' -f "$result")
	dice 4
	second=$result
	[ "$second" != "$victim" ] || second=1
	dice 2
	[ "$result" = 1 ] || second=$((10 + second))
	dice 100
	pause=$result
	diag "round $round: $what of guest $victim for $amount tenths; $other of node $second"
	barrier "$node" "$nodes" "round$round" || bail "all meet in round $round"
	if mine "$second"; then
		usleep $((pause * 3000))
		change "$other" "$second"
	fi
	if [ "$node" = "$victim" ]; then
		fault "$what"
		usleep $((TIMEOUT * 1000))
	fi
	# An accused node learns of that at the latest when the others have timed out.
	usleep $((TIMEOUT * 2000))
	barrier "$node" "$nodes" "healed$round" || bail "all meet at the end of round $round"
	come_back
	barrier "$node" "$nodes" "back$round" || bail "all are back in round $round"
	for i in $node $((10 + node)); do
		# shellcheck disable=SC2086
		wait_until 60 has "$i" $ALL || { broken "node $i is alone"; status_of "$i"; }
		flows "$i" || { broken "node $i delivers nothing"; status_of "$i"; }
	done
	# One clock is the measure.
	if [ "$node" = 1 ]; then
		over=0
		[ "$(uptime_s)" -lt "$until" ] || over=1
		publish "over$round" "$over$bad"
	fi
	barrier "$node" "$nodes" "over$round" || bail "all know whether it is over"
	case $(fetch 1 "over$round") in
	00) over= ;;
	*) over=1 ;;
	esac
	[ "$bad" = 0 ] || over=1
done
is "$round rounds: all nodes are back each time" $bad 0
# shellcheck disable=SC2086
wl_end $ALL
finish
