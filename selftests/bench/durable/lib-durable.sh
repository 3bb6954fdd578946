# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# Points of durable groups: source it after lib-bench.sh. Three nodes have logs on one disk, an ext4
# file system. One of them sends.
#
#	compare X SYSTEM...	each of the systems at the size X, one after the other, $REPS times:
#				a row of each, with median, least and most of its figures
#
# A system is a function "run_SYSTEM X", which leaves its figures by note(). It may leave a reason
# in /tmp/bench.out, and fail. $FIGURES has the names of all figures.
#
# Those of the sweeps, and of lib-bench.sh.
# shellcheck disable=SC2034,SC2154

DISK=/disk
DRIVE=ubda
[ "${MACHINE:-uml}" = uml ] || DRIVE=vda
NODE_COUNT=3
# The ids of the subgroups: with a log, and without.
LOGGED=1
PLAIN=2
REPS=3
SECS=4
POINT_LIMIT=200
# MiB of the logs that "restart" and "group" read.
LOG_MB=${LOG_MB:-1024}
[ ! "$QUICK" ] || LOG_MB=16
# A log of another length is no other sweep.
[ ! "${LIST:-}" ] || LOG_MB=1024
if [ "$QUICK" ]; then
	SECS=2
	REPS=1
fi

# The names of series.
title()
{
	case $1 in
	plain) echo without log ;;
	durable) echo durable ;;
	*) echo "$1" ;;
	esac
}

# ---- the disk ---------------------------------------------------------------

disk_begin()
{
	mkdir -p $DISK && { [ -e /dev/$DRIVE ] || modprobe -a virtio_blk ext4; } &&
		mount -t ext4 -o noatime /dev/$DRIVE $DISK && ip link set lo up && loop_start
}

disk_end()
{
	nodes_down && loop_end && umount $DISK
}

# disk_now: writes, bytes and flushes of the disk until now
disk_now()
{
	awk '{ print $5, $7 * 512, $16 }' /sys/block/$DRIVE/stat
}

# Nothing was written for a second. Loggers make segments ahead, and nobody is to measure that.
disk_rests()
{
	local before

	before=$(disk_now)
	sleep 1
	[ "$(disk_now)" = "$before" ]
}

# ---- nodes and loggers ------------------------------------------------------

nodes_size=
loggers=

logger_begins()
{
	spindle-logd -d $DISK/logs -S "${SEGMENT:-64}" ${KEEP:+-k ${KEEP}m} -P none "$1" \
		2>"/tmp/logd$1.err" &
	loggers="$loggers $!"
	wait_until 120 grep -qs 'begins with position' "/tmp/logd$1.err"
}

loggers_end()
{
	local pid

	for pid in $loggers; do
		kill "$pid"
	done
	for pid in $loggers; do
		wait "$pid"
	done
	loggers=
}

# nodes_up SIZE: nodes for messages of this size, and their loggers, unless they are there already
nodes_up()
{
	local i window

	[ "$nodes_size" != "$1" ] || return 0
	nodes_down || return 1
	# Of short messages as many may be under way as requests of the other systems.
	window=128
	[ "$1" -gt 1024 ] || window=1024
	nodes_size=$1
	loop_nodes $NODE_COUNT && live_view $NODE_COUNT timeout-ms 30000 \
		subgroup $LOGGED senders 1 max-msg "$1" window $window log 1 \
		subgroup $PLAIN senders 1 max-msg "$1" window $window &&
		wait_until 30 in_view 1 1 2 3 || return 1
	for i in $(seq $NODE_COUNT); do
		logger_begins "$i" || return 1
	done
	# The first messages make loggers make segments ahead. Afterwards they recycle those.
	group_perf $LOGGED "$1" -W 0 -c $((((${KEEP:-0} * 3 / 2) << 20) / ($1 + 64) + 100)) &&
		wait_until 300 disk_rests
}

nodes_down()
{
	[ "$nodes_size" ] || return 0
	nodes_size=
	loggers_end
	sweep_up $NODE_COUNT
	rm -rf $DISK/logs
}

# group_perf SUBGROUP SIZE OPTION...: a row in /tmp/bench.csv
group_perf()
{
	local group size

	group=$1
	size=$2
	shift 2
	rm -f /tmp/bench.csv
	limit "$POINT_LIMIT" spindle-perf -q --only-subgroups "$group" -S "$size" -r 1 --no-raw \
		--wait 60 --csv /tmp/bench.csv "$@" >/tmp/bench.out 2>&1
}

# Frames that loggers have written in the last run, of one node.
frames=
frame_bytes=
frame_messages=

# count_frames FROM: those from this position on
count_frames()
{
	bench-frames $DISK/logs/1/$LOGGED "$1" "$(number_of 1 $LOGGED lsn)" >/tmp/frames.csv \
		2>/tmp/bench.out || return 1
	frames=$(column /tmp/frames.csv frames)
	[ "$frames" -gt 0 ] || return 1
	frame_bytes=$(awk -F, 'NR == 2 { printf "%d", $2 / $1 }' /tmp/frames.csv)
	frame_messages=$(awk -F, 'NR == 2 { printf "%.6g", $3 / $1 }' /tmp/frames.csv)
}

# logged_perf SIZE OPTION...: the same of the subgroup with a log, and its frames
logged_perf()
{
	local from

	from=$(number_of 1 $LOGGED lsn)
	group_perf $LOGGED "$@" && count_frames "$from"
}

