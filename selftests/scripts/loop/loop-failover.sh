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
		is "  node $node stays" "$(get $at/$i/node)" "$node"
		holds "  it has gaps" "$(get $at/$i/gaps) > 0"
		holds "  a longest one" "$(get $at/$i/longest_gap_us) >= 0"
		holds "  in the other subgroup as well" "$(get $at/$i/fixed_gaps) > 0 &&
			$(get $at/$i/fixed_longest_gap_us) >= 0"
		for phase in wedge agree install; do
			holds "  $phase" "$(get $at/$i/${phase}_us) >= 0"
		done
		i=$((i + 1))
	done
	check "  nobody else" absent "$at/$i"
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

failover "all kinds of changes, twice each" -r 2
i=0
for rep in 1 2; do
	for kind in join leave evict crash del; do
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
check "no more changes" absent "changes/$i"
for kind in join leave evict crash del; do
	is "$kind: changes" "$(get kinds/$kind/changes)" 2
	is "  all that stay are in its figures" "$(get kinds/$kind/longest_gap_us/values)" 6
	is "  all phases, too" "$(get kinds/$kind/install_us/values)" 6
done
is "joins are timed" "$(get kinds/join/join_first_us/values)" 2
holds "  in order" "$(get changes/0/join_view_us) <= $(get changes/0/join_attach_us) &&
	$(get changes/0/join_attach_us) <= $(get changes/0/join_first_us)"
i=0
for subgroup in 1 2; do
	for node in 1 2 3; do
		is "reader $i" "$(get quiet/$i/node) $(get quiet/$i/subgroup)" "$node $subgroup"
		holds "  gaps without a change" "$(get quiet/$i/gaps) > 0 &&
			$(get quiet/$i/median_us) >= 0 &&
			$(get quiet/$i/p99_us) >= $(get quiet/$i/median_us) &&
			$(get quiet/$i/longest_us) >= $(get quiet/$i/p99_us)"
		holds "  it has sent" "$(get quiet/$i/sent) > 0 && $(get quiet/$i/sent_per_s) > 0"
		holds "  messages came" "$(get quiet/$i/delivered) >= $(get quiet/$i/sent)"
		i=$((i + 1))
	done
done
check "the nodes are gone" no_nodes

failover "some kinds, other numbers" --kind evict,join -r 1 -n 3 -R 500 -S 1000 -w 16
is "  in their order" "$(get changes/0/kind) $(get changes/1/kind)" "join evict"
check "  no more" absent changes/2
survivors 1 1 2
is "  on a device" "$(get devices/0)" rxe0
is "  as configured" "$(get config/nodes) $(get config/rate) $(get config/size)" "3 500 1000"
check "  the nodes are gone" no_nodes
check "a table" sh -c "limit 100 spindle-perf failover --kind leave -r 1 --quiet-ms 50 \
	>/tmp/table"
sed 's/^/# /' /tmp/table
for word in "leave: 1 change" "longest gap, node 3" wedge agree install \
	    "in the subgroup that stays" "gaps without a change"; do
	check "  has: $word" grep -q "$word" /tmp/table
done

# ---- interrupted ---------------------------------------------------------------

rm -f "$OUT"
spindle-perf failover -r 1000 --kind crash --quiet-ms 50 --json="$OUT" >/tmp/table 2>&1 &
pid=$!
sleep 3
kill -TERM $pid
check "a signal ends it" wait_until 20 dead $pid
check "  the nodes are gone" no_nodes
is "  what was measured is there" "$(get changes/0/kind)" crash
wait $pid || true
check "  all processes are gone" wait_until 10 no_process

# ---- watching ------------------------------------------------------------------

check "nodes" loop_nodes 3
check "two of them begin" live_view 2 subgroup 1 window 32 max-msg 256
check "they form the first view" wait_until 60 in_view 1 1 2
watch 1
watch 2
# A gap has a message on either side.
check "messages flow" wait_until 60 flows 2 0
check "a node joins" spindle-ctl node join id 3 insecure contact 10.0.0.1:5001
watch 3
check "a line tells of it" wait_until 20 grep -q "^view 2: 3 members; longest gap [0-9]" \
	/tmp/watch.2
check "messages flow in the second view" wait_until 60 flows 2 "$(loop_stat 2 1 delivered)"
check "it is evicted" spindle-ctl node evict id 1 node 3
check "a line tells of it" wait_until 20 grep -q "^view 3: 2 members; longest gap [0-9]" \
	/tmp/watch.2
check "who was evicted has ended" wait_until 20 dead "$watcher_3"
check "  and says so" grep -q "^spindle-perf: node 3, subgroup 1: " /tmp/watch.3
kill -TERM "$watcher_1" "$watcher_2"
check "the others end" wait_until 20 both_dead
check "it has counted them" grep -q "^2 views; [1-9][0-9]* messages; " /tmp/watch.2
sed 's/^/# /' /tmp/watch.2
OUT=/tmp/watch.2.json
is "JSON has them" "$(get changes/0/vid) $(get changes/1/vid)" "2 3"
check "  and no more" absent changes/2
is "  node" "$(get changes/1/survivors/0/node)" 2
check "nodes go" loop_del 3

check "who is not there cannot be watched" sh -c "! spindle-perf failover --wait 1 --node 9"
check "module goes" rmmod spindle
finish
