#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Live views: refusals, failures and their messages. Nodes that are removed in the middle of a join,
# a leave and an eviction. A view with traffic notices none of this. The text of "status" in each
# state.
# vm: timeout=300 uml hostile
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

A=10.0.0.1

# untouched WHAT: has the view of 1, 2 and 3 not changed?
untouched()
{
	check "$1: the view is as it was" in_view 1 1 2 3
}

# joins NODE CONTACT PATTERN: it says why it is not in yet, in words; then it gives up.
joins()
{
	local node contact pattern

	node=$1
	contact=$2
	pattern=$3
	check "join by $contact begins" \
		spindle-ctl node join id "$node" insecure contact "$contact" no-wait
	check "status says '$pattern'" wait_until 20 reason_is "$node" "$pattern"
	is "the node is joining" "$(live_word "$node" state)" joining
	says 1 'is already joining a live view' node join id "$node" insecure contact $A:5001
	says 1 'in a live view: leave it' view set node "$node" vid 3 member "$node@$A:500$node"
	check "the join is cancelled" spindle-ctl node leave id "$node"
	says 0 'no live view' status node "$node"
}

# fails NODE CONTACT PATTERN: the join fails for good. A process that missed the event sees the
# reason in the status.
fails()
{
	says 1 "$3" node join id "$1" insecure contact "$2"
	says 0 "it has not joined: .*$3" status node "$1"
	is "the join has failed" "$(live_word "$1" state)" failed
}

reason_is()
{
	live_word "$1" reason | grep -q "$2"
}

stopped()
{
	[ "$(live_word "$1" state)" = stopped ]
}

add()
{
	local i

	i=$1
	shift
	spindle-ctl node add id "$i" addr "${ADDR:-$A}" port "500$i" "$@"
}

check "module loads" loop_start
check "nodes" loop_nodes 6
check "a node of another cluster is added" add 7 cluster other
ADDR=fd00::1 check "one with another family" add 8
check "three nodes begin a live view" \
	live_view 3 timeout-ms 5000 max-nodes 5 subgroup 1 window 32 max-msg 256 min 2
check "three nodes are in the first view" wait_until 60 in_view 1 1 2 3
check "node 5 is in a static view" spindle-ctl view set node 5 vid 4 member 5@$A:5005 subgroup 9
for i in 1 2 3; do
	load_start $i
done

# ---- rules that cannot be -------------------------------------------------

M1="member 4@$A:5004"
# shellcheck disable=SC2086
{
says 2 'not a number from 20 to 60000' view set node 4 vid 1 live insecure timeout-ms 19 $M1
says 2 'not a number from 20 to 60000' view set node 4 vid 1 live insecure timeout-ms 60001 $M1
says 2 'not a number from 1 to 64' view set node 4 vid 1 live insecure max-nodes 0 $M1
says 2 'not a number from 1 to 64' view set node 4 vid 1 live insecure max-nodes 65 $M1
says 2 'there are 2 members, and max-nodes is 1' \
	view set node 4 vid 1 live insecure max-nodes 1 $M1 member 2@$A:5002
M2="$M1 member 2@$A:5002"
says 1 'fewer members than its min' view set node 4 vid 1 live insecure $M2 subgroup 1 min 3
says 1 'fewer members than its min' view set node 4 vid 1 live insecure $M2 subgroup 1 shards 3
says 1 'fewer members than its min' view set node 4 vid 1 live insecure $M2 \
	subgroup 1 members 4,77 senders 77
says 1 'fewer members than its min' view set node 4 vid 1 live insecure $M2 subgroup 1 members 77
says 1 'fewer members than its min' view set node 4 vid 1 live insecure $M2 witness 2 \
	subgroup 1 min 2
says 2 'node 4 is a witness, which is in no subgroup' view set node 4 vid 1 live insecure $M2 \
	witness 4 subgroup 1 members 2,4
says 2 'not a number from 1 to 64' view set node 4 vid 1 live insecure $M1 subgroup 1 shards 0
says 2 'not a number from 1 to 64' view set node 4 vid 1 live insecure $M1 subgroup 1 shards 65
says 2 'not a number from 1 to 64' view set node 4 vid 1 live insecure $M1 subgroup 1 min 0
says 2 'not a number from 1 to 64' view set node 4 vid 1 live insecure $M1 subgroup 1 min 65
says 1 'at most 64 subgroups' \
	view set node 4 vid 1 live insecure $M1 subgroup 1 shards 64 subgroup 99
says 1 'same id' \
	view set node 4 vid 1 live insecure $M1 member 2@$A:5002 subgroup 1 shards 2 subgroup 2
says 1 'do not fit into 32 bits' view set node 4 vid 1 live insecure $M1 member 2@$A:5002 \
	subgroup 4294967295 shards 2
says 1 'at least one sender' view set node 4 vid 1 live insecure $M1 subgroup 1 senders none
says 1 'twice' view set node 4 vid 1 live insecure $M1 subgroup 1 members 4,4
says 1 'view ids start at 1\|vid 0' view set node 4 vid 0 live insecure $M1
says 1 'not a member of the view' view set node 4 vid 1 live insecure member 2@$A:5002
says 1 'another address or port' view set node 4 vid 1 live insecure member 4@$A:5055
}
says 2 'is for live views only' view set node 4 vid 1 member 4@$A:5004 subgroup 1 min 1
says 0 'no live view' status node 4
untouched "rules"

