#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Tables: processes write the rows of 2 to 16 nodes and read all rows. Each value that is read is a
# whole value of its owner, versions grow, and a reader that sees a guard sees what was sealed before
# it. Writers die in the middle of an update, and others go on. In a live view, nodes come and go, and
# tables are added and removed.
#
# Failures of other systems: a reader sees half of a row; a reader sees a row before what it
# depends on; evaluation never ends once a watched member has gone.
# vm: uml timeout=300
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh
. ./lib-table.sh

# passes: of the engine, which all nodes here have in common
passes()
{
	engine_stat 1 passes
}

# idle_costs_nothing: no pass, while nothing happens.
idle_costs_nothing()
{
	local before

	usleep 200000
	before=$(passes)
	usleep 500000
	[ "$(passes)" = "$before" ] && return 0
	echo "$(($(passes) - before)) passes"
	return 1
}

check "module loads" loop_start
for how in poll imm; do
	check "16 nodes ($how)" loop_nodes 16 visibility $how
	check "a view with tables is installed ($how)" loop_view 16 1 \
		table 1 cells 8 table 2 cells 1 table 3 cells 100 cell 128 \
		table 4 cells 16 cell 4096 table 5 cells 1024 members 1,2,3 \
		subgroup 6 window 16 max-msg 64 members 1,2,3
	check "all members write and read a small table ($how)" \
		load -n 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16 -t 1 -r 200
	check "a table of one cell ($how)" load -n 1,2,3,4 -e 1,2,3,4 -t 2 -r 500
	check "cells of two cache lines ($how)" load -n 1,2,3,4 -t 3 -r 300
	check "cells of a page ($how)" load -n 1,2,3 -t 4 -r 100
	check "a thousand cells ($how)" load -n 1,2,3 -t 5 -r 2000
	check "writers die in the middle of an update, and others go on ($how)" \
		load -n 5,6,7,8 -t 3 -r 200 -k
	check "an idle table costs nothing ($how)" idle_costs_nothing
	check "messages flow beside tables ($how)" \
		limit 100 mcast-load -n 1,2,3 -g 6 -w 60 -l 0-64 -c 200
	check "nodes can be removed ($how)" loop_del 16
done

A=10.0.0.1

for how in poll imm; do
	check "nodes of a live view ($how)" loop_nodes 5 visibility $how
	check "a live view with a table and a spare ($how)" live_view 3 max-nodes 5 spares 1 \
		spare-window 64 spare-ring 64K table 1 name hosts cells 8 \
		subgroup 2 window 16 max-msg 64
	check "it begins ($how)" wait_until 60 in_view 1 1 2 3
	job old load -n 1,2,3 -e 1,2,3,4 -t 1 -r 300
	check "node 4 joins ($how)" spindle-ctl node join id 4 insecure contact $A:5001 timeout 60
	check "it gets all rows, and writes its own ($how)" load -n 4 -e 1,2,3,4 -t 1 -r 300
	check "old members get its row, and keep those of others ($how)" ended old 0 "node 3: "

	check "node 2 adds a table ($how)" spindle-ctl subgroup add 2 table 9 name more cells 40 \
		cell 1024 timeout 60
	check "it becomes active ($how)" wait_until 60 sg_active 9 1 2 3 4
	check "all members write and read it ($how)" load -n 1,2,3,4 -t 9 -r 100
	job lost load -n 1,2,3 -e 1,2,3 -t 9 -r 1000000000000
	check "node 4 is evicted ($how)" spindle-ctl node evict id 1 node 4
	check "it is in no view ($how)" wait_until 60 in_one_view 1 2 3
	check "the others go on in the first table ($how)" load -n 1,2,3 -t 1 -r 500
	check "a writer that knows no such table ($how)" \
		sh -c '! table-load -n 1 -t 7 -r 1 2>/tmp/no && grep "No such file" /tmp/no'
	check "the table is removed ($how)" spindle-ctl subgroup del 3 id 9 timeout 60
	check "its processes see the end ($how)" ended lost 1 "has ended"
	check "another table takes its place ($how)" spindle-ctl subgroup add 1 table 9 cells 64 \
		timeout 60
	check "it becomes active, too ($how)" wait_until 60 sg_active 9 1 2 3
	check "its rows begin empty ($how)" load -n 1,2,3 -t 9 -r 50
	check "nodes of the live view can be removed ($how)" loop_del 5
done
check "module goes" rmmod spindle
finish
