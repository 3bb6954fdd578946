#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Faults in the middle of the transfer of a state. The receiver stops itself when a part of the
# snapshot has come, so each fault finds a transfer that has begun and cannot end. Processes die at
# both ends, nodes leave at either end, the view changes for other reasons, and too many messages
# come. Node 3 sends messages at the same time. At the end all replicas have the same state.
# vm: timeout=400 uml
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh
. ./lib-replica.sh

A=10.0.0.1
# A snapshot of so many bytes comes in 15 parts, and a donor has eight of them under way at most. So
# the kernel cannot finish a transfer whose receiver has stopped, not even behind the fifth part.
BYTES=60000000
PART=$((4 << 20))
# Messages of node 3: the first ones before a transfer, the rest when the receiver has stopped.
EARLY=100
COUNT=600
# A replica gives up a transfer after several timeouts without progress, so these are long.
PATIENT="-t $COUNT -b $BYTES -o 60000"

# old_members: the replicas a and c, of nodes 1 and 3, have a state
old_members()
{
	rm -f /tmp/go /tmp/gate
	at=$(loop_stat 1 1 delivered)
	# shellcheck disable=SC2086
	replica a 1 $PATIENT -d
	check "$what: node 1 has a state" wait_until 30 is_now current a
	# shellcheck disable=SC2086
	replica c 3 $PATIENT -c $COUNT -e $EARLY -a /tmp/go
	check "$what: node 3 gets it" wait_until 60 is_now current c
	check "$what: node 3 sends the first messages" wait_until 30 has_delivered 1 $((at + EARLY))
	at=$(loop_stat 1 1 delivered)
}

# has_delivered NODE N
has_delivered()
{
	[ "$(loop_stat "$1" 1 delivered)" -ge "$2" ]
}

# snapshot NODE: donor, bytes that have come, and bytes of the snapshot that its replica receives
snapshot()
{
	spindle-ctl -j -p status node "$1" | awk '
		/^ *"replicas":/ { on = 1 }
		on && /^ *"(donor|received|bytes)":/ { printf "%s ", $2 + 0 }'
}

# half NODE DONOR: has its replica a part of a snapshot of that donor, and not all?
half()
{
	# shellcheck disable=SC2046
	set -- "$2" $(snapshot "$1")
	[ "$#" = 4 ] && [ "$1" = "$2" ] && [ "$3" -gt 0 ] && [ "$3" -lt "$4" ]
}

# is_stopped NAME: by a signal
is_stopped()
{
	grep -q '^[0-9]* ([^)]*) T' "/proc/$(pid_of "$1")/stat"
}

# receiver NAME NODE TIMES: a replica that stops TIMES times in the middle of a transfer from node
# 1; then node 3 sends, and has to wait for that reader.
receiver()
{
	# shellcheck disable=SC2086
	replica "$1" "$2" $PATIENT -y $PART -z "$3"
	check "$what: the receiver stops in the middle" wait_until 60 is_stopped "$1"
	check "$what: it has a part of the state" half "$2" 1
	touch /tmp/go
	check "$what: messages are under way" wait_until 30 has_delivered 1 $((at + 1))
}

# go_on NAME
go_on()
{
	kill -CONT "$(pid_of "$1")"
}

# has_next_part NAME: has it stopped again, with more of the snapshot than $had?
has_next_part()
{
	is_stopped "$1" && [ "$(snapshot 4)" != "$had" ] && half 4 1
}

# next_part NAME: the receiver of node 4 takes another part, and stops again
next_part()
{
	had=$(snapshot 4)
	go_on "$1"
	check "$what: the receiver takes another part" wait_until 60 has_next_part "$1"
}

# asks_first NAME DONOR: does the first snapshot come from the donor, unless an attempt has failed
# before that? If the transfer fails, the replica asks another one.
asks_first()
{
	awk -v donor="$2" '
		/^state asking donor [0-9]* error [^n]/ { exit }
		/^state receiving / { other = $4 != donor; exit }
		END { exit other }' "/tmp/$1"
}

# newcomer NAME NODE DONOR: a new process gets the state, and asks that node first
newcomer()
{
	# shellcheck disable=SC2086
	replica "$1" "$2" $PATIENT
	check "$what: a new process of node $2 gets the state" wait_until 60 is_now current "$1"
	check "$what: from node $3" asks_first "$1" "$3"
}

# joins NODE CONTACT
joins()
{
	spindle-ctl node join id "$1" insecure contact "$A:500$2" timeout 60
}

# attempts NAME N: has a receiver begun so many transfers?
attempts()
{
	[ "$(grep -c '^state receiving' "/tmp/$1")" = "$2" ]
}

# lost NAME: the replica ends, because its attachment has
lost()
{
	wait_until 60 dead "$(pid_of "$1")" &&
		grep -q 'replica-load: the attachment has ended' "/tmp/$1.err"
}

# has_lost_donor NAME DONOR: does the replica ask again, because of an error of this donor?
has_lost_donor()
{
	grep -q "^state asking donor $2 error [^n]" "/tmp/$1"
}

# no_state NAME: the replica never had a state, nor began to load one
no_state()
{
	! was loading "$1" && ! was following "$1" && ! was current "$1"
}

# leaves NODE: its members are told
leaves()
{
	spindle-ctl node leave id "$1"
}

# gives_none NODE: does its replica have the state, and give it to nobody?
gives_none()
{
	spindle-ctl status node "$1" | grep '^replica: ' >/tmp/giver &&
		grep -q ': current' /tmp/giver && ! grep -q 'gives it to' /tmp/giver
}

