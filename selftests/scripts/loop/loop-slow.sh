#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Readers that are slow, or stop, one of two at a member of three. A copying reader delays no other
# one until its ring is full, and then all of them. The number of messages until then is known. A
# reader without copies delays all others at once, and its node and the others name it. By default
# the group waits for it. With stall-ms only this reader is detached, and the group goes on. A
# reader with nothing to read is never detached.
# vm: timeout=300
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh

out=/tmp/out
# A sender has eight slots; a ring of copies is as large as a payload ring, 16 messages.
length=1000
window=8
copies=16

# reader PID WORD: what node 2 shows of one of its readers
reader()
{
	spindle-ctl -j subgroup show node 2 id 1 | grep -o "{\"pid\":$1,[^}]*}" |
		sed "s/.*\"$2\":\"*\\([^,\"}]*\\).*/\\1/"
}

lag_is()
{
	[ "$(reader "$1" lag)" = "$2" ]
}

# row MEMBER WORD: a column of a member, as node 1 sees it
row()
{
	spindle-ctl -j subgroup show node 1 id 1 | grep -o "{\"id\":$1,\"sent\":[^}]*}" |
		sed "s/.*\"$2\":\\([0-9]*\\).*/\\1/"
}

sent()
{
	loop_stat 1 1 sent
}

# sent_is N: since the last call of mark
mark()
{
	first=$(sent)
}

sent_is()
{
	[ $(($(sent) - first)) = "$1" ]
}

# stops_at N: N messages are sent, then the sender waits. Nothing more happens, however often the
# engines look.
stops_at()
{
	wait_until 30 sent_is "$1" || return 1
	usleep 300000
	sent_is "$1"
}

# send COUNT: messages of $length bytes from node 1, in the background
send()
{
	mark
	awk -v n="$1" -v len=$length 'BEGIN {
		while (length(s) < len) s = s "x"
		while (n--) print s
	}' | limit 200 spindle-pipe -n 1 -g 1 -s >/tmp/send.out 2>&1 &
	sender=$!
}

# start OPTION...: a reader at node 2, in $started
start()
{
	spindle-pipe -n 2 -g 1 -r -q "$@" >/tmp/reader.out 2>/tmp/reader.err &
	started=$!
	wait_until 30 lag_is $started 0 || not_ok "a reader at node 2"
}

# ends DESCRIPTION PID STATUS
ends()
{
	local rc

	rc=0
	wait "$2" 2>/dev/null || rc=$?
	is "$1" "$rc" "$3"
}

# shows PATTERN WORD...
shows()
{
	local pattern

	pattern=$1
	shift
	spindle-ctl "$@" >"$out" 2>&1
	check "$* -> $pattern" grep -qe "$pattern" "$out" || sed 's/^/#   /' "$out"
}

# stopped OPTION...: a reader that does not read, in $slow
stopped()
{
	start "$@"
	slow=$started
	kill -STOP "$slow"
}

check "module loads" loop_start
check "three nodes" loop_nodes 3
check "a view of three nodes is installed" \
	loop_view 3 1 subgroup 1 window $window max-msg 1024 ring 16384
check "all subgroups are active" wait_until 60 all_active 3
spindle-ctl monitor node 2 >/tmp/mon 2>&1 &
mon=$!
check "the monitor listens" wait_until 30 listens $mon

# One reader that always reads at node 2 and one at node 3. No other reader may keep messages from
# them.
start -N 160
reads=$started
spindle-pipe -n 3 -g 1 -r -q -N 160 >/dev/null 2>&1 &
third=$!
all_delivered()
{
	[ "$(loop_stat 3 1 delivered)" = "$(sent)" ] && lag_is "$reads" 0
}

# ---- without copies -------------------------------------------------------

