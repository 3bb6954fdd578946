#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# /dev/spindle and /dev/spindle-sst: their refusals, their mappings, their charges to users, and the
# end of an attachment when its file, its mappings, its process or its view goes.
# vm: timeout=240 hostile each
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh

check "module loads" loop_start
check "nodes" loop_nodes 4
check "a view has a member that does not exist" loop_view 3 5 member 9@10.0.0.1:5009 \
	subgroup 1 name first members 1,2,3 window 16 max-msg 1024 ring 16384 \
	subgroup 2 name second members 1,2 senders 2 window 8 max-msg 512 ring 4096 \
	subgroup 3 members 1,9 \
	subgroup 4 name others members 2,3 \
	subgroup 5 members 1,2 lsn 1000 \
	table 6 name rows cells 8 members 1,2,3 \
	table 7 cells 100 cell 128 members 1,2 \
	table 8 cells 1 members 2,3 \
	table 9 cells 8 mode read members 1,2,3
check "subgroups become active" wait_until 60 all_active 19
check "node 1 has a history that may be filled" \
	spindle-ctl subgroup set 1 id 5 history 65536 history-fill 1
check "node 2 has one that may not" spindle-ctl subgroup set 2 id 5 history 65536
is "only root may open the device" "$(stat -c %a /dev/spindle)" 600
is "only root may open the device of tables" "$(stat -c %a /dev/spindle-sst)" 600
for part in attach map calls silence report older seats fork memlock table predicate flush refresh \
	notify copy forming close gone; do
	tap_run limit 60 dev-bad "$part"
done
# The program itself removes the nodes, if it gets that far.
for i in 1 2 3 4; do
	spindle-ctl node del id "$i" >/dev/null 2>&1
done
check "module goes" rmmod spindle
finish
