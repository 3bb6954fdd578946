#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What two of three members deliver while the history of the third one has a reader that is killed
# and comes back, again and again, or several readers, over what they deliver while it has one reader
# that reads on. Phases of both kinds take turns. All three send. The x axis is the time between two
# restarts, in ms, or the number of readers.
# bench: machine=icount
# bench: mem=2048
. ./lib-bench.sh

PAIRS=5
# The others deliver 10 KB in bursts of all windows, so a short phase has few bursts.
PHASE_MS=900
GAPS="30 100 300"
READERS="2 4 8"
if [ "$QUICK" ]; then
	PAIRS=3
	GAPS="30 100"
	READERS=4
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

# compare SERIES X OPTION...
compare()
{
	local series x

	series=$1
	x=$2
	shift 2
	row_of "$series" "$x" limit "$POINT_LIMIT" history-rate -n 3 -r 2 -t $PHASE_MS -p $PAIRS "$@"
}

sweep()
{
	local ms n

	for ms in $GAPS; do
		compare "64 B" "$ms" -g 1 -l 64 -i "$ms"
		compare "10 KB" "$ms" -g 2 -l 10240 -i "$ms"
	done
	for n in $READERS; do
		compare "readers of 64 B" "$n" -g 1 -l 64 -x $((n - 1))
		compare "readers of 10 KB" "$n" -g 2 -l 10240 -x $((n - 1))
	done
}

[ "${LIST:-}" ] || . ./lib-live.sh
# shellcheck disable=SC2034 # lib-bench.sh
BENCH_BEGIN=begin BENCH_END=end
bench
