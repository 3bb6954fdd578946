#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Ordered multicast, TIPC and Corosync, in one guest and at the same sizes. All members send.
# bench: machine=vm
# bench: mem=2048
. ./lib-bench.sh
# shellcheck source=selftests/bench/peers/lib-peers.sh
[ "${LIST:-}" ] || . ./lib-peers.sh

SIZES="64 1024 10240"
SYSTEMS="spindle tipc knet udpu"
SECS=2
PACED_SECS=5
COUNT_SECS=1
if [ "$QUICK" ]; then
	# The default of Corosync is enough.
	SYSTEMS="spindle tipc knet"
	SECS=0.5
	PACED_SECS=1
	COUNT_SECS=0.5
fi
# Messages per second of each member where it is latency that is asked for.
RATE=50
# Before it counts, in percent of the time that counts: queues are full then.
WARMUP=50
POINT_LIMIT=120

METRICS="goodput goodput_slowest rate seconds sent delivered own_p50 own_p99 slowest_p50
	slowest_p99 raw_bandwidth raw_latency efficiency packets_per_message"

# The names of series.
title()
{
	case $1 in
	spindle) echo Spindle ;;
	tipc) echo TIPC ;;
	knet) echo CPG ;;
	udpu) echo CPG-udpu ;;
	esac
}

# measure_peer SYSTEM N SIZE SECONDS REPETITIONS WARMUP [RATE]: a row in /tmp/bench.csv, by
# which name there is each figure.
measure_peer()
{
	local system n size secs reps warm

	system=$1
	n=$2
	size=$3
	secs=$4
	reps=$5
	warm=$6
	shift 6
	rm -f /tmp/bench.csv
	case $system in
	spindle)
		# One thread for each member, where the others have a process.
		limit "$POINT_LIMIT" $counter spindle-perf -q --threads --wait 20 -S "$size" \
			-t "$secs" -r "$reps" -W "$warm" --csv /tmp/bench.csv "$@" >/tmp/perf.out || {
			tail -n 3 /tmp/perf.out
			return 1
		}
		;;
	tipc)
		limit "$POINT_LIMIT" $counter tipc-peer -N peer -i w -n "$n" -S "$size" \
			-t "$secs" -r "$reps" -W "$warm" -C /tmp/bench.csv "$@"
		;;
	knet | udpu)
		limit "$POINT_LIMIT" $counter cpg-peer -N peer -i w -n "$n" -S "$size" \
			-t "$secs" -r "$reps" -W "$warm" -C /tmp/bench.csv "$@"
		;;
	esac
}

# The columns that all systems have, of a row of any of them; empty: not known.
head_of_all()
{
	local m

	printf 'nodes,size'
	for m in $METRICS; do
		printf ',%s,%s_min,%s_max' "$m" "$m" "$m"
	done
	echo ,syscalls_per_message,switches_per_message
}

row_of_all()
{
	awk -F, -v metrics="$METRICS" -v nodes="$1" -v size="$2" -v calls="$3" -v switches="$4" '
	{ while (match($0, /"[^"]*"/)) $0 = substr($0, 1, RSTART - 1) "x" \
		substr($0, RSTART + RLENGTH) }
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	{
		k = split(metrics, m, " ")
		printf "%s,%s", nodes, size
		for (i = 1; i <= k; i++) {
			a = at[m[i]]; b = at[m[i] "_min"]; c = at[m[i] "_max"]
			printf ",%s,%s,%s", a ? $a : "", b ? $b : "", c ? $c : ""
		}
		printf ",%s,%s\n", calls, switches
		exit
	}' "$5"
}

# counted WHAT: of the last run under peers-count, per message that was sent
counted()
{
	awk -v what="$1" -v sent="$(column /tmp/bench.csv sent)" \
		'$1 == what && sent > 0 { printf "%.6g", $2 / sent }' /tmp/count
}

peer_run()
{
	local system n size paced count

	system=$1
	n=$2
	size=$3
	paced="-R $RATE"
	count=
	if [ "$system" = spindle ]; then
		# By the time, not by a number of messages; and the device was measured already.
		paced="$paced -c 0 --no-raw"
		count="--no-raw --no-timing"
	fi
	counter=
	calls=
	switches=
	up "$system" "$n" || return 1
	[ "$system" != spindle ] || spindle_nodes "$n" "$size" || return 1
	if [ "$4" = paced ]; then
		# shellcheck disable=SC2086
		measure_peer "$system" "$n" "$size" $PACED_SECS "$REPS" $WARMUP $paced || return 1
		cp /tmp/bench.csv /tmp/row.csv
		return 0
	fi
	measure_peer "$system" "$n" "$size" $SECS "$REPS" $WARMUP || return 1
	cp /tmp/bench.csv /tmp/row.csv
	# Counting costs time, so it has a run of its own.
	counter="peers-count /tmp/count"
	# shellcheck disable=SC2086
	measure_peer "$system" "$n" "$size" $COUNT_SECS 1 0 $count || return 1
	calls=$(counted syscalls)
	switches=$(counted switches)
}

# peer SERIES X SYSTEM N full|paced
peer()
{
	local k

	turn "$@" || return 0
	# shellcheck disable=SC2154 # of lib-bench.sh
	k=$points
	: >/tmp/bench.out
	if ! peer_run "$3" "$4" "$2" "$5" >/tmp/bench.out 2>&1; then
		[ -s /tmp/bench.out ] || echo "it failed without a word"
		failed "$k" "$1" "$2"
		down >/dev/null 2>&1
		return 0
	fi
	[ "$rows" != 0 ] || tell "head $(head_of_all)"
	rows=$((rows + 1))
	tell "row $k,$1,$2,$(row_of_all "$4" "$2" "$calls" "$switches" /tmp/row.csv)"
}

sweep()
{
	local n system size

	for n in 2 3; do
		for system in $SYSTEMS; do
			for size in $SIZES; do
				peer "$(title "$system") $n" "$size" "$system" "$n" full
				peer "$(title "$system") $n paced" "$size" "$system" "$n" paced
			done
		done
	done
}

peers_begin()
{
	mkdir -p /dev/shm /var
	trap 'down >/dev/null 2>&1' EXIT
	[ -d /sys/kernel/tracing/events ] || mount -t tracefs none /sys/kernel/tracing
}

# shellcheck disable=SC2034 # lib-bench.sh calls both
BENCH_BEGIN=peers_begin
# shellcheck disable=SC2034
BENCH_END=down
bench
