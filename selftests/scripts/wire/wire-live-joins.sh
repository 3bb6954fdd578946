#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Five nodes join at once, by different members; then four more while a guest with a member
# and one of the five dies.
#
# Failures of other systems: many joins at once; a join while a member fails; several failures at
# once.
# vm: uml timeout=180
# shellcheck disable=SC2154 # node and nodes come from lib-wire.sh
. ./lib-wire-live.sh

# come ID...: those of this guest join, all at once.
come()
{
	local i

	for i in "$@"; do
		! mine "$i" || begin "join$i" try_join "$i" 1 2
	done
	for i in "$@"; do
		mine "$i" || continue
		check "the join of $i ends" wait_until 100 has_ended "join$i"
		is "node $i has joined" "$(cat "/tmp/join$i.rc")" 0 ||
			sed 's/^/# /' "/tmp/join$i.out"
		load_start "$i"
	done
}

wl_start 11 21 31 41 12 22 32 42 13
wl_begin 3 1 2
come 11 12 22 13 21
goes_on "five have joined at once" 1 2 3 11 12 13 21 22
barrier "$node" "$nodes" five || bail "all meet when five have joined"
if [ "$node" = 3 ]; then
	soon 100
	ok "a guest with the leader and a new member dies"
	vm_die
fi
nodes=2
come 31 32 41 42
goes_on "four have joined while two died" 1 2 11 12 21 22 31 32 41 42
wl_end 1 2 11 12 21 22 31 32 41 42
finish
