# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# Common parts of the sweeps in figures/. A sweep runs in a guest:
#
#	. ./lib-bench.sh
#	sweep()
#	{
#		for n in $NODES; do
#			point "all send" "$n" -n "$n" -S 10K
#		done
#	}
#	bench
#
# A point is a row of the CSV: its line of the plot, its place on the x axis, and the options of
# spindle-perf, which makes and removes nodes. If a point fails, the sweep reports it and goes on.
#
# Environment: QUICK=1 few points and short; MACHINE=uml or icount; FROM=N begins with
# the Nth point; LIST=1 prints the points and does nothing, for which no guest is needed.
#
# Lines for the host begin with "# bench: ": points N, at K SERIES,X, head COLUMNS,
# row K,SERIES,X,VALUES, failed K SERIES,X: WHY, done.
#
# Where something else than the module and soft-RoCE is to be there, sweeps name what makes
# and removes it, BENCH_BEGIN and BENCH_END.
#
# Sweeps use these variables.
# shellcheck disable=SC2034

if [ -z "${LIST:-}" ]; then
	# shellcheck source=selftests/scripts/lib/guest-lib.sh
	. ./guest-lib.sh
	# shellcheck source=selftests/scripts/lib/lib-loop.sh
	. ./lib-loop.sh
fi

QUICK=${QUICK:-}
FROM=${FROM:-1}

# The techniques as the paper adds them up. What it does not have is off in all of them: rounds
# that a member gives up in advance ("silence") go with null messages, so NULLS turns them off.
BASELINE=all=off
DELIVERY=$BASELINE,dlv-batch=on
RECEIVE=$DELIVERY,recv-batch=on
BATCHING=$RECEIVE,send-batch=on
NULLS=$BATCHING,nulls=on,silence=0
LATE=$NULLS,late-post=on
FINAL=default

# Members of the subgroup, where that is the x axis.
NODES="2 3 4 6 8 12 16"
FEW_NODES="2 4 8 16"
REPS=3
BASE_MS=300
MAX_MS=3000
POINT_LIMIT=150
if [ "$QUICK" ]; then
	NODES="2 4 8"
	FEW_NODES="2 8"
	BASE_MS=100
	MAX_MS=600
	POINT_LIMIT=60
fi
# Virtual seconds take several real ones. Raw writes repeat at once; traffic does when there
# is enough of it, so there are no fewer repetitions.
if [ "${MACHINE:-uml}" = icount ]; then
	BASE_MS=${QUICK:+100}
	BASE_MS=${BASE_MS:-400}
	MAX_MS=600
	POINT_LIMIT=300
fi

# The paper's messages and window.
PAPER="-S 10K -w 100"

points=0
pass=
rows=0

tell()
{
	echo "# bench: $*"
}

# bytes TEXT: 10K is 10240
bytes()
{
	case $1 in
	*K) echo $((${1%K} << 10)) ;;
	*M) echo $((${1%M} << 20)) ;;
	*) echo "$1" ;;
	esac
}

# How long a repetition is to take, in ms: full windows of all members have to be written
# some times over, or only the beginning is seen; all members have one processor, of which
# some 500 MB in a second are expected.
look_at()
{
	local n size window active

	n=4
	size=10240
	window=128
	senders=all
	subgroups=1
	active=all
	fixed=
	timed=
	while [ $# -gt 0 ]; do
		case $1 in
		-n) n=$2 ;;
		-S) size=$(bytes "$2") ;;
		-w) window=$2 ;;
		-s) senders=$2 ;;
		-k) subgroups=$2 ;;
		-a) active=$2 ;;
		-d) timed=1 ;;
		-c | -t) fixed=1 ;;
		esac
		shift
	done
	case $senders in
	all) senders=$n ;;
	half) senders=$(((n + 1) / 2)) ;;
	one) senders=1 ;;
	esac
	[ "$active" != one ] || subgroups=1
	# All that send, in all subgroups.
	senders=$((senders * subgroups))
	ms=$((BASE_MS + senders * (n - 1) * window * size / 200000))
	[ "$ms" -lt "$MAX_MS" ] || ms=$MAX_MS
}

run_perf()
{
	rm -f /tmp/bench.csv
	limit "$POINT_LIMIT" spindle-perf --setup -q --wait 20 --csv /tmp/bench.csv "$@" \
		>/tmp/bench.out 2>&1
}

