#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The device goes: during traffic, while nobody sends, while connections are being made,
# while nodes are being added, with its network device. Users are told, nodes stay as
# dead ones until they are removed, nothing hangs, and a new device works.
# vm: timeout=300
. ./guest-lib.sh
. ./lib-loop.sh

EV=/tmp/events

dead_nodes()
{
	spindle-ctl node show | grep -c " dead "
}

# load_start: endless traffic in subgroup 1, and one who waits in vain in subgroup 2.
load_start()
{
	limit 200 mcast-load -n 1-4 -g 1 -c 100000000 -l 1-1000 -w 120 >/tmp/load.out 2>&1 &
	load_pid=$!
	limit 200 mcast-load -n 2 -g 2 -s one -c 5 -w 120 >/tmp/idle.out 2>&1 &
	idle_pid=$!
	wait_until 60 flows 4 200 &&
		wait_until 60 sh -c "spindle-ctl -j -p subgroup show node 2 id 2 |
			grep -q '\"readers\": *1'"
}

# flows NODE COUNT: has the node delivered more than that?
flows()
{
	[ "$(loop_stat "$1" 1 delivered)" -gt "$2" ]
}

# Not by check, which would keep the numbers of the processes to itself.
traffic()
{
	if load_start; then
		ok "traffic"
	else
		not_ok "traffic"
		sed 's/^/#   /' /tmp/load.out /tmp/idle.out
	fi
}

# load_failed DESCRIPTION FILE PID TEXT: it ended by itself, with this error.
load_failed()
{
	local rc

	rc=0
	wait "$3" || rc=$?
	if [ $rc = 1 ] && grep -q "$4" "$2"; then
		ok "$1"
		return
	fi
	not_ok "$1"
	diag "it ended with $rc"
	sed 's/^/#   /' "$2"
}

# configure VISIBILITY: four nodes and two subgroups.
configure()
{
	loop_nodes 4 visibility "$1" && loop_view 4 1 \
		subgroup 1 window 32 max-msg 1024 subgroup 2 window 8 max-msg 1024 members 1,2
}

no_device()
{
	! [ -e /sys/class/infiniband/rxe0 ]
}

check "module loads" loop_start
spindle-ctl monitor >>$EV 2>/dev/null &
monitor_pid=$!

for how in poll imm; do
	check "4 nodes ($how)" configure $how
	traffic
	: >$EV
	check "the device goes during traffic" limit 60 rdma link delete rxe0
	load_failed "who sends and reads is told" /tmp/load.out $load_pid \
		"the RDMA device was removed"
	load_failed "who waits for a message is told" /tmp/idle.out $idle_pid \
		"the RDMA device was removed"
	is "all nodes are dead" "$(dead_nodes)" 4
	check "events say so" wait_until 30 sh -c \
		"[ \$(grep -c 'node-dead .*error device-gone' $EV) = 4 ]"
	# Whose end comes first must not look like a lost peer to the others.
	is "and that subgroups failed by it, on all nodes" \
		"$(grep -c 'subgroup-failed .*subgroup 1 *error device-gone' $EV)" 4
	check "a dead node takes no view" sh -c \
		"! spindle-ctl view set node 1 vid 9 member 1@10.0.0.1:5001 2>&1 | tee /tmp/msg |
			grep -qv . ; grep -q 'RDMA device is gone' /tmp/msg"
	if [ $how = poll ]; then
		check "dead nodes can be removed before there is a device" loop_del 4
		check "a new device" rxe_add rxe0 dummy0
	else
		check "a new device" rxe_add rxe0 dummy0
		check "dead nodes can be removed when there is one" loop_del 4
	fi
done

check "4 nodes on the new device" configure auto
check "work" limit 60 mcast-load -n 1-4 -g 1 -c 20
traffic
# It goes down first, which may break a connection before the RDMA device goes.
check "the network device goes" limit 60 ip link delete dummy0
load_failed "who sends and reads is told" /tmp/load.out $load_pid \
	"the RDMA device was removed\|the connection to a member broke"
load_failed "who waits for a message is told" /tmp/idle.out $idle_pid \
	"the RDMA device was removed\|the connection to a member broke"
check "the RDMA device is gone" wait_until 30 no_device
is "all nodes are dead" "$(dead_nodes)" 4
check "nodes go" loop_del 4
ip link add dummy0 type dummy
ip link set dummy0 mtu 4200 up
ip addr add 10.0.0.1/24 dev dummy0
check "a new device" rxe_add rxe0 dummy0

# Peers that nobody plays: 1 would dial, 8 and 9 are dialled again and again.
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

check "members that are absent" absent
check "are dialled" wait_until 30 sh -c \
	"spindle-ctl -j -p stats node 2 | grep -q '\"attempts\": *[2-9]'"
check "the device goes while they are" limit 60 rdma link delete rxe0
check "nodes go" dead_and_gone 2 3

for i in 1 2 3; do
	rxe_add rxe0 dummy0
	configure auto
	usleep $((i * 20000))
	check "the device goes while the others connect ($i)" limit 60 rdma link delete rxe0
	check "nodes go" loop_del 4
done

# Adding and removing against it: what an add says does not matter, what is left does.
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
check "whoever was left is gone" sh -c "! spindle-ctl node show | grep -q 10.0.0.1"
check "a device that was deleted that often works" sh -c ". ./lib-loop.sh
	loop_nodes 2 && loop_view 2 1 subgroup 1"
check "it does" limit 60 mcast-load -n 1,2 -g 1 -c 20
check "nodes go" loop_del 2

# The link goes down. Without traffic nothing is lost. With it soft-RoCE gives up at once
# what it cannot send; its management queue pair gives up as well, for good, so that
# nobody connects again over this device. What has to hold is that users are told, that
# all can be removed, and that a new device works.
check "4 nodes" configure auto
check "work" limit 60 mcast-load -n 1-4 -g 1 -c 20
ip link set dummy0 down
usleep 500000
ip link set dummy0 up
check "a moment without link is not noticed without traffic" \
	limit 60 mcast-load -n 1-4 -g 1 -c 20 -w 30
traffic
check "the link goes down" ip link set dummy0 down
load_failed "who sends and reads is told" /tmp/load.out $load_pid \
	"the connection to a member broke"
kill $idle_pid 2>/dev/null	# unless it has been told already
wait $idle_pid
check "nodes go while it is down" loop_del 4
check "and the device" limit 60 rdma link delete rxe0
ip link set dummy0 up
check "a new device" rxe_add rxe0 dummy0
check "4 nodes" configure auto
check "work" limit 60 mcast-load -n 1-4 -g 1 -c 20
traffic
check "the link goes down" ip link set dummy0 down
load_failed "who sends and reads is told" /tmp/load.out $load_pid \
	"the connection to a member broke"
kill $idle_pid 2>/dev/null	# unless it has been told already
wait $idle_pid
check "the network device goes as well" limit 60 ip link delete dummy0
check "and with it the RDMA device" wait_until 30 no_device
check "nodes go" loop_del 4

kill $monitor_pid
wait $monitor_pid 2>/dev/null
check "module goes" limit 60 rmmod spindle
finish
