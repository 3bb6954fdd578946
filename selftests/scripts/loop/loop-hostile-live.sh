#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Hostile peers of a live view: a member that writes what no correct member writes into the
# membership's part of its row, or rubbish, or nothing any more; the others go on without it,
# and their messages with them. And strangers at the door: questions about anything, knocks
# under any name and without end, hellos cut off anywhere; the view does not notice.
# vm: timeout=900 uml hostile
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh
. ./lib-hostile.sh

ALL="member 1@10.0.0.1:5001 member 2@10.0.0.1:5002 member 3@10.0.0.1:5003"
ALL="$ALL member 4@10.0.0.1:5004"
# A member that beats must not seem silent when other work has the processors for a while.
RULES="timeout-ms 5000 max-nodes 8"
GROUP="subgroup 1 window 8 max-msg 256 ring 4096"

# set_live NODE MEMBERS: the first view of the case
set_live()
{
	# shellcheck disable=SC2086
	limit 30 spindle-ctl view set node "$1" vid 1 live insecure $RULES $2 $GROUP
}

# again: nodes 2, 3 and 4, without a past
again()
{
	local i

	for i in 2 3 4; do
		spindle-ctl node del id $i >/dev/null 2>&1
		spindle-ctl node add id $i addr 10.0.0.1 port 500$i || return 1
	done
}

# liar_at NODE STEP...: node 1 is connected to this node, too.
liar_at()
{
	local to

	to=$1
	shift
	(TO=$to hostile "$@" >/tmp/liar.$to) &
}

grows()
{
	local before

	before=$(loop_stat "$1" 1 delivered)
	wait_until 30 more "$1" $((before + 100))
}

more()
{
	[ "$(loop_stat "$1" 1 delivered)" -gt "$2" ]
}

# alone: 2, 3 and 4 go on without 1, in the same view
alone()
{
	local vid

	vid=$(live_word 2 vid)
	[ "$vid" -ge 2 ] && in_view "$vid" 2 3 4 &&
		[ "$(spindle-ctl -j -p status node 2 | grep -c '"rank"')" = 3 ]
}

# liar DESCRIPTION WANT STEP...: what node 1 does to node 2 when the view has formed. WANT is
# what its steps say, or nothing if that does not matter; $heard is all of that. DURING= runs
# beside it.
liar()
{
	local desc want got i

	desc=$1
	want=$2
	shift 2
	again
	: >$EV
	rm -rf "$LOGS"
	mkdir -p "$LOGS"
	for i in 2 3 4; do
		set_live $i "$ALL" || not_ok "$desc: a view is installed"
	done
	view="live vid 1 $RULES $ALL $GROUP"
	liar_at 3 dial setup joined beat,ms=60000
	p3=$!
	liar_at 4 dial setup joined beat,ms=60000
	p4=$!
	for i in 2 3 4; do
		load_start $i -r 500
	done
	# An attempt before it, which the node is not to remember.
	# shellcheck disable=SC2086 # no word, or one
	[ -z "${BEFORE:-}" ] || is "$desc: before" "$(hostile dial $BEFORE)" "up|yes"
	[ -z "${DURING:-}" ] || $DURING &
	got=$(hostile dial setup joined beat,ms=300 "$@")
	heard=$got
	case $got in
	"up|up|yes|success|"*"$want") ok "$desc" ;;
	*)
		not_ok "$desc"
		diag "have '$got', want '$want'"
		;;
	esac
	check "the other members go on without node 1" \
		wait_until 60 alone || spindle-ctl status | sed 's/^/# /'
	for i in 2 3 4; do
		check "messages flow at node $i" grows $i
	done
	wait $p3 $p4
	check "processes end" load_stop 2 3 4
	check "logs agree" loads_agree
}

check "module loads" loop_start
listen_in
LIED="suspect .*node 1 .*broke the protocol\|it broke the protocol"
SILENT="no sign of life"

# ---- a member that lies ------------------------------------------------------

liar "a state that no member has" gone state,phase=6 beat,ms=20000
told "node 1 is blamed" "$LIED"
liar "a state above the last one" gone state,phase=255 beat,ms=20000
told "node 1 is blamed" "$LIED"
liar "a suspect that is no member" gone state,suspected=0x10 beat,ms=20000
told "node 1 is blamed" "$LIED"
liar "a view of the past" gone state,vid=1 beat,ms=300 state,vid=0 beat,ms=20000
told "node 1 is blamed" "$LIED"
liar "a ballot of no member" gone state,phase=0x500 beat,ms=20000
told "node 1 is blamed" "$LIED"
liar "a state that goes back" gone state,phase=2 beat,ms=300 state,phase=1 beat,ms=20000
told "node 1 is blamed" "$LIED"
liar "the state STOPPED, then heartbeats" gone state,phase=5 beat,ms=20000
told "node 1 is reported as stopped" "it has stopped"
liar "silence" yes gone
told "node 1 is reported as silent" "$SILENT"

