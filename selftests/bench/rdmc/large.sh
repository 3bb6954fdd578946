#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Messages of a subgroup that are pushed, and the same by RDMC: where the threshold belongs.
# bench: machine=icount
# bench: mem=4096
. ./lib-bench.sh

sweep()
{
	local n kib count rest="-s one --max-msg 2097152 --ring 16777216 -w 16 -r 1 --no-raw"

	for n in 2 4 8; do
		for kib in 8 16 32 64 128 256 512 1024; do
			[ -z "$QUICK" ] || [ $kib = 64 ] || continue
			count=$((16 + 32768 / kib))
			# shellcheck disable=SC2086
			point "pushed to $((n - 1))" $kib -n "$n" -S ${kib}K -c $count $rest -T large=1048576
			# shellcheck disable=SC2086
			point "RDMC to $((n - 1))" $kib -n "$n" -S ${kib}K -c $count $rest -T large=4096
		done
	done
}

bench
