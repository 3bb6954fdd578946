#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Subgroups of a live view that are added, replaced and removed while messages of another subgroup
# are under way, by a request to any member. Members that join get them, too. Some have shards.
# vm: uml timeout=300
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

A=10.0.0.1

# none_has SUBGROUP NODE...
none_has()
{
	local sg i

	sg=$1
	shift
	for i in "$@"; do
		! has_subgroup "$i" "$sg" || return 1
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

# ---- shards ----------------------------------------------------------------

# shards_of NODE...: of subgroups 30 and 31, those in which the nodes are
shards_of()
{
	local i

	for i in "$@"; do
		printf '%s:' "$i"
		spindle-ctl -j subgroup show node "$i" | grep -o '"id":3[01],' | tr -dc '0-9\n' |
			tr '\n' ' '
	done
}

# carries SUBGROUP NODES COUNT
carries()
{
	limit 100 mcast-load -n "$2" -g "$1" -c "$3" -l 16-256
}

check "subgroup 1 is removed" spindle-ctl subgroup del 2 id 1 timeout 60
says 1 'no free spare for each shard, side by side' \
	subgroup add 2 id 30 window 16 max-msg 256 shards 2
check "subgroup 7 is removed" spindle-ctl subgroup del 2 id 7 timeout 60
check "no member has it" wait_until 60 none_has 7 1 2 3 4
spindle-ctl -j view show node 2 >/tmp/before
says 1 'no free spare for each shard, side by side' \
	subgroup add 2 id 30 window 16 max-msg 256 shards 3
spindle-ctl -j view show node 2 >/tmp/after
check "the view is as it was" cmp /tmp/before /tmp/after

check "node 2 adds a subgroup of two shards" spindle-ctl subgroup add 2 id 30 name parts \
	window 16 max-msg 256 shards 2 min 1 timeout 60
check "all members have the first shard" wait_until 60 all_have 30 1 2 3 4
check "all members have the second shard" all_have 31 1 2 3 4
is "each node is in one" "$(shards_of 1 2 3 4)" "1:30 2:31 3:30 4:31 "
check "the first shard becomes active" wait_until 60 sg_active 30 1 3
check "the second shard becomes active" wait_until 60 sg_active 31 2 4
check "messages flow in the first shard" carries 30 1,3 30
is "node 3 has those of the first shard" "$(lsn 3 30)" 60
is "the second shard has none" "$(lsn 4 31)" 0
check "messages flow in the second shard" carries 31 2,4 50
is "node 4 has those of the second shard" "$(lsn 4 31)" 100
is "the first shard has no more" "$(lsn 1 30)" 60
says 1 'the view has a subgroup of this id' subgroup add 1 id 31 window 16 max-msg 256
says 1 'the view has a subgroup of this id' subgroup add 1 id 29 window 16 max-msg 256 shards 2
spindle-ctl showconf node 2 >/tmp/conf
is "showconf has one subgroup" "$(sed -n '/^\[Subgroup\]/,$ s/^\(Id\|Shards\) = //p' /tmp/conf |
	tr '\n' ' ')" "30 2 "
check "apply finds nothing to do for it" sh -c \
	'spindle-ctl apply /tmp/conf --dry-run | grep -q "view of node 2 unchanged"' ||
	diag "$(cat /tmp/conf)"
sed 's/^Shards = 2/Shards = 3/' /tmp/conf >/tmp/conf3
says 1 'no free spare for each shard, side by side' apply /tmp/conf3 --replace

check "node 4 leaves" spindle-ctl node leave id 4 timeout 60
is "the others stay in their shards" "$(shards_of 1 2 3)" "1:30 2:31 3:30 "
check "node 2 leaves" spindle-ctl node leave id 2 timeout 60
check "node 3 goes to the shard that has no member" \
	wait_until 60 sh -c 'spindle-ctl subgroup show node 3 id 31 | grep -q active'
is "each node is in one" "$(shards_of 1 3)" "1:30 3:31 "
check "messages flow in the first shard" carries 30 1 10
check "messages flow in the second shard" carries 31 3 10
is "the first shard goes on" "$(lsn 1 30)" 70
check "node 2 joins" spindle-ctl node join id 2 insecure contact $A:5001 timeout 60
check "it gets the shards" wait_until 60 all_have 31 1 2 3

check "the subgroup is removed by its name" spindle-ctl subgroup del 1 name parts \
	timeout 60
check "no member has the first shard" wait_until 60 none_has 30 1 2 3
check "no member has the second shard" none_has 31 1 2 3
check "they take two subgroups" spindle-ctl subgroup add 1 id 30 window 16 max-msg 256 timeout 60
check "the second one, too" spindle-ctl subgroup add 3 id 31 window 16 max-msg 256 timeout 60
check "all members are in both" wait_until 60 sg_active 31 1 2 3
check "the second one is removed" spindle-ctl subgroup del 1 id 31 timeout 60
check "the first one is removed" spindle-ctl subgroup del 1 id 30 timeout 60
check "two shards take their place" spindle-ctl subgroup add 1 id 30 window 16 max-msg 256 \
	shards 2 timeout 60
check "removed by the id of the second shard" spindle-ctl subgroup del 1 id 31 timeout 60
check "no member has the first shard" wait_until 60 none_has 30 1 2 3
check "nodes go" loop_del 5
check "module goes" rmmod spindle
finish
