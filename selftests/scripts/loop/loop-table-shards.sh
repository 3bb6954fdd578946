#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Tables of several shards, of both modes: members see the rows of their own shard alone. A node
# that joins goes to the smallest shard, a shard goes on when a member leaves, and one without
# members gets a node of another shard, whose row is empty there. Tables of shards come and go in
# spares.
# vm: uml
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

# have_rows NAME ROWS NODE...: these nodes see values of just these rows of their shard, in order
have_rows()
{
	local name rows i

	name=$1
	rows=$2
	shift 2
	for i in "$@"; do
		[ "$(rows_of "$i" "$name")" = "$rows" ] || return 1
	done
}

# rows_of NODE NAME: the nodes whose rows have values there, as "1 3"
rows_of()
{
	spindle-ctl table get node "$1" name "$2" | awk 'NR > 1 { print $1 }' | sort -n |
		tr '\n' ' ' | sed 's/ $//'
}

# see NAME ROWS NODE...: now or soon
see()
{
	local i

	wait_until 60 have_rows "$@" && return 0
	for i in $(seq 5); do
		echo "node $i: $(rows_of "$i" "$1" 2>&1)"
	done
	return 1
}

# put NAME NODE...: each of these nodes puts a value into its row
put()
{
	local name i

	name=$1
	shift
	for i in "$@"; do
		spindle-ctl table put node "$i" name "$name" cell 1 text "of $i" timeout 60 ||
			return 1
	done
}

# join NODE CONTACT
join()
{
	spindle-ctl node join id "$1" insecure contact "10.0.0.1:500$2" timeout 60
}

check "module loads" loop_start
check "nodes of a live view" loop_nodes 5
check "a live view with a table of shards of each mode" live_view 4 max-nodes 5 spares 3 \
	spare-window 64 spare-ring 4K table 10 cells 8 name write shards 2 \
	table 20 cells 8 mode read name read shards 2
check "it begins" wait_until 60 in_view 1 1 2 3 4

for name in write read; do
	first=10
	[ $name = write ] || first=20
	check "$name: nodes 1 and 3 are in the first shard" wait_until 60 sg_active $first 1 3
	check "$name: nodes 2 and 4 are in the second shard" \
		wait_until 60 sg_active $((first + 1)) 2 4
	check "$name: each node puts a value by the name" put $name 1 2 3 4
	check "$name: the first shard has its rows" see $name '1 3' 1 3
	check "$name: the second shard has its rows" see $name '2 4' 2 4
	says 0 '"of 3"' table get node 1 id $first
	says 1 'no such table in its view' table get node 1 id $((first + 1))
	says 1 'no such table in its view' table put node 2 id $first cell 1 text x
	says 1 "node 2 is no member of table $first" table get node 1 name $name row 2
	says 0 " $((first + 1)) *$name " table show node 2 name $name
done
says 0 ' 11  write  write .* 2,4  *2  *1 ' view show node 1
says 0 '^Shards = 2$' showconf node 1

# ---- in spares -----------------------------------------------------------------

says 1 'side by side and large enough' table add node 1 table 30 cells 8 shards 4
says 1 'the view has a subgroup of this id' table add node 1 table 9 cells 8 shards 2
says 1 'no free spare for each shard' table add node 1 table 30 cells 65 shards 2
check "a table of two shards is added" spindle-ctl table add node 2 table 30 cells 8 mode read \
	name later shards 2 timeout 60
check "its first shard becomes active" wait_until 60 sg_active 30 1 3
check "its second shard becomes active" wait_until 60 sg_active 31 2 4
check "each node puts a value" put later 1 2 3 4
check "nodes 1 and 3 have their rows" see later '1 3' 1 3
check "nodes 2 and 4 have their rows" see later '2 4' 2 4
says 1 'no free spare for each shard' table add node 1 table 40 cells 8 shards 2
check "all its shards are removed by its name" spindle-ctl table del node 4 name later timeout 60
says 1 'no such table in its view' table get node 1 name later
says 1 'no such table in its view' table get node 2 name later
check "a table of three shards takes its place" spindle-ctl table add node 1 table 30 cells 64 \
	name later shards 3 timeout 60
check "nodes 1 and 4 share a shard" wait_until 60 sg_active 30 1 4
check "node 3 has one alone" wait_until 60 sg_active 32 3
says 0 'No cell has a value yet' table get node 1 name later
check "each node puts a value again" put later 1 2 3 4
check "nodes 1 and 4 have their rows" see later '1 4' 1 4
check "node 2 has its row" see later 2 2
check "node 3 has its row" see later 3 3
check "all shards are removed by the id of the last one" spindle-ctl table del node 1 id 32 \
	timeout 60
says 1 'no such table in its view' table get node 4 id 30

# ---- nodes that leave, join and change over ------------------------------------

check "node 3 leaves" spindle-ctl node leave id 3 timeout 60
check "the others go on" wait_until 60 in_one_view 1 2 4
for name in write read; do
	check "$name: the first shard goes on" see $name 1 1
	check "$name: node 1 puts another value" put $name 1
	check "$name: the second shard is as it was" see $name '2 4' 2 4
done
check "node 5 joins" join 5 1
for name in write read; do
	check "$name: it is in the smaller shard, with the row of node 1" see $name 1 5
	check "$name: node 5 puts a value" put $name 5
	check "$name: node 1 sees it" see $name '1 5' 1 5
	check "$name: the second shard does not" see $name '2 4' 2 4
done

job changes limit 240 spindle-ctl table watch node 4 name write
job reads limit 240 spindle-ctl table watch node 4 name read
check "watches at node 4 have begun" wait_until 60 job_said changes '^exists-end$'
check "all of them" wait_until 60 job_said reads '^exists-end$'
check "node 1 leaves" spindle-ctl node leave id 1 timeout 60
check "node 5 leaves, too" spindle-ctl node leave id 5 timeout 60
check "two nodes go on" wait_until 60 in_one_view 2 4
for name in write read; do
	first=10
	[ $name = write ] || first=20
	check "$name: node 4 changes over to the first shard" wait_until 60 sg_active $first 4
	says 1 'no such table in its view' table get node 4 id $((first + 1))
	says 0 'No cell has a value yet' table get node 4 name $name
	check "$name: node 2 sees its own row alone" see $name 2 2
	check "$name: node 4 puts a value" put $name 4
	check "$name: node 4 sees it" see $name 4 4
	check "$name: node 2 does not" see $name 2 2
done
check "the watches at node 4 end" job_ended changes 1
check "so they do in mode read" job_ended reads 1
check "they say why" job_said changes 'table watch: the table is failed'
check "so they do in mode read, too" job_said reads 'table watch: the table is failed'

check "node 1 joins again" join 1 2
for name in write read; do
	check "$name: node 1 has the row of node 4" see $name 4 1
	check "$name: node 1 puts a value" put $name 1
	check "$name: node 4 sees it" see $name '1 4' 1 4
done
check "nodes can be removed" loop_del 5
check "module goes" rmmod spindle
finish
