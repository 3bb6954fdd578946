#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Messages for the operator. The kernel log has the life of a view. Both nodes report a refusal. No
# node reports a failure that the next attempt resolves. No flood fills the log.
# vm: timeout=300 own
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

EV=/tmp/events

# logged N PATTERN: has the kernel log exactly N lines of the module with this pattern?
logged()
{
	[ "$(dmesg | grep -c "spindle: $2")" = "$1" ]
}

# log_says PATTERN: exactly once
log_says()
{
	if wait_until 30 logged 1 "$1"; then
		ok "log: $1"
		return
	fi
	not_ok "log: $1"
	dmesg | grep "spindle: " | tail -n 20 | sed 's/^/# /'
}

event()
{
	grep -q "$1" $EV
}

# told NODE PEER REASON: an event and the log of this node say it
told()
{
	check "event of node $1: $3" wait_until 30 event "peer-refused  *node $1  *peer $2  *($3)"
	log_says "node $1 of cluster [a-z]*: node $2: $3"
}

# reason NODE PEER TEXT: the counters of a node have this reason for a peer
reason()
{
	spindle-ctl stats node "$1" | grep -q "^ *$2  connecting .* $3\$"
}

no_refusal()
{
	if ! grep -q peer-refused $EV; then
		ok "$1: no peer-refused"
		return
	fi
	not_ok "$1: no peer-refused"
	grep peer-refused $EV | sed 's/^/# /'
}

check "module loads" loop_start
spindle-ctl monitor >$EV 2>&1 &
mon=$!
check "the monitor listens" wait_until 30 listens $mon

# ---- nothing is wrong -----------------------------------------------------------

# Two hosts that begin one after the other: the first dials in vain.
check "two nodes" loop_nodes 2
check "node 1 has a view" spindle-ctl view set node 1 vid 1 member 1@10.0.0.1:5001 \
	member 2@10.0.0.1:5002 subgroup 0
usleep 1500000
check "refusals of its requests are counted" [ "$(engine_stat 2 refused)" -gt 0 ]
check "node 2 has the same view" spindle-ctl view set node 2 vid 1 member 1@10.0.0.1:5001 \
	member 2@10.0.0.1:5002 subgroup 0
check "both nodes are active" wait_until 60 all_active 2
no_refusal "a start of two"
log_says "node 1 of cluster spindle: view 1 is installed, 2 members: 1-2"
check "nodes go" loop_del 2
log_says "node 2 of cluster spindle: node 1 is lost: disconnected by the peer"
log_says "node 2 of cluster spindle: view 1 is removed"

check "five nodes" loop_nodes 5 cluster prices
check "three nodes begin a live view" live_view 3 subgroup 1
check "the live view forms" wait_until 60 in_view 1 1 2 3
for i in 1 2 3; do
	log_says "node $i of cluster prices: view 1 is installed, 3 members: 1-3"
	log_says "node $i of cluster prices: view 1 with 3 members has formed"
done
check "a node joins" spindle-ctl node join id 5 insecure contact 10.0.0.1:5001
check "the node is in the second view" wait_until 60 in_view 2 1 2 3 5
no_refusal "a join"
log_says "node 5 of cluster prices: the node joins through 10.0.0.1:5001"
log_says "node 5 of cluster prices: view 2 is installed, 4 members: 1-3,5"
check "a node leaves" spindle-ctl node leave id 2
check "the other nodes are in the third view" wait_until 60 in_view 3 1 3 5
log_says "node 2 of cluster prices: the node is no longer a member of view 2: this node has left"
check "a node is evicted" spindle-ctl node evict id 1 node 5
check "the other nodes are in the fourth view" wait_until 60 in_view 4 1 3
no_refusal "a leave and an eviction"
log_says "node 1 of cluster prices: view 3: node 5 is suspected: an administrator evicts it"
log_says "node 3 of cluster prices: view 3: node 5 is suspected: node 1 suspects it"
log_says "node 5 of cluster prices: the node is no longer a member of view 3: the others go on"
check "a node of another cluster is added" \
	spindle-ctl node add id 6 addr 10.0.0.1 port 5006 cluster wages
check "a join that must fail" sh -c '! spindle-ctl node join id 4 insecure contact 10.0.0.1:5006'
log_says "node 4 of cluster prices: the node could not join: refused: another cluster"
check "nodes go" loop_del 6

# ---- refusals --------------------------------------------------------------------

