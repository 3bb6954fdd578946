#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Positions: the n-th message of a subgroup has the same position at every member, over all views.
# Members leave, come back, and lose a subgroup as a whole. Eras are not mixed.
# vm: timeout=240
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

A=10.0.0.1
LIFE=281474976710656	# 2^48
HEX=000102030405060708090a0b0c0d0e0f

# ends_as FILE OTHER: is the other file the end of the first one?
ends_as()
{
	tail -n "$(wc -l <"$2")" "$1" | cmp - "$2"
}

# lsn_of NODE GROUP
lsn_of()
{
	number_of "$1" "$2" lsn
}

# has_reader NODE GROUP: a reader gets what is delivered after it has come.
has_reader()
{
	[ "$(number_of "$1" "$2" readers)" = 1 ]
}

lsn_is()
{
	[ "$(lsn_of "$1" "$2")" = "$3" ]
}

# one N VID WORD...: node N begins a live view alone.
begins()
{
	local i

	i=$1
	shift
	spindle-ctl view set node "$i" vid 1 live insecure timeout-ms 5000 \
		member "$i@$A:$((5000 + i))" subgroup 1 max-msg 64 "$@"
}

check "module loads" loop_start

# A static view begins where its administrator says.
check "two nodes" loop_nodes 2
check "a static view begins at position 1000" loop_view 2 1 subgroup 1 max-msg 64 lsn 1000
check "its subgroup is active" wait_until 30 all_active 2
is "the next message has position 1000" "$(lsn_of 1 1)" 1000
read_at 1 1 /tmp/s1
read_at 2 1 /tmp/s2
for i in 1 2; do
	check "node $i of the static view has a reader" wait_until 30 readers_are "$i" 1
done
check "node 1 sends" send_lines 1 1 5
check "node 2 sends" send_lines 2 1 5
check "node 1 has all messages" wait_until 30 has_lines /tmp/s1 10
check "node 2 has all messages" wait_until 30 has_lines /tmp/s2 10
check "positions begin at 1000" counts /tmp/s1 1000
check "both nodes have the same messages at the same positions" cmp /tmp/s1 /tmp/s2
is "the next message has position 1010" "$(lsn_of 2 1)" 1010
says 1 'only an ordered subgroup begins at a position' \
	view set node 1 vid 2 member "1@$A:5001" subgroup 1 mode unordered lsn 1
says 1 'the position that a subgroup begins at is 2^62 at most' \
	view set node 1 vid 2 member "1@$A:5001" subgroup 1 lsn 4611686018427387905
is "a refused view changes nothing" "$(lsn_of 1 1)" 1010
check "nodes go" loop_del 2

# Positions go on while members come and go.
check "five nodes" loop_nodes 5
says 1 'several shards have no position in common' \
	view set node 1 vid 1 live insecure member "1@$A:5001" subgroup 1 shards 2 lsn 1
check "five nodes begin a live view" live_view 5 subgroup 1 max-msg 64 lsn 7 \
	subgroup 2 max-msg 64 members 4,5 hold 0
check "five nodes are in the first view" wait_until 60 in_view 1 1 2 3 4 5
read_at 1 1 /tmp/m1
read_at 2 1 /tmp/m2
read_at 3 1 /tmp/m3.first
for i in 4 5; do
	spindle-pipe -n $i -g 1 -r -q >/dev/null 2>&1 &
done
read_at 4 2 /tmp/g4
for i in 1 2 3; do
	check "node $i has a reader" wait_until 30 readers_are "$i" 1
done
check "node 4 has a reader in its own subgroup" wait_until 30 has_reader 4 2
check "node 3 sends" send_lines 3 1 20
check "node 1 sends" send_lines 1 1 10
check "node 4 sends in its own subgroup" send_lines 4 2 6
check "node 4 has these messages" wait_until 30 has_lines /tmp/g4 6
check "node 3 leaves" spindle-ctl node leave id 3
check "four nodes are in view 2" wait_until 60 in_view 2 1 2 4 5
check "node 2 sends" send_lines 2 1 10
check "node 3 joins" spindle-ctl node join id 3 insecure contact $A:5001 timeout 60
check "five nodes are in view 3" wait_until 60 in_view 3 1 2 3 4 5
is "the joiner knows the position" "$(lsn_of 3 1)" 47
read_at 3 1 /tmp/m3
check "node 3 has a reader again" wait_until 30 readers_are 3 1
check "node 3 sends under new numbers" send_lines 3 1 8
check "node 1 sends again" send_lines 1 1 5
check "node 1 has all messages" wait_until 60 has_lines /tmp/m1 53
check "node 2 has all messages" wait_until 60 has_lines /tmp/m2 53
check "node 3 has the messages of its second life" wait_until 60 has_lines /tmp/m3 13
check "positions grow by one over all views" counts /tmp/m1 7
check "old members have the same messages at the same positions" cmp /tmp/m1 /tmp/m2
check "the joiner, too" ends_as /tmp/m1 /tmp/m3

# A subgroup loses all its members, one after the other.
is "its positions were counted" "$(lsn_of 5 2)" 6
check "node 5 leaves" spindle-ctl node leave id 5
check "four nodes are in view 4" wait_until 60 in_view 4 1 2 3 4
check "node 4 is removed" spindle-ctl node del id 4
check "three nodes are in view 5" wait_until 60 in_view 5 1 2 3
check "node 4 is added again" spindle-ctl node add id 4 addr $A port 5004
check "node 4 joins" spindle-ctl node join id 4 insecure contact $A:5002 timeout 60
check "four nodes are in view 6" wait_until 60 in_view 6 1 2 3 4
is "nobody knows how many messages it had" "$(lsn_of 4 2)" $LIFE
check "node 5 joins" spindle-ctl node join id 5 insecure contact $A:5003 timeout 60
check "five nodes are in view 7" wait_until 60 in_view 7 1 2 3 4 5
read_at 5 2 /tmp/g5
for i in 4 5; do
	spindle-pipe -n $i -g 1 -r -q >/dev/null 2>&1 &
done
check "node 5 has a reader" wait_until 30 has_reader 5 2
check "node 4 sends in the second life of the subgroup" send_lines 4 2 3
check "node 5 has these messages" wait_until 30 has_lines /tmp/g5 3
check "its positions are above those of its first life" counts /tmp/g5 $LIFE
check "the other subgroup goes on" lsn_is 4 1 60
check "nodes go" loop_del 5

# Eras are not mixed.
check "three nodes" loop_nodes 3
check "node 1 begins era 3" begins 1 lineage $HEX/3
check "node 1 is active" wait_until 60 in_view 1 1
is "status shows the era" "$(live_word 1 lineage)" $HEX/3
says 1 'an earlier era of this group' node join id 2 insecure contact $A:5001 lineage $HEX/4 \
	timeout 30
check "a node of era 2 joins" spindle-ctl node join id 2 insecure contact $A:5001 \
	lineage $HEX/2 timeout 60
check "two nodes are in view 2" wait_until 60 in_view 2 1 2
is "it is in era 3 now" "$(live_word 2 lineage)" $HEX/3
check "nodes go at the end" loop_del 3
check "module goes" limit 60 rmmod spindle
finish
