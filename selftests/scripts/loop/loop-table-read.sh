#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Tables of mode read: nodes read the rows of each other by one-sided reads, without pause, at an
# interval, or on request. The checks of values are those of loop-table.sh. Nothing is read, and
# nothing is pushed, unless a process wants so. In a live view, nodes come and go, and tables are
# added and removed.
# vm: uml timeout=300
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh
. ./lib-table.sh

check "module loads" loop_start
for how in poll imm; do
	check "8 nodes ($how)" loop_nodes 8 visibility $how
	check "a view with tables is installed ($how)" loop_view 8 1 \
		table 1 cells 8 mode read table 2 cells 1 mode read \
		table 3 cells 100 cell 128 mode read table 4 cells 16 cell 4096 mode read \
		table 5 cells 1024 members 1,2,3 mode read table 6 cells 8 \
		subgroup 7 window 16 max-msg 64 members 1,2,3 \
		table 8 cells 1 members 1,2 mode read
	check "nothing is read before somebody wants so ($how)" wait_until 20 quiet 1
	check "all members write, and read without pause ($how)" \
		load -n 1,2,3,4,5,6,7,8 -t 1 -r 200
	check "members read on request ($how)" load -n 1,2,3,4 -e 1,2,3,4 -t 1 -r 400 -u 0
	check "members read every two milliseconds ($how)" load -n 1,2,3 -t 1 -r 600 -u 2000
	check "a table of one cell ($how)" load -n 1,2,3,4 -t 2 -r 500
	check "cells of two cache lines ($how)" load -n 1,2,3,4 -t 3 -r 300
	check "cells of a page ($how)" load -n 1,2,3 -t 4 -r 100
	check "a thousand cells ($how)" load -n 1,2,3 -t 5 -r 2000
	check "predicates answer each other, and the engine misses no end of a read ($how)" \
		limit 120 table-perf back -n 2 -t 8 -x 0 -c 20000 -k 3
	check "a table of mode write beside them ($how)" load -n 1,2,3 -t 6 -r 200
	check "writers die in the middle of an update, and others go on ($how)" \
		load -n 5,6,7,8 -t 3 -r 200 -k
	check "nothing is read when the processes have gone ($how)" wait_until 20 quiet 1
	check "messages flow beside tables ($how)" \
		limit 100 mcast-load -n 1,2,3 -g 7 -w 60 -l 0-64 -c 200
	check "nodes can be removed ($how)" loop_del 8
done

A=10.0.0.1

# reads_asleep: node 1 reads the row of node 2 again and again, and the engine of node 2 sleeps.
reads_asleep()
{
	local before i

	before=$(engine_stat 2 passes)
	for i in $(seq 20); do
		spindle-ctl table get node 1 id 1 row 2 >/tmp/row || return 1
	done
	grep -q '"awake"' /tmp/row || return 1
	[ "$(engine_stat 2 passes)" = "$before" ] && return 0
	echo "$(($(engine_stat 2 passes) - before)) passes of the owner's engine"
	return 1
}

check "two nodes have an engine each" sh -c "
	spindle-ctl node add id 1 addr $A port 5001 engine 1 &&
	spindle-ctl node add id 2 addr $A port 5002 engine 2"
check "they have a table" loop_view 2 1 table 1 cells 8 mode read
check "node 2 writes its row" spindle-ctl table put node 2 id 1 cell 3 text awake
check "node 1 reads the row" wait_until 20 spindle-ctl table get node 1 id 1 row 2
check "both engines fall asleep" wait_until 20 quiet 2
check "the row can be read, and the engine of node 2 does nothing for that" reads_asleep
check "both nodes go" loop_del 2

for how in poll imm; do
	check "nodes of a live view ($how)" loop_nodes 5 visibility $how
	check "a live view with a table and a spare ($how)" live_view 3 max-nodes 5 spares 1 \
		spare-window 64 spare-ring 64K table 1 name hosts cells 8 mode read \
		subgroup 2 window 16 max-msg 64
	check "it begins ($how)" wait_until 60 in_view 1 1 2 3
	job old load -n 1,2,3 -e 1,2,3,4 -t 1 -r 300
	check "node 4 joins ($how)" spindle-ctl node join id 4 insecure contact $A:5001 timeout 60
	check "it reads all rows, and writes its own ($how)" load -n 4 -e 1,2,3,4 -t 1 -r 300
	check "old members read its row, and keep those of others ($how)" ended old 0 "node 3: "

	check "node 2 adds a table ($how)" spindle-ctl table add 2 table 9 name more cells 40 \
		cell 1024 mode read timeout 60
	check "it becomes active ($how)" wait_until 60 sg_active 9 1 2 3 4
	check "all members write and read it ($how)" load -n 1,2,3,4 -t 9 -r 100
	check "on request, too ($how)" load -n 1,2,3,4 -t 9 -r 200 -u 0
	job lost load -n 1,2,3 -e 1,2,3 -t 9 -r 1000000000000
	check "node 4 is evicted ($how)" spindle-ctl node evict id 1 node 4
	check "it is in no view ($how)" wait_until 60 in_one_view 1 2 3
	check "the others go on in the first table ($how)" load -n 1,2,3 -t 1 -r 500
	check "the table is removed ($how)" spindle-ctl subgroup del 3 id 9 timeout 60
	check "its processes see the end ($how)" ended lost 1 "has ended"
	check "a table of mode write takes its place ($how)" spindle-ctl table add 1 table 9 \
		cells 64 timeout 60
	check "it becomes active, too ($how)" wait_until 60 sg_active 9 1 2 3
	check "its rows begin empty ($how)" load -n 1,2,3 -t 9 -r 50
	check "a member leaves, and the others go on ($how)" \
		spindle-ctl node leave id 2 timeout 60
	check "they read each other ($how)" load -n 1,3 -t 1 -r 700
	check "nodes of the live view can be removed ($how)" loop_del 5
done
check "module goes" rmmod spindle
finish
