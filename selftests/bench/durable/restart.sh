#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# How long it takes to read a log: by spindle-ctl log verify, and by a logger that begins. No page of
# it is in memory. The x axis is the length of the log in MiB, LOG_MB.
# bench: mem=2048
# bench: disk=1024+3*LOG_MB
. ./lib-bench.sh
# shellcheck source=selftests/bench/durable/lib-durable.sh
. "./${LIST:+durable/}lib-durable.sh"
# shellcheck source=selftests/scripts/lib/lib-live.sh
[ "${LIST:-}" ] || . ./lib-live.sh

SIZE=10240
POINT_LIMIT=1200
FIGURES="bytes messages verify_s verify_rate begin_s begin_rate"

# The log of the first node has this length.
fill_log()
{
	nodes_up $SIZE && group_perf $LOGGED $SIZE -W 0 -c $((($1 << 20) / SIZE)) || return 1
	spindle-ctl -j log show $DISK/logs/1/$LOGGED >/tmp/log.json
}

# The logger has read its log, and all positions are durable again.
begin_again()
{
	logger_begins 1 && wait_until 300 test "$(number_of 1 $LOGGED durable)" = \
		"$(number_of 1 $LOGGED lsn)"
}

run_read()
{
	[ -e /tmp/log.json ] || fill_log "$1" || return 1
	loggers_end
	forget
	seconds /tmp/verify limit "$POINT_LIMIT" spindle-ctl -j log verify $DISK/logs/1/$LOGGED \
		>/tmp/verify.json 2>/tmp/bench.out || return 1
	forget
	seconds /tmp/begin begin_again || return 1
	note bytes "$(json-get /tmp/verify.json /bytes)"
	note messages "$(json-get /tmp/verify.json /messages)"
	note verify_s "$(cat /tmp/verify)"
	note begin_s "$(cat /tmp/begin)"
	note verify_rate "$(rate_of /tmp/verify)"
	note begin_rate "$(rate_of /tmp/begin)"
}

# rate_of FILE: bytes per second
rate_of()
{
	awk -v bytes="$(json-get /tmp/verify.json /bytes)" '$1 > 0 { printf "%.6g", bytes / $1 }' "$1"
}

sweep()
{
	compare "$LOG_MB" read
}

bench
