#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# One cluster, not two: groups that began apart never become one, and report that. A node asks many
# contacts in turn, until one can help. Failures that time does not change are reported at once.
# vm: timeout=300 uml
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

A=10.0.0.1
SUBGROUP="subgroup 1 window 32 max-msg 256"

# one N: its own address as a member
one()
{
	echo "member $1@$A:$((5000 + $1))"
}

lineage()
{
	live_word "$1" lineage
}

# reason_is NODE PATTERN
reason_is()
{
	live_word "$1" reason | grep -q "$2"
}

joining()
{
	[ "$(live_word "$1" state)" = joining ]
}

has_failed()
{
	[ "$(live_word "$1" state)" = failed ]
}

stopped()
{
	[ "$(live_word "$1" state)" = stopped ]
}

# begins N [WORD]...: node N begins a view alone.
begins()
{
	local i

	i=$1
	shift
	# shellcheck disable=SC2046,SC2086
	spindle-ctl view set node "$i" vid 1 live insecure timeout-ms 2000 max-nodes 3 $(one "$i") \
		$SUBGROUP "$@"
}

# answers NODE N PATTERN: does the answer of the N-th contact match?
answers()
{
	spindle-ctl -j -p status node "$1" | sed -n 's/^ *"answer": *"\(.*\)",*$/\1/p' |
		sed -n "$2p" | grep -q "$3"
}

check "module loads" loop_start
check "nodes" loop_nodes 6

# ---- lineages --------------------------------------------------------------

check "1 begins" begins 1
check "it is active" wait_until 60 in_view 1 1
first=$(lineage 1)
check "its lineage has 32 digits" sh -c "echo $first | grep -qE '^[0-9a-f]{32}$'"
is "status shows it" "$(spindle-ctl status node 1 | sed -n 's/^ *of: lineage //p')" "$first"
is "the view shows it" "$(spindle-ctl view show node 1 | sed -n 's/^ *lineage //p')" "$first"
is "and JSON" "$(spindle-ctl -j -p view show node 1 | sed -n 's/.*"lineage": *"\(.*\)".*/\1/p')" \
	"$first"
check "2 joins" spindle-ctl node join id 2 insecure contact $A:5001
check "both are in view 2" wait_until 60 in_view 2 1 2
is "2 has the lineage of 1" "$(lineage 2)" "$first"
check "3 begins apart, with the same words" begins 3
check "it is active" wait_until 60 in_view 1 3
check "its lineage is another one" [ "$(lineage 3)" != "$first" ]
check "the same view again" begins 3
# shellcheck disable=SC2046,SC2086
says 1 'in a live view already' \
	view set node 3 vid 1 live insecure timeout-ms 2000 max-nodes 3 $(one 3) \
	$SUBGROUP lineage "$first"
says 2 'not 32 hexadecimal digits' view set node 4 vid 1 live insecure lineage 12 member 4@$A:5004
says 1 'not zero' view set node 4 vid 1 live insecure lineage 00000000000000000000000000000000 \
	member 4@$A:5004

# ---- two lineages do not meet ------------------------------------------------

spindle-ctl monitor >/tmp/events &
monitor=$!
says 1 'another lineage of this cluster' node join id 4 insecure contact $A:5003 lineage "$first"
says 0 'it has not joined: .*another lineage' status node 4
says 0 'spindle-ctl view del node 4' status node 4
check "the node that was asked says so, too" wait_until 20 sh -c \
	"grep 'node 3 ' /tmp/events | grep -q 'another lineage of this cluster'" ||
	diag "$(cat /tmp/events)"
check "it joins the other one" spindle-ctl node join id 4 insecure contact $A:5003 contact $A:5001 \
	lineage "$first"
check "all are in view 3" wait_until 60 in_view 3 1 2 4
is "4 has its lineage" "$(lineage 4)" "$first"
check "5 begins with 6" spindle-ctl view set node 5 vid 1 live insecure timeout-ms 2000 \
	member 5@$A:5005 member 6@$A:5006
check "6 begins alone" begins 6
check "5 is refused" wait_until 20 sh -c \
	"spindle-ctl stats node 5 | grep -q 'another lineage'" ||
	diag "$(spindle-ctl stats node 5)"
check "views go" sh -c "spindle-ctl view del node 5; spindle-ctl view del node 6"
kill $monitor

# An evicted node goes back to its own lineage, or to none.
check "4 is evicted" spindle-ctl node evict id 1 node 4
check "it has stopped" wait_until 20 stopped 4
says 1 'another lineage' node join id 4 insecure contact $A:5003
says 1 'another lineage' node join id 4 insecure contact $A:5003
check "among two it finds its own" \
	spindle-ctl node join id 4 insecure contact $A:5003 contact $A:5002
is "that is the first" "$(lineage 4)" "$first"
check "4 leaves" spindle-ctl node leave id 4
check "it has stopped" wait_until 20 stopped 4
check "a node that has left may join any" spindle-ctl node join id 4 insecure contact $A:5003
is "that is the other one" "$(lineage 4)" "$(lineage 3)"
check "4 leaves again" spindle-ctl node leave id 4
check "it has stopped" wait_until 20 stopped 4
check "its view is removed" spindle-ctl view del node 4
says 1 'no view is installed' view del node 4

# ---- many contacts -----------------------------------------------------------

check "4 joins, the first two contacts are not there" \
	spindle-ctl node join id 4 insecure contact $A:5077 contact $A:5006 contact $A:5002