stopped
send 40
check "a reader stops, and the sender sends one window" stops_at $window
check "other readers have got all messages" wait_until 30 all_delivered
check "the reader is behind by a window" wait_until 30 lag_is "$slow" $window
shows "^ *$slow  spindle-pipe  slots  *$window " subgroup show node 2 id 1 -v
shows "^ *$reads  spindle-pipe  slots  *0 " subgroup show node 2 id 1 -v
shows "\"held_by\":{\"pid\":$slow,\"comm\":\"spindle-pipe\",\"copy\":false,\"lag\":$window," \
	-j top -n 1 -d 0.1 node 2
shows "spindle-pipe\\[$slow\\] holds $window, idle" top -b -n 1 -d 0.1 node 2
# A round of each of the three senders. No member needs to know the last one.
held()
{
	[ "$(row 1 dlv_lag) $(row 3 dlv_lag)" = "0 0" ] && [ "$(row 2 dlv_lag)" -gt $((3 * window - 3)) ]
}
check "another node sees which member holds the slots" wait_until 30 held
is "that member has received all messages" "$(row 2 recv_lag)" 0
is "no reader is detached by default" "$(loop_stat 2 1 stalled) $(reader $slow copy)" "0 false"
kill -CONT $slow
ends "the reader goes on, and so does the sender" $sender 0
is "all messages are sent" $(($(sent) - first)) 40

# The reader is behind already when the limit is set.
kill -STOP $slow
send 40
check "the reader stops again" stops_at $window
check "node 2 gets a limit for stalled readers" spindle-ctl subgroup set 2 id 1 stall-ms 2000
ends "the sender goes on without the reader" $sender 0
check "all other readers get all messages" wait_until 30 all_delivered
check "an event names the detached reader" wait_until 10 grep -q \
	"reader-stalled .*node 2 .*subgroup 1 .*error stalled  (process $slow (spindle-pipe) " \
	/tmp/mon
is "the detached reader is counted" "$(loop_stat 2 1 stalled)" 1
kill -CONT $slow
ends "the detached reader ends" $slow 1
check "the detached reader says why" \
	grep -q 'frozen: the process consumed nothing for longer' /tmp/reader.err

# ---- with copies ----------------------------------------------------------

# There is still a limit, but nothing to read.
stopped -c
sleep 5
is "a reader without messages is not detached" "$(loop_stat 2 1 stalled) $(reader $slow copy)" \
	"1 true"
check "the limit is removed" spindle-ctl subgroup set 2 id 1 stall-ms never
send 40
check "a copying reader stops, and the sender fills its ring and a window" \
	stops_at $((copies + window))
check "other readers have got all messages" wait_until 30 all_delivered
check "the reader is behind by its ring" wait_until 30 lag_is "$slow" $copies
shows "^ *$slow  spindle-pipe  copies  *$copies " subgroup show node 2 id 1 -v
shows "spindle-pipe\\[$slow\\] has to copy $copies, idle" top -b -n 1 -d 0.1 node 2
kill -CONT $slow
ends "the reader goes on, and so does the sender" $sender 0
check "the reader has caught up" wait_until 30 lag_is "$slow" 0
kill -STOP $slow
check "node 2 gets a limit again" spindle-ctl subgroup set 2 id 1 stall-ms 2000
send 40
ends "the sender does not wait for the reader" $sender 0
check "the copying reader is detached" \
	wait_until 30 grep -q "reader-stalled .*(process $slow " /tmp/mon
kill -CONT $slow
ends "the copying reader ends" $slow 1

ends "the other reader of node 2 has got all messages" $reads 0
ends "the reader of node 3 has got all messages" $third 0
check "the group goes on" all_active 3
is "two readers were detached, and none was frozen for another reason" \
	"$(loop_stat 2 1 stalled) $(loop_stat 2 1 frozen)" "2 0"
check "messages flow" limit 60 mcast-load -n 1-3 -g 1 -c 50
kill $mon
wait $mon 2>/dev/null
check "nodes go" loop_del 3
check "module goes" limit 60 rmmod spindle
finish
