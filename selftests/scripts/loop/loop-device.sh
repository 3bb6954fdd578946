#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The device goes: during traffic, while no node sends, while connections are being made, while
# nodes are being added, with its network device. Users learn of it, dead nodes stay until they are
# removed, nothing hangs, and a new device works.
# vm: timeout=300 each
. ./guest-lib.sh
. ./lib-loop.sh
. ./lib-device.sh

EV=/tmp/events

dead_nodes()
{
	spindle-ctl node show | grep -c " dead "
}

check "module loads" loop_start
spindle-ctl monitor >>$EV 2>/dev/null &
monitor_pid=$!
check "the monitor listens" wait_until 30 listens $monitor_pid

for how in poll imm; do
	check "4 nodes ($how)" configure $how
	traffic
	: >$EV
	check "the device goes during traffic" limit 60 rdma link delete rxe0
	load_failed "a process that sends and reads gets the error" /tmp/load.out $load_pid \
		"the RDMA device was removed"
	load_failed "a process that waits for a message gets the error" /tmp/idle.out $idle_pid \
		"the RDMA device was removed"
	is "all four nodes are dead" "$(dead_nodes)" 4
	check "events report the dead nodes" wait_until 30 sh -c \
		"[ \$(grep -c 'node-dead .*error device-gone' $EV) = 4 ]"
	# Whose end comes first must not look like a lost peer to the others.
	is "events report failed subgroups on all nodes" \
		"$(grep -c 'subgroup-failed .*subgroup 1 *error device-gone' $EV)" 4
	check "a dead node refuses a view" sh -c \
		"! spindle-ctl view set node 1 vid 9 member 1@10.0.0.1:5001 2>&1 | tee /tmp/msg |
			grep -qv . ; grep -q 'RDMA device is gone' /tmp/msg"
	if [ $how = poll ]; then
		check "dead nodes can be removed without a device" loop_del 4
		check "a new device is added" rxe_add rxe0 dummy0
	else
		check "a new device is added" rxe_add rxe0 dummy0
		check "dead nodes can be removed with a device" loop_del 4
	fi
done

check "4 nodes on the new device" configure auto
check "traffic flows on the new device" limit 60 mcast-load -n 1-4 -g 1 -c 20
# Soft-RoCE of 6.1 then loses completions of its management queue pair for good, and
# rdma_destroy_id(), which every user of rdma_cm has to call, waits for them for ever.
case $(uname -r) in
6.1.*)
	skip "the network device goes during traffic" "soft-RoCE of 6.1 does not survive it"
	check "nodes go" loop_del 4
	check "the RDMA device goes" limit 60 rdma link delete rxe0
	check "the network device goes" limit 60 ip link delete dummy0
	;;
*)
	traffic
	# The network device goes down first, and that may break a connection before the RDMA device
	# goes.
	check "the network device goes" limit 60 ip link delete dummy0
	load_failed "a process that sends and reads gets the error" /tmp/load.out $load_pid \
		"the RDMA device was removed\|the connection to a member broke"
	load_failed "a process that waits for a message gets the error" /tmp/idle.out $idle_pid \
		"the RDMA device was removed\|the connection to a member broke"
	check "the RDMA device is gone" wait_until 30 no_device
	is "all four nodes are dead" "$(dead_nodes)" 4
	check "nodes go" loop_del 4
	;;
esac
ip link add dummy0 type dummy
ip link set dummy0 mtu 4200 up
ip addr add 10.0.0.1/24 dev dummy0
check "a new device is added" rxe_add rxe0 dummy0

# Peers that do not exist: peer 1 would dial, and the node dials 8 and 9 again and again.
absent()
{
	local i

	for i in 2 3; do
		spindle-ctl node add id $i addr 10.0.0.1 port 500$i || return 1
	done
	for i in 2 3; do
		spindle-ctl view set node $i vid 1 member 1@10.0.0.1:5001 \
			member 2@10.0.0.1:5002 member 3@10.0.0.1:5003 \
			member 8@10.0.0.1:5008 member 9@10.0.0.9:5009 subgroup 1 ||
			return 1
	done
}

dead_and_gone()
{
	local i

	for i in "$@"; do
		limit 30 spindle-ctl node del id "$i" || return 1
	done
}

check "a view has absent members" absent
check "nodes dial the absent members" wait_until 30 sh -c \
	"spindle-ctl -j -p stats node 2 | grep -q '\"attempts\": *[2-9]'"
check "the device goes while nodes dial" limit 60 rdma link delete rxe0
check "nodes go" dead_and_gone 2 3

for i in 1 2 3; do
	rxe_add rxe0 dummy0
	configure auto
	usleep $((i * 20000))
	check "the device goes while the others connect ($i)" limit 60 rdma link delete rxe0
	check "nodes go" loop_del 4
done

# Add and remove nodes at the same time. The results of adds do not matter, only the nodes that are
# left.
rxe_add rxe0 dummy0
(
	while ! [ -e /tmp/enough ]; do
		for i in 11 12 13; do
			spindle-ctl node add id $i addr 10.0.0.1 port 50$i
			spindle-ctl view set node $i vid 1 member 11@10.0.0.1:5011 \
				member 12@10.0.0.1:5012 member 13@10.0.0.1:5013 subgroup 1
		done
		for i in 11 12 13; do
			spindle-ctl node del id $i
		done
	done
) >/dev/null 2>&1 &
adder=$!
for i in 1 2 3 4; do
	usleep 300000
	check "the device goes while nodes come and go ($i)" limit 60 rdma link delete rxe0
	rxe_add rxe0 dummy0
done
: >/tmp/enough
wait $adder
check "no node is left" sh -c "! spindle-ctl node show | grep -q 10.0.0.1"
check "a device works after many others were deleted" sh -c ". ./lib-loop.sh
	loop_nodes 2 && loop_view 2 1 subgroup 1"
check "traffic flows on that device" limit 60 mcast-load -n 1,2 -g 1 -c 20
check "nodes go" loop_del 2

kill $monitor_pid
wait $monitor_pid 2>/dev/null
check "module goes" limit 60 rmmod spindle
finish
