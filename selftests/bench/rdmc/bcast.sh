#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Open MPI's MPI_Bcast over TCP, and ours, in one guest and over the same links.
# bench: machine=icount
# bench: mem=3072
. ./lib-bench.sh
# shellcheck source=selftests/bench/rdmc/lib-rdmc.sh
. "./${LIST:+rdmc/}lib-rdmc.sh"
# shellcheck source=selftests/bench/peers/lib-peers.sh
[ "${LIST:-}" ] || . ./lib-peers.sh

LARGE_PLACE=$LINKS_PLACE

# Each rank uses the wire of its own; mpirun knows of one host.
bcast_begin()
{
	links_begin || return 1
	cat >/tmp/rank <<'END'
#!/bin/sh
export OMPI_MCA_btl_tcp_if_include=w$((OMPI_COMM_WORLD_RANK + 1))
exec bcast-peer "$@"
END
	chmod +x /tmp/rank
}

# The columns of another system's row, by our names.
as_ours()
{
	awk -F, 'FNR == NR { if (FNR == 1) head = $0; next }
	FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	{
		n = split(head, name, ",")
		for (i = 1; i <= n; i++)
			printf "%s%s", (i > 1 ? "," : ""), (name[i] in at ? $at[name[i]] : "")
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
	local n size=4M

	[ -z "$QUICK" ] || size=2M
	# The limit that no system can beat.
	large "pipeline" 2 -n 2 -S $size
	[ -z "$pass" ] || [ ! -s /tmp/bench.csv ] || head -n 1 /tmp/bench.csv >/tmp/head.csv
	for n in 4 8; do
		[ -z "$QUICK" ] || [ $n = 4 ] || continue
		large "pipeline" $n -n $n -S $size
		large "pipeline blocks of 64 KiB" $n -n $n -S $size -b 64K
		bcast "MPI default" $n $size 0
		bcast "MPI pipeline" $n $size 3
		bcast "MPI binomial" $n $size 6
		bcast "MPI scatter ring" $n $size 9
	done
}

# shellcheck disable=SC2034 # lib-bench.sh calls both
BENCH_BEGIN=bcast_begin
# shellcheck disable=SC2034
BENCH_END=down
bench
