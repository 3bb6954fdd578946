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
	spindle-ctl view set node "$i" vid 1 live insecure timeout-ms 5000 max-nodes 3 $(one "$i") \
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

check "node 1 begins a view" begins 1
check "node 1 is active" wait_until 60 in_view 1 1
first=$(lineage 1)
check "the lineage has 32 digits" sh -c "echo $first | grep -qE '^[0-9a-f]{32}$'"
is "status shows the lineage" \
	"$(spindle-ctl status node 1 | sed -n 's/^ *of: lineage //p')" "$first"
is "view show has the lineage" \
	"$(spindle-ctl view show node 1 | sed -n 's/^ *lineage //p')" "$first"
is "the JSON of view show has the lineage" \
	"$(spindle-ctl -j -p view show node 1 | sed -n 's/.*"lineage": *"\(.*\)".*/\1/p')" \
	"$first"
check "node 2 joins" spindle-ctl node join id 2 insecure contact $A:5001
check "nodes 1 and 2 are in view 2" wait_until 60 in_view 2 1 2
is "node 2 has the lineage of node 1" "$(lineage 2)" "$first"
check "node 3 begins a separate view with the same words" begins 3
check "node 3 is active" wait_until 60 in_view 1 3
check "node 3 has another lineage" [ "$(lineage 3)" != "$first" ]
check "the same view again changes nothing" begins 3
# shellcheck disable=SC2046,SC2086
says 1 'in a live view already' \
	view set node 3 vid 1 live insecure timeout-ms 5000 max-nodes 3 $(one 3) \
	$SUBGROUP lineage "$first"
says 2 'not 32 hexadecimal digits' view set node 4 vid 1 live insecure lineage 12 member 4@$A:5004
says 1 'not zero' view set node 4 vid 1 live insecure lineage 00000000000000000000000000000000 \
	member 4@$A:5004

# ---- two lineages do not meet ------------------------------------------------

spindle-ctl monitor >/tmp/events &
monitor=$!
check "the monitor listens" wait_until 30 listens $monitor
says 1 'another lineage of this cluster' node join id 4 insecure contact $A:5003 lineage "$first"
says 0 'it has not joined: .*another lineage' status node 4
says 0 'spindle-ctl view del node 4' status node 4
check "the refusing node has an event as well" wait_until 20 sh -c \
	"grep 'node 3 ' /tmp/events | grep -q 'another lineage of this cluster'" ||
	diag "$(cat /tmp/events)"
check "node 4 joins the group of its lineage" \
	spindle-ctl node join id 4 insecure contact $A:5003 contact $A:5001 \
	lineage "$first"
check "nodes 1, 2 and 4 are in view 3" wait_until 60 in_view 3 1 2 4
is "node 4 has the given lineage" "$(lineage 4)" "$first"
check "node 5 begins with node 6" spindle-ctl view set node 5 vid 1 live insecure timeout-ms 5000 \
	member 5@$A:5005 member 6@$A:5006
check "node 6 begins alone" begins 6
check "node 5 is refused" wait_until 20 sh -c \
	"spindle-ctl stats node 5 | grep -q 'another lineage'" ||
	diag "$(spindle-ctl stats node 5)"
check "both views are removed" sh -c "spindle-ctl view del node 5; spindle-ctl view del node 6"
kill $monitor

# An evicted node goes back to its own lineage, or to none.
check "node 4 is evicted" spindle-ctl node evict id 1 node 4
check "node 4 has stopped" wait_until 20 stopped 4
says 1 'another lineage' node join id 4 insecure contact $A:5003
says 1 'another lineage' node join id 4 insecure contact $A:5003
check "node 4 joins the contact of its own lineage" \
	spindle-ctl node join id 4 insecure contact $A:5003 contact $A:5002
is "node 4 has the first lineage" "$(lineage 4)" "$first"
check "node 4 leaves" spindle-ctl node leave id 4
check "node 4 has stopped" wait_until 20 stopped 4
check "a node that has left may join any group" spindle-ctl node join id 4 insecure contact $A:5003
is "node 4 has the lineage of node 3" "$(lineage 4)" "$(lineage 3)"
check "node 4 leaves again" spindle-ctl node leave id 4
check "node 4 has stopped" wait_until 20 stopped 4
check "the view of node 4 is removed" spindle-ctl view del node 4
says 1 'no view is installed' view del node 4

# ---- many contacts -----------------------------------------------------------

check "node 4 joins although its first two contacts are absent" \
	spindle-ctl node join id 4 insecure contact $A:5077 contact $A:5006 contact $A:5002
is "node 4 has the first lineage" "$(lineage 4)" "$first"
check "node 4 leaves" spindle-ctl node leave id 4
check "node 4 has stopped" wait_until 20 stopped 4
check "node 4 asks two contacts without a view" \
	spindle-ctl node join id 4 insecure contact $A:5077 contact $A:5006 no-wait
