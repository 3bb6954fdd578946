#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A bad wire: each node's card loses one packet of a hundred and holds the others
# up, now less and now more. It costs time and nothing else.
#
# The delay varies by slots, which keeps packets in their order. Not so "delay 2ms
# 1ms": soft-RoCE takes each packet that comes too early for a lost one, and gives
# a connection up after seven of them in a row.
# shellcheck disable=SC2154 # node and nodes come from lib-wire.sh
. ./lib-wire.sh

wire_start
try_load sch_netem
tc qdisc add dev eth0 root netem loss 1% delay 1ms slot 1ms 3ms limit 100000 ||
	bail "the wire becomes bad"
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
check "the subgroups become active" wait_until 200 subgroup_is 1 active
load_same "all send" -g 1 -s all -c 300 -l 1-1024
load_same "one sends, in many packets" -g 2 -s one -c 100 -l 1-10240
load_unordered "unordered" -g 3 -s all -c 200 -l 1-1024
check "the subgroups are still active" subgroup_is 1 active
publish dropped "$(dropped)"
check "all guests have sent" barrier "$node" "$nodes" sent
diag "lost here: $(dropped), by all: $(dropped_by_all)"
check "packets were lost" [ "$(dropped_by_all)" -gt 0 ]
tc qdisc del dev eth0 root
wire_end
finish
