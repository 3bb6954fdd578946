# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Disks in memory under the device mapper, and a log on them: source it after lib-live.sh.
# /dev/ram0 is the disk, /dev/ram1 the log of its writes, and /dev/ram2 and /dev/ram3 are for replays.
DISK=/tmp/disk
# Sectors of a disk: 64 MiB
SECTORS=131072
# No udev makes the names of devices here.
export DM_DISABLE_UDEV=1

# lacks WORD...: what this guest does not have, of "prog NAME", "target NAME", "fs NAME" and "dev PATH"
lacks()
{
	while [ $# -gt 1 ]; do
		case $1 in
		prog) command -v "$2" >/dev/null ;;
		target) dmsetup targets 2>/dev/null | grep -q "^$2 " ;;
		fs) grep -q "	$2\$" /proc/filesystems ;;
		dev) [ -e "$2" ] ;;
		esac || echo "$1 $2"
		shift 2
	done
}

# need_disks WORD...: skip the script where these are missing. The kernels of User-Mode Linux are ours,
# so nothing may be missing there. The one with checkers has no file systems for disks, see debug.config.
need_disks()
{
	local missing

	missing=$(lacks prog dmsetup dev /dev/mapper/control dev /dev/ram3 "$@" | tr '\n' ',')
	[ -n "$missing" ] || return 0
	case $(uname -r) in
	*-spindle)
		[ -e /sys/kernel/debug/kmemleak ] ||
			bail "this guest has all that disks need, but not: ${missing%,}"
		;;
	esac
	skip_all "this guest has no ${missing%,}"
}

# make_fs TYPE DEVICE: a file system of 64 MiB, which writes nothing of its own accord later
make_fs()
{
	case $1 in
	ext4) mkfs.ext4 -q -F -b 4096 -J size=4 -E lazy_itable_init=0,lazy_journal_init=0 "$2" 64M ;;
	xfs) mkfs.xfs -q -f --unsupported -d size=64m "$2" ;;
	esac
}

# disk_up TYPE TABLE: a device "disk" of this table, with what is on it, is mounted
disk_up()
{
	mkdir -p $DISK
	dmsetup create disk --table "0 $SECTORS $2" && mount -t "$1" /dev/mapper/disk $DISK
}

# disk_down: it goes. The io_uring of a process that has ended closes its files a moment later.
disk_down()
{
	wait_until 30 umount $DISK && dmsetup remove disk
}

# disk_table TABLE: from now on the disk behaves like this. Nothing is flushed, because the file system
# is not asked.
disk_table()
{
	dmsetup suspend --nolockfs --noflush disk &&
		dmsetup load disk --table "0 $SECTORS $1" && dmsetup resume disk
}

# logd: the logger of node 1 begins, with its log on the disk, and with these options
logd_options=
logd()
{
	rm -f /tmp/logd.err
	# shellcheck disable=SC2086
	spindle-logd -d $DISK -S 1 -P none $logd_options 1 1 2>/tmp/logd.err &
	logd=$!
	wait_until 30 grep -qs 'begins with position' /tmp/logd.err && return 0
	cat /tmp/logd.err
	return 1
}

# logd_says TEXT
logd_says()
{
	grep -q -- "$1" /tmp/logd.err && return 0
	cat /tmp/logd.err
	return 1
}

# logd_ends SIGNAL: it gets this signal, if any, and ends. Its status is in logd_rc.
logd_ends()
{
	[ -z "$1" ] || kill "-$1" "$logd"
	wait_until 60 dead "$logd" || return 1
	logd_rc=0
	wait "$logd" 2>/dev/null || logd_rc=$?
}

# ---- power failures --------------------------------------------------------------

# reported N: has the logger reported so many messages? The load may have failed.
reported()
{
	dead $load && return 0
	[ "$(number_of 1 1 persisted)" -ge "$1" ]
}

# cut_load COUNT: so many messages are written, by loggers that are killed and in views that change
cut_load()
{
	local n

	disk-cuts load -n 1 -g 1 -c "$1" -m disk >/tmp/load.out 2>&1 &
	load=$!
	for n in 1 2 3 4 5; do
		check "$((n * $1 / 6)) messages are reported" wait_until 60 reported $((n * $1 / 6))
		case $n in
		1 | 3) check "node 2 joins" spindle-ctl node join id 2 insecure contact 10.0.0.1:5001 timeout 60 ;;
		2 | 4) check "node 2 leaves" spindle-ctl node leave id 2 ;;
		esac
		[ "$n" = 3 ] && logd_options="-k 3M -q 8"
		logd_ends KILL
		logd
		is "the logger is killed, and goes on" $? 0
	done
	check "the load ends" wait_until 120 dead $load
	rc=0
	wait $load || rc=$?
	sed 's/^/# /' /tmp/load.out
	is "all $1 messages are reported" "$rc" 0
}

# cuts TYPE MESSAGES CUTS: all of it, with at least so many cuts
cuts()
{
	local n

	need_disks prog "mkfs.$1" fs "$1" target log-writes target snapshot dev /dev/ram1 dev /dev/ram2
	check "module loads" loop_start
	check "two nodes" loop_nodes 2
	check "node 1 begins a live view" live_view 1 subgroup 1 max-msg 20000 hold 0 log 1
	check "it is in the first view" wait_until 60 in_view 1 1
	check "a file system of type $1" make_fs "$1" /dev/ram0
	check "its copy" disk-cuts copy /dev/ram0 /dev/ram2
	check "all of its writes are logged" disk_up "$1" "log-writes /dev/ram0 /dev/ram1" || finish
	logd
	is "node 1 has a log" $? 0
	cut_load "$2"
	logd_ends TERM
	is "the logger ends well" "$logd_rc" 0
	check "the disk goes" disk_down
	limit 500 disk-cuts replay -f "$1" -l /dev/ram1 -t /dev/ram2 -s /dev/ram3 -d 1/1 \
		>/tmp/cuts.out 2>&1
	is "each cut has all that was reported, and no other message" $? 0
	sed 's/^/# /' /tmp/cuts.out
	n=$(sed -n 's/^cuts \([0-9]*\) .*/\1/p' /tmp/cuts.out)
	check "there were at least $3 cuts" test "${n:-0}" -ge "$3"
	is "no cut was bad" "$(sed -n 's/.* bad //p' /tmp/cuts.out)" 0
	check "nodes go" loop_del 2
	check "module goes" limit 60 rmmod spindle
	finish
}
