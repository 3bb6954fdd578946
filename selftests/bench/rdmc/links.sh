#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Members with a link each, which is the bound: 80 Mbit/s in each direction, in virtual time.
# Open MPI's MPI_Bcast over TCP has the same links.
# bench: machine=icount
# bench: mem=3072
. ./lib-bench.sh
# shellcheck source=selftests/bench/rdmc/lib-rdmc.sh
. "./${LIST:+rdmc/}lib-rdmc.sh"
# shellcheck source=selftests/bench/peers/lib-peers.sh
[ "${LIST:-}" ] || . ./lib-peers.sh

LINKS=8
LINK_RATE=80mbit
# shellcheck disable=SC2034 # lib-rdmc.sh
LARGE_PLACE="--addr 10.7.0.1 --spread"

links_begin()
{
	local i

	mkdir -p /dev/shm /var
	up spindle $LINKS && ip link set lo up && modprobe sch_tbf || return 1
	# What leaves a member, and what comes to it. Queues are long: nothing is dropped.
	for i in $(seq $LINKS); do
		tc qdisc add dev "w$i" root tbf rate $LINK_RATE burst 16k latency 5s &&
			tc qdisc add dev "s$i" root tbf rate $LINK_RATE burst 16k latency 5s ||
			return 1
	done
	printf '#!/bin/sh\nOMPI_MCA_btl_tcp_if_include=w$((OMPI_COMM_WORLD_RANK + 1)) exec bcast-peer "$@"\n' \
		>/tmp/rank
	chmod +x /tmp/rank
}

# What there is of a row of others, by the names of ours.
as_ours()
{
	awk -F, 'FNR == NR { if (FNR == 1) head = $0; next }
	FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	{
		n = split(head, name, ",")
		for (i = 1; i <= n; i++)
			printf "%s%s", i > 1 ? "," : "", name[i] in at ? $at[name[i]] : ""
		print ""
	}' "$1" "$2"
}

# bcast SERIES X BYTES ALGORITHM: 0 is what Open MPI chooses itself
bcast()
{
	local k size how

	turn "$@" || return 0
	k=$points
	size=$(bytes "$3")
	how=
	[ "$4" = 0 ] || how="--mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_bcast_algorithm $4
		--mca coll_tuned_bcast_algorithm_segmentsize 131072"
	# shellcheck disable=SC2086
	if ! HOME=/tmp OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
		limit "$POINT_LIMIT" orterun --oversubscribe --mca plm isolated --mca btl tcp,self \
		--mca mpi_yield_when_idle 1 $how -n "$2" /tmp/rank "$size" "$TIMES" \
		>/tmp/mpi.csv 2>/tmp/bench.out || ! grep -q '^members,' /tmp/mpi.csv; then
		failed "$k" "$1" "$2"
		return 0
	fi
	sed -n '/^members,/,$p' /tmp/mpi.csv >/tmp/mpi.row
	rows=$((rows + 1))
	tell "row $k,$1,$2,$(as_ours /tmp/head.csv /tmp/mpi.row)"
}

sweep()
{
	local n a size=16M sizes="2 3 4 7 8"

	if [ "$QUICK" ]; then
		size=2M
		sizes="2 4"
	fi
	for n in $sizes; do
		large "pipeline" $n -n $n -S $size
		[ "${LIST:-}" ] || head -n 1 /tmp/bench.csv >/tmp/head.csv
		large "pipeline blocks of 64 KiB" $n -n $n -S $size -b 64K
		large "chain" $n -n $n -S $size -a chain
		large "tree" $n -n $n -S $size -a tree
		large "sequential" $n -n $n -S $size -a sequential
	done
	for n in 4 8; do
		[ -z "$QUICK" ] || [ $n = 4 ] || continue
		bcast "MPI default" $n $size 0
		bcast "MPI chain" $n $size 2
		bcast "MPI pipeline" $n $size 3
		bcast "MPI split binary tree" $n $size 4
		bcast "MPI binomial" $n $size 6
		bcast "MPI scatter ring" $n $size 9
	done
}

# shellcheck disable=SC2034 # lib-bench.sh calls both
BENCH_BEGIN=links_begin
# shellcheck disable=SC2034
BENCH_END=down
bench
