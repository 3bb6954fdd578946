#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Replicas: processes that keep equal copies of a state. One that is killed and comes back, and one
# of a node that joins, get the state from another one while all others go on. Donors and receivers
# die at each step. At the end all have the same state.
# vm: timeout=300 uml
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh
. ./lib-replica.sh

A=10.0.0.1

check "module loads" loop_start
check "five nodes" loop_nodes 5
check "three nodes begin a live view" live_view 3 subgroup 1 max-msg 4096 window 16 \
	subgroup 2 max-msg 64 window 16 hold 0
check "they are in the first view" wait_until 60 in_view 1 1 2 3

# All begin at position 0 with an empty state.
replica a 1 -t 3000 -c 1000 -b 3000000
replica b 2 -t 3000 -c 1000 -b 3000000
replica c 3 -t 3000 -c 1000 -b 3000000
check "three replicas are current at once" wait_until 30 is_now current a b c
check "they apply the same messages" wait_until 60 totals a b c
check "no one got a state from another" sh -c "! grep -q 'donor [1-9]' /tmp/a /tmp/b /tmp/c"
end_round "the first round ends"

# Nobody has the state of the first round any more.
replica a 1 -t 100 -o 300
replica b 2 -t 100 -o 300
check "replicas without a donor ask" wait_until 30 is_now asking a b
kill_off b
replica c 3 -t 100 -o 300 -d -c 100
check "a state is declared" wait_until 30 is_now current c
check "the others get that one" wait_until 30 is_now current a
check "from its node" grep -q "^state current donor 3 error none" /tmp/a
check "and go on with it" wait_until 30 totals a c
end_round "the second round ends"

# Under load: kill -9 and restart, a node that joins, two joiners one after the other.
replica a 1 -t 9000 -c 3000 -d -b 20000000
check "a state is declared again" wait_until 30 is_now current a
replica b 2 -t 9000 -c 3000 -b 20000000
replica c 3 -t 9000 -b 20000000 -p 200
check "two others get it" wait_until 60 is_now current b c
kill_off c
check "node 4 joins" spindle-ctl node join id 4 insecure contact $A:5001 timeout 60
replica d 4 -t 9000 -b 20000000
replica c2 3 -t 9000 -c 3000 -b 20000000
check "node 5 joins" spindle-ctl node join id 5 insecure contact $A:5001 timeout 60
replica e 5 -t 9000 -b 20000000
check "a killed process and two joiners have the state" wait_until 120 is_now current c2 d e
check "all of them have the same one" wait_until 120 totals a b c2 d e
end_round "the third round ends"

# A donor dies while its child saves, a donor dies while it sends, receivers die.
replica a 1 -t 600 -d -x save -b 3000000
check "node 1 has the state" wait_until 30 is_now current a
replica b 2 -t 600 -b 3000000 -o 500
check "its donor dies in the middle of saving" wait_until 30 dead "$(pid_of a)"
check "it asks, and there is nobody left" wait_until 30 is_now asking b
kill_off b
all="c"
replica c 3 -t 600 -d -c 200 -b 3000000
replica d 4 -t 600 -c 200 -b 3000000
check "a fourth state" wait_until 60 is_now current c d
replica b 2 -t 600 -x receive -b 3000000
check "a receiver dies when the snapshot begins" wait_until 30 dead "$(pid_of b)"
replica b 2 -t 600 -x load -b 3000000
check "a receiver dies in load()" wait_until 60 dead "$(pid_of b)"
replica b 2 -t 600 -c 200 -b 3000000 -o 1000
check "the donors are well, and the next process gets the state" wait_until 60 is_now current b
check "three have the same state" wait_until 60 totals b c d
end_round "the fourth round ends"

# The donor that is asked first dies while it sends; the second one is asked.
replica c 3 -t 300 -d -x send -b 3000000
check "node 3 has the state" wait_until 30 is_now current c
replica d 4 -t 300 -b 3000000
check "node 3 dies while it sends" wait_until 60 dead "$(pid_of c)"
check "node 4 asks again" wait_until 30 is_now asking d
kill_off d
replica d 4 -t 300 -d -c 100 -b 3000000 -x save -o 1000
check "node 4 has the state" wait_until 30 is_now current d
replica e 5 -t 300 -b 3000000 -p 1 -o 1000
check "it dies while its child saves" wait_until 60 dead "$(pid_of d)"
check "the receiver notices" wait_until 60 is_now asking e
end_round "the fifth round ends"

