#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# All nodes go at once, in three ways: they are removed, their devices go, and no node hears another
# one any more. Each time a new first view begins, and the old group does not disturb it.
#
# Failure of other systems: all nodes restart, and the former group disturbs the next one.
# vm: uml timeout=180
# shellcheck disable=SC2154 # node and nodes come from lib-wire.sh
. ./lib-wire-live.sh

wl_start
for how in removed device silent; do
	wl_begin 1 2 3
	barrier "$node" "$nodes" "$how" || bail "all meet"
	case $how in
	removed) check "$how: the node is removed" spindle-ctl node del id "$node" ;;
	device)
		check "$how: the device is deleted" limit 60 rdma link delete rxe0
		check "$how: the process sees the end" process_ended "$node"
		check "$how: the node is removed" spindle-ctl node del id "$node"
		check "$how: a new device is added" rxe_add rxe0 eth0
		;;
	silent)
		check "$how: packets are dropped" cut_off both
		check "$how: the node stops" wait_until 60 stopped "$node" ||
			status_of "$node"
		check "$how: the reason is the minority" \
			says_why "$node" minority || status_of "$node"
		check "$how: packets are not dropped any more" cut_off none
		check "$how: the node is removed" spindle-ctl node del id "$node"
		;;
	esac
	check "$how: the process sees the end" process_ended "$node"
	check "$how: a new node is added" wl_node "$node"
	group=$((group + 1))
done
wl_begin 3 2 1
goes_on "all nodes are in a view after three restarts" 1 2 3
wl_end 1 2 3
finish
