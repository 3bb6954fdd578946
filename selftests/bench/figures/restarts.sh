#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What two of three members deliver while the reader of the third one is killed and comes back to
# its history, again and again, over what they deliver while it reads on. Phases with and without
# restarts take turns. All three send. The x axis is the time between two restarts, in ms.
# bench: machine=icount
# bench: mem=2048
. ./lib-bench.sh

PAIRS=5
# The others deliver 10 KB in bursts of all windows, so a short phase has few bursts.
PHASE_MS=900
GAPS="30 100 300"
if [ "$QUICK" ]; then
	PAIRS=3
	GAPS="30 100"
fi
HISTORY=64M

# Subgroup 1 has the messages of 64 bytes, subgroup 2 those of 10 KB.
begin()
{
	local i

	loop_start && loop_nodes 3 &&
		loop_view 3 1 subgroup 1 max-msg 64 subgroup 2 max-msg 10K || return 1
	for i in 1 2; do
		wait_until 30 sg_active $i 1 2 3 &&
			spindle-ctl subgroup set node 2 id $i history $HISTORY || return 1
	done
}

end()
{
	loop_del 3 && loop_end
}

# restarts SERIES X OPTION...
restarts()
{
	local series x k

	turn "$@" || return 0
	series=$1
	x=$2
	# shellcheck disable=SC2154 # lib-bench.sh
	k=$points
	shift 2
	if ! limit "$POINT_LIMIT" restart-rate -n 3 -r 2 "$@" >/tmp/bench.csv 2>/tmp/bench.out; then
		failed "$k" "$series" "$x"
		return 0
	fi
	tell_row "$k" "$series" "$x"
}

sweep()
{
	local ms

	for ms in $GAPS; do
		restarts "64 B" "$ms" -g 1 -l 64 -i "$ms" -t $PHASE_MS -p $PAIRS
		restarts "10 KB" "$ms" -g 2 -l 10240 -i "$ms" -t $PHASE_MS -p $PAIRS
	done
}

[ "${LIST:-}" ] || . ./lib-live.sh
# shellcheck disable=SC2034 # lib-bench.sh
BENCH_BEGIN=begin BENCH_END=end
bench
