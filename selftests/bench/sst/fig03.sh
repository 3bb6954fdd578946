#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A write to many: until the last one has it. Reads of many: until all have ended.
# bench: mem=2048
. ./lib-bench.sh
# shellcheck source=selftests/bench/sst/lib-sst.sh
. "./${LIST:+sst/}lib-sst.sh"

sweep()
{
	local n

	for n in $MEMBERS; do
		shared "64 B" "$n" write -n "$n"
		shared "4 KiB" "$n" write -n "$n" -S 4096
		shared "raw reads of 64 B" "$n" raw -m read -n "$n"
		shared "reads of 64 B" "$n" read -m read -n "$n"
		shared "raw reads of 4 KiB" "$n" raw -m read -n "$n" -S 4096
		shared "reads of 4 KiB" "$n" read -m read -n "$n" -S 4096
	done
}

bench