# pair CLUSTER2 KEY2 WORDS2: nodes 1 and 2 with a view each; the second differs in something
pair()
{
	# shellcheck disable=SC2086
	spindle-ctl node add id 1 addr 10.0.0.1 port 5001 &&
		spindle-ctl node add id 2 addr 10.0.0.1 port 5002 $1 &&
		spindle-ctl view set node 1 vid 9 member 1@10.0.0.1:5001 \
			member 2@10.0.0.1:5002 subgroup 0 &&
		spindle-ctl view set node 2 vid 9 member 1@10.0.0.1:5001 \
			member 2@10.0.0.1:5002 subgroup 0 $2
}

# both REASON: node 1 dials, node 2 refuses, and both tell
both()
{
	told 2 1 "refused: $1"
	told 1 2 "this node was refused: $1"
	check "counters of node 1: $1" wait_until 30 reason 1 2 "refused: $1"
	check "counters of node 2: $1" wait_until 30 reason 2 1 "refused: $1"
	spindle-ctl stats node 2 >/tmp/out
	check "stats show the last refused node: $1" \
		grep -q "^  last refused: node 1, refused: $1" /tmp/out
	spindle-ctl -j stats node 2 >/tmp/out
	check "JSON shows the last refused node" \
		grep -q '"last_refused":{"id":1,"reason":"refused: ' /tmp/out
	spindle-ctl subgroup show node 2 >/tmp/out
	check "the subgroup names the command that helps" \
		grep -q "stats node 2' shows which members are missing" /tmp/out
}

check "two nodes have different views" pair "" "window 8"
both "the two nodes have different views"
# Ten attempts in a second go on for some seconds: one line each.
usleep 5000000
log_says "node 1 of cluster spindle: node 2: this node was refused: the two nodes have diff"
log_says "node 2 of cluster spindle: node 1: refused: the two nodes have different views"
spindle-ctl view set node 1 vid 10 member 1@10.0.0.1:5001 member 2@10.0.0.1:5002 subgroup 0
spindle-ctl view set node 2 vid 10 member 1@10.0.0.1:5001 member 2@10.0.0.1:5002 subgroup 0
check "two nodes have the same view" wait_until 60 all_active 2
check "no reason is left in stats" sh -c "! spindle-ctl stats node 2 | grep '^ *1 .*refused'"
check "nodes go" loop_del 2

check "two nodes have different clusters" pair "cluster other" ""
both "another cluster"
check "nodes go" loop_del 2

echo "a key of thirty-two bytes, or so." >/tmp/key
chmod 600 /tmp/key
check "one node has a key, the other has none" pair "key-file /tmp/key" ""
both "another key, or none"
check "nodes go" loop_del 2

# A live view that does not form shows it in its status.
check "two nodes" loop_nodes 2
for i in 1 2; do
	spindle-ctl \
		view set node $i vid 1 live insecure member 1@10.0.0.1:5001 member 2@10.0.0.1:5002 \
		subgroup $i
done
status_says()
{
	spindle-ctl status $1 | grep -q " connecting .*  refused: another lineage of this cluster"
}
check "status of node 1" wait_until 30 status_says 1
check "status of node 2" wait_until 30 status_says 2
check "nodes go" loop_del 2

# ---- a monitor that begins later -------------------------------------------------

check "two nodes" loop_nodes 2
check "a view of two nodes is installed" loop_view 2 20 subgroup 3
check "both nodes are active" wait_until 60 all_active 2
spindle-ctl monitor >/tmp/later 2>&1 &
later=$!
check "a later monitor lists the present objects" wait_until 30 grep -q exists-end /tmp/later
check "nodes" grep -q "exists  *node 1  vid 20  view" /tmp/later
check "peers" grep -q "exists  *node 2  peer 1  up" /tmp/later
check "subgroups" grep -q "exists  *node 2  vid 20  subgroup 3  active" /tmp/later
check "nodes go" loop_del 2
check "the later monitor shows events" wait_until 30 sh -c \
	"sed '1,/exists-end/d' /tmp/later | grep -q 'node-del  *node 2'"
kill $later

# ---- names and devices -----------------------------------------------------------

check "a node with a cluster name of several lines is added" \
	spindle-ctl node add id 7 addr 10.0.0.1 port 5007 \
	cluster "a
b"
check "a view of that node is installed" \
	spindle-ctl view set node 7 vid 1 member 7@10.0.0.1:5007 subgroup 0
log_says 'node 7 of cluster a\\nb: view 1 is installed, 1 member: 7'
kill $mon
rdma link delete rxe0
log_says 'node 7 of cluster a\\nb: the RDMA device is gone'
check "node goes" spindle-ctl node del 7
check "module goes" rmmod spindle
finish
