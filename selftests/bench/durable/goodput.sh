#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The fourth level of service of figure 18: a topic that is logged. One of three members publishes.
# The same subgroup with a log and without, and the disk by itself with the same frames.
# bench: mem=2048
# bench: disk=2048
. ./lib-bench.sh
# shellcheck source=selftests/bench/durable/lib-durable.sh
. "./${LIST:+durable/}lib-durable.sh"
# shellcheck source=selftests/scripts/lib/lib-live.sh
[ "${LIST:-}" ] || . ./lib-live.sh

# Segments of a log that has been trimmed: loggers write over old ones, and make none.
SEGMENT=16
KEEP=64
SIZES="64 1024 10240"
FIGURES="goodput carried rate stable_goodput frame_bytes frame_messages disk_bytes_per_byte"

run_plain()
{
	nodes_up "$1" && group_perf $PLAIN "$1" -c 0 -t "$SECS" || return 1
	note goodput "$(column /tmp/bench.csv goodput)"
	note rate "$(column /tmp/bench.csv rate)"
}

run_durable()
{
	local before time

	nodes_up "$1" && logged_count "$1" || return 1
	time=$(logger_time)
	before=$(disk_now | cut -d ' ' -f 2)
	logged_perf "$1" -W 0 -c "$count" || return 1
	note goodput "$(column /tmp/bench.csv durable_goodput)"
	# What the busiest logger would carry with a processor of its own.
	note carried "$(awk -v ticks=$(($(logger_time) - time)) -v sent="$(column /tmp/bench.csv sent)" \
		-v size="$1" 'BEGIN { if (ticks) printf "%.9g", sent * size * 100 / ticks }')"
	note rate "$(column /tmp/bench.csv durable_rate)"
	note stable_goodput "$(column /tmp/bench.csv goodput)"
	note frame_bytes "$frame_bytes"
	note frame_messages "$frame_messages"
	# All that was written for the bytes of all messages, at three members.
	note disk_bytes_per_byte "$(awk -v before="$before" -v after="$(disk_now | cut -d ' ' -f 2)" \
		-v sent="$(column /tmp/bench.csv sent)" -v size="$1" -v n=$NODE_COUNT \
		'BEGIN { if (sent) printf "%.4g", (after - before) / (sent * size * n) }')"
}

# As many messages as frames of the last run have.
run_fio()
{
	local frame

	[ "$frame_bytes" ] || return 1
	frame=$(((frame_bytes + 4095) / 4096 * 4096))
	fio_run "$frame" 2 || return 1
	note frame_bytes "$frame"
	note frame_messages "$frame_messages"
	note rate "$(fio_value iops | awk -v m="$frame_messages" -v n=$NODE_COUNT \
		'{ printf "%.9g", $1 / n * m }')"
	note goodput "$(fio_value iops | awk -v m="$frame_messages" -v n=$NODE_COUNT -v size="$1" \
		'{ printf "%.9g", $1 / n * m * size }')"
}

sweep()
{
	local size

	for size in $SIZES; do
		compare "$size" plain durable fio
	done
}

bench
