#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Durable subgroups: spindle-logd tells the kernel how far its disk is, and the kernel tells all
# programs what is durable. A logger that is killed or stopped holds up no view and loses nothing.
# vm: timeout=600 uml hostile
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

A=10.0.0.1
DIR=/tmp/logs

# logd NODE SUBGROUP: begin to write its log. Those of subgroup 1 fetch what is missing from others.
logd()
{
	local peers

	peers=none
	[ "$2" = 1 ] && peers=open
	rm -f "/tmp/logd$1-$2.err"
	spindle-logd -d $DIR -S 1 -P $peers "$1" "$2" 2>"/tmp/logd$1-$2.err" &
	eval "logd_$1_$2=$!"
	wait_until 30 grep -qs 'begins with position' "/tmp/logd$1-$2.err" && return 0
	cat "/tmp/logd$1-$2.err"
	return 1
}

# signal NODE SUBGROUP NAME: a signal for its logger
signal()
{
	eval "kill -$3 \$logd_$1_$2"
}

# ends NODE SUBGROUP NAME: the same, and it ends
ends()
{
	local pid

	eval "pid=\$logd_$1_$2"
	kill "-$3" "$pid"
	wait_until 60 dead "$pid" || return 1
	wait "$pid" 2>/dev/null
	return 0
}

# durable_is NODE SUBGROUP N: are all messages below N durable, as the node knows?
durable_is()
{
	[ "$(number_of "$1" "$2" durable)" = "$3" ] && return 0
	# A check that fails shows this.
	tail -n 2 /tmp/logd*.err >&2
	return 1
}

# all_durable SUBGROUP N NODE...: do these nodes know so?
all_durable()
{
	local sg n i

	sg=$1
	n=$2
	shift 2
	for i in "$@"; do
		durable_is "$i" "$sg" "$n" || return 1
	done
}

# established NODE SUBGROUP
established()
{
	spindle-ctl -j subgroup show node "$1" id "$2" | grep -q '"established":true'
}

# shows NODE SUBGROUP TEXT: does its JSON have this?
shows()
{
	spindle-ctl -j subgroup show node "$1" id "$2" | grep -q -- "$3"
}

# status_says NODE TEXT
status_says()
{
	spindle-ctl status node "$1" | grep -q -- "$2"
}

# events_say TEXT: has the monitor printed this?
events_say()
{
	grep -q -- "$1" /tmp/events
}

# stands NODE SUBGROUP: does it deliver nothing, with more than 660 messages?
stands()
{
	local lsn

	lsn=$(number_of "$1" "$2" lsn)
	[ "$lsn" -gt 660 ] || return 1
	sleep 1
	[ "$(number_of "$1" "$2" lsn)" = "$lsn" ]
}

# same_logs SUBGROUP NODE NODE: have both logs the same messages?
same_logs()
{
	spindle-ctl log dump "$DIR/$2/$1" >/tmp/one
	spindle-ctl log dump "$DIR/$3/$1" >/tmp/other
	cmp /tmp/one /tmp/other
}

check "module loads" loop_start
check "a node" loop_nodes 1
check "it begins a live view" live_view 1 subgroup 1 max-msg 1024 log 1 subgroup 2 max-msg 64
check "it is in the first view" wait_until 60 in_view 1 1
tap_run limit 60 dev-bad log
check "a message is sent" send_lines 1 1 1
check "its status names the log that is missing" wait_until 30 status_says 1 'no logger'
check "a log that has lost messages is refused" sh -c \
	"! spindle-logd -d /tmp/lost -S 1 -P none 1 2>/tmp/lost.err && grep -q 'has lost messages' /tmp/lost.err"
check "it goes" loop_del 1

# All subgroups that have logs, without a word.
check "a node again" loop_nodes 1
check "it begins a view with two of three subgroups that have logs" live_view 1 \
	subgroup 1 max-msg 64 hold 0 log 1 subgroup 2 max-msg 64 hold 0 \
	subgroup 3 max-msg 64 hold 0 log 1
