#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Tables for the race checker: several engines write, seal and read rows, look at predicates and set
# fields, while processes write and read the same cells, and one process reads all counters all the
# time. Writers die, and tables are added and removed.
# vm: timeout=400
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh
. ./lib-race.sh

# load OPTION...
load()
{
	limit 200 table-load -w 150 "$@"
}

# count TABLE N: all three nodes count in step up to N, by triggers of their engines
count()
{
	local i

	for i in 1 2 3; do
		job "counting.$i" limit 200 counting "$i" "$1" "$2"
	done
	for i in 1 2 3; do
		job_ended "counting.$i" 0 && job_said "counting.$i" "counted to $2" || return 1
	done
}

check "module loads" loop_start
for how in poll imm; do
	check "3 nodes on 2 engines ($how)" race_nodes 3 visibility $how
	check "a live view with tables ($how)" live_view 3 timeout-ms 30000 spares 1 \
		spare-window 16 spare-ring 4096 table 1 name small cells 8 \
		table 2 cells 4 cell 4096 subgroup 3 window 16 max-msg 64
	check "it begins ($how)" wait_until 100 in_view 1 1 2 3
	look_start
	check "all write and read a small table ($how)" load -n 1,2,3 -t 1 -r 60
	check "all write and read cells of a page ($how)" load -n 1,2,3 -t 2 -r 20
	check "writers die in the middle of an update ($how)" load -n 1,2,3 -t 2 -r 20 -k
	check "three nodes count by predicates ($how)" count small 200
	check "a table is added ($how)" spindle-ctl subgroup add 2 table 9 cells 8 timeout 100
	check "it becomes active ($how)" wait_until 100 sg_active 9 1 2 3
	check "all write and read it, too ($how)" load -n 1,2,3 -t 9 -r 20
	check "it is removed ($how)" spindle-ctl subgroup del 3 id 9 timeout 100
	look_stop
	check "nodes go ($how)" loop_del 3
done
check "module goes" rmmod spindle
finish
