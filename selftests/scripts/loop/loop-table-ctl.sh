#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Tables from the command line: spindle-ctl adds a table to a live view, puts fields and other
# values, gets them at other nodes, and watches. A second writer, bad fields, an eviction and the end
# of the table have a message. The counters of the table are those of what happened.
# vm: uml
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

FIELDS=load:u32,free:i64,host:s16

# shows PATTERN WORD...: spindle-ctl prints this text, now or soon, because a value has to arrive.
shows()
{
	local pattern

	pattern=$1
	shift
	wait_until 60 prints "$pattern" "$@" && return 0
	cat /tmp/shown
	return 1
}

prints()
{
	local pattern

	pattern=$1
	shift
	spindle-ctl "$@" >/tmp/shown 2>&1 && grep -qe "$pattern" /tmp/shown
}

# counter NODE NAME: a counter of table 9
counter()
{
	number_of "$1" 9 "$2"
}

# above OLD NODE NAME...: is the counter larger by now?
above()
{
	[ "$(counter "$2" "$3")" -gt "$1" ]
}

# watch NAME WORD...: a watch in the background
watch()
{
	local name

	name=$1
	shift
	job "$name" limit 240 spindle-ctl table watch "$@"
}

# watched NAME PATTERN: the watch prints this.
watched()
{
	wait_until 60 grep -qe "$2" "/tmp/out.$1" || job_said "$1" "$2"
}

# ended NAME STATUS LINES: the watch has ended with this status and so many lines.
ended()
{
	job_ended "$1" "$2" && has_lines "/tmp/out.$1" "$3"
}

# held_row: a process writes the row of node 3 of table 8, until that table ends.
held_row()
{
	limit 240 table-load -n 3 -e 3 -t 8 -r 1000000000000 -w 200 >/tmp/held 2>&1 &
	wait_until 60 prints '"writer":true' -j table show node 3 id 8
}

check "module loads" loop_start
check "nodes of a live view" loop_nodes 4
check "a live view with a subgroup and spares" live_view 3 max-nodes 4 spares 2 \
	spare-window 64 spare-ring 64K subgroup 2 window 16 max-msg 64
check "it begins" wait_until 60 in_view 1 1 2 3

says 0 'There are no tables' table show
says 1 'there is no table 9' table show id 9
check "a table is added" spindle-ctl table add node 2 table 9 name load cells 16 cell 128 \
	members 1,2,3,4 timeout 60
check "it becomes active" wait_until 60 sg_active 9 1 2 3
says 1 'spindle-ctl: table add: ' table add node 1 id 9 cells 4
says 2 "window '16x': not a number" table add node 1 id 8 cells 4 window 16x
says 0 '^ *1 .* 9  load .* 16 *128  active ' table show node 1
says 0 '"files":0,"writer":false,"stats":{"taken":0,' -j table show node 1 id 9
says 0 'No cell has a value yet' table get node 1 id 9

taken=$(counter 1 taken)
blocks=$(counter 1 blocks)
heard=$(counter 2 heard)
check "fields are put" spindle-ctl table put node 1 name load cell 3 fields $FIELDS \
	load=7 free=-5 host=web1
check "they arrive as text" shows '^ *1 *3 *1 *7 *-5 *web1$' table get node 2 id 9 fields $FIELDS
check "they arrive as JSON" shows \
	'\[{"node":1,"cell":3,"version":1,"fields":{"load":7,"free":-5,"host":"web1"}}\]' \
	-j table get node 3 name load fields $FIELDS
check "one field is put, and the others stay" spindle-ctl table put node 1 id 9 cell 3 \
	fields $FIELDS load=4294967295
check "all of them arrive" shows '^ *1 *3 *2 *4294967295 *-5 *web1$' \
	table get node 2 id 9 row 1 cell 3 fields $FIELDS
check "text is put" spindle-ctl table put node 2 id 9 cell 0 text "a text"
check "it arrives" shows '^ *2 *0 *1 *"a text"$' table get node 1 id 9 row 2
check "bytes are put" spindle-ctl table put node 3 id 9 cell 15 hex "00ff 10"
check "they arrive" shows '"node":3,"cell":15,"version":1,"hex":"00ff100000000000"' \
	-j table get node 1 id 9
check "standard input is put" sh -c 'printf "x\ny" | spindle-ctl table put node 3 id 9 cell 14 -'
check "it arrives, too" shows '^ *3 *14 *1 *780a790000000000$' table get node 2 id 9
check "the writer has taken changes" above "$taken" 1 taken
check "its changes were pushed" above "$blocks" 1 blocks
check "another member has heard of them" above "$heard" 2 heard
says 0 '^    taken ' stats node 1

says 1 'no such table in its view' table get node 1 id 7
says 1 'no such table in its view' table put node 1 id 2 cell 0 text x
says 1 'subgroup 2 has messages and is no table' table del node 1 id 2
says 1 'cell 16: table 9 has cells 0 to 15' table get node 1 id 9 cell 16
says 1 "field 'b' ends at byte 120, and a value has 112" \
	table get node 1 id 9 fields a:s112,b:u64
says 1 '113 bytes, and a value of table 9 has 112' \
	table put node 1 id 9 cell 0 hex "$(printf '%0226d' 0)"
says 2 "'laod=1' sets no field; there is: load, free, host" \
	table put node 1 id 9 cell 0 fields $FIELDS laod=1
