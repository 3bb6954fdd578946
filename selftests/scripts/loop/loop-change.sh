#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Subgroups of a live view that are added, replaced and removed while messages of another subgroup
# are under way, by a request to any member. Members that join get them, too.
# vm: uml timeout=300
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

A=10.0.0.1

# has NODE SUBGROUP: does the node's view have the subgroup?
has()
{
	spindle-ctl -j view show node "$1" | sed 's/.*"subgroups"//' | grep -q "\"id\":$2,"
}

# all_have SUBGROUP NODE...
all_have()
{
	local sg i

	sg=$1
	shift
	for i in "$@"; do
		has "$i" "$sg" || return 1
	done
}

# none_has SUBGROUP NODE...
none_has()
{
	local sg i

	sg=$1
	shift
	for i in "$@"; do
		! has "$i" "$sg" || return 1
	done
}

lsn()
{
	spindle-ctl -j -p subgroup show node "$1" id "$2" | sed -n 's/^ *"lsn": \([0-9]*\),*$/\1/p'
}

# add_at NODE ID: an administrator of the node adds a subgroup
add_at()
{
	spindle-ctl subgroup add "$1" id "$2" window 4 max-msg 64 timeout 60 >/tmp/add.$2 2>&1
	echo $? >/tmp/add.$2.rc
}

# as_told ID: all members have the subgroup if its administrator was told so, and none has it if not
as_told()
{
	case $(cat /tmp/add.$1.rc) in
	0)
		added=$((added + 1))
		wait_until 60 all_have "$1" 1 2 3 && spindle-ctl subgroup del 2 id "$1" timeout 60
		;;
	1)
		grep -q "another \(change of the subgroups is under way\|member changes the \)" \
			/tmp/add.$1 && none_has "$1" 1 2 3
		;;
	*) return 1 ;;
	esac
}

# two_at_once: at least one of two administrators gets what it wants, and both are told the truth.
two_at_once()
{
	local other

	added=0
	add_at 1 21 &
	other=$!
	add_at 3 22
	wait $other
	as_told 22 && as_told 21 && [ $added -gt 0 ]
}

check "module loads" loop_start
check "nodes" loop_nodes 5
check "a live view with room for two more subgroups" live_view 3 max-nodes 5 spares 2 \
	spare-window 16 spare-ring 64K subgroup 1 window 32 max-msg 256
check "they are in the first view" wait_until 60 in_view 1 1 2 3
for i in 1 2 3; do
	load_start $i
done

for i in 1 2 3 4; do
	check "two administrators at once, $i" two_at_once || sed 's/^/# /' /tmp/add.*
done

check "node 2 adds a subgroup" spindle-ctl subgroup add 2 id 7 name topic window 8 max-msg 128 \
	timeout 60
check "all members have it" wait_until 60 all_have 7 1 2 3
check "it becomes active" wait_until 60 sg_active 7 1 2 3
check "it carries messages" limit 100 mcast-load -n 1-3 -g 7 -c 100 -l 16-128
at=$(lsn 1 7)
is "its position is that of its messages" "$at" 300

check "it is replaced by one of nodes 1 and 2" spindle-ctl subgroup replace 3 id 7 members 1,2 \
	senders 1 window 4 max-msg 64 timeout 60
check "nodes 1 and 2 have it" wait_until 60 sg_active 7 1 2
check "it carries messages of node 1" limit 100 mcast-load -n 1-2 -g 7 -s one -c 50 -l 16-64
is "its positions go on" "$(lsn 2 7)" $((at + 50))

check "node 1 adds another one" spindle-ctl subgroup add 1 id 8 name late window 16 max-msg 512 \
	timeout 60
says 1 'no free spare' subgroup add 1 id 9 window 16 max-msg 512
says 1 'no such subgroup' subgroup del 1 id 9
says 1 "node 1 is in no view with a subgroup 'early'" subgroup del 1 name early
says 1 'the view has a subgroup of this id' subgroup add 1 id 8 window 16 max-msg 512
check "node 4 joins" spindle-ctl node join id 4 insecure contact $A:5001 timeout 60
check "it is in the subgroup that was added" wait_until 60 sg_active 8 1 2 3 4
check "which carries messages of all" limit 100 mcast-load -n 1-4 -g 8 -c 50 -l 16-512

check "node 4 removes it" spindle-ctl subgroup del 4 name late timeout 60
check "no member has it any more" wait_until 60 none_has 8 1 2 3 4
check "the first subgroup is removed while it is used" spindle-ctl subgroup del 2 id 1 timeout 60
check "no member has it any more" wait_until 60 none_has 1 1 2 3 4
# shellcheck disable=SC2154 # set by load_start
for i in "$load_1" "$load_2" "$load_3"; do
	check "a process of it ends" wait_until 30 dead "$i"
done
check "logs agree" loads_agree
says 1 'no free spare' subgroup add 1 id 1 window 32 max-msg 256
check "a smaller one takes its id" spindle-ctl subgroup add 1 id 1 window 16 max-msg 256 timeout 60
check "it carries messages" limit 100 mcast-load -n 1-4 -g 1 -c 50 -l 16-256
check "nodes go" loop_del 5
check "module goes" rmmod spindle
finish
