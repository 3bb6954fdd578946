#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What a view of many members takes: memory of connections and rows, and writes for a message of one
# sender. All members are in one kernel. The x axis is the number of members.
# bench: mem=6144
. ./lib-bench.sh

MEMBERS="16 24 32"
[ -z "$QUICK" ] || MEMBERS="4 8"
SIZE=64
WINDOW=16
MESSAGES=200

# used: memory of this kernel without caches, in KiB
used()
{
	echo 3 >/proc/sys/vm/drop_caches
	awk '/^MemTotal:/ { all = $2 } /^MemAvailable:/ { print all - $2 }' /proc/meminfo
}

all_active()
{
	local i

	for i in $(seq "$1"); do
		sg_active 1 "$i" || return 1
	done
}

# members N: memory of a view of N members, and then what a message of one sender takes
members()
{
	local before bytes

	before=$(used)
	loop_nodes "$1" >&2 &&
		loop_view "$1" 1 subgroup 1 window $WINDOW max-msg $SIZE >&2 &&
		wait_until "$POINT_LIMIT" all_active "$1" || return 1
	bytes=$((($(used) - before) * 1024))
	loop_del "$1" >&2
	measure -n "$1" -s one -S $SIZE -w $WINDOW -c $MESSAGES -W 0 --no-raw >&2 || return 1
	echo "connections,bytes,per_connection,writes"
	echo "$(($1 * ($1 - 1))),$bytes,$((bytes / ($1 * ($1 - 1)))),$(
		column /tmp/bench.csv writes_per_message)"
}

sweep()
{
	local n

	for n in $MEMBERS; do
		row_of members "$n" members "$n"
	done
}

[ "${LIST:-}" ] || . ./lib-live.sh
bench