# A node that ends an attempt to connect has not said that it goes on without the other.
BEFORE=hangup
liar "a failed attempt, then a connection that breaks" "remote access error|yes" write,near=1 gone
BEFORE=

# Words without a valid seal are not believed. The liar is removed when it shows no life any more.
# (A member that closes a connection says that it goes on without the other, and the other believes
# that. So the process must not end here, because the node would stop.)
liar "rubbish" "" rubbish,n=400,seed=1 gone
liar "rubbish without a sign of life" "" rubbish,n=400,silent,seed=2 gone
liar "a seal that is wrong" yes state,phase=6,seal=bad beat,ms=500 gone
liar "a change that begins, then silence" yes state,phase=1 beat,ms=500 gone
liar "a decree of rubbish" "" state,phase=0x103,digest=77 rubbish,words,n=300 \
	beat,ms=500 gone
liar "a wish for a node that does not exist" "" wish,node=77,inc=5 beat,ms=500 gone
liar "a wish for a member" "" wish,node=3,inc=5 beat,ms=500 gone
liar "a wish for an illegal id" "" wish,node=0xffffffffffffffff,inc=0 beat,ms=500 gone

# ---- a member that wants other rules ------------------------------------------------

# The lowest bit says that the member wants the rules.
liar "rules for which it gives no answer" yes beat,ms=2000,rules=0x4d gone
liar "rules of another name than it says" yes listen contact,rules=0x4d gone
check "node 2 asked for them" [ "$(echo "$heard" | cut -d'|' -f6)" -gt 0 ]
liar "rules that may not follow the present ones" yes listen contact,other gone
check "node 2 asked for them" [ "$(echo "$heard" | cut -d'|' -f6)" -gt 0 ]

# ask_for ID NODE FILE: ask the node to add a subgroup
ask_for()
{
	spindle-ctl subgroup add "$2" id "$1" window 8 max-msg 64 timeout 200 >"$3" 2>&1
	echo $? >"$3.rc"
}

# node 3 sees that all but node 1 follow node 2
all_but_one()
{
	spindle-ctl status node 3 >/tmp/status
	grep -q 'wanted: other subgroups, by node 2; does not follow: 1$' /tmp/status
}

# Other requests come while node 2 waits for node 1.
add_it()
{
	ask_for 9 2 /tmp/added &
	wait_until 15 all_but_one
	echo $? >/tmp/status.rc
	ask_for 10 2 /tmp/second
	ask_for 11 3 /tmp/third
	wait $!
}

PLAIN=$RULES
# The members must not suspect the liar before they give up the request, after 20 s. So a machine
# that stands still for a few seconds does not decide this case.
RULES="timeout-ms 10000 max-nodes 8 spares 1 spare-window 8 spare-ring 4096"
rm -f /tmp/added.rc
DURING=add_it
liar "a member that does not follow others" "0|yes" contact,beat,until=/tmp/added.rc gone
is "the request fails" "$(cat /tmp/added.rc)" 1
check "its text says why" grep -q "some members do not follow" /tmp/added
DURING=
is "the status of node 3 names node 1" "$(cat /tmp/status.rc)" 0
for i in second third; do
	is "the $i request fails" "$(cat /tmp/$i.rc)" 1
	check "its text says why" grep -q "another change of the subgroups is under way" /tmp/$i
done
ask_for 9 2 /tmp/added
is "without that member, it succeeds" "$(cat /tmp/added.rc)" 0
RULES=$PLAIN

# ---- at the door ---------------------------------------------------------------

THREE="member 2@10.0.0.1:5002 member 3@10.0.0.1:5003 member 4@10.0.0.1:5004"
again
rm -rf "$LOGS"
mkdir -p "$LOGS"
for i in 2 3 4; do
	check "node $i sets a view of honest members" set_live $i "$THREE"
done
check "the view forms" wait_until 60 in_view 1 2 3 4
for i in 2 3 4; do
	load_start $i -r 500
done
view="live vid 1 $RULES $THREE $GROUP"
FROM=9

# untouched WHAT
untouched()
{
	check "$1: the view is as it was" in_view 1 2 3 4
}