says 2 'not a number from 0 to 4294967295' table put node 1 id 9 cell 0 fields $FIELDS load=-1
says 1 'node 4 is no member of table 9' table get node 1 id 9 row 4

check "another table is added" spindle-ctl table add 1 table 8 cells 2 timeout 60
check "it becomes active, too" wait_until 60 sg_active 8 1 2 3
check "a process writes the row of node 3" held_row
says 1 'table 8 of node 3: another process writes its row' table put node 3 id 8 cell 1 text x
check "another node's row is free" spindle-ctl table put node 1 id 8 cell 1 text x
check "the table of that process is removed" spindle-ctl table del 2 id 8 timeout 60

watch two node 2 id 9 cell 1 count 2
watch all node 1 id 9 row 4
watch json -j node 2 id 9 row 1 cell 3 fields $FIELDS
check "a watch shows what is there" watched json \
	'^{"event":"exists","node":1,"cell":3,"version":2,"fields":{"load":4294967295,'
check "watches have begun" watched two '^exists-end$'
check "watches have begun, all of them" watched all '^exists-end$'
check "the first change" spindle-ctl table put node 1 id 9 cell 1 text first
check "a watch prints it" watched two '^changed  node 1  cell 1  version 1  "first"$'
check "the second change" spindle-ctl table put node 3 id 9 cell 1 text second
check "a watch ends after two changes" ended two 0 3
check "it has printed both" watched two '^changed  node 3  cell 1  version [0-9]*  "second"$'

check "node 4 joins" spindle-ctl node join id 4 insecure contact 10.0.0.1:5001 timeout 60
check "a watch says so" watched all '^joined   node 4$'
check "node 4 puts a value" wait_until 60 spindle-ctl table put node 4 id 9 cell 2 text here
check "a watch prints it, too" watched all '^changed  node 4  cell 2  version 1  "here"$'
watch lost node 4 id 9 row 2
check "a watch at node 4" watched lost ' node 2  cell 0  version 1  "a text"$'
check "node 4 is evicted" spindle-ctl node evict id 1 node 4
check "a watch of another node says so" watched all '^left     node 4$'
check "the watch at node 4 ends" ended lost 1 3
check "it says why" watched lost '^spindle-ctl: table watch: the table is failed: '
says 1 'no such table in its view\|has ended' table get node 4 id 9

# ---- a put that waits ----------------------------------------------------------

# has_arrived TEXT: when such a put of node 1 ends, nodes 2 and 3 have the value.
has_arrived()
{
	local i

	for i in 2 3; do
		check "node $i has the value '$1' then" sh -c \
			"spindle-ctl table get node $i id 9 row 1 cell 5 | grep -q $1"
	done
}

check "a put waits until all members have the value" \
	spindle-ctl table put node 1 id 9 cell 5 text waited timeout 60
has_arrived waited

# again: node 4 goes without a word, and comes back without a past
again()
{
	spindle-ctl node del id 4 && spindle-ctl node add id 4 addr 10.0.0.1 port 5004
}

check "node 4 has forgotten the view" again
check "node 4 joins again" spindle-ctl node join id 4 insecure contact 10.0.0.1:5001 timeout 60
check "node 4 goes without a word" again
check "a put does not wait for it for ever" \
	spindle-ctl table put node 1 id 9 cell 5 text alone timeout 120
has_arrived alone

# ---- fields that the table keeps -------------------------------------------------

says 2 "table 6: field 'a:u33': there is no type 'u33'" \
	table add node 1 table 6 cells 4 fields a:u33
says 2 "table 6: field 'b' ends at byte 56, and a value has 48" \
	table add node 1 table 6 cells 4 fields a:s48,b:u64
says 1 'only a table has fields' subgroup add node 1 id 6 fields a:u32
check "a table with fields is added" spindle-ctl table add node 2 table 6 cells 4 fields $FIELDS \
	timeout 60
check "the table with fields becomes active" wait_until 60 sg_active 6 1 2 3
check "fields of the table are put" \
	spindle-ctl table put node 1 id 6 cell 0 load=7 free=-5 host=web1
check "they arrive by their names" shows '^ *1 *0 *1 *7 *-5 *web1$' table get node 3 id 6
says 1 "'laod=1' sets no field; there is: load, free, host" table put node 1 id 6 cell 0 laod=1
says 1 "'load=1' needs 'fields', because table 9 has none" table put node 1 id 9 cell 0 load=1
check "node 4 joins a view with fields" spindle-ctl node join id 4 insecure contact 10.0.0.1:5001 \
	timeout 60
check "the joiner puts fields" wait_until 60 spindle-ctl table put node 4 id 6 cell 1 load=9
check "they arrive from the joiner" shows '^ *4 *1 *1 *9 *0 *-$' table get node 2 id 6
check "all nodes show the fields" shows "  $FIELDS\$" view show node 4

check "the table is removed" spindle-ctl table del node 3 name load timeout 60
check "watches end" ended json 1 4
check "the last line is the end" watched json '^{"event":"ended","reason":"the table is '
check "all watches end" ended all 1 8
says 1 'no such table in its view' table get node 1 id 9
says 1 'node 1 is in no view with a table 9' table del node 1 id 9
check "nodes can be removed" loop_del 4
check "module goes" rmmod spindle
finish
