#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Traffic in large views: many members that all send in one subgroup, and 64 subgroups that three
# members send in. Members deliver the same messages in the same order. MEMBERS=64 is the limit of a
# view. Documentation/develop/testing.rst says what the host needs for it.
# vm: uml mem=4096 timeout=300
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh

members=${MEMBERS:-32}

# all_active N SUBGROUPS: are all subgroups of nodes 1..N active?
all_active()
{
	local i

	for i in $(seq "$1"); do
		[ "$(spindle-ctl -j -p subgroup show node "$i" | grep -c '"state": "active"')" = "$2" ] ||
			return 1
	done
}

check "module loads" loop_start
check "$members nodes" loop_nodes "$members"
check "a view of them is installed" loop_view "$members" 1 subgroup 1 window 4 max-msg 64
check "all members are connected" wait_until 200 all_active "$members" 1
check "all of them send" limit 100 mcast-load -n "1-$members" -g 1 -c 20 -l 16-64
check "nodes go" loop_del "$members"
check "three nodes" loop_nodes 3
groups=$(seq 64 | sed 's/$/ window 8 max-msg 64/; s/^/subgroup /')
# shellcheck disable=SC2086
check "a view of 64 subgroups is installed" loop_view 3 1 $groups
check "all subgroups are active" wait_until 100 all_active 3 64
check "senders in 64 subgroups" limit 100 mcast-load -n 1-3 -g 1-64 -c 100 -l 16-64
check "nodes go" loop_del 3
check "module goes" rmmod spindle
finish
