#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Large messages in a live view that changes: nodes join, leave, are evicted and removed, and
# processes are killed with committed messages. At the same time messages of up to a MiB flow, with
# RDMC and without. All logs agree: the same messages, once, in one order, across the views.
# vm: own
# vm: uml
# vm: mem=2048
# vm: timeout=600
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

LEN=600000

loads()
{
	local i

	for i in "$@"; do
		load_start "$i" -l $LEN -r 0
	done
}

joins()
{
	spindle-ctl node join id "$1" insecure contact 10.0.0.1:5001 timeout 60
}

# more NODE...: do messages go on at all of them?
more()
{
	local i before

	for i in "$@"; do
		before=$(messages "$i")
		wait_until 60 more_than "$i" $((before + 30)) || return 1
	done
}

more_than()
{
	[ "$(messages "$1")" -gt "$2" ]
}

check "module loads" loop_start
check "6 nodes" loop_nodes 6
check "four nodes begin a live view" live_view 4 timeout-ms 3000 \
	subgroup 1 window 8 max-msg 1048576 ring 4194304
check "the first view is installed" wait_until 60 in_view 1 1 2 3 4
loads 1 2 3 4
check "messages flow" more 1 2 3 4
before=$(loop_stat 1 1 large)
check "RDMC sent some messages" test "$before" -gt 0
check "node 1 gets another threshold" spindle-ctl subgroup set node 1 id 1 large 64K
check "a node joins" joins 5
check "the view has the joined node" wait_until 60 in_view 2 1 2 3 4 5
check "the counter of large messages survives the change" \
	test "$(loop_stat 1 1 large)" -ge "$before"
is "the threshold survives the change" "$(loop_large 1 1)" 65536
is "a joined node has the default threshold" "$(loop_large 5 1)" 262144
check "the joined node gets a lower threshold" spindle-ctl subgroup set node 5 id 1 large 4096
loads 5
check "messages flow" more 1 2 3 4 5
check "a node leaves" spindle-ctl node leave id 2
check "the view is without the node that left" wait_until 60 in_view 3 1 3 4 5
check "messages flow" more 1 3 4 5
check "a node is evicted" spindle-ctl node evict id 1 node 3
check "the view is without the evicted node" wait_until 60 in_view 4 1 4 5
check "messages flow" more 1 4 5
check "a node joins" joins 6
check "the view has the joined node" wait_until 60 in_view 5 1 4 5 6
loads 6
check "messages flow" more 1 4 5 6
check "a node is removed" spindle-ctl node del id 4
check "the view is without the removed node" wait_until 60 in_view 6 1 5 6
check "messages flow" more 1 5 6

# ---- messages under way when a view ends -----------------------------------

# sum NAME: a counter of all that were in all these views
sum()
{
	echo $(($(loop_stat 1 1 "$1") + $(loop_stat 5 1 "$1") + $(loop_stat 6 1 "$1")))
}

# rises NAME FUNCTION: views end until a message that was held had to begin again. Nearly every view
# has such a message, but not at a known time.
rises()
{
	local before i

	before=$(sum "$1")
	for i in $(seq 20); do
		$2 || return 1
		[ "$(sum "$1")" -le "$before" ] || return 0
	done
	echo "$1 is $before still"
	return 1
}

comes_and_leaves()
{
	joins 3 && spindle-ctl node leave id 3 && wait_until 60 only 1 5 6
}

comes_and_dies()
{
	joins 3 && usleep 200000 && spindle-ctl node del id 3 && wait_until 60 only 1 5 6 &&
		spindle-ctl node add id 3 addr 10.0.0.1 port 5003
}

# only NODE...: are these the only members in the view of the first one?
only()
{
	[ "$(spindle-ctl -j -p status node "$1" | awk '
		/^ *"id":/ { id = $2 + 0 }
		/^ *"rank":/ { print id }' | sort -n | xargs)" = "$*" ]
}

diag "began again: $(sum large_again)"
check "a large message begins again after a view change" rises large_again comes_and_leaves
diag "began again: $(sum large_again)"
check "a large message begins again after a death" rises large_again comes_and_dies
diag "began again: $(sum large_again)"
check "messages flow" more 1 5 6

# A process dies with committed messages, and another one takes its place.
for i in 1 2 3; do
	eval "kill -9 \$load_5"
	usleep 30000
	loads 5
	check "a process is killed, another goes on ($i)" more 1 5 6
done
check "processes end" load_stop 1 5 6
check "logs agree" loads_agree
check "rdmc show lists no lost connection" spindle-ctl rdmc show
check "nodes can be removed" sh -c "for i in 1 2 3 5 6; do spindle-ctl node del id \$i || exit 1; done"
check "module goes" rmmod spindle
finish
