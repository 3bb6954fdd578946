#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Raw runs, by which spindle-perf measures the device alone. They make the requested number of
# writes, without an effect on messages. They are refused, with the reason, while messages are under
# way or no member can answer. Each run is short, so that repeated runs do not block others: the
# measured objects can be removed at any time.
# vm: timeout=300
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh

# raw DESCRIPTION ANSWER OPTION...
raw()
{
	local desc want have

	desc=$1
	want=$2
	shift 2
	have=$(limit 100 technique raw "$@")
	is "$desc" "$have" "$want"
}

# posted: work requests of node 1 to its peers
posted()
{
	spindle-ctl -j -p stats node 1 | awk -F '[:,]' '/"writes"/ { n += $2 } END { print n }'
}

messages()
{
	check "messages flow: $1" limit 60 mcast-load -n 1-4 -g 1 -c 50 -w 30
}

# Node 5 has its own engine. There is no node 6 at its address.
check "module loads" loop_start
check "4 nodes" loop_nodes 4
check "a node with another engine is added" \
	spindle-ctl node add id 5 addr 10.0.0.1 port 5005 engine 1
members="member 6@10.0.0.1:5006"
for i in 1 2 3 4 5; do
	members="$members member $i@10.0.0.1:500$i"
done

# view VID NODE...
view()
{
	local vid i

	vid=$1
	shift
	for i; do
		# shellcheck disable=SC2086
		spindle-ctl view set node "$i" vid "$vid" $members \
			subgroup 1 members 1,2,3,4 senders 1,2,3 window 16 max-msg 1024 \
				ring 16384 \
			subgroup 2 members 1,5 window 16 max-msg 1024 \
			subgroup 3 members 1,6 window 16 max-msg 1024 \
			subgroup 4 members 1 window 16 max-msg 1024 \
			subgroup 5 members 1,2 senders 1 window 16 max-msg 1024 \
			table 6 cells 8 cell 4096 members 1,2,3,4 mode read \
			table 7 cells 8 members 1,2 \
			table 8 cells 8 members 1,6 mode read || return 1
	done
}
check "a view of five nodes is installed" view 1 1 2 3 4 5
# One of the two members of subgroup 3 is there, and of table 8.
check "all other subgroups are active" wait_until 60 all_active 15
messages "before"

# ---- counts ---------------------------------------------------------------

before=$(posted)
raw "a write to each of three members" "writes 3" -n 1 -g 1 -c 1
check "the connections have counted the writes" test $(($(posted) - before)) -ge 3
before=$(posted)
raw "a thousand writes to each member" "writes 3000" -n 1 -g 1 -s 1000 -c 1000
check "the connections have counted the writes" test $(($(posted) - before)) -ge 3000
raw "writes of one byte" "writes 300" -n 2 -g 1 -s 1
raw "writes as long as the ring" "writes 300" -n 3 -g 1 -s 16384
raw "writes one byte shorter than the ring" "writes 300" -n 3 -g 1 -s 16383
raw "a subgroup without other members has no writes" "writes 0" -n 1 -g 4
raw "a ping-pong" "writes 2" -n 1 -g 1 -k 1 -c 1
raw "two hundred ping-pongs" "writes 400" -n 1 -g 1 -k 1 -c 200
raw "ping-pongs of the last sender with the first one" "writes 400" -n 3 -g 1 -k 1 -s 16384 -c 200
raw "writes to a node with another engine" "writes 100" -n 1 -g 2
messages "afterwards: what was written is not taken for messages"

can_read()
{
	[ "$(technique raw -n 1 -g 6 -k 2 -c 1)" = "writes 3" ]
}
check "rows of a table can be read" wait_until 30 can_read
raw "a read of each of three rows" "writes 3" -n 1 -g 6 -k 2 -c 1
raw "a thousand reads of each row" "writes 3000" -n 1 -g 6 -k 2 -c 1000
raw "reads of one byte" "writes 300" -n 2 -g 6 -k 2 -s 1
raw "reads of a whole row" "writes 300" -n 1 -g 6 -k 2 -s 32768
check "processes see no change of rows" limit 60 table-load -n 1,2,3,4 -t 6 -r 100