# How many messages of a sender fit into the time; a short run tells. What is under way at
# the end of a time would not count, and that is much in a large subgroup; and without null
# messages all have to send equally many.
count_for()
{
	local rate

	run_perf "$@" -c 50 -r 1 -W 0 --no-raw || return 1
	rate=$(column /tmp/bench.csv rate)
	awk -v rate="$rate" -v senders="$senders" -v ms="$ms" 'BEGIN {
		c = int(rate / senders * ms / 1000)
		print c < 50 ? 50 : c }'
}

# measure OPTIONS: leaves a row in /tmp/bench.csv
measure()
{
	local count

	look_at "$@"
	if [ "$fixed" ]; then
		run_perf -r "$REPS" "$@"
	elif [ "$timed" ]; then
		# Those with a delay would be waited for.
		run_perf -r "$REPS" "$@" -t "$((ms / 1000)).$(printf %03d $((ms % 1000)))"
	else
		count=$(count_for "$@") || return 1
		run_perf -r "$REPS" "$@" -c "$count"
	fi
}

# sweep_up N: remove the rest of a run that was stopped half-way, with at most N nodes.
sweep_up()
{
	local i

	for i in $(seq "$1"); do
		spindle-ctl node del id "$i" 2>/dev/null || :
	done
}

failed()
{
	tell "failed $1 $2,$3: $(grep -v '^$' /tmp/bench.out | tail -n 1 |
		sed 's/^spindle-perf: //' | cut -c 1-200)"
}

# turn SERIES X OPTIONS: is it to be measured, in this pass?
turn()
{
	points=$((points + 1))
	if [ "${LIST:-}" ]; then
		echo "$*"
		return 1
	fi
	[ "$pass" ] && [ "$points" -ge "$FROM" ] || return 1
	tell "at $points $1,$2"
}

# tell_row K SERIES X: the row of the Kth point is that of the CSV of the program
tell_row()
{
	[ "$rows" != 0 ] || tell "head $(head -n 1 /tmp/bench.csv)"
	rows=$((rows + 1))
	tell "row $1,$2,$3,$(sed -n 2p /tmp/bench.csv)"
}

# row_of SERIES X COMMAND...: the row of a command that prints a line of names and one of numbers
row_of()
{
	local series x k

	turn "$@" || return 0
	series=$1
	x=$2
	k=$points
	shift 2
	if ! "$@" >/tmp/row.csv 2>/tmp/bench.out; then
		failed "$k" "$series" "$x"
		return 0
	fi
	mv /tmp/row.csv /tmp/bench.csv
	tell_row "$k" "$series" "$x"
}

# point SERIES X OPTION...
point()
{
	local series x k

	turn "$@" || return 0
	series=$1
	x=$2
	k=$points
	shift 2
	: >/tmp/bench.out
	if ! measure "$@"; then
		[ -s /tmp/bench.out ] || echo "took longer than $POINT_LIMIT s" >/tmp/bench.out
		failed "$k" "$series" "$x"
		sweep_up 64
		return 0
	fi
	tell_row "$k" "$series" "$x"
}

# table PROGRAM ARG...: rows "series,x,values" below a head, of another program
table()
{
	turn "$*" 0 || return 0
	if ! limit "$POINT_LIMIT" "$@" >/tmp/bench.csv 2>/tmp/bench.out; then
		failed "$points" "$1" 0
		return 0
	fi
	tell_table
}

# tell_table: all rows of the CSV of the program, which begin with a series and an x
tell_table()
{
	rows=$((rows + 1))
	tell "head $(head -n 1 /tmp/bench.csv | cut -d, -f 3-)"
	sed "1d; s/^/# bench: row $points,/" /tmp/bench.csv
}

loop_end()
{
	rmmod spindle && teardown_rxe
}

bench()
{
	sweep
	[ -z "${LIST:-}" ] || return 0
	tell "points $points"
	if ! ${BENCH_BEGIN:-loop_start} >/tmp/bench.out 2>&1; then
		cat /tmp/bench.out
		tell "failed 0 the guest,0: no soft-RoCE, or a module does not load"
		exit 1
	fi
	pass=1
	points=0
	sweep
	${BENCH_END:-loop_end}
	tell "done"
	exit 0
}
