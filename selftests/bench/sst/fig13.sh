#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Routers that install new paths after a link has changed.
# bench: mem=2048
. ./lib-bench.sh
# shellcheck source=selftests/bench/sst/lib-sst.sh
. "./${LIST:+sst/}lib-sst.sh"

sweep()
{
	local n changes=40 members="4 8 16 24"

	if [ "$QUICK" ]; then
		members="4 8"
		changes=10
	fi
	for n in $members; do
		routed "$n" -c $changes -k "$TIMES"
	done
}

bench
