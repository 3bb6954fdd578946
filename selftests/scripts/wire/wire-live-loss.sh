#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A bad wire: all guests lose packets, some come late, some overtake others. This costs only time,
# and no member is suspected. Each case has a new group.
#
# When a packet and what would tell of it are both lost only soft-RoCE's timer helps, after
# 34 ms; each write that is posted winds it up again, and heartbeats come every 150 ms.
#
# Failures of other systems: a node that is slow is evicted; wrong messages are delivered.
# vm: uml timeout=240
# shellcheck disable=SC2154 # node and nodes come from lib-wire.sh
. ./lib-wire-live.sh

wl_start 12
LOAD=
try_load sch_netem
# Below, the settings of the queue change, and the queue stays. A queue that replaces another one
# discards packets and reports that, which ends connections of soft-RoCE.
check "a network emulator is added" tc qdisc add dev eth0 root netem limit 100000
while read -r name how; do
	wl_begin 1 2 3
	# shellcheck disable=SC2086
	check "$name: the wire becomes bad" tc qdisc change dev eth0 root netem $how limit 100000
	barrier "$node" "$nodes" "$name" || bail "all meet on a bad wire"
	before=$(log_size "$node")
	usleep 5000000
	diag "$name: $(($(log_size "$node") - before)) messages in 5 s"
	is "$name: the view stays the same" "$(live_word "$node" vid)" 1 || status_of "$node"
	check "$name: messages flow" flows "$node"
	barrier "$node" "$nodes" "$name.flow" || bail "all meet on a bad wire"
	tc -s qdisc show dev eth0 |
		sed -n 's/.*(dropped \([0-9]*\),.*/# \1 packets were dropped here so far/p'
	tc qdisc change dev eth0 root netem limit 100000
	barrier "$node" "$nodes" "$name.over" || bail "all meet on a good wire"
	check "$name: the node goes" spindle-ctl node del id "$node"
	check "$name: its process sees the end" process_ended "$node"
	check "$name: and comes back" wl_node "$node"
	group=$((group + 1))
done <<EOT
loss1 loss 1%
loss10 loss 10%
both loss 5% delay 1ms slot 1ms 5ms
order delay 1ms reorder 99% gap 50
EOT
wl_begin 1 2 3
wl_end 1 2 3
finish
