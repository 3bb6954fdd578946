#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Processes that are killed again and again, as senders and readers, at bad moments:
# nothing of them stays, and the others have one order, without a gap.
# vm: timeout=300 each
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh

stop=/tmp/stop

check "module loads" loop_start
check "nodes" loop_nodes 4
check "a view of four nodes is installed" loop_view 4 1 \
	subgroup 1 window 16 max-msg 1024 ring 16384 \
	subgroup 2 window 16 max-msg 512 ring 4096
check "subgroups become active" wait_until 60 all_active 8

limit 250 order-watch -g 2 -n 1-4 -s 3,4 -v 1,2 -r /tmp/ready -f "$stop" >/tmp/watch 2>&1 &
watch=$!
check "the processes that survive attach" wait_until 30 test -e /tmp/ready
limit 250 kill-loop -n 2 -g 2 -i 12 -f /tmp/enough -S 2 >/tmp/other 2>&1 &
other=$!
limit 200 mcast-load -n 1-4 -g 1 -c 300 -l 0-1024 -R -w 60 >/tmp/load 2>&1 &
load=$!

tap_run limit 150 kill-loop -n 1 -g 2 -i 48

touch /tmp/enough
tap_wait "processes of another node die" "$other" /tmp/other
tap_wait "processes of another subgroup get all messages" "$load" /tmp/load
touch "$stop"
tap_wait "all survivors have seen the same messages" "$watch" /tmp/watch
check "no subgroup failed" all_active 8
is "no process is attached any more" \
	"$(spindle-ctl -j -p subgroup show | grep -c '"readers": *[1-9]\|"sender": *true')" 0

# The process is attached to a view that is removed at the same time, and is killed then.
mcast-load -n 1-4 -g 1 -c 1000000 -w 200 >/dev/null 2>&1 &
pid=$!
readers()
{
	spindle-ctl -j -p subgroup show id 1 | grep -q '"readers": *[1-9]'
}
check "a process attaches" wait_until 30 readers
kill -STOP "$pid"
check "nodes go, with a process attached" loop_del 4
kill -9 "$pid"
wait "$pid" 2>/dev/null
check "module goes" rmmod spindle
finish
