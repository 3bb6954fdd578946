#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# spindle-logd catches up from the logs of other nodes: a process that was stopped or killed for
# longer than its history lasts, and a node that joins. Without the key nothing is served.
# vm: timeout=300 uml
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

# shellcheck disable=SC2034 # for live_view
INSECURE=
DIR=/tmp/logs

# logd NODE [WORD...]: begin to write the log of subgroup 3
logd()
{
	local i

	i=$1
	shift
	rm -f "/tmp/logd$i.err"
	spindle-logd -d $DIR -S 1 -K /tmp/key "$@" "$i" 3 2>"/tmp/logd$i.err" &
	eval "logd_$i=$!"
	wait_until 30 grep -qs 'begins with position' "/tmp/logd$i.err" && return 0
	cat "/tmp/logd$i.err"
	return 1
}

# end_logd NODE
end_logd()
{
	local pid

	eval "pid=\$logd_$1"
	kill "-${2:-TERM}" "$pid"
	wait "$pid" 2>/dev/null
	return 0
}

# sends N: node 1 sends so many lines of 40 bytes
sends()
{
	awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) printf "%040d\n", i }' >/tmp/lines
	limit 60 spindle-pipe -n 1 -g 3 -s </tmp/lines
}

# forgot NODE LSN: is the position not in the history any more?
forgot()
{
	[ "$(number_of "$1" 3 oldest)" -gt "$2" ]
}

# end_of NODE: the position behind the last message of its log
end_of()
{
	spindle-ctl log show $DIR/"$1"/3 >/tmp/show 2>&1
	spindle-ctl log dump $DIR/"$1"/3 2>/dev/null | tail -n 1 | sed 's/^lsn \([0-9]*\) .*/\1/'
}

# has_all NODE: its log has the last message that node 1 has delivered
has_all()
{
	[ "$(end_of "$1")" = "$(($(number_of 1 3 lsn) - 1))" ]
}

# caught_up NODE
caught_up()
{
	wait_until 90 has_all "$1" && return 0
	cat "/tmp/logd$1.err"
	cat /tmp/show
	spindle-ctl -j subgroup show node "$1" id 3
	return 1
}

umask 077
echo "a key of thirty-two bytes, or so." >/tmp/key
echo "another key, of the same length.." >/tmp/other
check "module loads" loop_start
ip link set lo up
check "four nodes have the key" loop_nodes 4 key-file /tmp/key
check "three nodes begin a live view" live_view 3 subgroup 3 max-msg 64 window 16 hold 0
check "three nodes are in the first view" wait_until 60 in_view 1 1 2 3
check "node 1 keeps much" spindle-ctl subgroup set 1 id 3 history 16M
check "node 2 keeps much" spindle-ctl subgroup set 2 id 3 history 16M
check "node 3 keeps little" spindle-ctl subgroup set 3 id 3 history 64K
for i in 1 2 3; do
	logd $i
	is "node $i has a log" $? 0
done
check "node 1 sends" sends 10
for i in 1 2 3; do
	check "node $i has it all" caught_up $i
done

# Stopped for longer than the history lasts.
# shellcheck disable=SC2154
kill -STOP "$logd_3"
check "node 1 sends more than the history has" sends 3000
check "the history has forgotten position 10" wait_until 30 forgot 3 10
kill -CONT "$logd_3"
check "the process catches up" caught_up 3
cat /tmp/logd3.err
check "it has gone on with the history" wait_until 30 grep -q 'goes on with the history' /tmp/logd3.err

# Killed for longer than that, and one of the others is not there.
end_logd 3 KILL
end_logd 1
check "node 1 sends again" sends 3000
logd 3
is "the process of node 3 comes back" $? 0
check "it catches up from node 2" caught_up 3
cat /tmp/logd3.err

# Nobody has it.
end_logd 3 KILL
end_logd 2
check "node 1 sends once more" sends 3000
logd 3
is "the process of node 3 waits" $? 0
check "it says what is missing" wait_until 30 grep -q 'are missing: ' /tmp/logd3.err
cat /tmp/logd3.err
logd 1
is "the process of node 1 comes back" $? 0
check "node 3 catches up from node 1" caught_up 3

# A node that joins.
logd 2
check "node 4 joins" spindle-ctl node join id 4 contact 10.0.0.1:5001 timeout 60
check "node 4 keeps little" spindle-ctl subgroup set 4 id 3 history 64K
logd 4
is "node 4 has a log" $? 0
check "node 1 sends to it, too" sends 10
check "node 4 has it all" caught_up 4
cat /tmp/logd4.err

# Another key.
rc=0
limit 60 spindle-logd -d /tmp/strange -S 1 -K /tmp/other -w 2 -L 10.0.0.1:6000 4 3 2>/tmp/strange.err &
strange=$!
usleep 3000000
kill $strange
cat /tmp/strange.err
check "with another key nothing comes" grep -q 'no other node serves' /tmp/strange.err

for i in 1 2 3 4; do
	end_logd $i
	check "node $i: the log is whole" spindle-ctl log verify $DIR/$i/3
	spindle-ctl log dump $DIR/$i/3 >/tmp/dump
	sed 's/^lsn \([0-9]*\) .*/\1/' /tmp/dump >/tmp/positions
	check "node $i: each position once, in order" counts /tmp/positions 0
	sed 's/ vid [0-9]*//; s/time [^ ]* //' /tmp/dump >/tmp/log$i
	is "node $i: all positions" "$(wc -l </tmp/positions)" "$(number_of 1 3 lsn)"
done
head -n 1 /tmp/log1
check "logs 1 and 2 agree" cmp /tmp/log1 /tmp/log2
check "logs 1 and 3 agree" cmp /tmp/log1 /tmp/log3
check "logs 1 and 4 agree" cmp /tmp/log1 /tmp/log4
check "nodes go" loop_del 4
check "module goes" limit 60 rmmod spindle
finish