# ---- a node that has a view -----------------------------------------------

says 1 'in a live view already: leave it first' \
	view set node 1 vid 1 live insecure member 1@$A:5001 subgroup 1
says 1 'in a live view already: leave it first' \
	view set node 1 vid 2 live insecure member 1@$A:5001 subgroup 1
says 1 'in a live view: leave it' view set node 1 vid 2 member 1@$A:5001 subgroup 1
says 1 'in a static view: remove that first (view del)' \
	view set node 5 vid 9 live insecure member 5@$A:5005 subgroup 1
says 1 'in a live view already: leave it first' node join id 1 insecure contact $A:5002
says 1 'in a static view: remove that first (view del)' node join id 5 insecure contact $A:5001
check "the same view again changes nothing" \
	spindle-ctl view set node 1 vid 1 live insecure timeout-ms 5000 max-nodes 5 \
	member 1@$A:5001 member 2@$A:5002 member 3@$A:5003 \
	subgroup 1 window 32 max-msg 256 min 2
untouched "set again"

# ---- joins ----------------------------------------------------------------

says 1 'contact is the node itself' node join id 4 insecure contact $A:5004
says 1 'of another family' node join id 4 insecure contact '[fd00::1]:5008'
says 1 'of another family' node join id 8 insecure contact $A:5001
says 1 'no node\|at: id 66' node join id 66 insecure contact $A:5001
says 1 'address' node join id 4 insecure contact 224.0.0.1:5001
fails 7 $A:5001 'another cluster'
joins 4 $A:5066 'no spindle node'
joins 4 10.0.0.77:5001 'cannot be reached\|does not answer'
joins 4 $A:5006 'is in no live view'
joins 4 $A:5005 'is in no live view'
# The one that is in the way may be a former life of node 4, which the others will miss.
check "node 6 begins a view with an absent member" \
	spindle-ctl view set node 6 vid 1 live insecure member 6@$A:5006 member 4@$A:5004 subgroup 1
is "the view of node 6 is forming" "$(live_word 6 state)" forming
says 0 'FORMING' status node 6
says 0 'Not connected: 4' status node 6
joins 4 $A:5006 'has a member with this id'
says 1 'not done after 1 seconds.*JOINING' node join id 4 insecure contact $A:5006 timeout 1
says 0 'JOINING' status node 4
says 0 'to give up: spindle-ctl node leave id 4' status node 4
check "the join goes on until a command ends it" spindle-ctl node leave id 4
check "the view that never formed is removed" spindle-ctl view del node 6
says 1 'in no live view' node leave id 6
untouched "joins"

# ---- evictions, and refused evictions -----------------------------------

says 1 'in no live view' node leave id 4
says 1 'in no live view' node leave id 5
says 1 'in no live view' node evict id 4 node 1
says 1 'does not evict itself' node evict id 1 node 1
says 1 'no member of the view' node evict id 1 node 4
says 1 'at: node 0\|allowed: from 1' node evict id 1 node 0
says 2 'node' node evict id 1
raw=$(limit 60 technique raw -n 1 -g 1 -k write -s 64 -c 10 2>&1)
check "a raw measurement is refused" sh -c "echo '$raw' | grep -qi 'live view'" || diag "$raw"
untouched "refusals"
says 0 'ACTIVE' status node 1
is "status shows no change yet" "$(live_word 1 changes)" 0
is "status shows no error" "$(live_word 1 why)" fine

# ---- members join and leave, and learn of it ----------------------------------

check "node 4 joins" spindle-ctl node join id 4 insecure contact $A:5001
check "four nodes are in view 2" wait_until 60 in_view 2 1 2 3 4
check "node 6 joins" spindle-ctl node join id 6 insecure contact $A:5004
check "five nodes are in view 3" wait_until 60 in_view 3 1 2 3 4 6
check "the static view of node 5 is removed" spindle-ctl view del node 5
fails 5 $A:5002 'no room for another node'
check "the view is as it was" in_view 3 1 2 3 4 6
check "node 6 leaves" spindle-ctl node leave id 6
check "node 6 has stopped" wait_until 20 stopped 6
is "status says that node 6 left" "$(live_word 6 why)" left
says 0 'STOPPED' status node 6
says 1 'in no live view' node leave id 6
says 1 'in no live view' node evict id 6 node 1
check "four nodes are in view 4" wait_until 60 in_view 4 1 2 3 4
check "node 4 is evicted" spindle-ctl node evict id 2 node 4
check "node 4 has stopped" wait_until 20 stopped 4
is "status says that node 4 was evicted" "$(live_word 4 why)" evicted
says 0 'To have it back: spindle-ctl node join id 4' status node 4
check "three nodes are in view 5" wait_until 60 in_view 5 1 2 3
check "a stopped node may join again" spindle-ctl node join id 4 insecure contact $A:5003
check "four nodes are in view 6" wait_until 60 in_view 6 1 2 3 4

