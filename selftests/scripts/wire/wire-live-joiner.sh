#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Joiners in trouble: one is killed on its way in, one right after, and one joins while a
# member is killed. None of them holds up those that are there, or the next that comes.
#
# Failures of other systems: a joiner dies, and the members hang; a failure right after a join; a
# join while a member fails.
# vm: uml timeout=120 nodes=5
# shellcheck disable=SC2154 # node and nodes come from lib-wire.sh
. ./lib-wire-live.sh

wl_start 12 22
wl_begin 1 2 12
if [ "$node" = 5 ]; then
	spindle-ctl node join id 5 insecure contact "$(place_of 1)" no-wait
	soon 80
	ok "a joiner dies"
	vm_die
fi
nodes=4
barrier "$node" "$nodes" joiner || bail "all meet after the death of a joiner"
# The joiner may have been a member when it died. Then another view removes it.
goes_on "a joiner was killed" 1 2 12
barrier "$node" "$nodes" settled || bail "all meet before the next join"
if [ "$node" = 4 ]; then
	check "a node joins" try_join 4 1 2
	ok "the new member dies at once"
	vm_die
fi
nodes=3
if [ "$node" != 3 ]; then
	usleep $((TIMEOUT * 1000))
	goes_on "a node died right after its join" 1 2 12
fi
barrier "$node" "$nodes" after || bail "all meet after the death of a new member"
if [ "$node" = 3 ]; then
	comes_back 3 1 2
fi
goes_on "the third one comes in" 1 2 3 12
barrier "$node" "$nodes" third || bail "all meet before a join with a failure"
case $node in
3)
	soon 60
	ok "a member dies while a node joins"
	vm_die
	;;
2)
	comes_back 22 1 12
	;;
esac
nodes=2
goes_on "a member died while a node joined" 1 2 12 22
wl_end 1 2 12 22
finish
