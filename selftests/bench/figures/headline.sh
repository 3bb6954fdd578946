#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The headline rows, in virtual time.
# bench: machine=icount
# bench: mem=2048
. ./lib-bench.sh

sweep()
{
	local n

	# The baseline passes the CPU on for each message, and repeats less well by itself.
	for n in 2 4 8; do
		[ -z "$QUICK" ] || [ $n != 8 ] || continue
		point "10 KB final" $n -n $n $PAPER
		point "10 KB baseline" $n -n $n $PAPER -T $BASELINE -r 7
	done
	for n in 3 4; do
		point "64 B final" $n -n $n -S 64
		point "64 B baseline" $n -n $n -S 64 -T $BASELINE -r 7
		point "64 B at 1000/s" $n -n $n -s one -S 64 -R 1000 -c 0 -t 0.1
	done
	point "64 B raw" 3 -n 3 -S 64 -c 5000
}

bench
