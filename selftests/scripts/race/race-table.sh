#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Tables for the race checker: processes write rows and read all rows, writers die in the middle of
# an update, rows are read by one-sided reads, and predicates count in the engines. At the same time
# tables of another view come and go, and dump-loop reads all state.
# vm: timeout=400
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-race.sh

CYCLES=${CYCLES:-4}
A=10.0.0.1

# load OPTION...
load()
{
	limit 200 table-load -w 150 "$@"
}

# count TABLE TOTAL NODE...: the engines of these nodes count together
count()
{
	local table total i

	table=$1
	total=$2
	shift 2
	for i in "$@"; do
		job "counting.$i" limit 200 counting "$i" "$table" "$total"
	done
	for i in "$@"; do
		job_ended "counting.$i" 0 && job_said "counting.$i" "counted to $total" || return 1
	done
}

# has_writer NODE: does a process write the node's row of table 1?
has_writer()
{
	spindle-ctl -j -p subgroup show node "$1" id 1 | grep -q '"writer": *true'
}

# Two nodes with a table of their own, which ends while a process writes.
table_cycle()
{
	local id writer

	spindle-ctl node add id 11 addr $A port 5011 engine 1 || return 1
	spindle-ctl node add id 12 addr $A port 5012 engine 2 visibility imm || return 1
	for id in 11 12; do
		spindle-ctl view set node $id vid 1 member 11@$A:5011 member 12@$A:5012 \
			table 1 cells 4 table 2 cells 4 mode read || return 1
	done
	load -n 11,12 -t 1 -r 10 && load -n 11,12 -t 2 -r 10 || return 1
	load -n 11,12 -t 1 -r 1000000000 >/dev/null 2>&1 &
	writer=$!
	wait_until 100 has_writer 12 || return 1
	spindle-ctl node del id 12 && spindle-ctl node del id 11 || return 1
	# The process loses its table, and reports that.
	! wait $writer
}

check "module loads" loop_start
for how in poll imm; do
	check "4 nodes on 2 engines ($how)" race_nodes 4 visibility $how
	check "a view with tables ($how)" loop_view 4 1 table 1 cells 8 \
		table 2 cells 16 cell 512 table 3 name three cells 8 members 1,2,3 \
		table 4 cells 8 mode read
	look_start
	check "all members write and read ($how)" load -n 1,2,3,4 -t 1 -r 60
	check "cells of eight lines ($how)" load -n 1,2,3 -e 1,2,3 -t 2 -r 40
	check "writers die in the middle of an update ($how)" load -n 1,2,3,4 -t 1 -r 200 -k
	check "members read without pause ($how)" load -n 1,2,3,4 -t 4 -r 60
	check "members read on request ($how)" load -n 1,2,3,4 -t 4 -r 120 -u 0
	check "three engines count ($how)" count three 100 1 2 3
	check "tables of other nodes come and go $CYCLES times ($how)" cycles "$CYCLES" table_cycle
	look_stop
	check "nodes go ($how)" loop_del 4
done
check "module goes" rmmod spindle
finish
