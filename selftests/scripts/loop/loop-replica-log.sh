#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Replicas of a durable subgroup get their state from a snapshot and the log of their node, and no
# other replica is asked: a process that comes back, all processes after all nodes have crashed, and
# one of a node that joins.
# vm: timeout=600 uml
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh
. ./lib-restart.sh
. ./lib-replica.sh

# snapshots NODE: how many are there?
snapshots()
{
	find "$DIR/$1/1" -name 'snap.load.*' | grep -c '\.[0-9a-f]*$'
}

# made N NAME...: have these made so many snapshots?
made()
{
	local n name

	n=$1
	shift
	for name in "$@"; do
		[ "$(grep -c '^snapshots ' "/tmp/$name")" -ge "$n" ] || return 1
	done
}

# spoil_newest NODE: a byte of its newest snapshot is another one
spoil_newest()
{
	local file

	file=$(find "$DIR/$1/1" -name 'snap.load.*' | sort | tail -n 1)
	printf X | dd of="$file" bs=1 seek=100 conv=notrunc 2>/dev/null
}

restart_begin subgroup 1 max-msg 256 log 1

keeper a 1 -t 4000 -c 2000 -S 500
keeper b 2 -t 4000 -c 2000 -S 500
keeper c 3 -t 4000 -S 500
check "three replicas have the same state" wait_until 120 totals a b c
check "each has made snapshots" wait_until 60 made 2 a b c
check "all is durable" wait_until 60 all_durable 1 2 3
for i in 1 2 3; do
	is "node $i keeps two" "$(snapshots $i)" 2
done
kill_off c
# A history that begins with position 0 would have all messages.
check "node 3 crashes" crash 3
check "the others go on" wait_until 60 in_one_view 1 2
check "node 3 starts again" boot 3
check "it joins, and has a log" come_together 1 2 3
keeper d 3 -t 4000
check "a process of node 3 has the same state" wait_until 120 totals a b d
all="a b d"
end_round "the first round ends"
check "its state is from the log, and nobody was asked" from_log 1 d
check "the others had theirs from the beginning" from_log 0 a b

check "all nodes crash" crash 1 2 3
check "all nodes start" boot 1 2 3
check "the group begins again" come_together 1 2 3
check "the newest snapshot of node 2 is damaged" spoil_newest 2
keeper a 1 -t 4500 -c 500
keeper b 2 -t 4500
keeper c 3 -t 4500
check "all replicas have the same state, and go on" wait_until 180 totals a b c
check "node 4 is there" spindle-ctl node add id 4 addr 10.0.0.1 port 5004 key-file /tmp/key
check "it joins" spindle-ctl node join id 4 contact 10.0.0.1:5001 timeout 60
logd 4
check "it has a log" come_together 1 2 3 4
keeper d 4 -t 4500
check "its replica has the same state" wait_until 180 totals a b c d
end_round "the second round ends"
check "all four states are from logs, and nobody was asked" from_log 1 a b c d

# A replica without a directory asks.
keeper a 1 -t 4500
check "node 1 has its state from the log" wait_until 120 totals a
replica b 2 -t 4500 -b 300000 -l 200
check "a replica without a log gets the state of that one" wait_until 120 totals a b
end_round "the third round ends"
check "it has asked" grep -q '^end: asked [1-9]' /tmp/b
check "the other one has served it" grep -q '^end: asked 0 served 1 ' /tmp/a
for i in 1 2 3 4; do
	check "logger $i goes" end_logd $i
done
check "nodes go" loop_del 4
check "module goes" rmmod spindle
finish
