#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Detection by a predicate over the whole column: all other members answer. With writes and reads.
# bench: mem=2048
. ./lib-bench.sh
# shellcheck source=selftests/bench/sst/lib-sst.sh
. "./${LIST:+sst/}lib-sst.sh"

sweep()
{
	local n

	for n in $MEMBERS; do
		shared "one answers" "$n" back -n "$n" -r 1 -c $((ROUNDS * 4 / n))
		shared "all answer" "$n" all -n "$n" -c $((ROUNDS * 4 / n))
		shared "one answers with reads" "$n" back -m read -n "$n" -r 1 \
			-c $((ROUNDS * 4 / n))
		shared "all answer with reads" "$n" all -m read -n "$n" -c $((ROUNDS * 4 / n))
	done
}

bench
