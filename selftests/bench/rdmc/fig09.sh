#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Objects of random sizes to three of fifteen.
# bench: machine=icount
# bench: mem=4096
. ./lib-bench.sh
# shellcheck source=selftests/bench/rdmc/lib-rdmc.sh
. "./${LIST:+rdmc/}lib-rdmc.sh"

sweep()
{
	local a count=60 groups=30 size=512K

	[ -z "$QUICK" ] || count=20
	[ -z "$QUICK" ] || groups=10
	for a in pipeline sequential tree chain; do
		large $a 4 -n 4 --mix $groups -S $size -c $count -q 4 -a $a
	done
}

bench
