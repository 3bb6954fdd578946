#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A process that sends and reads dies when its messages cannot be sent, because a slow reader holds
# up the end of the view. Its sender parts, and its reader ends at once. The next view has the
# messages.
# vm: timeout=200
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

COUNT=5

# sender_is VALUE: does a process send at node 2?
sender_is()
{
	spindle-ctl -j -p subgroup show node 2 id 1 | grep -q "\"sender\": *$1"
}

# leaves_messages: processes die until one of them had committed something by then.
leaves_messages()
{
	local i

	for i in $(seq 100); do
		load_start 2 -c $COUNT -l 64
		wait_until 30 readers_are 2 2 || return 1
		usleep $((i * 5000))
		# shellcheck disable=SC2154
		kill -9 "$load_2"
		wait "$load_2" 2>/dev/null
		sender_is true && return 0
	done
	return 1
}

check "module loads" loop_start
check "four nodes" loop_nodes 4
check "four nodes begin a live view" live_view 4 subgroup 1 window 8 max-msg 64
check "four nodes are in the first view" wait_until 60 in_view 1 1 2 3 4
# Because of the limit, the engine watches the readers in each pass.
check "node 2 gets a limit for stalled readers" spindle-ctl subgroup set node 2 id 1 stall-ms 600000
hold_up_node_2
# Not by check, because the processes belong to this shell.
if leaves_messages; then
	ok "a process of node 2 dies and leaves messages"
else
	not_ok "a process of node 2 dies and leaves messages"
fi
check "the reader of the dead process is detached" readers_are 2 1
kill -CONT "$held_reader"
check "the reader reads, and node 2 is in the second view" wait_until 60 in_view 2 1 2 3
check "the sender has parted" wait_until 60 sender_is false
kill "$held_sender"
check "nodes go" loop_del 4
check "processes end" wait_until 60 held_are_dead
check "module goes" limit 60 rmmod spindle
finish