check "it is in its first view" wait_until 60 in_view 1 1
spindle-logd -d /tmp/auto -S 1 -P none 1 2>/tmp/auto.err &
auto=$!
check "both have a logger" sh -c "
	for n in \$(seq 30); do
		[ \$(grep -c 'begins with position' /tmp/auto.err) = 2 ] && exit 0
		sleep 1
	done
	cat /tmp/auto.err
	exit 1"
check "the first one gets messages" send_lines 1 1 30
check "the last one gets messages" send_lines 1 3 40
check "those of the first one are durable" wait_until 30 durable_is 1 1 30
check "those of the last one are durable" wait_until 30 durable_is 1 3 40
check "the other one has no reader" readers_are 1 0 2
kill $auto
wait $auto
is "the process ends well" $? 0
check "it goes again" loop_del 1
check "a node without a view has no such subgroup" sh -c \
	"! spindle-logd -d /tmp/none -S 1 -P none 1 2>/tmp/none.err && [ -s /tmp/none.err ]"

check "four nodes" loop_nodes 4
check "three nodes begin a live view" live_view 3 \
	subgroup 1 name all max-msg 4096 hold 0 log 1 \
	subgroup 2 name most max-msg 4096 hold 0 log 1 ack majority \
	subgroup 3 name gated max-msg 4096 hold 0 log 1 deliver durable
check "three nodes are in the first view" wait_until 60 in_view 1 1 2 3
check "node 2 keeps little" spindle-ctl subgroup set node 2 id 1 history 256K
check "a history is needed" sh -c '! spindle-ctl subgroup set node 2 id 1 history 0 2>/tmp/no &&
	grep -q "has a history" /tmp/no'
spindle-ctl monitor >/tmp/events 2>/tmp/events.err &
monitor=$!

# Nothing is durable without logs, and nothing waits for them at first.
check "node 1 sends without logs" send_lines 1 1 10
check "it is delivered" wait_until 30 test "$(number_of 3 1 lsn)" = 10
check "and not durable" durable_is 1 1 0
check "node 2 knows that the view is not established" sh -c \
	"spindle-ctl -j subgroup show node 2 id 1 | grep -q '\"established\":false'"

# All logs.
for i in 1 2; do
	logd $i 1
	is "node $i has a log" $? 0
done
check "two of three logs establish the view" wait_until 30 established 3 1
check "two of three logs are not all" durable_is 3 1 0
logd 3 1
is "node 3 has a log" $? 0
check "what was sent before is durable" wait_until 30 all_durable 1 10 1 2 3
check "a message for one member is refused" sh -c \
	"! (echo secret | spindle-pipe -n 1 -g 1 -s -t 2 2>/tmp/direct.err) &&
	grep -q 'has logs' /tmp/direct.err"
check "node 1 sends more" send_lines 1 1 500
check "that is durable at all nodes" wait_until 30 all_durable 1 510 1 2 3
check "all logs write" wait_until 30 shows 1 1 '"log_state":"logging".*"log_state":"logging".*"log_state":"logging"'

# A logger that is killed, and one that is stopped.
check "node 2's logger is killed" ends 2 1 KILL
check "node 1 sends to two logs" send_lines 1 1 100
check "it is delivered to node 3" wait_until 30 test "$(number_of 3 1 lsn)" = 610
check "it is not durable" durable_is 3 1 510
check "the status of node 3 names node 2" wait_until 30 status_says 3 'node 2.*no logger'
check "the view is the same" in_view 1 1 2 3
logd 2 1
is "node 2 has its log again" $? 0
check "nothing was lost: all is durable" wait_until 30 all_durable 1 610 1 2 3
check "node 2 names a log that stands still for 200 ms" \
	spindle-ctl subgroup set node 2 id 1 log-stall-ms 200
check "node 2's logger is stopped" signal 2 1 STOP
check "node 3 sends" send_lines 3 1 50
check "node 2 reports its log" wait_until 30 events_say 'node 2.*persisted nothing for 200 ms'
check "node 2's logger goes on" signal 2 1 CONT
check "all is durable again" wait_until 30 all_durable 1 660 1 2 3
check "node 2 reports that" wait_until 30 events_say 'node 2.*log.*writes again'

