#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What two members notice while a third node gets a large state: the longest time between two
# messages, without and with the transfer, and how fast the state comes, over what RDMC itself
# carries between two nodes. The x axis is the size of the state, in MiB.
# bench: machine=icount
# bench: mem=8192
. ./lib-bench.sh

SIZES="64 256 1024"
# User-Mode Linux maps most pages of a process by themselves, and the host limits mappings.
[ "${MACHINE:-}" != uml ] || SIZES="64 256"
[ ! "$QUICK" ] || SIZES=16
HISTORY=64M

# A state belongs to all messages of a subgroup, so each size has a subgroup of its own.
subgroups()
{
	local mb

	for mb in $SIZES; do
		echo "subgroup $mb max-msg 1024 hold 0"
	done
}

# RDMC by itself: objects of the length that parts of a state have, as many under way.
rdmc_alone()
{
	limit "$POINT_LIMIT" spindle-perf rdmc -n 2 -S 4M -q 8 -c 32 -r 1 -C /tmp/rdmc.csv \
		>/tmp/bench.out 2>&1 || return 1
	alone=$(column /tmp/rdmc.csv bandwidth)
}

begin()
{
	local mb

	# shellcheck disable=SC2046 # words
	loop_start && rdmc_alone && loop_nodes 3 && live_view 3 $(subgroups) &&
		wait_until 30 in_view 1 1 2 3 || return 1
	for mb in $SIZES; do
		spindle-ctl subgroup set node 1 id "$mb" history $HISTORY &&
			spindle-ctl subgroup set node 2 id "$mb" history $HISTORY || return 1
	done
}

end()
{
	loop_del 3 && loop_end
}

# state MIB
state()
{
	row_of state "$1" limit "$POINT_LIMIT" state-rate -g "$1" -b $(($1 << 20)) -r "$alone" \
		-c "spindle-ctl subgroup set node 3 id $1 history $HISTORY"
}

sweep()
{
	local mb

	for mb in $SIZES; do
		state "$mb"
	done
}

[ "${LIST:-}" ] || . ./lib-live.sh
# shellcheck disable=SC2034 # lib-bench.sh
BENCH_BEGIN=begin BENCH_END=end
bench
