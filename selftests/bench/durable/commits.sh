#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What a group commit costs: writes of the column to the other members, and of the disk. The same
# messages go through a subgroup without a log, and the difference is what the logs cost. The x axis
# is the number of messages per second; 0: as many as possible.
# bench: mem=2048
# bench: disk=2048
. ./lib-bench.sh
# shellcheck source=selftests/bench/durable/lib-durable.sh
. "./${LIST:+durable/}lib-durable.sh"
# shellcheck source=selftests/scripts/lib/lib-live.sh
[ "${LIST:-}" ] || . ./lib-live.sh

SIZE=64
FIGURES="commits messages column_writes column_bytes disk_writes disk_flushes disk_bytes"

pace()
{
	[ "$1" = 0 ] && echo -c "$count" || echo -R "$1" -c 0 -t "$SECS"
}

plain_writes=
plain_bytes=

# What the same load needs without logs: writes and bytes per message.
measure_plain()
{
	# shellcheck disable=SC2046 # words
	group_perf $PLAIN $SIZE -W 0 $(pace "$1") || return 1
	plain_writes=$(column /tmp/bench.csv writes_per_message)
	plain_bytes=$(awk -v bytes="$(column /tmp/bench.csv wire_bytes)" \
		-v sent="$(column /tmp/bench.csv sent)" 'BEGIN { printf "%.9g", bytes / sent }')
}

run_commits()
{
	local before after sent

	nodes_up $SIZE && logged_count $SIZE && measure_plain "$1" || return 1
	before=$(disk_now)
	# shellcheck disable=SC2046 # words
	logged_perf $SIZE -W 0 $(pace "$1") || return 1
	after=$(disk_now)
	sent=$(column /tmp/bench.csv sent)
	note commits "$frames"
	note messages "$frame_messages"
	awk -v frames=$((frames * NODE_COUNT)) -v sent="$sent" -v rate="$1" \
		-v writes="$(column /tmp/bench.csv writes)" -v plain_writes="$plain_writes" \
		-v bytes="$(column /tmp/bench.csv wire_bytes)" -v plain_bytes="$plain_bytes" \
		-v before="$before" -v after="$after" '
	BEGIN {
		split(before, b, " ")
		split(after, a, " ")
		more = writes - plain_writes * sent
		# At full speed messages go together, and not the same ones with a log and without.
		if (rate) {
			print "column_writes", more / frames
			if (more > 0)
				print "column_bytes", (bytes - plain_bytes * sent) / more
		}
		print "disk_writes", (a[1] - b[1]) / frames
		print "disk_flushes", (a[3] - b[3]) / frames
		print "disk_bytes", (a[2] - b[2]) / frames
	}' >/tmp/commits
	while read -r name value; do
		note "$name" "$value"
	done </tmp/commits
}

sweep()
{
	local rate

	for rate in 20 0; do
		compare "$rate" commits
	done
}

bench
