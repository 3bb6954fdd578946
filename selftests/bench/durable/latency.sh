#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# How long it takes until a message is stable, and until it is durable, at a few messages in a
# second. The disk by itself is asked for the same writes at the same rate.
# bench: mem=2048
# bench: disk=2048
. ./lib-bench.sh
# shellcheck source=selftests/bench/durable/lib-durable.sh
. "./${LIST:+durable/}lib-durable.sh"
# shellcheck source=selftests/scripts/lib/lib-live.sh
[ "${LIST:-}" ] || . ./lib-live.sh

SIZES="64 1024 10240"
# Messages per second. A slow disk has to keep up.
RATE=20
FIGURES="stable_p50 stable_p99 durable_p50 durable_p99 frame_bytes frame_messages"

run_plain()
{
	nodes_up "$1" && group_perf $PLAIN "$1" -R $RATE -c 0 -t "$SECS" || return 1
	note stable_p50 "$(column /tmp/bench.csv own_p50)"
	note stable_p99 "$(column /tmp/bench.csv own_p99)"
}

run_durable()
{
	nodes_up "$1" && logged_perf "$1" -R $RATE -c 0 -t "$SECS" || return 1
	note stable_p50 "$(column /tmp/bench.csv own_p50)"
	note stable_p99 "$(column /tmp/bench.csv own_p99)"
	note durable_p50 "$(column /tmp/bench.csv durable_p50)"
	note durable_p99 "$(column /tmp/bench.csv durable_p99)"
	note frame_bytes "$frame_bytes"
	note frame_messages "$frame_messages"
}

us()
{
	awk '{ printf "%.6g", $1 / 1000 }'
}

run_fio()
{
	local frame

	[ "$frame_bytes" ] || return 1
	frame=$(((frame_bytes + 4095) / 4096 * 4096))
	# From the call on, because a write may be made within it.
	fio_run "$frame" 1 --rate_iops=$RATE --lat_percentiles=1 || return 1
	note frame_bytes "$frame"
	note durable_p50 "$(fio_value lat_ns/percentile/50.000000 | us)"
	note durable_p99 "$(fio_value lat_ns/percentile/99.000000 | us)"
}

sweep()
{
	local size

	for size in $SIZES; do
		compare "$size" plain durable fio
	done
}

bench
