#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# /dev/spindle in a live view: the seats of each view, and the mappings of members that join and
# leave, and their lifetime. The module remembers old views for a while, and then forgets them. The
# same of the rows of a table.
# vm: timeout=480
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

check "module loads" loop_start
check "nodes" loop_nodes 4
members="member 1@10.0.0.1:5001 member 2@10.0.0.1:5002 member 3@10.0.0.1:5003"
for i in 1 2 3; do
	# shellcheck disable=SC2086
	check "node $i begins a live view" \
		spindle-ctl view set node $i vid 5 live insecure $members \
		subgroup 1 window 16 max-msg 1024 ring 16384
done
check "the live view forms" wait_until 60 in_view 5 1 2 3
tap_run limit 120 dev-bad seats-live
check "the other nodes go on" wait_until 60 in_view 8 2 3
for i in 1 2 3 4; do
	spindle-ctl node del id "$i" >/dev/null 2>&1
done

# 256 changes are a matter of seconds, but where the machine is emulated.
if grep -q "User Mode Linux" /proc/cpuinfo; then
	check "nodes" loop_nodes 2
	check "node 1 begins a live view alone" spindle-ctl view set node 1 vid 1 live insecure \
		member 1@10.0.0.1:5001 subgroup 1 window 16 max-msg 1024 ring 4096
	check "the live view forms" wait_until 60 in_view 1 1
	tap_run limit 180 dev-bad seats-past
	check "nodes go" loop_del 2

	check "nodes whose completions vouch" loop_nodes 4 visibility imm
	check "a live view with a table" live_view 3 table 6 cells 8
	check "the live view with a table forms" wait_until 60 in_view 1 1 2 3
	tap_run limit 180 dev-bad table-live
	check "nodes go" loop_del 4
else
	skip "views that are not remembered any more" "an emulated machine"
	skip "a seat of a table that another node gets" "an emulated machine"
fi
check "module goes" rmmod spindle
finish
