# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# For scripts of the race lane: source it after guest-lib.sh, lib-tap.sh and
# lib-loop.sh.

# race_nodes N [KEY VALUE]...: nodes 1..N, on two engines in turn. Memory that nodes share in one
# thread cannot race, and neither can memory that they do not share.
race_nodes()
{
	local i n

	n=$1
	shift
	for i in $(seq "$n"); do
		spindle-ctl node add id "$i" addr 10.0.0.1 port $((5000 + i)) \
			engine $((1 + i % 2)) "$@" || return 1
	done
}

# look_start, look_stop: dump all there is, all the time.
look_start()
{
	rm -f /tmp/look.stop
	dump-loop -f /tmp/look.stop >/tmp/look.out 2>&1 &
	look_pid=$!
}

look_stop()
{
	touch /tmp/look.stop
	tap_wait "dumps during the test" "$look_pid" /tmp/look.out
}

# cycles N COMMAND...: so many times, as long as it succeeds
cycles()
{
	local n

	n=$1
	shift
	while [ "$n" -gt 0 ]; do
		n=$((n - 1))
		"$@" || return 1
	done
}
