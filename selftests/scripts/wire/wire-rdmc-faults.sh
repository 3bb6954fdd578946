#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# RDMC over several guests when something goes wrong: processes are killed, devices deleted, ports
# cut, a guest stands still, guests die. Complete objects have the right bytes. All other members
# learn in time that the rest is incomplete, and the culprit. Then they make another group.
# vm: uml timeout=440 nodes=4
# shellcheck disable=SC2154 # node and nodes come from lib-wire.sh
. ./lib-wire-live.sh
. ./lib-rdmc.sh

vid=0

# next_view NAME: all remaining members begin again, and a transfer works.
next_view()
{
	vid=$((vid + 1))
	wire_conf $vid </dev/null >/tmp/conf.$vid
	barrier "$node" "$nodes" "view$vid" || bail "all meet before view $vid"
	check "$1: a view is installed" spindle-ctl apply /tmp/conf.$vid
	barrier "$node" "$nodes" "viewed$vid" || bail "all have view $vid"
	rdmc_whole "$1: objects come whole" "$(seq -s , "$nodes")" -l 1-1000000 -c 4
}

# under_way MEMBERS OPTION...: a transfer to which something is about to happen
under_way()
{
	rdmc_begin "$@"
	check "objects come" rdmc_moves || { cat $rdmc_out; return 1; }
	barrier "$node" "$nodes" "moves$rdmc_group" || bail "objects come everywhere"
}

# never PATTERN: no line of what rdmc-load said is like this
never()
{
	! grep "$1" $rdmc_out
}

# process_dies NAME MILLISECONDS MEMBERS OPTION...: that of node 4
process_dies()
{
	local name ms

	name=$1
	ms=$2
	shift 2
	under_way "$@"
	if [ "$node" = 4 ]; then
		usleep $((ms * 1000))
		check "$name dies after $ms ms" rdmc_kill
	else
		check "$name dies: all members get the error" rdmc_reported $at_once 5 4
	fi
}

wire_start
check "the node is set up" wl_node "$node"
next_view "at first"

# A lost message of rdma_cm is repeated after four seconds: opening may take that long.
RDMC_TIMEOUT=20000
# The longest times until a member learns of a failure (rdmc.rst, Timeouts). If the machine lives,
# as with a dead process, its report needs no timeout, even on a machine that is twenty times
# slower.
at_once=$((RDMC_TIMEOUT / 2))
# If no member reports anything, a lane breaks after four seconds, if there was something to send on
# it. Otherwise the root misses a member that has not ended an object after two timeouts. A receiver
# misses the root after three timeouts, and checks the time twice per timeout.
by_root=$((RDMC_TIMEOUT * 2 + 10000))
without_root=$((RDMC_TIMEOUT * 7 / 2 + 10000))
ms=0
for a in pipeline chain; do
	process_dies "$a: the root" $ms 4,1,2,3 -a $a
	process_dies "$a: a relay" $((ms + 7)) 1,4,2,3 -a $a
	process_dies "$a: the last" $((ms + 33)) 1,2,3,4 -a $a
	ms=$((ms + 100))
done
process_dies "tree: a relay" 20 1,4,2,3 -a tree
process_dies "sequential: the root" 3 4,1,2,3 -a sequential

# One process dies before the others are there. Others may have heard of it. A process that has not
# waits as long as all have for opening. It then names one that is missing: node 4, or one that has
# heard, because the group of that one is gone as well.
rdmc_begin 1,2,3,4 -t 5000
if [ "$node" = 4 ]; then
	check "the creator of the group dies at once" rdmc_kill
else
	check "a creator dies at once: all members get the error" \
		rdmc_reported $((5000 + at_once)) "3 5" "1 2 3 4"
	check "the error names node 4" never "error 5 node [123]"
	check "no member misses itself" never "error 3 node $node"
fi
barrier "$node" "$nodes" early || bail "all meet behind an early death"

for members in 4,1,2,3 1,4,2,3; do
	under_way $members
	if [ "$node" = 4 ]; then
		check "$members: the device is deleted" limit 60 rdma link delete rxe0
		check "$members: the process of the dead node gets the error" \
			rdmc_reported $at_once "4 8" "1 2 3 4"
		check "the dead node goes" spindle-ctl node del id 4
		check "a new device is added" rxe_add rxe0 eth0
		check "a node on the new device is added" wl_node 4
	else
		check "$members: the device of node 4 went, and all members get the error" \
			rdmc_reported $at_once "4 8" 4
	fi
	next_view "with a new device"
done

# A guest that is cut off cannot know which member is missing, because to it all others are. A static
# view has no heartbeats. If the guest has written nothing while it was cut off, its own lanes are
# whole, and those of the others may be broken. Then nobody can tell it, and it misses the root.
for how in both out; do
	under_way 1,3,2,4
	if [ "$node" = 3 ]; then
		check "$how: this guest is cut off" cut_off $how
		if wait_until 8 test -s $rdmc_rc; then
			diag "the cut-off member gets the error before it is reachable"
		else
			diag "the cut-off member has no error yet"
		fi
		check "$how: the network is whole again" cut_off none
		check "$how: the cut-off member gets the error" rdmc_reported $without_root \
			"3 4" "1 2 4 3"
	else
		check "$how: all members get the error" rdmc_reported $by_root "3 4" "3 1"
	fi
	next_view "$how: whole again"
done

# Short, and nothing is lost; long, and it is missing. No lane need break while the root stands still,
# because the others may have nothing to send to it. So the pause is longer than three timeouts, after
# which a receiver misses the root.
rdmc_begin 1,2,3,4 -c 200
[ "$node" != 3 ] || check "this guest stands still for a moment" pause_me 500
check "a short pause: all comes whole" rdmc_ends 0
barrier "$node" "$nodes" short || bail "all meet behind a short pause"
under_way 3,1,2,4 -t 5000
if [ "$node" = 3 ]; then
	check "this guest stands still" pause_me 25000
	check "the paused member gets the error" rdmc_reported $by_root "3 4" "1 2 3 4"
else
	check "a member pauses: all members get the error" rdmc_reported $without_root "3 4" 3
fi
next_view "it moves again"

under_way 1,4,2,3
if [ "$node" = 4 ]; then
	ok "a relay's guest dies"
	vm_die
fi
check "a relay's guest died: all members get the error" rdmc_reported $by_root "3 4" 4
nodes=3
next_view "without the relay"
under_way 3,1,2
if [ "$node" = 3 ]; then
	ok "the root's guest dies"
	vm_die
fi
check "the root's guest died: all members get the error" rdmc_reported $without_root "3 4" 3
nodes=2
next_view "without the root"
is "rdmc show lists no group" "$(spindle-ctl -j rdmc show)" "[]"
wire_end
finish
