#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Histories: a process that comes back gets what was delivered in between, each message once,
# also while views change. No reader of a history holds up anyone: one that falls behind is dropped,
# with its position. Positions that are gone, or in the future, are refused by name.
# vm: timeout=300
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

A=10.0.0.1
RESTARTS=${SEEDS:-100}

# read_from NODE GROUP FROM N [FILE]: N lines from a position
read_from()
{
	limit 60 spindle-pipe -n "$1" -g "$2" -r -f "$3" -N "$4" >"${5:-/dev/null}"
}

# refused TEXT COMMAND...
refused()
{
	local text

	text=$1
	shift
	! "$@" >/tmp/refused 2>&1 && grep -q -- "$text" /tmp/refused && return 0
	cat /tmp/refused
	return 1
}

check "module loads" loop_start
check "three nodes" loop_nodes 3
check "three nodes begin a live view" live_view 3 \
	subgroup 1 max-msg 10000 window 16 ring 262144 \
	subgroup 2 max-msg 64 window 16 mode unordered subgroup 3 max-msg 2M window 4 ring 8M hold 0
check "three nodes are in the first view" wait_until 60 in_view 1 1 2 3
for i in 1 3; do
	spindle-pipe -n $i -g 1 -r -q >/dev/null 2>&1 &
	spindle-pipe -n $i -g 2 -r -q >/dev/null 2>&1 &
done

# What is refused changes nothing.
size="history is none, or a power of two from 65536 to 1073741824 bytes"
says 1 "$size" subgroup set 2 id 1 history 65535
says 1 "$size" subgroup set 2 id 1 history 96K
says 1 "$size" subgroup set 2 id 1 history 2G
says 1 'a history has at least twice the bytes of max-msg' subgroup set 2 id 3 history 2M
is "there is no history" "$(number_of 2 1 history)" 0
check "a position is refused without a history" \
	refused 'position 5 cannot be read, only 0 to 0' read_from 2 1 5 1
says 1 'history cannot change while a process reads the subgroup' \
	subgroup set 1 id 1 history 64K

# Node 2 has no reader at first. What it delivers is kept.
check "node 2 keeps a history" spindle-ctl subgroup set 2 id 1 history 1M
is "its size is shown" "$(number_of 2 1 history)" 1048576
check "node 1 sends without a reader at node 2" send_lines 1 1 100
is "the first message is the oldest" "$(number_of 2 1 oldest)" 0
check "a reader comes late" read_from 2 1 oldest 100 /tmp/all
check "it has all of them" counts /tmp/all 0
check "a reader begins in the middle" read_from 2 1 42 58 /tmp/some
check "it has those from there on" sh -c 'tail -n 58 /tmp/all | cmp - /tmp/some'
check "a position of the future is refused" \
	refused 'position 101 cannot be read, only 0 to 100' read_from 2 1 101 1
check "the next position is none of the future" \
	sh -c 'spindle-pipe -n 2 -g 1 -r -f 100 >/tmp/next 2>/tmp/next.err & echo $! >/tmp/pid'
check "its reader reads the history" wait_until 30 \
	sh -c 'spindle-ctl -j subgroup show node 2 id 1 | grep -q "\"reads\":\"history\""'
says 1 'history cannot change while a process reads the subgroup' \
	subgroup set 2 id 1 history none
check "node 3 sends" send_lines 3 1 5
check "that reader has the messages" wait_until 30 has_lines /tmp/next 5
kill "$(cat /tmp/pid)"

# Views change: the history goes on, and its readers are told.
check "node 3 leaves" spindle-ctl node leave id 3
check "two nodes are in view 2" wait_until 60 in_view 2 1 2
check "node 1 sends in view 2" send_lines 1 1 10
check "node 3 joins" spindle-ctl node join id 3 insecure contact $A:5001 timeout 60
check "three nodes are in view 3" wait_until 60 in_view 3 1 2 3
spindle-pipe -n 3 -g 1 -r >/tmp/m3 2>/dev/null &
joiner=$!
spindle-pipe -n 3 -g 2 -r -q >/dev/null 2>&1 &
check "node 3 has a reader" wait_until 30 readers_are 3 1
check "node 3 sends in view 3" send_lines 3 1 10
check "a reader goes through all views" sh -c "limit 60 spindle-pipe -n 2 -g 1 -r -w -f 95 -N 30 \
	>/tmp/views.out 2>/tmp/views"
is "it has the views in order" "$(sed 's/:.*//' /tmp/views | tr '\n' ' ')" \
	"view 1 view 2 view 3 "
check "its positions have no gap" counts /tmp/views.out 95
check "the joiner has the same" sh -c 'tail -n 10 /tmp/views.out | cmp - /tmp/m3'

kill $joiner
spindle-pipe -n 3 -g 1 -r -q >/dev/null 2>&1 &

