#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Guests die in the middle of traffic: a follower first, the leader then. The others go on,
# and have delivered the same.
#
# Failures of other systems: a node is killed while it sends; the leader dies, and the others hang;
# a view change delivers the wrong messages.
# vm: uml timeout=120 nodes=4
# shellcheck disable=SC2154 # node and nodes come from lib-wire.sh
. ./lib-wire-live.sh

wl_start
wl_begin 3 4 1 2
if [ "$node" = 4 ]; then
	ok "a follower dies"
	vm_die
fi
nodes=3
goes_on "a follower was killed" 1 2 3
barrier "$node" "$nodes" follower || bail "survivors meet"
if [ "$node" = 3 ]; then
	ok "the leader dies"
	vm_die
fi
nodes=2
goes_on "#126: the leader was killed" 1 2
wl_end 1 2
finish
