#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Connections that say nothing, and datagrams that make no sense, at the ports of all members while
# the view changes again and again. No member is suspected, and no join waits for these connections.
#
# Failures of other systems: an idle connection blocks joins; a broken connection aborts everything.
# vm: uml timeout=180
# shellcheck disable=SC2154 # node and nodes come from lib-wire.sh
. ./lib-wire-live.sh

# idle HOST PORT: a connection that nothing is said on, whether anybody listens or not
idle()
{
	while :; do
		sleep 1000 | nc "$1" "$2" >/dev/null 2>&1
		usleep 200000
	done
}

# Datagrams of any length; some begin like a request to connect does, as far as that goes:
# the transport's header of an unreliable datagram to queue pair 1, with its key.
garbage()
{
	local len

	while :; do
		random 1000
		len=$((result + 1))
		{
			random 2
			[ "$result" = 0 ] ||
				printf '\144\100\377\377\000\000\000\001\000\000\000\000\200\001\000\000\000\000\000\001'
			head -c $len /dev/urandom
		} | nc -u -w 1 "$1" 4791 >/dev/null 2>&1 &
		usleep 20000
	done
}

# requests HOST: to connect, that are wrong, or go no further, as a member that is none
requests()
{
	local step

	while :; do
		for step in flood,n=50,junk half dial,short dial,magic dial,version \
			dial,cluster dial,digest dial flood,n=50 "dial mute" "dial hangup"; do
			# shellcheck disable=SC2086
			limit 5 hostile-peer -i 3 -t "$1" vid 1 member 1@10.0.0.1:4790 \
				member 2@10.0.0.2:4790 member 3@10.0.0.3:4790 \
				subgroup 1 window 32 max-msg 256 -- $step 2>&1 |
				sed "s/^/$step to node $1: /" >>/tmp/requests
		done
	done
}

wl_start 12 22
# No member fails here. If a flood makes the hub lose packets, no member may be suspected for that,
# see wire-live-loss.sh.
wl_begin 1 2 12
asking=
case $node in
3)
	for i in 1 2; do
		for port in 4790 4791 7532; do
			idle 10.0.0.$i $port &
		done
		garbage 10.0.0.$i &
		requests $i &
		asking="$asking $!"
	done
	barrier "$node" "$nodes" garbage || bail "all meet"
	;;
*)
	barrier "$node" "$nodes" garbage || bail "all meet"
	;;
esac
vid=1
for round in 1 2 3 4 5; do
	if [ "$node" = 2 ]; then
		check "#252: round $round: a node joins" try_join 22 1 2
		load_start 22
		usleep 300000
		check "round $round: it leaves" spindle-ctl node leave id 22
		check "round $round: its process sees the end" process_ended 22
	fi
	vid=$((vid + 2))
	barrier "$node" "$nodes" "round$round" || bail "all meet after a round"
	[ "$node" = 3 ] || is "#92: round $round: two changes and no more" \
		"$(live_word "$node" vid)" $vid
done
if [ "$node" = 3 ]; then
	# The processes hold the device, and "limit" has its own process groups.
	# shellcheck disable=SC2086
	kill $asking
	killall hostile-peer
	check "connections were asked for" grep -q "rejected" /tmp/requests
	sort /tmp/requests | uniq -c | sort -rn | sed -n '1,24s/^/# /p'
fi
wl_end 1 2 12
finish
