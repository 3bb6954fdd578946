# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# Points of tables: source it after lib-bench.sh.
#
#	shared SERIES X MODE OPTION...	a run of table-perf, with what the engines have counted
#	raw SERIES X OPTION...		raw writes of spindle-perf, in the same columns
#
# Options of "shared" are those of table-perf, and -S BYTES: of a cell. The table has two cells.
# With "-m read" the table is of mode read and has only cell 0, so that a read of a row is a read of
# that cell.

# lib-bench.sh, and sweeps, use these.
# shellcheck disable=SC2034,SC2154
SIZES="64 128 256 512 1024 2048 4096"
MEMBERS="2 4 8 16 24"
TIMES=5
ROUNDS=2000
if [ "$QUICK" ]; then
	SIZES="64 1024 4096"
	MEMBERS="2 4 8"
	TIMES=3
	ROUNDS=300
fi
if [ "${MACHINE:-uml}" = icount ]; then
	TIMES=1
	ROUNDS=300
fi
POINT_LIMIT=200

BENCH_END=end_tables
end_tables()
{
	unshare
	loop_end
}

# The counters of tables that rows of CSV have.
COUNTS="writes blocks looks fired reads"

# tallies N: the counters of all tables at nodes 1..N, added up, in one line
tallies()
{
	local i

	for i in $(seq "$1"); do
		spindle-ctl -j -p subgroup show node "$i"
	done | awk -F '[:,]' -v names="$COUNTS" '
	BEGIN { n = split(names, name, " ") }
	{
		for (i = 1; i <= n; i++)
			if ($1 ~ "\"" name[i] "\"")
				sum[i] += $2
	}
	END {
		for (i = 1; i <= n; i++)
			printf "%d ", sum[i]
	}'
}

# with_counts ROUNDS BEFORE AFTER: add columns to the row: counts in a round
with_counts()
{
	awk -v rounds="$1" -v before="$2" -v after="$3" -v names="$COUNTS" '
	NR == 1 {
		n = split(names, name, " ")
		for (i = 1; i <= n; i++)
			$0 = $0 "," name[i] "_per_round"
	}
	NR == 2 {
		split(before, b, " ")
		split(after, a, " ")
		for (i = 1; i <= n; i++)
			$0 = sprintf("%s,%.3f", $0, (a[i] - b[i]) / rounds)
	}
	{ print }' /tmp/table.csv >/tmp/bench.csv
}

# share_table MEMBERS BYTES [OPTION...]: a view with a table of all members. The one of the point
# before stays if it is the same, because connections of many members take seconds.
have=
share_table()
{
	local n size

	[ "$have" != "$*" ] || return 0
	unshare
	have=$*
	n=$1
	size=$2
	shift 2
	[ $# -gt 0 ] || set -- cells 2
	loop_nodes "$n" && loop_view "$n" 1 table 1 "$@" cell "$size"
}

unshare()
{
	[ -z "$have" ] || sweep_up "${have%% *}"
	have=
}

# counted MEMBERS ROUNDS TIMES MODE OPTION...: a run after one that makes all connections
counted()
{
	local n rounds times before

	n=$1
	rounds=$2
	times=$3
	shift 3
	limit "$POINT_LIMIT" table-perf "$@" -n "$n" -c 1 -k 1 >/dev/null || return 1
	before=$(tallies "$n")
	limit "$POINT_LIMIT" table-perf "$@" -n "$n" -c "$rounds" -k "$times" >/tmp/table.csv ||
		return 1
	# table-perf makes one repetition that does not count, and each has a round for the engines.
	with_counts $((rounds * (times + 1))) "$before" "$(tallies "$n")"
}

shared()
{
	local series x k mode n size rounds times rest how

	turn "$@" || return 0
	series=$1
	x=$2
	k=$points
	mode=$3
	shift 3
	n=2
	size=64
	rounds=$ROUNDS
	times=$TIMES
	rest=
	how=
	while [ $# -gt 0 ]; do
		case $1 in
		-m)
			how="cells 1 mode $2"
			rest="$rest -x 0"
			;;
		-n) n=$2 ;;
		-S) size=$2 ;;
		-c) rounds=$2 ;;
		-k) times=$2 ;;
		*) rest="$rest $1 $2" ;;
		esac
		shift 2
	done
	# shellcheck disable=SC2086
	if ! { share_table "$n" "$size" $how && counted "$n" "$rounds" "$times" "$mode" $rest; } \
		>/tmp/bench.out 2>&1; then
		[ -s /tmp/bench.out ] || echo "took longer than $POINT_LIMIT s" >/tmp/bench.out
		failed "$k" "$series" "$x"
		unshare
		return 0
	fi
	tell_row "$k" "$series" "$x"
}

