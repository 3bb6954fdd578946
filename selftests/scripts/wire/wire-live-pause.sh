#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A guest stands still for a while: shorter than the timeout changes nothing; longer, and the
# others have gone on without it, which it finds out and says. It joins again. First it leads,
# then it follows.
#
# Failures of other systems: a process that was paused comes back and makes all abort; a node that
# is slow is evicted.
# vm: uml timeout=180
# shellcheck disable=SC2154 # node and nodes come from lib-wire.sh
. ./lib-wire-live.sh

# still TENTHS MORE: it stands still for so much of the timeout, and so many milliseconds.
still()
{
	check "this guest stands still for $1 tenths of the timeout and $2 ms" \
		pause_me $((TIMEOUT * $1 / 10 + $2))
}

vid=1
wl_start
wl_begin 3 1 2
for role in leader follower; do
	for tenths in 1 5; do
		[ "$node" != 3 ] || still $tenths 0
		barrier "$node" "$nodes" "$role$tenths" || bail "all meet after a short pause"
		usleep $((TIMEOUT * 1000))
		is "$role paused for $tenths tenths of the timeout: the same view" \
			"$(live_word "$node" vid)" $vid || status_of "$node"
		check "messages flow" flows "$node"
		barrier "$node" "$nodes" "$role$tenths.over" || bail "all meet before the next"
	done
	if [ "$node" = 3 ]; then
		# The members tell it that it is out when they close their connections. Where its
		# own connections break first, it finds that it hears no majority.
		still 10 6000
		out 3 evicted minority
	else
		check "the others go on without it" wait_until 60 has "$node" 1 2 ||
			status_of "$node"
		breakdown "$node" "$role paused"
		check "messages flow" flows "$node"
	fi
	barrier "$node" "$nodes" "$role.out" || bail "all meet when it is out"
	[ "$node" != 3 ] || comes_back 3 1 2
	goes_on "$role is back" 1 2 3
	vid=$(live_word "$node" vid)
	barrier "$node" "$nodes" "$role.back" || bail "all meet when it is back"
done
wl_end 1 2 3
finish