# ---- refusals -------------------------------------------------------------

size="size is 1 to 1048576 bytes, and at most the subgroup's ring or row"
busy="the subgroup is in use or not active"
raw "nothing" "error EINVAL: $size" -n 1 -g 1 -s 0
raw "writes longer than the ring are refused" "error EINVAL: $size" -n 1 -g 1 -s 16385
raw "a count of 0 is refused" "error EINVAL: count is 1 to 1000000" -n 1 -g 1 -c 0
raw "a count above a million is refused" "error EINVAL: count is 1 to 1000000" -n 1 -g 1 -c 1000001
raw "an unknown node is refused" "error ENODEV: no node has this id" -n 9 -g 1
raw "an unknown subgroup is refused" \
	"error ENOENT: the node is in no subgroup with this id" -n 1 -g 9
raw "a member that does not send is refused" \
	"error EPERM: the node does not send in this subgroup" -n 4 -g 1
raw "a subgroup with a missing member is refused" "error EBUSY: $busy" -n 1 -g 3
other="a ping-pong needs another sender of this kernel and engine"
raw "a ping-pong with another engine is refused" "error EOPNOTSUPP: $other" -n 1 -g 2 -k 1
raw "a ping-pong with a member that does not send is refused" \
	"error EOPNOTSUPP: $other" -n 1 -g 5 -k 1
raw "a ping-pong without another member is refused" "error EOPNOTSUPP: $other" -n 1 -g 4 -k 1
raw "reads longer than a row are refused" "error EINVAL: $size" -n 1 -g 6 -k 2 -s 32769
rows="only rows of a table of mode read can be read"
raw "reads in a subgroup with messages are refused" "error EOPNOTSUPP: $rows" -n 1 -g 1 -k 2
raw "reads in a table of mode write are refused" "error EOPNOTSUPP: $rows" -n 1 -g 7 -k 2
raw "writes in a table are refused" \
	"error EPERM: the node does not send in this subgroup" -n 1 -g 6
raw "reads in a table with a missing member are refused" "error EBUSY: $busy" -n 1 -g 8 -k 2
is "an unknown kind is refused" "$(technique raw -n 1 -g 1 -k 3 | sed 's/:.*//')" "error ERANGE"
su nobody -s /bin/sh -c "technique raw -n 1 -g 1" >/tmp/out 2>&1
is "a user without rights is refused" "$(sed 's/:.*//' /tmp/out)" "error EPERM"

# A sender that says nothing: input that does not come and does not end.
mkfifo /tmp/quiet
exec 9<>/tmp/quiet
sender_is()
{
	spindle-ctl -j subgroup show node "$1" id 1 | grep -q "\"sender\":$2"
}
spindle-pipe -n 1 -g 1 -s <&9 >/dev/null 2>&1 &
pipe=$!
check "a sender is attached" wait_until 30 sender_is 1 true
raw "a run is refused while a sender is attached" "error EBUSY: $busy" -n 1 -g 1
raw "a ping-pong is refused while its other end has a sender" "error EBUSY: $busy" -n 3 -g 1 -k 1
raw "a run of another node is possible" "writes 300" -n 2 -g 1
kill "$pipe"
wait "$pipe" 2>/dev/null
check "the sender is gone" wait_until 30 sender_is 1 false

