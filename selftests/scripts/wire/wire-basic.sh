#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Several hosts, one node each: all deliver the same, and in one order.
# shellcheck disable=SC2154 # node and nodes come from lib-wire.sh
. ./lib-wire.sh

wire_start
wire_conf 1 >/tmp/conf <<EOT

[Subgroup]
Id = 1
MaxMsg = 1K

[Subgroup]
Id = 2

[Subgroup]
Id = 3
MaxMsg = 64K
Window = 16

[Subgroup]
Id = 4
Mode = unordered
MaxMsg = 4K

[Subgroup]
Id = 5
Members = 1,2
Window = 4

[Subgroup]
Id = 6
Senders = 2
EOT
check "one file serves all hosts" spindle-ctl apply /tmp/conf
check "a second apply changes nothing" sh -c \
	'[ -z "$(spindle-ctl apply /tmp/conf | grep "^[-+~]")" ]'
check "the subgroups become active" wait_until 100 subgroup_is 3 active

load_same "all send" -g 1 -s all -c 300 -l 1-1024
load_same "one sends" -g 2 -s one -c 200 -l 1-10240
load_same "large messages" -g 3 -s all -c 20 -l 1-65536
load_unordered "unordered" -g 4 -s all -c 200 -l 0-4096
if [ "$node" -le 2 ]; then
	load -g 5 -s all -c 100 -l 64 || not_ok "some nodes are members"
else
	loaded=
fi
barrier "$node" "$nodes" members || not_ok "all guests are past the subgroup of some"
if [ "$node" = 3 ]; then
	loaded=$(mcast-load -n 3 -g 5 -c 1 2>&1) && not_ok "a node that is no member cannot attach"
	is "a node that is no member gets a reason" "$loaded" \
		"mcast-load: nothing to attach to"
fi
load_same "one may send" -g 6 -s all -c 50 -l 1-100
wire_end
finish
