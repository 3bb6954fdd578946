#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A file whose subgroups are not those of the live view that runs: apply shows the difference, and
# changes the view while messages of another subgroup are under way.
# vm: uml timeout=300
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

A=10.0.0.1
conf=/tmp/l.conf

# conf SPARES: a live view of three nodes, without subgroups
conf()
{
	for i in 1 2 3; do
		printf '[Node]\nId = %s\nAddress = %s\nPort = 500%s\nInsecure = yes\n' $i $A $i
	done
	cat <<X
[View]
Vid = 1
TimeoutMs = 5000
MaxNodes = 4
Spares = $1
SpareWindow = 16
SpareRing = 64K
X
	for i in 1 2 3; do
		echo "Member = $i@$A:500$i"
	done
}

# subgroup ID [LINE]...
subgroup()
{
	printf '[Subgroup]\nId = %s\nMaxMsg = 256\n' "$1"
	shift
	for line; do
		echo "$line"
	done
}

# steps WHAT NUMBER: the last apply had so many that change something.
steps()
{
	is "$1" "$(grep -ce '^[-+~]' "$out")" "$2"
}

check "module loads" loop_start
{ conf 2; subgroup 1 "Window = 32"; } >$conf
says 0 '^+ view of node 1 begins' apply $conf --bootstrap
check "all nodes are in one view" wait_until 60 in_one_view 1 2 3
for i in 1 2 3; do
	load_start $i
done

# ---- a subgroup that is added -----------------------------------------------

{ conf 2; subgroup 1 "Window = 32"; subgroup 7 "Window = 8" "Name = topic"; } >$conf
vid=$(live_word 1 vid)
says 0 'Dry run: nothing was changed' apply $conf --dry-run
is "the dry run shows it" "$(grep -c '^+ subgroup 7 "topic" of the live view of node 1$' "$out")" 1
is "the dry run changes nothing" "$(live_word 1 vid)" "$vid"
says 0 '^+ subgroup 7 "topic" of the live view of node 1$' apply $conf
steps "one step is for all three nodes" 1
check "the subgroup becomes active" wait_until 60 sg_active 7 1 2 3
check "it carries messages" limit 100 mcast-load -n 1-3 -g 7 -c 100 -l 16-128
says 0 'of node 3 unchanged' apply $conf
steps "a second apply changes nothing" 0

# ---- one that is replaced, and one that the file has no more --------------------

{ conf 2; subgroup 7 "Window = 4" "Members = 1,2" "Senders = 1"; } >$conf
says 1 'l.conf:[0-9]*: subgroup 7 of the live view of node 1 has other rules; --replace' apply $conf
is "the output names a changed value" "$(grep -c 'subgroup 7 window: 8 -> 4' "$out")" 1
is "the output says that nothing was changed" "$(grep -c 'nothing was changed' "$out")" 1
says 0 '^~ subgroup 7 of the live view of node 1$' apply $conf --replace
is "subgroup 1 is left alone" "$(grep -c '^\. subgroup 1 .* left alone' "$out")" 1
check "it becomes active at nodes 1 and 2" wait_until 60 sg_active 7 1 2
check "it carries messages of node 1" limit 100 mcast-load -n 1-2 -g 7 -s one -c 50 -l 16-64
# shellcheck disable=SC2154 # set by load_start
check "processes of subgroup 1 did not notice" kill -0 "$load_1"
says 0 '^- subgroup 1 of the live view of node 1$' apply $conf --prune
check "its processes end" wait_until 30 dead "$load_1"
says 0 'there is nothing to change' apply $conf --prune --replace --dry-run

# ---- what does not fit ----------------------------------------------------------

{ conf 2; subgroup 7 "Window = 4" "Members = 1,2" "Senders = 1"; subgroup 8 "Window = 32"; } >$conf
says 1 'l.conf:.*no free spare that is large enough' apply $conf
is "the output says that nothing was changed" "$(grep -c 'nothing was changed' "$out")" 1
{ conf 3; subgroup 7 "Window = 4" "Members = 1,2" "Senders = 1"; } >$conf
says 1 'node 1 is in a live view with other rules, which cannot change' apply $conf
is "the output names the changed value" "$(grep -c 'spares: 2 -> 3' "$out")" 3
check "nodes go" loop_del 3

# ---- several changes are one change of the view, or none --------------------------

# ids NODE: the subgroups of its view
ids()
{
	spindle-ctl -j -p view show node "$1" |
		sed -n '/"subgroups"/,$s/^ *"id": *\([0-9]*\),*$/\1/p' | sort -n | xargs
}

{ conf 3; subgroup 1 "Window = 8"; subgroup 2 "Window = 8"; subgroup 3 "Window = 8"; } >$conf
says 0 '^+ view of node 1 begins' apply $conf --bootstrap
check "all nodes are in another view" wait_until 60 in_one_view 1 2 3
check "its subgroups become active" wait_until 60 sg_active 3 1 2 3
for i in 1 2 3; do
	load_start $i
done
vid=$(live_word 1 vid)
{ conf 3; subgroup 1 "Window = 8"; subgroup 2 "Window = 4"; subgroup 4 "Window = 4"; } >$conf
says 0 'Dry run: nothing was changed' apply $conf --prune --replace --dry-run
steps "the dry run has three steps" 3
is "the dry run changes nothing" "$(live_word 1 vid)" "$vid"
says 0 '^+ subgroup 4 of the live view of node 1$' apply $conf --prune --replace
is "one subgroup is removed" "$(grep -c '^- subgroup 3 of the live view of node 1$' "$out")" 1
is "one is replaced" "$(grep -c '^~ subgroup 2 of the live view of node 1$' "$out")" 1
steps "there are three steps" 3
is "they are one change of the view" "$(live_word 1 vid)" $((vid + 1))
is "the subgroups are those of the file" "$(ids 1)" "1 2 4"
check "they become active" wait_until 60 sg_active 2 1 2 3
check "the new one, too" wait_until 60 sg_active 4 1 2 3
check "the one that is replaced carries messages" \
	limit 100 mcast-load -n 1-3 -g 2 -c 50 -l 16-128
check "so does the new one" limit 100 mcast-load -n 1-3 -g 4 -c 50 -l 16-128
check "processes of subgroup 1 did not notice" kill -0 "$load_1"

# A subgroup could be removed, and one replaced, but there is no spare for the third change.
vid=$(live_word 1 vid)
{ conf 3; subgroup 2 "Window = 8"; subgroup 4 "Window = 4"; subgroup 5 "Window = 4"; } >$conf
says 1 'l.conf:[0-9]*: subgroups of the live view of node 1: .*no free spare' \
	apply $conf --prune --replace
is "the output names the subgroup" "$(grep -c 'at: subgroup 5$' "$out")" 1
is "the output says that nothing was changed" "$(grep -c 'nothing was changed' "$out")" 1
steps "no step is done" 0
check "no view follows" sleep 1
is "the view is as it was" "$(live_word 1 vid)" "$vid"
is "its subgroups are as they were" "$(ids 1)" "1 2 4"
is "those of another member, too" "$(ids 3)" "1 2 4"
check "no process noticed" kill -0 "$load_1"
{ conf 3; subgroup 2 "Window = 8"; subgroup 4 "Window = 4"; } >$conf
says 0 '^~ subgroup 2 of' apply $conf --prune --replace
is "without it both changes are one change of the view" "$(live_word 1 vid)" $((vid + 1))
check "the processes of the subgroup that is removed end" wait_until 30 dead "$load_1"
check "nodes go" loop_del 3
check "module goes" rmmod spindle
finish