check "status shows the first answer" wait_until 20 answers 4 1 'no spindle node'
check "status shows the second answer" wait_until 20 answers 4 2 'in no live view'
says 0 "$A:5077 *the contact is no spindle node" status node 4
says 0 'apply --bootstrap' status node 4
check "node 4 still joins" joining 4
check "node 6 begins a view" begins 6
check "node 4 joins node 6 without another command" wait_until 60 in_view 2 4 6
check "node 4 leaves" spindle-ctl node leave id 4
check "node 4 has stopped" wait_until 20 stopped 4
check "node 6 is removed" spindle-ctl node del id 6
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
check "node 4 asks 64 contacts" spindle-ctl node join id 4 insecure ${many% contact*} no-wait
check "three contacts have answered" wait_until 20 answers 4 3 'no spindle node'
is "status shows all 64 contacts" "$(spindle-ctl -j -p status node 4 | grep -c '"answer"')" 64
check "the join is cancelled" spindle-ctl node leave id 4
for i in view node; do
	check "node 4 asks a contact that does not exist" \
		spindle-ctl node join id 4 insecure contact 10.0.0.77:5001 no-wait
	check "the $i of node 4 is removed during the join" spindle-ctl $i del 4
done
check "node 4 is added again" spindle-ctl node add id 4 addr $A port 5004

# ---- what time does not change ------------------------------------------------

check "a node of another cluster is added" spindle-ctl node add id 7 addr $A port 5007 cluster other
says 1 'another cluster' node join id 7 insecure contact $A:5001
says 1 "$A:5002: refused: another cluster" node join id 7 insecure contact $A:5001 contact $A:5002
check "the join goes on with a contact that may come back" \
	spindle-ctl node join id 7 insecure contact $A:5001 contact $A:5077 no-wait
check "both contacts have answered" wait_until 20 answers 7 2 'no spindle node'
check "node 7 still joins" joining 7
check "node 7 is removed" spindle-ctl node del id 7
check "node 6 is added again" spindle-ctl node add id 6 addr $A port 5006
check "node 6 begins with another node 4" spindle-ctl view set node 6 vid 1 live insecure \
	member 6@$A:5006 member 4@$A:5044
says 1 'has a member with this id' node join id 4 insecure contact $A:5006
check "node 6 begins with this node 4" sh -c "spindle-ctl view del node 6 && \
	spindle-ctl view set node 6 vid 1 live insecure member 6@$A:5006 member 4@$A:5004"
check "node 4 asks node 6, which knows a former incarnation of it" \
	spindle-ctl node join id 4 insecure contact $A:5006 no-wait
check "node 4 gets the reason" wait_until 20 answers 4 1 'has a member with this id'
check "node 4 still joins" joining 4
check "the join is cancelled" spindle-ctl node leave id 4
check "the view of node 6 is removed" spindle-ctl view del node 6
check "node 4 joins" spindle-ctl node join id 4 insecure contact $A:5001
check "the view has no room for node 5" wait_until 60 in_view "$(live_word 1 vid)" 1 2 4
says 1 'no room for another node' node join id 5 insecure contact $A:5001
check "node 4 leaves" spindle-ctl node leave id 4
check "node 4 has stopped" wait_until 20 stopped 4

# ---- a beginning that asks first -----------------------------------------------

check "the view of node 4 is removed" spindle-ctl view del node 4
check "node 4 asks contacts before it begins" begins 4 contact $A:5077 contact $A:5002
check "node 4 does not begin, because a contact is in a view" wait_until 20 has_failed 4
says 0 "$A:5002: it is in a view of this cluster" status node 4
check "node 5 begins, because no contact is in a view" begins 5 contact $A:5077 contact $A:5004
check "node 5 is active" wait_until 60 in_view 1 5
check "node 5 has a new lineage" [ "$(lineage 5)" != "$first" ]
check "the view of node 5 is removed" spindle-ctl view del node 5
# Both ask, and neither may answer: at most one begins.
begins 4 contact $A:5005 contact 10.0.0.77:5001
begins 5 contact $A:5004 contact 10.0.0.77:5001
check "both attempts to begin end" wait_until 60 sh -c \
	'for i in 4 5; do spindle-ctl -j -p status node $i | grep -q "\"joining\"" && exit 1; done; exit 0'
began=0
for i in 4 5; do
	[ "$(live_word $i state)" != active ] || began=$((began + 1))
done
check "at most one of two nodes begins" [ $began -le 1 ]
check "one node reports that the other one begins as well" sh -c \
	'spindle-ctl status | grep -q "about to begin a view itself\|it is in a view of this cluster"'

# ---- everything goes in the middle of it -----------------------------------------

spindle-ctl view del node 4
spindle-ctl view del node 5
check "node 4 begins without contacts" begins 4
check "node 4 is active" wait_until 60 in_view 1 4
check "the view of node 4 is removed" spindle-ctl view del node 4
check "node 4 begins to join" \
	spindle-ctl node join id 4 insecure contact 10.0.0.77:5001 contact $A:5001 no-wait
check "node 5 asks before it begins" begins 5 contact 10.0.0.77:5001
check "nodes go" loop_del 6
check "module goes" rmmod spindle
finish