# A process that is killed at any moment misses nothing, and gets nothing twice.
check "node 2 keeps more" spindle-ctl subgroup set 2 id 1 history 64M
says 0 'oldest' -j subgroup show node 2 id 1
is "a new history begins with nothing" "$(number_of 2 1 oldest)" 125
check "a reader comes back $RESTARTS times, 64 bytes" \
	limit 200 come-back -n 2 -g 1 -s 1 -k "$RESTARTS" -l 64
check "a reader comes back $RESTARTS times, 10000 bytes" \
	limit 200 come-back -n 2 -g 1 -s 1 -k "$RESTARTS" -l 10000

# All three send. No window has room for so many messages, so a sender that waited would never end.
check "a reader stays away each time until the others have 1,000 messages more" sh -c \
	"limit 200 history-rate -n 3 -g 1 -r 2 -i 1 -t 20 -p 3 -a 1000 >/tmp/away"
check "the others have them before it is back" test "$(column /tmp/away away_min)" -ge 1000
check "it came back in each phase" test "$(column /tmp/away restarts)" -ge 3
is "it has missed nothing" "$(column /tmp/away missed)" 0

# A reader that stops is dropped. It holds up nobody until then.
check "node 2 keeps little" spindle-ctl subgroup set 2 id 1 history 64K
oldest=$(number_of 2 1 oldest)
spindle-ctl monitor >/tmp/mon 2>&1 &
spindle-pipe -n 2 -g 1 -r -f oldest >/tmp/slow 2>/tmp/slow.err &
slow=$!
check "it reads the history" wait_until 30 readers_are 2 1
kill -STOP $slow
check "node 1 sends more than the history has" send_lines 1 1 3000
check "the reader is dropped" wait_until 30 grep -q 'reader-behind .*node 2 .*subgroup 1 ' /tmp/mon
check "with its position" grep -q "reader-behind .*lsn $oldest " /tmp/mon
is "it is counted" "$(loop_stat 2 1 behind) $(loop_stat 2 1 frozen)" "1 0"
kill -CONT $slow
rc=0
wait $slow || rc=$?
is "the process fails" $rc 1
check "it says why" grep -q "too far behind, the history has forgotten position $oldest" \
	/tmp/slow.err
check "what it was is not readable any more" refused "position $oldest cannot be read" \
	read_from 2 1 "$oldest" 1
check "a new reader reads what is left" read_from 2 1 oldest 100 /tmp/left
check "without a gap" counts /tmp/left "$(head -n 1 /tmp/left | cut -d' ' -f1)"

# An unordered subgroup, and messages that went by RDMC.
check "node 2 keeps an unordered subgroup" spindle-ctl subgroup set 2 id 2 history 64K
check "node 1 sends there" send_lines 1 2 20
check "a reader comes late there" read_from 2 2 oldest 20 /tmp/unordered
check "it has its node's positions" counts /tmp/unordered 0
check "no position is a place there" \
	refused 'positions of an unordered subgroup are no places' read_from 2 2 5 1
check "node 2 keeps large messages" spindle-ctl subgroup set 2 id 3 history 8M
awk 'BEGIN { for (i = 0; i < 5; i++) printf "%01000000d\n", i }' >/tmp/large
check "node 1 sends large messages" sh -c 'limit 60 spindle-pipe -n 1 -g 3 -s </tmp/large'
check "a reader comes late to them" read_from 2 3 oldest 5 /tmp/large.out
check "it has their bytes" sh -c "sed 's/^[0-9]* 1 //' /tmp/large.out | cmp - /tmp/large"

check "the history goes" spindle-ctl subgroup set 2 id 1 history none
is "it is shown no more" "$(number_of 2 1 oldest)" ""
check "nodes go" loop_del 3

# The history is set while nothing could be delivered yet, not even the beginning of a view.
check "two nodes" loop_nodes 2
check "node 1 begins a live view alone" spindle-ctl view set node 1 vid 1 live insecure \
	timeout-ms 5000 member "1@$A:5001" subgroup 1 max-msg 64
check "node 1 is active" wait_until 60 in_view 1 1
check "node 2 joins it" spindle-ctl node join id 2 insecure contact $A:5001 timeout 60
check "both are in view 2" wait_until 60 in_view 2 1 2
check "node 1 keeps a history" spindle-ctl subgroup set 1 id 1 history 64K
spindle-pipe -n 2 -g 1 -r -q >/dev/null 2>&1 &
check "node 2 sends" send_lines 2 1 3
check "a reader at node 1 begins in view 1" \
	sh -c "limit 60 spindle-pipe -n 1 -g 1 -r -w -f oldest -N 3 >/tmp/early 2>/tmp/views"
check "it knows the sender" grep -qx '0 2 from 2 1' /tmp/early
echo own | limit 60 spindle-pipe -n 1 -g 1 -e -f oldest >/tmp/own 2>&1
is "a sender waits for its message, and not for older ones" "$(tail -n 1 /tmp/own)" "3 1 own"
check "both nodes go" loop_del 2
check "module goes" limit 60 rmmod spindle
finish
