#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The subgroups with logs of a group that restarts. While it runs, none is added and none is removed,
# whatever node is asked. Subgroups without logs come and go. With all nodes down, one of these gets
# logs for the next restart, and nodes that know the change and nodes that do not restart safely.
# vm: timeout=600 uml
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh
. ./lib-restart.sh

NO_MORE='gets no other subgroup with logs'
NO_FEWER='a subgroup with logs is not removed'

# is_refused NODE: the list of subgroups with logs stays as it is
is_refused()
{
	says 1 "$NO_MORE" subgroup add "$1" id 8 window 8 max-msg 256 log 1
	says 1 "$NO_MORE" subgroup add "$1" id 8 window 8 max-msg 256 log 1 ack majority
	says 1 "$NO_FEWER" subgroup del "$1" id 1
	says 1 'a subgroup with logs is not replaced' subgroup replace "$1" id 1 window 8 max-msg 256
}

# ids_of NODE: the subgroups of its view
ids_of()
{
	spindle-ctl -j view show node "$1" | sed 's/.*"subgroups"//' | tr ',{[' '\n\n\n' |
		sed -n 's/^"id":\([0-9]*\)$/\1/p' | sort -n | xargs
}

# add_log ID NODE...: the subgroup has logs from the next restart on
add_log()
{
	local id i

	id=$1
	shift
	for i in "$@"; do
		spindle-logd -S 1 --add-log "$id" "$i" || return 1
	done
}

# says_no NODE ID TEXT: it gets no logs
says_no()
{
	! spindle-logd -S 1 --add-log "$2" "$1" 2>/tmp/no && grep -e "$3" /tmp/no
}

# has_logs NODE N: has its group file so many subgroups with logs?
has_logs()
{
	[ "$(grep -c '^Log = 1$' "$DIR/$1/group")" = "$2" ]
}

# lists_differ NODE NODE: does the one that attempts the restart name the other one?
lists_differ()
{
	local differ

	differ='do not have the same subgroups with logs as this node'
	status_says "$1" "$differ: $2" || status_says "$2" "$differ: $1"
}

# sends_to ID N: so many messages in another subgroup than 1, and all of them are durable then
sends_to()
{
	send_lines 1 "$1" "$2" && wait_until 60 all_durable 1 2 3
}

# log_has ID N NODE...: the logs of that subgroup have so many messages
log_has()
{
	local id n i

	id=$1
	n=$2
	shift 2
	for i in "$@"; do
		wait_until 60 has_messages "$id" "$n" "$i" || {
			spindle-ctl log dump "$DIR/$i/$id" | tail -n 3
			return 1
		}
	done
}

# has_messages ID N NODE
has_messages()
{
	[ "$(spindle-ctl log dump "$DIR/$3/$1" 2>/dev/null | grep -c '"from ')" = "$2" ]
}

restart_nodes 3
echo 0 >/tmp/sent
check "they begin a live view" live_view 3 spares 3 spare-window 16 spare-ring 8192 \
	subgroup 1 max-msg 256 log 1
for i in 1 2 3; do
	logd $i
done
check "all three are in it, with loggers" come_together 1 2 3
check "messages are durable" sends 1 50 1 2 3

# While the group runs.
is_refused 1
is_refused 3
is "the subgroups are those from before" "$(ids_of 2)" 1
check "node 2 adds one without logs" spindle-ctl subgroup add 2 id 7 name orders window 8 \
	max-msg 256 timeout 60
check "all nodes have it" wait_until 60 all_have 7 1 2 3
check "and another one" spindle-ctl subgroup add 3 id 9 window 8 max-msg 256 timeout 60
check "which goes again" spindle-ctl subgroup del 1 id 9 timeout 60
is_refused 2
check "a node in a view does not add logs" says_no 1 7 'another process uses'

# The group restarts with the same list, and keeps it.
check "all nodes crash" crash 1 2 3
check "all start again" boot 1 2 3
check "the group is back" come_together 1 2 3
check "with the subgroup that was added" all_have 7 1 2 3
check "it goes on behind what was there" sends 2 20 1 2 3
is_refused 1
is_refused 3
check "no message is lost" logs_agree 1 2 3

# A planned change: the process of one node has gone, and its node is still in the view.
check "the logger of node 1 ends" end_logd 1
check "the node is in a view still" says_no 1 7 'it leaves that first'
check "it crashes" spindle-ctl node del id 1
check "the others go on" wait_until 60 in_one_view 2 3
check "subgroup 1 has logs already" add_log 1 1
check "a subgroup that is not there" says_no 1 5 'has no subgroup 5'
check "subgroup 7 gets logs at node 1" add_log 7 1
check "the same again changes nothing" add_log 7 1
check "the group file has both" has_logs 1 2

# A group runs that does not know the change, so the node takes the list of that group.
check "node 1 starts" boot 1
check "it joins the group that runs" come_together 1 2 3
check "its group file has the list of the group" wait_until 30 has_logs 1 1
check "messages are durable" sends 1 10 1 2 3

# All nodes are down. Two know the change, and the third one does not.
check "all nodes crash again" crash_at_once 1 2 3
check "nodes 1 and 2 know the change" add_log 7 1 2
check "node 3 starts, and does not know it" boot 3
check "it waits" waits_for 3 'asks for reports'
check "node 1 starts" boot 1
check "they do not restart together" wait_until 60 lists_differ 1 3
check "node 1 is in no view" status_says 1 'has no live view'
check "nor is node 3" status_says 3 'has no live view'
check "node 2 starts" boot 2
SGS="1 7"
check "the group restarts, and node 3 joins it" come_together 1 2 3
check "the file of node 3 has the change" wait_until 30 has_logs 3 2
check "messages of subgroup 1 are durable" sends 1 10 1 2 3
check "and those of subgroup 7" sends_to 7 30
check "all logs of subgroup 7 have them" log_has 7 30 1 2 3
check "no message of subgroup 1 is lost" logs_agree 1 2 3
is_refused 2
says 1 "$NO_FEWER" subgroup del 1 id 7

# The next restart has both.
check "all nodes crash, with two subgroups" crash 1 2 3
check "two start" boot 2 3
check "they are the group" come_together 2 3
check "the last one starts" boot 1
check "it joins" come_together 1 2 3
check "more messages of subgroup 7" sends_to 7 5
check "nothing of subgroup 7 is lost" log_has 7 35 1 2 3
check "nothing of subgroup 1 is lost" logs_agree 1 2 3

check "nodes go" crash 1 2 3
check "module goes" limit 60 rmmod spindle
finish
