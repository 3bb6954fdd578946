#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The leader dies while a node joins, at any time of it, and the member that takes over dies as soon
# as a member suspects the first. The third one ends the view, and the node is admitted.
#
# Failures of other systems: the leader is killed during a view change; the member that takes over
# dies, too; several failures at once.
# vm: uml timeout=120 nodes=5
# shellcheck disable=SC2154 # node and nodes come from lib-wire.sh
. ./lib-wire-live.sh

wl_start 12
wl_begin 5 4 1 2 3
case $node in
5)
	soon 60
	ok "the leader dies while a node joins"
	vm_die
	;;
4)
	spindle-ctl monitor 2>/dev/null | grep -q "suspect"
	ok "the next leader dies when the first is suspected"
	vm_die
	;;
2)
	begin join try_join 12 1
	;;
esac
nodes=3
if [ "$node" = 2 ]; then
	check "the join ends" wait_until 100 has_ended join
	is "the node has joined" "$(cat /tmp/join.rc)" 0 || sed 's/^/# /' /tmp/join.out
	load_start 12
fi
goes_on "two leaders were killed" 1 2 3 12
wl_end 1 2 3 12
finish
