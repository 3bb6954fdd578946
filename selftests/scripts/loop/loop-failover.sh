#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# spindle-perf failover: it makes the requested number of changes, it reports all members that stay,
# and it prints figures. The values of the figures are not checked.
# vm: timeout=300 kernel=6.12
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

OUT=/tmp/failover.json
watcher_1=
watcher_2=
watcher_3=

# failover DESCRIPTION OPTION...: a short run that ends well; its results are in $OUT.
failover()
{
	local desc

	desc=$1
	shift
	rm -f "$OUT"
	check "$desc" limit 100 spindle-perf failover --quiet-ms 50 --json="$OUT" "$@"
}

get()
{
	json-get "$OUT" "/$1"
}

# holds DESCRIPTION CONDITION: numbers are not only whole ones.
holds()
{
	check "$1 ($2)" awk "BEGIN { exit !($2) }"
}

# survivors CHANGE NODE...: just these stay, and each has its gaps.
survivors()
{
	local at i

	at=changes/$1/survivors
	shift
	i=0
	for node in "$@"; do
		is "  node $node is a survivor" "$(get $at/$i/node)" "$node"
		holds "  the survivor has gaps" "$(get $at/$i/gaps) > 0"
		holds "  the survivor has a longest gap" "$(get $at/$i/longest_gap_us) >= 0"
		holds "  the survivor has gaps in the other subgroup" \
			"$(get $at/$i/fixed_gaps) > 0 &&
			$(get $at/$i/fixed_longest_gap_us) >= 0"
		for phase in wedge agree install; do
			holds "  phase $phase has a time" "$(get $at/$i/${phase}_us) >= 0"
		done
		i=$((i + 1))
	done
	check "  no other node is a survivor" absent "$at/$i"
}

absent()
{
	! get "$1" >/dev/null 2>&1
}

# watch NODE: it sends, and tells of each view.
watch()
{
	spindle-perf failover --wait 60 --node "$1" --json="/tmp/watch.$1.json" \
		>"/tmp/watch.$1" 2>&1 &
	eval "watcher_$1=$!"
}

# flows NODE FROM: has it delivered a hundred messages more?
flows()
{
	[ "$(loop_stat "$1" 1 delivered)" -ge $(($2 + 100)) ]
}

both_dead()
{
	dead "$watcher_1" && dead "$watcher_2"
}

no_process()
{
	! grep -qx spindle-perf /proc/[0-9]*/comm 2>/dev/null
}

no_nodes()
{
	spindle-ctl node show | grep -q "There is no node"
}

check "module loads" loop_start

failover "each kind of change runs twice" -r 2
i=0
for rep in 1 2; do
	for kind in join leave evict crash del subgroup-add subgroup-replace subgroup-del; do
		is "change $i" "$(get changes/$i/kind) $(get changes/$i/repetition)" "$kind $rep"
		is "  led to one view" "$(get changes/$i/views)" 1
		case $kind in
		join) is "  of all nodes" "$(get changes/$i/members)" 4 ;;
		*) is "  of those that stay" "$(get changes/$i/members)" 3 ;;
		esac
		survivors $i 1 2 3
		i=$((i + 1))
	done
done
check "the result has no other changes" absent "changes/$i"
# A key of JSON has _ in place of -.
for kind in join leave evict crash del subgroup_add subgroup_replace subgroup_del; do
	is "$kind: the result has two changes" "$(get kinds/$kind/changes)" 2
	is "  the figures include all members that stay" \
		"$(get kinds/$kind/longest_gap_us/values)" 6
	is "  the phases include all members that stay" "$(get kinds/$kind/install_us/values)" 6
done
is "the result has the times of two joins" "$(get kinds/join/join_first_us/values)" 2
holds "  the times of a join are in order" \
	"$(get changes/0/join_view_us) <= $(get changes/0/join_attach_us) &&
	$(get changes/0/join_attach_us) <= $(get changes/0/join_first_us)"
