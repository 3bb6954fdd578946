#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A reader that stall-ms has frozen delays no other one in later views. This also holds if its
# subgroup waits for members and then has enough again. When the reader runs again, it learns that
# it was frozen.
# vm: timeout=200
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

state_is()
{
	spindle-ctl -j -p subgroup show node 2 id 1 | grep -q "\"state\": *\"$1\""
}

stalled()
{
	[ "$(loop_stat 2 1 stalled)" = 1 ]
}

check "module loads" loop_start
check "three nodes" loop_nodes 3
check "three nodes begin a live view" live_view 3 subgroup 1 window 8 max-msg 64 min 3
check "three nodes are in the first view" wait_until 60 in_view 1 1 2 3
check "node 2 gets a limit for stalled readers" spindle-ctl subgroup set 2 id 1 stall-ms 500
spindle-pipe -n 2 -g 1 -r -q >/dev/null 2>/tmp/reader.err &
reader=$!
check "a process reads at node 2" wait_until 30 readers_are 2 1
# A subgroup delivers nothing before a process attaches, so node 3 needs a reader, too.
spindle-pipe -n 3 -g 1 -r -q >/dev/null 2>&1 &
kill -STOP $reader
yes message | head -n 40 | limit 100 spindle-pipe -n 1 -g 1 -s >/tmp/send.out 2>&1 &
sender=$!
check "the reader is detached" wait_until 60 stalled
rc=0
wait $sender || rc=$?
is "the sender goes on" $rc 0
check "node 3 is removed" spindle-ctl node del id 3
check "nodes 1 and 2 are in view 2" wait_until 60 in_view 2 1 2
check "the subgroup waits for a third member" wait_until 60 state_is forming
check "node 3 is added again" spindle-ctl node add id 3 addr 10.0.0.1 port 5003
check "node 3 joins" spindle-ctl node join id 3 insecure contact 10.0.0.1:5001 timeout 60
check "three nodes are in view 3" wait_until 60 in_view 3 1 2 3
check "the subgroup goes on" wait_until 60 state_is active
check "messages flow" limit 60 mcast-load -n 1-3 -g 1 -c 50 -l 1-64
kill -CONT $reader
check "the reader ends" wait_until 30 dead $reader
rc=0
wait $reader || rc=$?
is "the reader ends with an error" $rc 1
check "the reader says why" \
	grep -q 'frozen: the process consumed nothing for longer' /tmp/reader.err
# A state that had become ACTIVE would freeze again, as an error of the ring.
is "it was frozen once" "$(loop_stat 2 1 stalled) $(loop_stat 2 1 frozen)" "1 0"
check "nodes go" loop_del 3
check "module goes" limit 60 rmmod spindle
finish