# SPINDLE_REJECT_ANSWER, SPINDLE_REFUSE_*: their numbers
ANSWER=3 NOT_SPINDLE=16 VERSION=17 CLUSTER=18 DESTINATION=19 VIEW=21 MEMBER=25

is "a question is answered" "$(hostile dial,flags=4,dst=0,inc=0)" "rejected $ANSWER"
is "a question for a node that is connected is answered" \
	"$(hostile dial,flags=4,inc=8)" "rejected $ANSWER"
is "a question for the middle of the card is answered" \
	"$(hostile dial,flags=4,dst=0,inc=77)" "rejected $ANSWER"
for off in 65536 0x80000000 0x100000000 0x7fffffffffffffff 0xffffffffffffffff; do
	is "a question for byte $off is answered" "$(hostile dial,flags=4,dst=0,inc=$off)" \
		"rejected $NOT_SPINDLE"
done
is "a question of another cluster is refused" "$(hostile dial,flags=4,dst=0,inc=0,cluster)" \
	"rejected $CLUSTER"
is "a question of another version is refused" "$(hostile dial,flags=4,dst=0,inc=0,version)" \
	"rejected $VERSION"
is "a question for another node is refused" \
	"$(hostile dial,flags=4,dst=3,inc=0)" "rejected $DESTINATION"
is "a knock for another view is refused" "$(hostile dial,flags=2,digest)" "rejected $VIEW"
is "a knock of incarnation 0 is refused" "$(hostile dial,flags=2,inc=0)" "rejected $NOT_SPINDLE"
is "a knock of node 0 is refused" "$(hostile dial,flags=2,src=0)" "rejected $NOT_SPINDLE"
is "a knock of the member itself is refused" "$(hostile dial,flags=2,src=2)" "rejected $MEMBER"
for i in 3 4; do
	got=$(hostile dial,flags=2,src=$i)
	case $got in
	"rejected "*) ok "a knock of member $i" ;;
	*) not_ok "a knock of member $i: $got" ;;
	esac
done
untouched "questions and knocks"
is "a flood of questions" "$(hostile flood,n=200,flags=4,dst=0,inc=0)" "200 rejected $ANSWER"
# The missing bytes are zero, because of rdma_cm: the cluster, if not all of it is there.
for n in 1 7 8 19 23 31 35; do
	for flags in 2 4,dst=0 6,dst=0; do
		got=$(hostile flood,n=3,flags=$flags,bytes=$n)
		case $got in
		"3 rejected $NOT_SPINDLE" | "3 rejected $CLUSTER") ok "$n bytes, flags $flags" ;;
		*) not_ok "$n bytes, flags $flags: $got" ;;
		esac
	done
done
untouched "floods"

# A guest is no member yet: its row is not read, and the view does not wait for it.
FROM=8
is "a guest that writes rubbish" "$(hostile dial,flags=2,inc=5 setup rubbish,n=200 \
	state,phase=6 beat,ms=300 wish,node=3 garbage,n=200)" \
	"up|up|success|success|success|success|success"
untouched "a guest"
mem_before=$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo)
said=$(hostile flood,n=600,flags=2,anybody)
# One name may come twice, in another life.
case $said in
"600 rejected 1" | "59"[0-9]" rejected 1") ok "a flood of knocks under any name" ;;
*) not_ok "a flood of knocks under any name: $said" ;;
esac
guests=$(spindle-ctl status node 2 | grep -c "wants to join")
# Three are members and eight may be; one guest more is let in to be refused.
check "the guests are no more than may become members ($guests)" [ "$guests" -le 6 ]
mem_after=$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo)
diag "memory: $mem_before kB, $mem_after kB after it"
check "memory is bounded" [ $((mem_before - mem_after)) -lt 65536 ]
untouched "knocks"
for i in 2 3 4; do
	check "messages flow at node $i" grows $i
done
# The guest is connected only to node 3, which does not lead. Node 3 wishes for it, and the leader
# never admits it.
TO=3
hostile_bg dial,flags=2,inc=6 setup node,ready=1 || bail "a guest of one member that says it is ready"
check "an honest node is added" spindle-ctl node add id 5 addr 10.0.0.1 port 5005
check "the honest node joins through the same member when seats are free" \
	spindle-ctl node join id 5 insecure contact 10.0.0.1:5003 \
	timeout 90
check "the hostile guest still runs" kill -0 $hostile_pid
let_go
check "all members are in view 2" wait_until 60 in_view 2 2 3 4 5
check "processes end" load_stop 2 3 4
check "logs agree" loads_agree

listen_out
for i in 2 3 4 5; do
	check "node $i goes" spindle-ctl node del id $i
done
check "module goes" rmmod spindle
finish
