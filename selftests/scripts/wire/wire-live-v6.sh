#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A live view over IPv6 with a group key, each node in a guest of its own: one joins by an IPv6
# contact, the leader is killed, one is evicted and comes back. The others go on.
# vm: uml timeout=120 nodes=4
# shellcheck disable=SC2154,SC2034 # node and nodes come from lib-wire.sh, the rest is for it
. ./lib-wire-live.sh

FAMILY=6
KEY_FILE=/tmp/key
umask 077
echo "a key of thirty-two bytes, or so." >$KEY_FILE
wl_start
wl_begin 4 1 2
[ "$node" != 3 ] || comes_back 3 2
goes_on "a node has joined" 1 2 3 4
barrier "$node" "$nodes" joined || bail "all meet when it has joined"
if [ "$node" = 4 ]; then
	ok "the leader dies"
	vm_die
fi
nodes=3
goes_on "the leader was killed" 1 2 3
barrier "$node" "$nodes" killed || bail "survivors meet"
[ "$node" != 1 ] || check "a node is evicted" spindle-ctl node evict id 1 node 2
if [ "$node" = 2 ]; then
	out 2 evicted
else
	goes_on "a node was evicted" 1 3
fi
barrier "$node" "$nodes" evicted || bail "all meet when it is out"
# Join by the member that joined itself. The others know its address only from its knock.
[ "$node" != 2 ] || comes_back 2 3
goes_on "node 4 is back" 1 2 3
wl_end 1 2 3
finish