# ---- nodes that go in the middle of it -------------------------------------

# highest: the latest view of node 1
highest()
{
	live_word 1 vid
}

# knows NODE MEMBER: has it installed a view with this member?
knows()
{
	spindle-ctl -j -p status node "$1" | grep -A 3 "\"id\": *$2,*\$" | grep -q '"rank"'
}

# alone: 1, 2 and 3 are the only members, and agree on that.
alone()
{
	local vid

	vid=$(highest)
	in_view "$vid" 1 2 3 &&
		[ "$(spindle-ctl -j -p status node 1 | grep -c '"rank"')" = 3 ]
}

# remove_after NAP WHAT: node 4 goes in the middle of it, and the others are alone again.
remove_after()
{
	usleep "$1"
	spindle-ctl node del id 4 && add 4 || bad=1
	wait_until 30 alone || { bad=1; diag "not alone after $2 cut off at $1"; }
}

bad=0
for nap in 0 1000 3000 5000 10000 20000 40000 80000; do
	spindle-ctl node del id 4 && add 4 || bad=1
	spindle-ctl node join id 4 insecure contact $A:5001 no-wait || bad=1
	remove_after $nap "a join"
done
is "nodes can be removed during a join" $bad 0
bad=0
for nap in 0 500 1000 2000 5000 10000; do
	spindle-ctl node join id 4 insecure contact $A:5002 || bad=1
	spindle-ctl node leave id 4 no-wait || bad=1
	remove_after $nap "a leave"
done
is "nodes can be removed during a leave" $bad 0
bad=0
for nap in 0 500 1000 2000 5000 10000; do
	spindle-ctl node join id 4 insecure contact $A:5003 || bad=1
	wait_until 30 knows 2 4 || bad=1
	spindle-ctl node evict id 2 node 4 no-wait || bad=1
	remove_after $nap "an eviction"
done
is "nodes can be removed during an eviction" $bad 0
check "processes end" load_stop 1 2 3
check "logs agree" loads_agree

# ---- too few ---------------------------------------------------------------

check "node 3 leaves" spindle-ctl node leave id 3
check "nodes 1 and 2 are in the next view" wait_until 60 in_view "$(($(live_word 3 vid) + 1))" 1 2
says 1 'would have too few members' node leave id 2
says 1 'no majority' node evict id 1 node 2
check "nodes 1 and 2 stay in their view" in_view "$(highest)" 1 2
# A node that is removed says so, and counts as one that left. The subgroup then has too few
# members, and waits.
vid=$(highest)
check "node 2 is removed" spindle-ctl node del id 2
check "node 1 goes on alone" wait_until 30 in_view $((vid + 1)) 1
check "the subgroup of node 1 waits" wait_until 20 sh -c \
	'spindle-ctl -j -p subgroup show node 1 | grep -q "\"state\": *\"forming\""'
check "the last member leaves" spindle-ctl node leave id 1
is "status says that node 1 left" "$(live_word 1 why)" left

# ---- the module goes right after ------------------------------------------

check "node 2 is added again" add 2
for i in 1 2 3; do
	spindle-ctl node del id $i
	add $i
done
check "three nodes begin a live view" live_view 3 subgroup 1
check "three nodes are in the first view" wait_until 60 in_view 1 1 2 3
spindle-ctl node join id 4 insecure contact $A:5001 no-wait
spindle-ctl node join id 6 insecure contact $A:5002 no-wait
spindle-ctl node evict id 1 node 3 no-wait
spindle-ctl node leave id 2 no-wait
check "nodes go" loop_del 8

# ---- the device goes ------------------------------------------------------

check "three nodes are added" loop_nodes 3
check "node 1 begins a live view" live_view 1 subgroup 1
check "node 1 is in the first view" wait_until 60 in_view 1 1
check "node 2 asks a contact that does not exist" \
	spindle-ctl node join id 2 insecure contact 10.0.0.77:5001 no-wait
check "the device is deleted" limit 60 rdma link delete rxe0
says 0 'DEAD' status node 1
says 0 'last: the RDMA device was removed: rxe0; it was in view 1$' status node 1
says 0 'action: .*spindle-ctl node del id 1' status node 1
says 0 'last: the RDMA device was removed while the node joined: rxe0$' status node 2
says 0 'last: the RDMA device was removed: rxe0$' status node 3
says 1 'device is gone' node join id 1 insecure contact 10.0.0.1:5002
check "dead nodes can be removed" loop_del 3
check "module goes" rmmod spindle
finish