# The processor time of the logger that has used most of it, in hundredths of a second.
logger_time()
{
	local pid

	for pid in $loggers; do
		awk '{ print $14 + $15 }' "/proc/$pid/stat"
	done | sort -n | tail -n 1
}

# logged_count SIZE: $count is a number of messages that take about $SECS until they are durable. A time
# would end while the history is full of messages that are not.
count=
counted_size=
logged_count()
{
	local secs

	[ "$counted_size" != "$1" ] || return 0
	count=$(((2 << 20) / ($1 + 64)))
	# The first messages of a run are slow, so the rate is that of a longer one.
	for secs in 1 $SECS; do
		group_perf $LOGGED "$1" -W 0 -c "$count" || return 1
		count=$(awk -v rate="$(column /tmp/bench.csv durable_rate)" -v secs="$secs" \
			-v size="$1" '
			BEGIN {
				most = 536870912 / (size + 64)
				n = int(rate * secs)
				n = n < most ? n : int(most)
				print (n > 100 ? n : 100)
			}')
	done
	counted_size=$1
}

# ---- the disk alone ----------------------------------------------------------

FIO_MB=64

# Files that have been written, as segments have.
fio_files()
{
	local i

	[ ! -e $DISK/fio ] || return 0
	mkdir $DISK/fio
	for i in $(seq 0 $((NODE_COUNT - 1))); do
		dd if=/dev/zero of="$DISK/fio/log.$i" bs=1M count=$FIO_MB conv=fsync 2>/dev/null ||
			return 1
	done
}

# fio_run BYTES DEPTH OPTION...: writes of so many bytes, as loggers write them: to three files at
# once, past the cache, and each of them is durable when it ends
fio_run()
{
	local bytes depth

	bytes=$1
	depth=$2
	shift 2
	fio_files || return 1
	# shellcheck disable=SC2016 # for fio
	limit "$POINT_LIMIT" fio --name=log --directory=$DISK/fio --numjobs=$NODE_COUNT \
		--filename_format='log.$jobnum' --size=${FIO_MB}m --overwrite=1 --fallocate=none \
		--rw=write --bs="$bytes" --direct=1 --sync=dsync --ioengine=io_uring \
		--iodepth="$depth" --time_based --runtime="$SECS" --thread --group_reporting \
		--output-format=json --output=/tmp/fio.json "$@" >/tmp/bench.out 2>&1
}

# fio_value POINTER: of the writes of all files
fio_value()
{
	json-get /tmp/fio.json "/jobs/0/write/$1"
}

# ---- time ----------------------------------------------------------------------

# seconds FILE COMMAND...: how long it takes, into FILE
seconds()
{
	local file begun

	file=$1
	shift
	begun=$(cut -d ' ' -f 1 /proc/uptime)
	"$@" || return 1
	awk -v begun="$begun" '{ printf "%.2f\n", $1 - begun }' /proc/uptime >"$file"
}

# No page of a file is in memory.
forget()
{
	sync
	echo 3 >/proc/sys/vm/drop_caches
}

# ---- rows -----------------------------------------------------------------------

# note FIGURE VALUE: of the system that runs
note()
{
	[ -z "$2" ] || echo "$2" >>"/tmp/notes/$system.$1"
}

# The median, the least and the most of a figure.
figure_of()
{
	[ -s "/tmp/notes/$1.$2" ] || {
		printf ',,,'
		return
	}
	# The sort of the guest knows whole numbers only.
	awk '
	{
		for (i = NR; i > 1 && v[i - 1] > $1 + 0; i--)
			v[i] = v[i - 1]
		v[i] = $1 + 0
	}
	END {
		h = int((NR + 1) / 2)
		printf ",%.9g,%.9g,%.9g", NR % 2 ? v[h] : (v[h] + v[h + 1]) / 2, v[1], v[NR]
	}' "/tmp/notes/$1.$2"
}

head_of_figures()
{
	local f

	printf runs
	for f in $FIGURES; do
		printf ',%s,%s_min,%s_max' "$f" "$f" "$f"
	done
}

# row_of_figures SYSTEM
row_of_figures()
{
	local f

	printf %s "$(wc -l <"/tmp/notes/$1.runs")"
	for f in $FIGURES; do
		figure_of "$1" "$f"
	done
}

# run_once SYSTEM X: note its figures, or say why not
run_once()
{
	system=$1
	: >/tmp/bench.out
	if "run_$1" "$2"; then
		note runs 1
		return 0
	fi
	[ -s /tmp/bench.out ] || echo "it failed without a word" >/tmp/bench.out
	failed "$k" "$(title "$1")" "$2"
	"after_$1" 2>/dev/null
}

# compare X SYSTEM...
compare()
{
	local x k system rep

	turn all "$@" || return 0
	x=$1
	k=$points
	shift
	rm -rf /tmp/notes
	mkdir /tmp/notes
	for rep in $(seq "$REPS"); do
		for system in "$@"; do
			run_once "$system" "$x"
		done
	done
	for system in "$@"; do
		[ -s "/tmp/notes/$system.runs" ] || continue
		[ "$rows" != 0 ] || tell "head $(head_of_figures)"
		rows=$((rows + 1))
		tell "row $k,$(title "$system"),$x,$(row_of_figures "$system")"
	done
}

BENCH_BEGIN=disk_begin
BENCH_END=disk_end
