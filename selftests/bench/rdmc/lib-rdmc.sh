# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# Points of large objects: source it after lib-bench.sh.
#
#	large SERIES X OPTION...	a run of "spindle-perf rdmc"
#	links_begin			a network in which members have a link each; lib-peers.sh
#	replayed SERIES X OPTION...	a run of bench-replay, with times of blocks as this
#					guest takes for them between two members
#
# In virtual time a repetition is like the other one.

# Those of the sweeps, and of lib-bench.sh.
# shellcheck disable=SC2034,SC2154
MEMBERS="2 3 4 5 6 7 8 12 16"
TIMES=5
[ "${MACHINE:-}" != icount ] || TIMES=1
POINT_LIMIT=600
if [ "$QUICK" ]; then
	MEMBERS="2 4 8"
	POINT_LIMIT=120
fi

run_large()
{
	rm -f /tmp/bench.csv
	limit "$POINT_LIMIT" spindle-perf rdmc -r "$TIMES" --give-up 100 --csv /tmp/bench.csv "$@" \
		>/tmp/bench.out 2>&1
}

large()
{
	local series x k

	turn "$@" || return 0
	series=$1
	x=$2
	# shellcheck disable=SC2154 # of lib-bench.sh
	k=$points
	shift 2
	: >/tmp/bench.out
	# shellcheck disable=SC2086
	if ! run_large "$@" ${LARGE_PLACE:-}; then
		[ -s /tmp/bench.out ] || echo "took longer than $POINT_LIMIT s" >/tmp/bench.out
		failed "$k" "$series" "$x"
		sweep_up 64
		return 0
	fi
	tell_row "$k" "$series" "$x"
}

# The time of a block to one member, and the time before the first block, in ns.
block_ns=
setup_ns=
BLOCK_SIZE=16M
measure_block()
{
	[ -z "$block_ns" ] || return 0
	run_large -n 2 -S $BLOCK_SIZE || return 1
	setup_ns=$(column /tmp/bench.csv setup_us | awk '{ printf "%d", $1 * 1000 }')
	block_ns=$(awk -v time="$(column /tmp/bench.csv time_us)" -v setup="$setup_ns" \
		-v size="$(column /tmp/bench.csv size)" -v block="$(column /tmp/bench.csv block)" \
		'BEGIN { printf "%d", (time * 1000 - setup) / (size / block) }')
	block_bytes=$(column /tmp/bench.csv block)
}

replayed()
{
	local series x k

	turn "$@" || return 0
	series=$1
	x=$2
	k=$points
	shift 2
	if ! measure_block || ! limit 60 bench-replay -b "$block_bytes" -t "$block_ns" \
		-s "$setup_ns" -n "$x" -L "$series" "$@" >/tmp/bench.csv 2>/tmp/bench.out; then
		failed "$k" "$series" "$x"
		sweep_up 64
		return 0
	fi
	[ "$rows" != 0 ] || tell "head $(head -n 1 /tmp/bench.csv | cut -d, -f 3-),block_ns"
	rows=$((rows + 1))
	tell "row $k,$(sed -n 2p /tmp/bench.csv),$block_ns"
}

LINKS=8
# At four times that the one processor, which does all for all of them, is a bound as well.
LINK_RATE=20mbit
# shellcheck disable=SC2034 # for sweeps
LINKS_PLACE="--addr 10.7.0.1 --spread"

# The rate limit at one end of a wire. Queues are long, so no packet is dropped.
#
# An adapter makes acknowledgments itself and sends them between its data packets. soft-RoCE queues
# up to 64 packets of a queue pair at an interface, 256 KiB, with acknowledgments behind them. So
# acknowledgments of RDMA and of TCP go first here. "line" does not do that.
link_queue()
{
	tc qdisc del dev "$1" root 2>/dev/null || :
	tc qdisc add dev "$1" root handle 1: tbf rate "$2" burst 16k latency 20s || return 1
	[ "$3" != line ] || return 0
	tc qdisc add dev "$1" parent 1:1 handle 10: prio bands 2 \
		priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 &&
		tc filter add dev "$1" parent 10: protocol ip u32 match ip protocol 17 0xff \
			match ip dport 4791 0xffff match u8 0x11 0xff at 28 flowid 10:1 &&
		tc filter add dev "$1" parent 10: protocol ip u32 match ip protocol 6 0xff \
			match u16 0 0xffc0 at 2 flowid 10:1
}

# link_queues RATE first|line: of all links
link_queues()
{
	local i

	for i in $(seq $LINKS); do
		# Limit the packets that leave a member, and those that arrive at it.
		link_queue "w$i" "$@" && link_queue "s$i" "$@" || return 1
	done
}

links_begin()
{
	mkdir -p /dev/shm /var
	up spindle $LINKS && ip link set lo up && try_load sch_tbf sch_prio cls_u32 || return 1
	link_queues "$LINK_RATE" first
}
