#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Bytes that a processor copies for a byte at a receiver: in the module, where each place that
# copies has a kernel probe, and in soft-RoCE, whose rxe_mr_copy() has one.
# bench: machine=icount
# bench: mem=2048
. ./lib-bench.sh
# shellcheck source=selftests/bench/rdmc/lib-rdmc.sh
. "./${LIST:+rdmc/}lib-rdmc.sh"

TRACE=/sys/kernel/tracing
# Directions of rxe_mr_copy(): into packets, and into memory.
OUT=1
IN=0

# Set probes at the places that copy-sites has found.
probes()
{
	local at what n=0

	while read -r at what; do
		n=$((n + 1))
		# The only key is always 1.
		printf 'p:copies/%s%d spindle:%s len=%s:u64 all=\\1:u8\n' "$what" $n "$at" \
			"$([ "$what" = call ] && echo %dx || echo %cx)"
	done </tests/copy-sites
	# The fourth argument and the fifth one.
	echo 'p:copies/rxe rxe_mr_copy len=%cx:u32 all=%r8:u8'
}

probes_begin()
{
	local e n=0

	loop_start || return 1
	[ -d $TRACE/events ] || mount -t tracefs tracefs $TRACE
	probes >$TRACE/kprobe_events || {
		cat $TRACE/error_log
		return 1
	}
	for e in "$TRACE"/events/copies/*/; do
		echo 'hist:keys=all:vals=len' >"$e/trigger" || return 1
		n=$((n + 1))
	done
	# And the one of soft-RoCE.
	[ $n = $(($(wc -l </tests/copy-sites) + 1)) ]
}

probes_end()
{
	local e

	for e in "$TRACE"/events/copies/*/; do
		echo 0 >"$e/enable"
		echo '!hist:keys=all:vals=len' >"$e/trigger"
	done
	echo >$TRACE/kprobe_events
	loop_end
}

zero()
{
	local e

	for e in "$TRACE"/events/copies/*/; do
		echo 'hist:keys=all:vals=len:clear' >>"$e/trigger" || return 1
	done
}

# added KEY EVENT...: bytes of these
added()
{
	local key=$1 e by

	shift
	for e in "$@"; do
		[ -e "$e/hist" ] || continue
		case ${e##*/} in
		quads*) by=8 ;;
		*) by=1 ;;
		esac
		sed -n "s/^{ all: *$key }.* len: *\([0-9]*\).*/\1 $by/p" "$e/hist"
	done | awk '{ n += $1 * $2 } END { printf "%d", n }'
}

# Those that have copied anything, most first.
who()
{
	local e n

	for e in "$TRACE"/events/copies/*/; do
		e=${e%/}
		n=$(added '[0-9]*' "$e")
		[ "$n" = 0 ] || sed -n "s|^p:copies/${e##*/} \([^ ]*\) .*|# \1 $n|p" $TRACE/kprobe_events
	done | sort -k 3 -n -r | head -n 20
}

# copied SERIES MEMBERS SIZE COMMAND...: which moves SIZE bytes to each of all but one, twice
copied()
{
	local series x size k out in module

	turn "$1" "$2" "$4" || return 0
	series=$1
	x=$2
	size=$(bytes "$3")
	# shellcheck disable=SC2154 # of lib-bench.sh
	k=$points
	shift 3
	if ! zero || ! limit "$POINT_LIMIT" "$@" >/tmp/bench.out 2>&1; then
		[ -s /tmp/bench.out ] || echo "took longer than $POINT_LIMIT s" >/tmp/bench.out
		failed "$k" "$series" "$x"
		sweep_up 64
		return 0
	fi
	out=$(added $OUT $TRACE/events/copies/rxe)
	in=$(added $IN $TRACE/events/copies/rxe)
	module=$(added 1 $TRACE/events/copies/call* $TRACE/events/copies/quads* \
		$TRACE/events/copies/bytes*)
	who
	# A group that begins copies something: probes that see none of it see nothing.
	if [ "$module" = 0 ] && [ "$series" != ib_write ]; then
		echo "no probe of the module was hit" >/tmp/bench.out
		failed "$k" "$series" "$x"
		return 0
	fi
	[ "$rows" != 0 ] || tell "head members,size,block,sites,out_bytes,in_bytes,module_bytes,device_per_byte,module_per_byte,per_byte,per_byte_min,per_byte_max"
	rows=$((rows + 1))
	tell "row $k,$series,$x,$x,$size,$((256 << 10)),$(wc -l </tests/copy-sites),$out,$in,$module,$(
		awk -v device=$((out + in)) -v module="$module" -v all=$((2 * size * (x - 1))) 'BEGIN {
			sum = (device + module) / all
			printf "%.6f,%.6f,%.6f,%.6f,%.6f", device / all, module / all, sum, sum, sum
		}')"
}

sweep()
{
	local n size=16M

	[ -z "$QUICK" ] || size=2M
	copied "ib_write" 2 $size write-peer "$(bytes $size)" 2
	for n in 2 4 8; do
		copied "pipeline" $n $size spindle-perf rdmc -r 1 -n $n -S $size
	done
}

# shellcheck disable=SC2034 # lib-bench.sh calls both
BENCH_BEGIN=probes_begin
# shellcheck disable=SC2034
BENCH_END=probes_end
bench
