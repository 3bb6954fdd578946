#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The RDMA device of a member goes away. It stops, the others go on without it; with a new
# device it joins again.
#
# Failures of other systems: a broken connection aborts everything; the leader goes, and the others
# hang.
# vm: uml timeout=120
# shellcheck disable=SC2154 # node and nodes come from lib-wire.sh
. ./lib-wire-live.sh

wl_start
wl_begin 3 1 2
if [ "$node" = 3 ]; then
	check "the device is deleted" limit 60 rdma link delete rxe0
	check "the process sees the end" process_ended 3
	status_of 3
	is "status shows a dead node" "$(live_word 3 state)" dead
	is "status shows the reason" "$(live_word 3 reason)" "the RDMA device was removed"
else
	goes_on "#92, #126: the device of the leader is gone" 1 2
fi
barrier "$node" "$nodes" gone || bail "all meet without the device"
if [ "$node" = 3 ]; then
	check "the node is removed" spindle-ctl node del id 3
	check "a new device is added" rxe_add rxe0 eth0
	check "a new node is added" wl_node 3
	comes_back 3 1 2
fi
goes_on "node 3 is back" 1 2 3
wl_end 1 2 3
finish
