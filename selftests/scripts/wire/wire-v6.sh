#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Nodes at IPv6 addresses.
# shellcheck disable=SC2154 # node and nodes come from lib-wire.sh
. ./lib-wire.sh

wire_start
wire_conf 1 6 >/tmp/conf <<EOT

[Subgroup]
Id = 1
MaxMsg = 4K
EOT
check "one file serves all hosts" spindle-ctl apply /tmp/conf
check "the subgroup becomes active" wait_until 100 subgroup_is 1 active
load_same "all send" -g 1 -s all -c 200 -l 0-4096
wire_end
finish
