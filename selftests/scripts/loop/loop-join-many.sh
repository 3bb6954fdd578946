#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Nodes that join at the same moment, by several contacts, with messages under way: one change of
# the view lets several in, they connect to each other, and all logs agree.
# vm: uml timeout=300
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

check "module loads" loop_start
check "nodes" loop_nodes 9
check "three nodes begin a live view" live_view 3 subgroup 1 window 32 max-msg 256
check "three nodes are in the first view" wait_until 60 in_view 1 1 2 3
for i in 1 2 3; do
	load_start $i
done
spindle-ctl monitor node 1 >/tmp/ev 2>&1 &
monitor=$!
for i in 4 5 6 7 8 9; do
	spindle-ctl node join id $i contact "10.0.0.1:500$((1 + i % 3))" insecure no-wait ||
		not_ok "node $i joins"
done
in_all()
{
	local i

	for i in $(seq 9); do
		[ "$(live_word $i state)" = active ] || return 1
	done
}
check "all are members" wait_until 100 in_all
kill $monitor
grep -e view-install -e suspect /tmp/ev | sed 's/^/# /'
for i in 4 5 6 7 8 9; do
	load_start $i
done
usleep 500000
check "processes end" load_stop 1 2 3 4 5 6 7 8 9
check "logs agree" loads_agree
check "nodes go" loop_del 9
check "module goes" rmmod spindle
finish