is "its lineage is the first" "$(lineage 4)" "$first"
check "4 leaves" spindle-ctl node leave id 4
check "it has stopped" wait_until 20 stopped 4
check "4 joins nobody" spindle-ctl node join id 4 insecure contact $A:5077 contact $A:5006 no-wait
check "the first answer is there" wait_until 20 answers 4 1 'no spindle node'
check "the second answer is there" wait_until 20 answers 4 2 'in no live view'
says 0 "$A:5077 *the contact is no spindle node" status node 4
says 0 'apply --bootstrap' status node 4
check "it joins still" joining 4
check "6 begins" begins 6
check "4 is in its view, without another word" wait_until 60 in_view 2 4 6
check "4 leaves" spindle-ctl node leave id 4
check "it has stopped" wait_until 20 stopped 4
check "6 goes" spindle-ctl node del id 6
says 1 'given twice' node join id 4 insecure contact $A:5001 contact $A:5001
says 1 'node itself' node join id 4 insecure contact $A:5001 contact $A:5004
says 2 "'contact' is missing" node join id 4
says 2 'value is missing' node join id 4 insecure contact
says 2 'not 32 hexadecimal digits' node join id 4 insecure contact $A:5001 lineage xyz
many=
for i in $(seq 65); do
	many="$many contact $A:$((6000 + i))"
done
# shellcheck disable=SC2086
says 1 'at most 64 contacts' node join id 4 insecure $many
# Some of 64 may wait for their turn when it is given up.
# shellcheck disable=SC2086
check "64 contacts" spindle-ctl node join id 4 insecure ${many% contact*} no-wait
check "some have answered" wait_until 20 answers 4 3 'no spindle node'
is "all are shown" "$(spindle-ctl -j -p status node 4 | grep -c '"answer"')" 64
check "it is given up" spindle-ctl node leave id 4
for i in view node; do
	check "4 joins nobody" spindle-ctl node join id 4 insecure contact 10.0.0.77:5001 no-wait
	check "its $i is removed while it waits" spindle-ctl $i del 4
done
check "there is a node again" spindle-ctl node add id 4 addr $A port 5004

# ---- what time does not change ------------------------------------------------

check "another cluster" spindle-ctl node add id 7 addr $A port 5007 cluster other
says 1 'another cluster' node join id 7 insecure contact $A:5001
says 1 "$A:5002: refused: another cluster" node join id 7 insecure contact $A:5001 contact $A:5002
check "with one that may come back it goes on" \
	spindle-ctl node join id 7 insecure contact $A:5001 contact $A:5077 no-wait
check "both have answered" wait_until 20 answers 7 2 'no spindle node'
check "it joins still" joining 7
check "it goes" spindle-ctl node del id 7
check "6 is there again" spindle-ctl node add id 6 addr $A port 5006
check "6 begins with another node 4" spindle-ctl view set node 6 vid 1 live insecure \
	member 6@$A:5006 member 4@$A:5044
says 1 'has a member with this id' node join id 4 insecure contact $A:5006
check "6 begins with this one" sh -c "spindle-ctl view del node 6 && \
	spindle-ctl view set node 6 vid 1 live insecure member 6@$A:5006 member 4@$A:5004"
check "that may be a former life of it" spindle-ctl node join id 4 insecure contact $A:5006 no-wait
check "it is told" wait_until 20 answers 4 1 'has a member with this id'
check "it joins still" joining 4
check "it is given up" spindle-ctl node leave id 4
check "the view goes" spindle-ctl view del node 6
check "4 joins" spindle-ctl node join id 4 insecure contact $A:5001
check "there is no room for 5" wait_until 60 in_view "$(live_word 1 vid)" 1 2 4
says 1 'no room for another node' node join id 5 insecure contact $A:5001
check "4 leaves" spindle-ctl node leave id 4
check "it has stopped" wait_until 20 stopped 4

# ---- a beginning that asks first -----------------------------------------------

check "its view is removed" spindle-ctl view del node 4
check "4 begins, but for the others" begins 4 contact $A:5077 contact $A:5002
check "it does not" wait_until 20 has_failed 4
says 0 "$A:5002: it is in a view of this cluster" status node 4
check "5 begins, and nobody is in a view" begins 5 contact $A:5077 contact $A:5004
check "it is active" wait_until 60 in_view 1 5
check "its lineage is a new one" [ "$(lineage 5)" != "$first" ]
check "the view goes" spindle-ctl view del node 5
# Both ask, and neither may answer: at most one begins.
begins 4 contact $A:5005 contact 10.0.0.77:5001
begins 5 contact $A:5004 contact 10.0.0.77:5001
check "both come to an end" wait_until 60 sh -c \
	'for i in 4 5; do spindle-ctl -j -p status node $i | grep -q "\"joining\"" && exit 1; done; exit 0'
began=0
for i in 4 5; do
	[ "$(live_word $i state)" != active ] || began=$((began + 1))
done
check "at most one of two begins" [ $began -le 1 ]
check "one says that the other begins as well" sh -c \
	'spindle-ctl status | grep -q "about to begin a view itself\|it is in a view of this cluster"'

# ---- everything goes in the middle of it -----------------------------------------

spindle-ctl view del node 4
spindle-ctl view del node 5
check "4 begins by force" begins 4
check "it is active" wait_until 60 in_view 1 4
check "the view goes" spindle-ctl view del node 4
check "4 joins" spindle-ctl node join id 4 insecure contact 10.0.0.77:5001 contact $A:5001 no-wait
check "5 begins" begins 5 contact 10.0.0.77:5001
check "nodes go" loop_del 6
check "module goes" rmmod spindle
finish
