#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Processes that write rubbish into their rings, among honest ones. The kernel freezes the bad
# attachments, and all else goes on. Subgroup 1 has mcast-load and a bad reader. In subgroup 2 the
# sender of node 1 is bad, and honest members watch. Subgroup 3 has no other processes. In tables 4,
# 5 and 7 a writer is bad, and all nodes go on with table 6. Table 7 is of mode read.
# vm: timeout=300 hostile
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh

stop=/tmp/stop

# Load after load, until there is the file.
load_loop()
{
	local n

	n=0
	while [ ! -e "$stop" ]; do
		n=$((n + 1))
		limit 100 mcast-load -n 1-4 -g 1 -c 40 -l 0-1024 -S "$n" -w 60 -R || return 1
	done
	echo "# $n loads"
}

# The same of a table. Rows go on from one load to the next.
table_loop()
{
	local n

	n=0
	while [ ! -e "$stop" ]; do
		n=$((n + 1))
		limit 100 table-load -n 1,2,3,4 -t 6 -r $((n * 100)) -w 60 || return 1
	done
	echo "# $n loads"
}

check "module loads" loop_start
check "nodes" loop_nodes 4
check "a view of four nodes is installed" loop_view 4 1 \
	subgroup 1 window 16 max-msg 1024 ring 16384 \
	subgroup 2 window 16 max-msg 512 ring 4096 \
	subgroup 3 window 8 max-msg 256 ring 4096 hold 0 \
	table 4 cells 100 cell 128 \
	table 5 cells 3 cell 4096 members 1,2 \
	table 6 cells 8 \
	table 7 cells 100 cell 128 mode read
check "subgroups become active" wait_until 60 all_active 26

limit 250 order-watch -g 2 -n 1-4 -s 2-4 -x 1 -r /tmp/ready -f "$stop" >/tmp/watch 2>&1 &
watch=$!
check "honest members attach" wait_until 30 test -e /tmp/ready
load_loop >/tmp/load 2>&1 &
load=$!
limit 250 ring-garbage -n 1 -g 1 -r -f "$stop" -S 3 >/tmp/reader 2>&1 &
reader=$!
table_loop >/tmp/table 2>&1 &
table=$!

tap_run limit 100 ring-garbage -n 1 -g 2 -i 46
tap_run limit 100 ring-garbage -n 2 -g 3 -i 23 -S 2
tap_run limit 100 table-garbage -n 1 -g 4 -w 3 -i 10
tap_run limit 100 table-garbage -n 2 -g 5 -w 1 -i 10 -S 2
tap_run limit 100 table-garbage -n 1 -g 7 -w 3 -i 10 -S 3

touch "$stop"
tap_wait "honest members agree on all delivered messages" "$watch" /tmp/watch
tap_wait "another subgroup delivers the right messages" "$load" /tmp/load
tap_wait "a bad reader is frozen as well" "$reader" /tmp/reader
tap_wait "another table has the right values" "$table" /tmp/table
check "no subgroup failed" all_active 26
is "no process is attached any more" \
	"$(spindle-ctl -j -p subgroup show | grep -c '"readers": *[1-9]\|"sender": *true')" 0
check "nodes go" loop_del 4
check "module goes" rmmod spindle
finish
