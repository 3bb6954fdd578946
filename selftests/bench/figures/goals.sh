#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The points that the table of goals is made of.
# bench: mem=4096
. ./lib-bench.sh

NODES="2 3 4 5 6 7 8"
[ -z "$QUICK" ] || NODES="2 4 8"

sweep()
{
	local n big=16

	[ -z "$QUICK" ] || big=8
	for n in $NODES; do
		point "10 KB" "$n" -n "$n" $PAPER
	done
	for n in 10K 64; do
		point "$n baseline" $big -n $big -S $n -w 100 -T $BASELINE
		point "$n final" $big -n $big -S $n -w 100
	done
	point "64 B saturated" 4 -n 4 -S 64 -w 1024
	point "64 B rate" 3 -n 3 -S 64
	for n in 2 3 4; do
		point "64 B at 1000/s" "$n" -n "$n" -s one -S 64 -R 1000 -c 0 -t 1
		# No engine has gone to sleep when the next message comes.
		point "64 B at 1000/s polled" "$n" -n "$n" -s one -S 64 -R 1000 -c 0 -t 1 \
			--idle-us 2000
		# The clock of the sender has no part in it.
		point "64 B one by one" "$n" -n "$n" -s one -S 64 --latency
		point "64 B raw" "$n" -n "$n" -S 64 -c 50 -W 0
	done
	point "a subgroup with one sender" 4 -n 4 -s one $PAPER -d 0
	point "one of n senders sends" 4 -n 4 $PAPER -d long --delay-senders 3
	point "1 of 1 subgroup" 4 -n 4 -a one $PAPER
	point "1 of 50 subgroups" 4 -n 4 -k 50 -a one $PAPER
	for n in 2 3 4; do
		point "nulls on" "$n" -n "$n" $PAPER
		point "nulls off" "$n" -n "$n" $PAPER -T nulls=off
	done
	# No more than the copy ring of the slow one holds.
	point "no slow reader" 4 -n 4 -S 64 -w 4096 --ring 4M --copy-out -c 4000 -W 0 -r 9
	point "a slow reader" 4 -n 4 -S 64 -w 4096 --ring 4M --copy-out -c 4000 -W 0 -r 9 \
		-u 100 --upcall-nodes one
}

bench
