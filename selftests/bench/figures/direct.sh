#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The bytes that one of four nodes writes to each other one, for a message that names one of them. The
# x axis is the length of the messages. Only counts are looked at.
. ./lib-bench.sh

SIZES="16 64 1000 10000"
MESSAGES=200

begin()
{
	loop_start && loop_nodes 4 &&
		live_view 4 subgroup 1 max-msg 10000 window 16 ring 256K hold 0 &&
		wait_until 60 in_view 1 1 2 3 4
}

end()
{
	loop_del 4 && loop_end
}

# bytes_to PEER: bytes of all writes of node 1
bytes_to()
{
	spindle-ctl -j stats node 1 >/tmp/stats &&
		json-get /tmp/stats "/0/peers/$(($1 - 2))/stats/bytes"
}

# direct BYTES: node 1 sends to node 2
direct()
{
	local to other

	awk -v n=$MESSAGES -v format="%0$1d\\n" 'BEGIN { for (i = 0; i < n; i++) printf format, i }' \
		>/tmp/messages
	to=$(bytes_to 2) && other=$(bytes_to 3) &&
		limit "$POINT_LIMIT" spindle-pipe -n 1 -g 1 -s -t 2 </tmp/messages || return 1
	to=$(($(bytes_to 2) - to))
	other=$(($(bytes_to 3) - other))
	[ $to -ge $((MESSAGES * $1)) ] || return 1
	echo "messages,to,other"
	awk -v n=$MESSAGES -v to=$to -v other=$other \
		'BEGIN { printf "%d,%.1f,%.1f\n", n, to / n, other / n }'
}

sweep()
{
	local bytes

	for bytes in $SIZES; do
		row_of direct "$bytes" direct "$bytes"
	done
}

[ "${LIST:-}" ] || . ./lib-live.sh
# shellcheck disable=SC2034 # lib-bench.sh
BENCH_BEGIN=begin BENCH_END=end
bench
