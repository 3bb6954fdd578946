#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A bad wire: every node loses one packet of a hundred and delays the others,
# which also changes their order. It costs time and nothing else.
# shellcheck disable=SC2154 # node and nodes come from lib-wire.sh
. ./lib-wire.sh

dropped()
{
	tc -s qdisc show dev eth0 | sed -n 's/.*(dropped \([0-9]*\),.*/\1/p' |
		head -n 1
}

wire_start
try_load sch_netem
if ! tc qdisc add dev eth0 root netem loss 1% delay 2ms 1ms limit 100000; then
	bail "the wire becomes bad"
fi
wire_conf 1 >/tmp/conf <<EOT

[Subgroup]
Id = 1
MaxMsg = 1K

[Subgroup]
Id = 2
Window = 16

[Subgroup]
Id = 3
Mode = unordered
MaxMsg = 1K
EOT
check "the view is installed" spindle-ctl apply /tmp/conf
check "connections come about" wait_until 200 subgroup_is 1 active
load_same "all send" -g 1 -s all -c 200 -l 1-1024
load_same "one sends, in many packets" -g 2 -s one -c 40 -l 1-10240
load_unordered "unordered" -g 3 -s all -c 100 -l 1-1024
# Each node alone may have been lucky.
spindle-ctl stats node $node | sed "s/^/# /"; for c in /sys/class/infiniband/rxe0/ports/1/hw_counters/*; do echo "# ${c##*/} $(cat $c)"; done
diag "$(dropped) packets were lost here"
agree "the end" ""
check "the subgroups are still active" subgroup_is 1 active
tc qdisc del dev eth0 root
wire_end
finish
