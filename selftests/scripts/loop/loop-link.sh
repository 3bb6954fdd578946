#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The link goes down, during traffic and without. Users learn of it, everything can be removed, and
# a new device works.
# vm: own
# vm: timeout=200 each
. ./guest-lib.sh
. ./lib-loop.sh
. ./lib-device.sh

# The link goes down while messages flow, and one waits for what never comes.
down_amid_traffic()
{
	traffic
	check "the link goes down" ip link set dummy0 down
	load_failed "a process that sends and reads gets the error" /tmp/load.out "$load_pid" \
		"the connection to a member broke"
	kill "$idle_pid" 2>/dev/null	# unless it has been told already
	wait "$idle_pid"
}

check "module loads" loop_start
# The link goes down. Without traffic nothing is lost. With traffic, soft-RoCE gives up at once if
# it cannot send. Its management queue pair gives up as well, for good, so no node connects again
# over this device. Users must learn of that, everything must be removable, and a new device must
# work.
check "4 nodes" configure auto
check "traffic flows" limit 60 mcast-load -n 1-4 -g 1 -c 20
# Deliveries are acknowledged some time later, when there is nothing else to send.
check "the engines sleep" wait_until 30 quiet 4
ip link set dummy0 down
usleep 500000
ip link set dummy0 up
check "a short loss of the link without traffic has no effect" \
	limit 60 mcast-load -n 1-4 -g 1 -c 20 -w 30
down_amid_traffic
case $(uname -r) in
6.1.*)
	# Soft-RoCE of 6.1 has lost completions of its management queue pair, for which
	# rdma_destroy_id() waits for ever. A process that removes a node now waits, too.
	skip "nodes go while it is down" "soft-RoCE of 6.1 never answers rdma_destroy_id()"
	vm_die
	;;
esac
check "nodes can be removed while the link is down" loop_del 4
check "the device can be removed while the link is down" limit 60 rdma link delete rxe0
ip link set dummy0 up
check "a new device is added" rxe_add rxe0 dummy0
check "4 nodes" configure auto
check "traffic flows after a short loss of the link" limit 60 mcast-load -n 1-4 -g 1 -c 20
down_amid_traffic
check "the network device can be removed" limit 60 ip link delete dummy0
check "the RDMA device goes with it" wait_until 30 no_device
check "nodes go" loop_del 4

check "module goes" limit 60 rmmod spindle
finish