i=0
for subgroup in 1 2; do
	for node in 1 2 3; do
		is "reader $i has its node and subgroup" \
			"$(get quiet/$i/node) $(get quiet/$i/subgroup)" "$node $subgroup"
		holds "  the reader has gaps without a change" "$(get quiet/$i/gaps) > 0 &&
			$(get quiet/$i/median_us) >= 0 &&
			$(get quiet/$i/p99_us) >= $(get quiet/$i/median_us) &&
			$(get quiet/$i/longest_us) >= $(get quiet/$i/p99_us)"
		holds "  the reader has sent" \
			"$(get quiet/$i/sent) > 0 && $(get quiet/$i/sent_per_s) > 0"
		holds "  the reader has delivered" \
			"$(get quiet/$i/delivered) >= $(get quiet/$i/sent)"
		i=$((i + 1))
	done
done
check "the nodes are removed at the end" no_nodes

failover "failover runs two kinds with other numbers" \
	--kind evict,join -r 1 -n 3 -R 500 -S 1000 -w 16
is "  the changes are in their order" "$(get changes/0/kind) $(get changes/1/kind)" "join evict"
check "  the result has no other changes" absent changes/2
survivors 1 1 2
is "  the result names the device" "$(get devices/0)" rxe0
is "  the result has the configuration" \
	"$(get config/nodes) $(get config/rate) $(get config/size)" "3 500 1000"
check "  the nodes are removed at the end" no_nodes
check "failover prints a table" \
	sh -c "limit 100 spindle-perf failover --kind leave -r 1 --quiet-ms 50 \
	>/tmp/table"
sed 's/^/# /' /tmp/table
for word in "leave: 1 change" "longest gap, node 3" wedge agree install \
	    "in the subgroup that stays" "gaps without a change"; do
	check "  the table has: $word" grep -q "$word" /tmp/table
done

# ---- interrupted ---------------------------------------------------------------

rm -f "$OUT"
spindle-perf failover -r 1000 --kind crash --quiet-ms 50 --json="$OUT" >/tmp/table 2>&1 &
pid=$!
sleep 3
kill -TERM $pid
check "a signal ends failover" wait_until 20 dead $pid
check "  the nodes are removed" no_nodes
is "  the result has the changes so far" "$(get changes/0/kind)" crash
wait $pid || true
check "  all processes have ended" wait_until 10 no_process

# ---- watching ------------------------------------------------------------------

check "nodes" loop_nodes 3
check "nodes 1 and 2 begin a live view" live_view 2 subgroup 1 window 32 max-msg 256
check "nodes 1 and 2 are in the first view" wait_until 60 in_view 1 1 2
watch 1
watch 2
# A gap has a message on either side.
check "messages flow" wait_until 60 flows 2 0
check "node 3 joins" spindle-ctl node join id 3 insecure contact 10.0.0.1:5001
watch 3
check "a line reports the join" wait_until 20 grep -q "^view 2: 3 members; longest gap [0-9]" \
	/tmp/watch.2
check "messages flow in the second view" wait_until 60 flows 2 "$(loop_stat 2 1 delivered)"
check "node 3 is evicted" spindle-ctl node evict id 1 node 3
check "a line reports the eviction" wait_until 20 grep -q "^view 3: 2 members; longest gap [0-9]" \
	/tmp/watch.2
check "the watcher of the evicted node has ended" wait_until 20 dead "$watcher_3"
check "  this watcher says why" grep -q "^spindle-perf: node 3, subgroup 1: " /tmp/watch.3
kill -TERM "$watcher_1" "$watcher_2"
check "the other watchers end" wait_until 20 both_dead
check "a watcher has counted views and messages" \
	grep -q "^2 views; [1-9][0-9]* messages; " /tmp/watch.2
sed 's/^/# /' /tmp/watch.2
OUT=/tmp/watch.2.json
is "JSON has both changes" "$(get changes/0/vid) $(get changes/1/vid)" "2 3"
check "  JSON has no other changes" absent changes/2
is "  JSON names the node" "$(get changes/1/survivors/0/node)" 2
check "nodes go" loop_del 3

check "a node that does not exist cannot be watched" \
	sh -c "! spindle-perf failover --wait 1 --node 9"
check "module goes" rmmod spindle
finish