# end_of NAME...: all messages have come to these, with the same state
end_of()
{
	check "$what: all have the same state" wait_until 60 totals "$@"
	end_round "$what: the replicas find no error"
}

check "module loads" loop_start
check "six nodes" loop_nodes 6
check "three nodes begin a live view" live_view 3 subgroup 1 max-msg 4096 window 16 hold 0
check "they are in the first view" wait_until 60 in_view 1 1 2 3
check "node 4 joins" joins 4 1
# Only a replica that does not begin at position 0 can be declared.
check "a message comes ahead of all replicas" send_lines 1 1 1

what="both die"
old_members
receiver d 4 1
kill_off a
kill_off d
check "$what: the other member has all messages" wait_until 60 totals c
check "$what: no part of the state was loaded" no_state d
newcomer a2 1 3
newcomer d2 4 1
end_of c a2 d2

# The receiver stops behind each part, and the view changes in between.
what="other views"
old_members
receiver d 4 5
check "$what: node 5 joins" joins 5 1
check "$what: it is in the view" wait_until 60 in_one_view 1 2 3 4 5
next_part d
check "$what: node 6 joins" joins 6 3
check "$what: it is in the view" wait_until 60 in_one_view 1 2 3 4 5 6
next_part d
check "$what: node 5 leaves" leaves 5
check "$what: the others are in the view" wait_until 60 in_one_view 1 2 3 4 6
next_part d
check "$what: node 6 is evicted" spindle-ctl node evict id 3 node 6
check "$what: the others are in the view" wait_until 60 in_one_view 1 2 3 4
next_part d
check "$what: node 2 is removed" spindle-ctl node del id 2
check "$what: the others are in the view" wait_until 60 in_one_view 1 3 4
check "$what: the transfer goes on all the time" half 4 1
go_on d
check "$what: the receiver has the state" wait_until 60 is_now current d
check "$what: from node 1" grep -q "^state current donor 1 error none" /tmp/d
check "$what: by one transfer" attempts d 1
end_of a c d

what="joiner leaves"
check "$what: node 2 is added" spindle-ctl node add id 2 addr $A port 5002
check "$what: node 2 joins" joins 2 1
old_members
receiver d 4 1
check "$what: node 4 leaves" leaves 4
check "$what: the others are in the view" wait_until 60 in_one_view 1 2 3
check "$what: the donor gives its state to nobody" wait_until 60 gives_none 1
check "$what: the others have all messages" wait_until 60 totals a c
go_on d
check "$what: the receiver ends" lost d
check "$what: no part of the state was loaded" no_state d
check "$what: node 4 joins again" joins 4 1
newcomer d2 4 1
end_of a c d2

# Two nodes join in two views. The second one asks while the first one is in the middle.
what="two joiners"
old_members
receiver d 4 1
check "$what: node 5 joins in the next view" joins 5 1
check "$what: it is in the view" wait_until 60 in_one_view 1 2 3 4 5
# shellcheck disable=SC2086
replica e 5 $PATIENT
check "$what: its replica asks" wait_until 30 is_now asking e
check "$what: the first transfer is under way" half 4 1
go_on d
check "$what: both have the state" wait_until 60 is_now current d e
check "$what: the first one by one transfer" attempts d 1
end_of a c d e

# More messages come than the receiver may keep aside, while it stands still in load().
what="spill"
old_members
# shellcheck disable=SC2086
replica d 4 $PATIENT -s 4096 -w /tmp/gate
check "$what: the receiver loads the state" wait_until 60 is_now loading d
touch /tmp/go
check "$what: it fails" wait_until 60 dead "$(pid_of d)"
check "$what: it says why" grep -q 'too many messages came while a state was received' /tmp/d.err
check "$what: it never was current" sh -c "! grep -q '^state current' /tmp/d"
check "$what: the others have all messages" wait_until 60 totals a c
newcomer d2 4 1
end_of a c d2

# Nobody has the state any more: one donor is killed, and the node of the other one leaves.
what="no donor"
old_members
receiver d 4 1
kill_off a
check "$what: node 3 leaves" leaves 3
check "$what: the others are in the view" wait_until 60 in_one_view 1 2 4 5
check "$what: its replica ends" lost c
go_on d
check "$what: the receiver asks" wait_until 60 has_lost_donor d 1
check "$what: no part of the state was loaded" no_state d
# shellcheck disable=SC2086
replica b 2 $PATIENT -c $COUNT -d
check "$what: a state is declared" wait_until 60 is_now current b
check "$what: the receiver gets that one" wait_until 60 is_now current d
check "$what: from node 2" grep -q "^state current donor 2 error none" /tmp/d
end_of b d
check "$what: node 3 joins again" joins 3 1

what="donor leaves"
old_members
receiver d 4 1
check "$what: node 1 leaves" leaves 1
check "$what: the others are in the view" wait_until 60 in_one_view 2 3 4 5
check "$what: its replica ends" lost a
go_on d
check "$what: the receiver asks again" wait_until 60 has_lost_donor d 1
check "$what: it gets the state" wait_until 60 is_now current d
check "$what: from node 3" grep -q "^state current donor 3 error none" /tmp/d
check "$what: node 1 joins" joins 1 3
# Node 3 has joined last, so node 4 is the first one that is asked.
newcomer a2 1 4
end_of c d a2

check "nodes go" loop_del 6
check "module goes" rmmod spindle
finish
