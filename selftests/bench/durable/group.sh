#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# How long a total restart takes: all three nodes crash, and start again with a log each. The time is
# that from the start of spindle-logd until all three of them log again. No page of a log is in
# memory. The same three logs are only read by spindle-ctl log verify, at the same time.
# The x axis is the length of each log in MiB, LOG_MB.
# bench: mem=2048
# bench: disk=1024+3*LOG_MB
. ./lib-bench.sh
# shellcheck source=selftests/bench/durable/lib-durable.sh
. "./${LIST:+durable/}lib-durable.sh"
if [ ! "${LIST:-}" ]; then
	# shellcheck source=selftests/scripts/lib/lib-live.sh
	. ./lib-live.sh
	# shellcheck source=selftests/scripts/lib/lib-restart.sh
	. ./lib-restart.sh
fi

DISK=/var/lib/spindle
SEGMENT=64
SIZE=10240
POINT_LIMIT=1200
FIGURES="bytes read_s restart_s more_s"
ALL=$(seq $NODE_COUNT)

add_nodes()
{
	loop_nodes $NODE_COUNT key-file /tmp/key
}

loggers_begin()
{
	local i

	for i in $ALL; do
		logd "$i"
	done
}

# The nodes are in one view, their loggers run, and all that the nodes have delivered is durable.
# shellcheck disable=SC2086 # numbers
is_there()
{
	together $ALL && all_durable $ALL
}

# begin_group MIB: a group with a key, and so many bytes in the log of each node
begin_group()
{
	umask 077
	echo "a key of thirty-two bytes, or so." >/tmp/key
	add_nodes &&
		live_view $NODE_COUNT timeout-ms 30000 \
			subgroup $LOGGED senders 1 max-msg $SIZE window 128 log 1 &&
		loggers_begin && wait_until 60 is_there &&
		group_perf $LOGGED $SIZE -W 0 -c $((($1 << 20) / SIZE)) && wait_until 60 is_there
}

read_all()
{
	local i pids

	pids=
	for i in $ALL; do
		spindle-ctl -j log verify "$DISK/$i/$LOGGED" >/tmp/verify.json \
			2>/tmp/bench.out &
		pids="$pids $!"
	done
	for i in $pids; do
		wait "$i" || return 1
	done
}

all_log()
{
	local i

	for i in $ALL; do
		grep -q 'begins with position' "/tmp/logd$i.err" || return 1
	done
}

restart_all()
{
	loggers_begin && wait_until 600 all_log
}

# shellcheck disable=SC2086 # numbers
run_group()
{
	[ -d $DISK/1 ] || begin_group "$1" || return 1
	crash_at_once $ALL
	forget
	seconds /tmp/read read_all || return 1
	add_nodes || return 1
	rm -f /tmp/logd?.err
	forget
	seconds /tmp/restart restart_all && wait_until 60 is_there || return 1
	note bytes "$(json-get /tmp/verify.json /bytes)"
	note read_s "$(cat /tmp/read)"
	note restart_s "$(cat /tmp/restart)"
	note more_s "$(paste /tmp/restart /tmp/read | awk '{ printf "%.2f\n", $1 - $2 }')"
}

# shellcheck disable=SC2086 # numbers
group_end()
{
	crash_at_once $ALL
	disk_end
}
# shellcheck disable=SC2034 # for lib-bench.sh
BENCH_END=group_end

sweep()
{
	compare "$LOG_MB" group
}

bench