# raw SERIES X OPTION...: the latency of a raw write, in the columns of "shared"
raw()
{
	local series x k

	turn "$@" || return 0
	series=$1
	x=$2
	k=$points
	shift 2
	unshare
	# The count is of messages, and of the rounds of raw writes.
	if ! run_perf -c "$ROUNDS" -W 0 -r "$TIMES" "$@"; then
		failed "$k" "$series" "$x"
		sweep_up 64
		return 0
	fi
	{
		echo "nodes,cell,rows,rounds,time_us,time_us_min,time_us_max,post_us,post_us_min,post_us_max,rate,writes_per_round,blocks_per_round,looks_per_round,fired_per_round,reads_per_round"
		echo "2,$x,,,$(column /tmp/bench.csv raw_latency),$(column /tmp/bench.csv raw_latency_min),$(column /tmp/bench.csv raw_latency_max),,,,,,,,,"
	} >/tmp/raw.csv
	mv /tmp/raw.csv /tmp/bench.csv
	tell_row "$k" "$series" "$x"
}

# core_looks: looks at predicates by the core alone, in the columns of core-bench
core_looks()
{
	local effort

	turn "core-bench" 0 || return 0
	effort="-k 15 -t 4"
	[ -z "$QUICK" ] || effort="-k 5 -t 1"
	# shellcheck disable=SC2086
	if ! limit "$POINT_LIMIT" core-bench -l $effort -c /tmp/bench.csv >/tmp/bench.out 2>&1; then
		failed "$points" "core-bench" 0
		return 0
	fi
	tell_table
}

# routed X OPTION...: a run of route-perf with X routers, in its own columns
routed()
{
	local k

	turn routers "$@" || return 0
	k=$points
	if ! { share_table "$1" 128 && limit "$POINT_LIMIT" route-perf -n "$@" >/tmp/bench.csv; } \
		>/tmp/bench.out 2>&1; then
		failed "$k" routers "$1"
		unshare
		return 0
	fi
	tell_row "$k" routers "$1"
}

# idle N: what the engine does in a second, with N tables at rest
idle()
{
	local k tables i

	turn idle "$@" || return 0
	k=$points
	tables=
	for i in $(seq "$1"); do
		tables="$tables table $i cells 4"
	done
	# shellcheck disable=SC2086
	if ! { loop_nodes 2 && loop_view 2 1 $tables && wrote_all "$1" && rest "$1"; } \
		>/tmp/bench.out 2>&1; then
		failed "$k" idle "$1"
		sweep_up 64
		return 0
	fi
	tell_row "$k" idle "$1"
	sweep_up 2
}

# wrote_all N: a process has written the rows of each table, and others have read them
wrote_all()
{
	local i

	for i in $(seq "$1"); do
		limit "$POINT_LIMIT" table-perf back -t "$i" -c 10 -k 1 >/dev/null || return 1
	done
}

rest()
{
	local before passes

	wait_until 20 quiet 1 || return 1
	before=$(tallies 2)
	passes=$(engine_stat 1 passes)
	sleep 1
	passes=$(($(engine_stat 1 passes) - passes))
	printf 'tables,passes\n%s,%s\n' "$1" $passes >/tmp/table.csv
	with_counts 1 "$before" "$(tallies 2)"
}