# A snapshot comes in three parts, and two nodes have the state. Behind each part the receiver dies, or
# the donor that it asks first, which is that of the lower rank. Then the other one is asked.
THREE_PARTS=$((40 << 20))
replica c 3 -t 300 -d -b $THREE_PARTS
check "node 3 has a long state" wait_until 30 is_now current c
replica d 4 -t 300 -c 300 -b $THREE_PARTS
check "node 4 has it, too" wait_until 60 is_now current d
for parts in 1 2; do
	behind=$(((parts - 1) * (16 << 20) + 1))
	replica e 5 -b $THREE_PARTS -x receive -y $behind
	check "$parts parts: a receiver dies behind them" wait_until 60 dead "$(pid_of e)"
	check "it got no more" sh -c "! grep -q '^state current' /tmp/e"
	replica e 5 -t 300 -b $THREE_PARTS -x receive -y $behind -k "$(pid_of c)"
	check "$parts parts: the donor dies behind them" wait_until 60 dead "$(pid_of c)"
	check "the other one gives the state" wait_until 120 is_now current e
	check "from the beginning" grep -q "^state current donor 4 error none" /tmp/e
	kill_off e
	replica c 3 -t 300 -b $THREE_PARTS
	check "node 3 has the state again" wait_until 60 is_now current c
done
check "all have the same state" wait_until 60 totals c d
end_round "the round of parts ends"

# Nobody waits for a state: all messages are applied while save() stands still, and while load() does.
rm -f /tmp/go /tmp/gate
replica a 1 -t 1000 -d -c 1000 -b 3000000 -a /tmp/go -w /tmp/gate
check "node 1 has a state to give" wait_until 30 is_now current a
replica b 2 -t 1000 -b 3000000
check "node 2 waits for it" wait_until 30 is_now receiving b
touch /tmp/go
check "node 1 applies all messages while its child saves" wait_until 60 totals a
check "the state is still not sent" is_now receiving b
touch /tmp/gate
check "then node 2 has the same state" wait_until 60 totals a b
end_round "the round of save() ends"
rm -f /tmp/go /tmp/gate
replica a 1 -t 1000 -d -c 1000 -b 3000000 -a /tmp/go
check "node 1 has a state again" wait_until 30 is_now current a
replica b 2 -t 1000 -b 3000000 -w /tmp/gate
check "node 2 loads it" wait_until 30 is_now loading b
touch /tmp/go
check "node 1 applies all messages while node 2 loads" wait_until 60 totals a
check "the state is still not loaded" is_now loading b
touch /tmp/gate
check "node 2 applies what came in that time" wait_until 60 totals a b
end_round "the round of load() ends"

# What the status shows: a replica that waits for a snapshot, its donor, and a snapshot that has come.
# says_of NODE PATTERN: the status of the node has such a line of a replica
says_of()
{
	spindle-ctl status node "$1" | grep -q "^replica: subgroup 1, process [0-9]*: $2\$"
}

# all_here NODE: the replica of the node has its snapshot, with the bytes of the state
all_here()
{
	spindle-ctl -j -p status node "$1" >/tmp/status.json
	received=$(sed -n 's/^ *"received": \([0-9]*\),*$/\1/p' /tmp/status.json)
	[ "$received" -gt 3000000 ] && grep -q "\"bytes\": $received,*\$" /tmp/status.json
}

replica a 1 -d -b 3000000 -p 8000
check "node 1 has a state" wait_until 30 says_of 1 current
replica b 2 -b 3000000
check "the status of node 2 says from whom it comes" wait_until 30 says_of 2 \
	"receiving 0.00 MB from node 1"
check "that of node 1 says that it gives it" wait_until 30 says_of 1 "current, gives it to 1 node"
check "then node 2 has it" wait_until 60 says_of 2 "current, from node 1"
check "all of its bytes" all_here 2
kill_off b
check "a process that has gone reports nothing" sh -c "! spindle-ctl status node 2 | grep ^replica:"
end_round "the round of the status ends"

# Limits, and a program that does not fork.
replica a 1 -d -c 1000000 -b 3000000 -N
check "a donor that does not fork" wait_until 30 is_now current a
replica b 2 -b 3000000 -m 100000 -o 1000
check "a snapshot that is too long is refused" wait_until 60 \
	grep -q "^state asking donor 1 error File too large" /tmp/b
