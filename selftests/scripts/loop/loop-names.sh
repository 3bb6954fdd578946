#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Names of subgroups: no two subgroups of a view have the same one, members that differ in one do
# not connect, and programs and spindle-ctl find a subgroup by its name. Shards share a name: it
# means the one that the node is in.
# vm: timeout=240
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

M="member 1@10.0.0.1:5001 member 2@10.0.0.1:5002"
N16=0123456789abcdef
LONGEST=$N16$N16$N16$N16

# a word of the only subgroup that "subgroup show WORD..." lists
shown()
{
	local word

	word=$1
	shift
	spindle-ctl -j -p subgroup show "$@" |
		sed -n "s/^ *\"$word\": *\"*\([^\",]*\)\"*,*\$/\1/p" | head -n 1
}

# Has a node refused the other one, because their views differ?
refused_here()
{
	spindle-ctl stats | grep -q "have different views"
}

# carries NODE NAME: does a message from this node come back to it by the name? Messages of other
# nodes, which waited for a reader here, come first.
carries()
{
	local last

	last=$(echo "from $1" | limit 30 spindle-pipe -n "$1" -g "$2" -e -R | tail -n 1)
	[ "$last" = "from $1" ]
}

check "module loads" loop_start
check "nodes" loop_nodes 4

# A view without rules.
says 1 "two subgroups have the same name" \
	view set node 1 vid 1 $M subgroup 1 name prices subgroup 2 name prices
says 1 "64" view set node 1 vid 1 $M subgroup 1 name "${LONGEST}x"
says 0 "Node 1 has no view" view show node 1
spindle-ctl monitor >/tmp/events 2>&1 &
monitor=$!
check "the monitor listens" wait_until 30 listens $monitor
check "node 1 has a view" spindle-ctl view set node 1 vid 1 $M subgroup 1 name prices
check "node 2 has one with another name" \
	spindle-ctl view set node 2 vid 1 $M subgroup 1 name price
check "they do not connect" wait_until 30 refused_here
check "both take the same names" loop_view 2 2 subgroup 1 name prices subgroup 2 name "$LONGEST" \
	subgroup 3 subgroup 4
check "subgroups become active" wait_until 60 all_active 8
check "a message goes by name" carries 1 prices
check "a message goes by a name of 64 characters" carries 2 "$LONGEST"
check "a message goes by id" carries 2 2
is "the name has its subgroup" "$(shown id node 1 name "$LONGEST")" 2
is "the id has its name" "$(shown name node 2 id 1)" prices
says 1 'there is no subgroup "trades" at this node' subgroup show node 1 name trades
says 2 "which subgroup" subgroup set node 1 nulls off
says 2 "which subgroup" subgroup set node 1 id 1 name prices nulls off
says 1 "the node is in no subgroup with this name" subgroup set node 1 name trades nulls off
check "a subgroup is tuned by its name" spindle-ctl subgroup set node 1 name prices nulls off
says 0 "nulls" subgroup show node 1 name prices -v
is "a subgroup without a name is not found by an empty one" \
	"$(echo x | limit 30 spindle-pipe -n 1 -g "" -e 2>&1 | cut -d ';' -f 1)" \
	"spindle-pipe: subgroup : neither an id nor a name"
echo x | limit 30 spindle-pipe -n 1 -g trades -s >/tmp/err 2>&1
is "an unknown name is refused by name" "$(cat /tmp/err)" \
	'spindle-pipe: subgroup "trades" of node 1: no such subgroup in its view, or no view yet'
check "events have the name" \
	wait_until 30 grep -q 'subgroup-active.*subgroup 1 "prices"' /tmp/events
check "events without a subgroup have no name" sh -c "! grep '\"\"' /tmp/events"
kill $monitor
loop_del 4

# A live view: rules have the names, and shards share them.
check "nodes again" loop_nodes 4
says 1 "two subgroups have the same name" view set node 1 vid 1 live $INSECURE $M \
	subgroup 1 name parts shards 2 subgroup 7 name parts
check "four nodes begin a live view" live_view 4 \
	subgroup 1 name parts shards 2 min 2 subgroup 7 name all
check "four nodes are in the first view" wait_until 60 in_view 1 1 2 3 4
check "subgroups become active" wait_until 60 all_active 8
for i in 1 2 3 4; do
	is "node $i finds its own shard" "$(shown id node $i name parts)" $((2 - i % 2))
	check "node $i sends to it" carries $i parts
done
check "all have the other one" carries 3 all
check "nodes go" loop_del 4
check "module goes" rmmod spindle
finish
