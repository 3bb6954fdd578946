#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A guest with two of five nodes is cut off, at its port of the network, and then its link
# goes down.
# The majority goes on; the minority stops, says so, and has delivered nothing that the
# majority has not. When the network is whole again it joins.
#
# Failures of other systems: a minority aborts, or goes on; a broken connection aborts everything.
# vm: uml timeout=180
# shellcheck disable=SC2154 # node and nodes come from lib-wire.sh
. ./lib-wire-live.sh

cut()
{
	case $1 in
	port) cut_off both ;;
	link) ip link set eth0 down ;;
	esac
}

# When soft-RoCE could not send, its queue pair of connection managers is dead for good: a node that
# wants to connect again needs a new device. See loop-link.sh.
heal()
{
	local i

	case $1 in
	port) cut_off none ;;
	link)
		for i in 3 13; do
			spindle-ctl node del id $i || return 1
		done
		limit 60 rdma link delete rxe0 && ip link set eth0 up && rxe_add rxe0 eth0 ||
			return 1
		for i in 3 13; do
			wl_node $i || return 1
		done
		;;
	esac
}

wl_start 11 13
# The one that is cut off leads, too, the first time.
wl_begin 3 1 2 11 13
# The card of a User-Mode Linux kernel that went down does not come up again.
hows="port link"
[ "$machine" = qemu ] || hows=port
# Soft-RoCE of 6.1 waits for ever for that queue pair when a node is removed.
case $(uname -r) in
6.1.*) [ "$node" != 3 ] || bail "node 3 needs a later kernel" ;;
esac
for how in $hows; do
	if [ "$node" = 3 ]; then
		check "$how: this guest is cut off" cut $how
		for i in 3 13; do
			out $i minority
		done
		# The others shall see it, too.
		usleep $((3 * TIMEOUT * 1000))
		check "$how: the network is whole again" heal $how
	else
		goes_on "$how: the majority" 1 2 11
	fi
	barrier "$node" "$nodes" "$how.healed" || bail "all meet when it is over"
	if [ "$node" = 3 ]; then
		comes_back 3 1 2
		comes_back 13 2 1
	fi
	goes_on "$how: all are back" 1 2 3 11 13
	barrier "$node" "$nodes" "$how.back" || bail "all meet when they are back"
done
wl_end 1 2 3 11 13
finish
