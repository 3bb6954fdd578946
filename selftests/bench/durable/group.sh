#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# How long a total restart takes: all three nodes crash, and start again with a log each. No page of
# a log is in memory. The same three logs are only read by spindle-ctl log verify, at the same time.
# The x axis is the length of each log in MiB, LOG_MB.
# bench: mem=2048
# bench: disk=1024+3*LOG_MB
. ./lib-bench.sh
# shellcheck source=selftests/bench/durable/lib-durable.sh
. "./${LIST:+durable/}lib-durable.sh"
# shellcheck source=selftests/scripts/lib/lib-live.sh
[ "${LIST:-}" ] || . ./lib-live.sh

LOG_MB=${LOG_MB:-1024}
[ ! "$QUICK" ] || LOG_MB=16
# A log of another length is no other sweep.
[ ! "${LIST:-}" ] || LOG_MB=1024
SIZE=10240
POINT_LIMIT=1200
FIGURES="bytes read_s restart_s more_s"
KEY=/tmp/key

# The process of a node, which restarts its group or joins it.
restarter_begins()
{
	spindle-logd -d $DISK/logs -S 64 -K $KEY "$1" 2>>"/tmp/logd$1.err" &
	loggers="$loggers $!"
}

boot_all()
{
	local i

	loop_nodes $NODE_COUNT key-file $KEY || return 1
	for i in $(seq $NODE_COUNT); do
		restarter_begins "$i"
	done
}

crash_all()
{
	local pid

	for pid in $loggers; do
		kill -KILL "$pid"
	done
	for pid in $loggers; do
		wait "$pid" 2>/dev/null
	done
	loggers=
	sweep_up $NODE_COUNT
}

# All nodes are in one view, and all that each of them has delivered is durable.
group_is_there()
{
	local i lsn

	# shellcheck disable=SC2046 # numbers
	in_one_view $(seq $NODE_COUNT) || return 1
	for i in $(seq $NODE_COUNT); do
		lsn=$(number_of "$i" $LOGGED lsn)
		[ "$lsn" ] && [ "$(number_of "$i" $LOGGED durable)" = "$lsn" ] || return 1
	done
}

# begin_group MIB: a group with a key, and so many bytes in the log of each node
begin_group()
{
	umask 077
	echo "a key of thirty-two bytes, or so." >$KEY
	boot_all && INSECURE='' live_view $NODE_COUNT timeout-ms 30000 \
		subgroup $LOGGED senders 1 max-msg $SIZE window 128 log 1 &&
		wait_until 60 group_is_there &&
		group_perf $LOGGED $SIZE -W 0 -c $((($1 << 20) / SIZE)) &&
		wait_until 60 group_is_there || return 1
	spindle-ctl -j log show $DISK/logs/1/$LOGGED >/tmp/log.json
}

read_all()
{
	local i pids

	pids=
	for i in $(seq $NODE_COUNT); do
		spindle-ctl -j log verify "$DISK/logs/$i/$LOGGED" >/tmp/verify.json \
			2>/tmp/bench.out &
		pids="$pids $!"
	done
	for i in $pids; do
		wait "$i" || return 1
	done
}

restart_all()
{
	boot_all && wait_until 600 group_is_there
}

run_group()
{
	[ -e /tmp/log.json ] || begin_group "$1" || return 1
	crash_all
	forget
	seconds /tmp/read read_all || return 1
	forget
	seconds /tmp/restart restart_all || return 1
	note bytes "$(json-get /tmp/verify.json /bytes)"
	note read_s "$(cat /tmp/read)"
	note restart_s "$(cat /tmp/restart)"
	note more_s "$(paste /tmp/restart /tmp/read | awk '{ printf "%.2f\n", $1 - $2 }')"
}

# A run that has failed leaves nothing to the next one.
after_group()
{
	crash_all
	rm -rf $DISK/logs /tmp/log.json
}

group_end()
{
	crash_all
	disk_end
}
BENCH_END=group_end

sweep()
{
	compare "$LOG_MB" group
}

bench