# Messages that are delivered and not consumed keep the ring, because a write would change them.
spindle-pipe -n 2 -g 1 -r >/tmp/read 2>&1 &
reads=$!
reader_is()
{
	spindle-ctl -j subgroup show node 2 id 1 | grep -q "\"pid\":$reads,.*\"lag\":$1,"
}
check "a reader is attached" wait_until 30 reader_is 0
kill -STOP "$reads"
seq 5 >/tmp/five
spindle-pipe -n 1 -g 1 -s </tmp/five >/dev/null 2>&1 &
pipe=$!
check "the reader holds messages" wait_until 30 reader_is 5
kill "$pipe"
wait "$pipe" 2>/dev/null
check "the sender of these messages is gone" wait_until 30 sender_is 1 false
raw "a run is refused while a reader holds messages" "error EBUSY: $busy" -n 1 -g 1
raw "a run of another node is possible" "writes 300" -n 3 -g 1
kill -CONT "$reads"
check "the reader has read the messages" wait_until 30 reader_is 0
free()
{
	[ "$(technique raw -n 1 -g 1)" = "writes 300" ]
}
check "a run is possible again" wait_until 30 free
kill "$reads"
wait "$reads" 2>/dev/null
is "the reader got the messages that were sent" \
	"$(awk '{ print $3 }' /tmp/read | tr '\n' ' ')" "1 2 3 4 5 "
messages "after refusals"

# ---- removals during a run --------------------------------------------------

running()
{
	[ $(($(posted) - before)) -ge 100 ]
}

# begin OPTION...: a run of node 1 that takes far longer than anybody would wait
begin()
{
	before=$(posted)
	technique raw -n 1 -g 1 -s 16384 -c 1000000 "$@" >/tmp/long 2>&1 &
	long=$!
	check "a long run begins" wait_until 30 running
}

# ends DESCRIPTION ANSWER...: any of these answers, because the order of events varies.
ends()
{
	local rc said desc

	desc=$1
	shift
	rc=0
	wait "$long" 2>/dev/null || rc=$?
	said="$rc $(cat /tmp/long)"
	for answer; do
		[ "$said" != "$answer" ] || break
	done
	is "$desc" "$said" "$answer"
}

# again VID: a new view at all four nodes; node 5 stays with the old one
again()
{
	view "$1" 1 2 3 4 && wait_until 60 all_four
}

all_four()
{
	[ "$(spindle-ctl -j -p subgroup show id 1 | grep -c '"state": *"active"')" = 4 ]
}

node()
{
	spindle-ctl node "$1" id "$2" addr 10.0.0.1 port $((5000 + $2))
}

lost="0 error ENOTCONN: a member was lost during the measurement"
idle="0 error EBUSY: $busy"
begin
check "node 4 is removed during a run" spindle-ctl node del 4
ends "the run ends" "$lost" "$idle"
check "node 4 is added again" node add 4
check "a new view is installed" again 2
begin
check "node 1 is removed during its run" spindle-ctl node del 1
ends "the run ends" "0 error ENODEV: no node has this id"
check "node 1 is added again" node add 1
check "a new view is installed" again 3
begin
check "the view is replaced during a run" view 4 1
ends "the run ends" "$idle"
check "a new view is installed" again 5
begin -k 1 -s 1
check "the other end is removed during a ping-pong" spindle-ctl node del 2
ends "the ping-pong ends" "0 error EOPNOTSUPP: $other"
check "node 2 is added again" node add 2
check "a new view is installed" again 6
begin
spindle-pipe -n 1 -g 1 -s <&9 >/dev/null 2>&1 &
pipe=$!
ends "a sender ends the run" "$idle"
kill "$pipe"
wait "$pipe" 2>/dev/null
check "the sender stops" wait_until 30 sender_is 1 false
begin
kill "$long"
ends "the requesting process is killed" "143 "
raw "a later run is possible" "writes 300" -n 1 -g 1
messages "after all that"
begin
check "the device is removed during a run" rdma link del rxe0
ends "the run ends" "$lost" "$idle" "0 error ENOENT: the node is in no subgroup with this id"
check "nodes go" loop_del 5
check "module goes" limit 60 rmmod spindle
finish