# Messages wait for a log that stands still, once the history is full of what it has not persisted.
check "node 2's logger is stopped again" signal 2 1 STOP
awk 'BEGIN { for (i = 0; i < 400; i++) printf "%04000d\n", i }' >/tmp/long
spindle-pipe -n 1 -g 1 -s </tmp/long 2>/tmp/sender.err &
sender=$!
check "node 2 delivers no more than its history keeps" wait_until 60 stands 2 1
check "the sender waits" kill -0 $sender
check "its messages are not durable" durable_is 1 1 660
check "a view change does not wait for the log" \
	spindle-ctl node join id 4 insecure contact $A:5001 timeout 60
check "four nodes are in the second view" wait_until 60 in_view 2 1 2 3 4
check "the sender ends" wait_until 120 dead $sender
wait $sender
is "it has sent everything" $? 0
check "node 2 reports that its history keeps no more" wait_until 30 events_say 'node 2.*log'
check "node 2's logger goes on again" signal 2 1 CONT
check "it gets what it missed from another log" wait_until 60 shows 2 1 '"persisted":1060.*"persisted":1060.*"persisted":1060'
check "node 4 has no log, so nothing of that is durable" durable_is 1 1 660
check "a log that misses what others do not give it does not begin" sh -c \
	"! spindle-logd -d /tmp/late -S 1 -P none 4 1 2>/tmp/late.err && grep -q 'is in front' /tmp/late.err"
logd 4 1
is "node 4 has a log" $? 0
check "it gets all messages from another log" wait_until 60 all_durable 1 1060 1 2 3 4
check "node 4 leaves" spindle-ctl node leave id 4
check "three nodes are in the third view" wait_until 60 in_view 3 1 2 3
check "they go on" send_lines 1 1 20
check "and that is durable" wait_until 60 all_durable 1 1080 1 2 3

# A majority of the logs.
for i in 1 2 3; do
	logd $i 2
	is "node $i has a log of the second subgroup" $? 0
done
check "three records of four members establish the view" wait_until 30 established 3 2
check "a log goes" ends 3 2 TERM
check "node 3 sends there" send_lines 3 2 200
check "two of three logs are enough" wait_until 30 all_durable 2 200 1 2 3
check "another one goes" ends 2 2 TERM
check "node 3 sends more there" send_lines 3 2 10
check "one log has it" wait_until 30 shows 3 2 '"persisted":210'
check "that is not enough" durable_is 3 2 200

# Readers get what is durable.
spindle-pipe -n 1 -g 3 -r >/tmp/gated 2>/tmp/gated.err &
reader=$!
check "node 1 has a reader of the gated subgroup" wait_until 30 readers_are 1 1 3
for i in 1 2; do
	logd $i 3
	is "node $i has a log of the gated subgroup" $? 0
done
check "node 2 sends there" send_lines 2 3 20
check "all nodes deliver it" wait_until 30 test "$(number_of 1 3 lsn)" = 20
check "the reader has nothing" test ! -s /tmp/gated
logd 3 3
is "node 3 has a log of the gated subgroup" $? 0
check "the reader has all" wait_until 30 has_lines /tmp/gated 20
check "what it has is durable" all_durable 3 20 1
kill $reader

# The logs.
for sg in 1 2 3; do
	for i in 1 2 3; do
		eval "pid=\${logd_${i}_$sg:-}"
		[ -d "/proc/$pid" ] && ends $i $sg TERM
	done
done
for sg in 1 2 3; do
	check "subgroup $sg: the log of node 1 is whole" spindle-ctl log verify $DIR/1/$sg
done
for sg in 1 3; do
	check "subgroup $sg: the logs of nodes 1 and 2 agree" same_logs $sg 1 2
	check "subgroup $sg: the logs of nodes 1 and 3 agree" same_logs $sg 1 3
done
kill $monitor
check "nodes go" loop_del 4
check "module goes" limit 60 rmmod spindle
finish
