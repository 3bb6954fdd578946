#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A disk that is slow, full, that fails and that lies: spindle-logd says what it is, the view stays
# as it is, and the log goes on when the disk is well again. On ext4 and on xfs.
# vm: timeout=300 uml
. ./guest-lib.sh
. ./lib-loop.sh
. ./lib-live.sh
. ./lib-disk.sh

WELL="linear /dev/ram0 0"
SLOW="delay /dev/ram0 0 0 /dev/ram0 0 500"
FAILS="flakey /dev/ram0 0 0 1 1 error_writes"
LIES="flakey /dev/ram0 0 0 1 1 drop_writes"

# send N DESCRIPTION: node 2 sends so many messages
send()
{
	sent=$((sent + $1))
	check "$2" send_lines 2 1 "$1"
}

# delivered: have both nodes delivered all that was sent?
delivered()
{
	[ "$(number_of 1 1 lsn)" = "$sent" ] && [ "$(number_of 2 1 lsn)" = "$sent" ]
}

# durable_is N: are all messages below N durable, as both nodes know?
durable_is()
{
	[ "$(number_of 1 1 durable)" = "$1" ] && [ "$(number_of 2 1 durable)" = "$1" ]
}

# all_durable: is everything durable that was sent?
all_durable()
{
	wait_until 60 durable_is "$sent" && return 0
	echo "$sent messages were sent"
	spindle-ctl status
	cat /tmp/logd.err
	return 1
}

# events_say TEXT: has the monitor printed this?
events_say()
{
	grep -q -- "$1" /tmp/events
}

# refused TEXT: the logger of node 1 does not begin
refused()
{
	local rc

	rc=0
	limit 60 spindle-logd -d $DISK -S 1 -P none 1 1 2>/tmp/refused || rc=$?
	[ $rc = 1 ] && grep -q -- "$1" /tmp/refused && return 0
	echo "status $rc:"
	cat /tmp/refused
	return 1
}

# fill_disk: a file takes all that is left
fill_disk()
{
	dd if=/dev/zero of=$DISK/filler bs=64k 2>/dev/null
	[ -s $DISK/filler ]
}

slow_disk()
{
	check "$1: the disk gets slow" disk_table "$SLOW"
	send 20 "$1: node 2 sends"
	check "$1: both nodes deliver that" wait_until 30 delivered
	check "$1: node 1 reports its log" wait_until 30 events_say 'node 1.*persisted nothing for 100 ms'
	check "$1: the view is the same" in_view 1 1 2
	check "$1: all is durable in the end" all_durable
	check "$1: node 1 reports that" wait_until 30 events_say 'node 1.*the log writes again'
	check "$1: the disk is well" disk_table "$WELL"
}

full_disk()
{
	check "$1: the disk gets full" fill_disk
	awk 'BEGIN { for (i = 0; i < 2000; i++) printf "%04000d\n", i }' >/tmp/long
	sent=$((sent + 2000))
	check "$1: node 2 sends 8 MB" sh -c 'limit 60 spindle-pipe -n 2 -g 1 -s </tmp/long'
	check "$1: the logger says that its log is full" wait_until 60 logd_says 'the log is full'
	check "$1: node 1 reports that" wait_until 30 events_say 'node 1.*the disk of the log is full'
	check "$1: both nodes deliver everything" wait_until 30 delivered
	check "$1: the status says why it is not durable" wait_until 30 sh -c \
		"spindle-ctl status node 2 | grep -q 'node 1 (disk full'"
	check "$1: the view is the same" in_view 1 1 2
	rm $DISK/filler
	check "$1: there is space, and all is durable" all_durable
	check "$1: the logger has not ended" kill -0 $logd
}

failing_disk()
{
	check "$1: the disk fails" disk_table "$FAILS"
	send 10 "$1: node 2 sends"
	logd_ends ""
	is "$1: the logger fails" "$logd_rc" 1
	check "$1: it says what has failed" logd_says 'the log has failed: cannot write to .*: Input/output error'
	check "$1: both nodes deliver everything" wait_until 30 delivered
	check "$1: node 1 reports that" wait_until 30 events_say 'node 1.*the disk of the log has failed'
	check "$1: the messages are not durable" durable_is $((sent - 10))
	check "$1: the view is the same" in_view 1 1 2
	check "$1: another logger does not begin" refused 'Input/output error'
	check "$1: the disk is well" disk_table "$WELL"
	check "$1: it goes" wait_until 30 umount $DISK
	check "$1: it comes back" mount -t "$1" /dev/mapper/disk $DISK
	logd
	is "$1: a logger begins" $? 0
	check "$1: all is durable" all_durable
	check "$1: the log is whole" spindle-ctl log verify $DISK/1/1
}

# What a disk has lost is said, and nobody takes it for what was never written.
lying_disk()
{
	local from

	send 30 "$1: node 2 sends"
	check "$1: all is durable again" all_durable
	from=$sent
	check "$1: the disk drops what is written" disk_table "$LIES"
	send 30 "$1: node 2 sends more"
	check "$1: nobody knows that it is lost" all_durable
	check "$1: the disk is well" disk_table "$WELL"
	send 30 "$1: node 2 sends even more"
	check "$1: that is durable" all_durable
	logd_ends KILL
	logd
	is "$1: another logger begins" $? 0
	check "$1: it says what the disk has lost" logd_says \
		"positions $from to $((from + 29)) of the log are damaged"
	send 10 "$1: it goes on"
	check "$1: with what is new" all_durable
	check "$1: a check of the log finds the same" sh -c \
		"! spindle-ctl log verify $DISK/1/1 >/tmp/verify 2>&1 && grep -q $from /tmp/verify"

	# Nothing behind it is a witness.
	check "$1: the disk drops what is written again" disk_table "$LIES"
	send 10 "$1: node 2 sends the last messages"
	check "$1: nobody knows that they are lost" all_durable
	logd_ends KILL
	check "$1: the disk is well again" disk_table "$WELL"
	check "$1: a log that lacks them is refused" refused 'has lost messages that'
	check "$1: the view is the same" in_view 1 1 2
}

# faults TYPE: all of them, on a file system
faults()
{
	sent=0
	check "$1: two nodes" loop_nodes 2
	check "$1: they begin a live view" live_view 2 subgroup 1 max-msg 4096 hold 0 log 1
	check "$1: they are in the first view" wait_until 60 in_view 1 1 2
	check "$1: node 1 names a log that stands still for 100 ms" \
		spindle-ctl subgroup set node 1 id 1 log-stall-ms 100
	spindle-ctl monitor >/tmp/events 2>/tmp/events.err &
	monitor=$!
	check "$1: the monitor listens" wait_until 30 listens $monitor
	check "$1: a file system" make_fs "$1" /dev/ram0
	check "$1: a disk that is well" disk_up "$1" "$WELL" || finish
	spindle-logd -d "/tmp/$1" -S 1 -P none 2 1 2>/tmp/logd2.err &
	logd2=$!
	logd
	is "$1: node 1 has a log on it" $? 0
	send 100 "$1: node 2 sends"
	check "$1: all is durable" all_durable
	slow_disk "$1"
	full_disk "$1"
	failing_disk "$1"
	lying_disk "$1"
	kill $monitor $logd2
	wait $logd2
	is "$1: the logger of node 2 ends well" $? 0
	check "$1: the disk goes" disk_down
	check "$1: nodes go" loop_del 2
}

need_disks prog mkfs.ext4 prog mkfs.xfs fs ext4 fs xfs target linear target delay target flakey
check "module loads" loop_start
for type in ext4 xfs; do
	faults $type
done
check "module goes" limit 60 rmmod spindle
finish