kill_off b
replica b 2 -b 3000000 -s 100 -p 500
check "a replica that may keep nothing aside fails" wait_until 60 \
	grep -q 'too many messages came while a state was received' /tmp/b.err
replica b2 2 -b 3000000
check "with room it does not" wait_until 60 is_now current b2
end_round "the sixth round ends"

# A subgroup with histories, which hold all messages of the round: a replica that does not run for
# a while is not overtaken.
for i in 1 2 3; do
	check "node $i keeps a history" spindle-ctl subgroup set "$i" id 1 history 1M
done
replica a 1 -t 3000 -d -c 1500 -b 3000000
check "a replica of a history is declared" wait_until 30 is_now current a
replica b 2 -t 3000 -c 1500 -b 3000000
replica c 3 -t 3000 -b 3000000
check "two others get the state" wait_until 60 is_now current b c
kill_off c
replica c2 3 -t 3000 -b 3000000
check "a new process gets it, too" wait_until 60 is_now current c2
check "all have the same state" wait_until 60 totals a b c2
end_round "the seventh round ends"

# The example of the documentation, under load all the time. The process of node 3 is killed, and
# comes back. Node 6 joins, and was in no view before.
# counters_at NODE: a process with its commands in a pipe
counters_at()
{
	rm -f "/tmp/in$1"
	mkfifo "/tmp/in$1"
	counters "$1" 2 <"/tmp/in$1" >"/tmp/out$1" 2>&1 &
	eval "pid_count$1=$!"
}

# add_until FILE NAME: add 1 again and again, until the file exists; FILE.NAME gets the sum
add_until()
{
	local n

	n=0
	while [ ! -e "$1" ]; do
		echo "$2 1"
		n=$((n + 1))
	done
	echo "$n" >"$1.$2"
}

has_answered()
{
	[ "$(wc -l <"/tmp/out$1")" -gt "$2" ]
}

# value NODE NAME: what the process of a node prints for the counter
value()
{
	local lines

	lines=$(wc -l <"/tmp/out$1")
	echo "$2" >"/tmp/in$1"
	wait_until 30 has_answered "$1" "$lines" && sed -n 's/^[a-z]* //; $p' "/tmp/out$1"
}

value_is()
{
	[ "$(value "$1" "$2")" = "$3" ]
}

# more_than NODE NAME N
more_than()
{
	[ "$(value "$1" "$2")" -gt "$3" ]
}

# counts_on NODE NAME: does the value grow?
counts_on()
{
	local had

	had=$(value "$1" "$2")
	wait_until 30 more_than "$1" "$2" "$had"
}

# all_are APPLES PEARS NODE...: have they just these values now?
all_are()
{
	local apples pears i

	apples=$1
	pears=$2
	shift 2
	for i in "$@"; do
		value_is "$i" apples "$apples" && value_is "$i" pears "$pears" || return 1
	done
}

rm -f /tmp/enough*
for i in 1 2 3; do
	counters_at $i
done
exec 5>/tmp/in1 6>/tmp/in2 7>/tmp/in3
add_until /tmp/enough apples >&5 &
add_until /tmp/enough pears >&6 &
check "node 3 counts" wait_until 30 more_than 3 apples 0
kill_off count3
counters_at 3
exec 7>/tmp/in3
check "a process that was killed counts again" counts_on 3 apples
check "node 6 is added" spindle-ctl node add id 6 addr $A port 5006
check "node 6 joins" spindle-ctl node join id 6 insecure contact $A:5001 timeout 60
counters_at 6
exec 8>/tmp/in6
check "a process of node 6 counts what node 1 adds" counts_on 6 apples
check "it counts what node 2 adds" counts_on 6 pears
check "it has got the state from a node" sh -c "spindle-ctl status node 6 |
	grep '^replica: subgroup 2, process [0-9]*: current, from node [123]'"
touch /tmp/enough
check "node 1 has added all" wait_until 60 test -s /tmp/enough.apples
check "node 2 has added all" wait_until 60 test -s /tmp/enough.pears
apples=$(cat /tmp/enough.apples)
pears=$(cat /tmp/enough.pears)
check "all processes have all of them" wait_until 60 all_are "$apples" "$pears" 1 2 3 6
check "and none of them twice" all_are "$apples" "$pears" 1 2 3 6
for i in 1 2 3 6; do
	kill_off count$i
done
exec 5>&- 6>&- 7>&- 8>&-
check "nodes go" loop_del 6
check "module goes" rmmod spindle
finish
