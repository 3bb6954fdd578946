#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Messages for some of the members: the others get the positions, and nearly no bytes. Ranks change
# while a process keeps naming the same members.
# vm: timeout=240
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

A=10.0.0.1

# send_at NODE GROUP FILE [OPTION]...: each line is a message
send_at()
{
	local node group file

	node=$1
	group=$2
	file=$3
	shift 3
	limit 60 spindle-pipe -n "$node" -g "$group" -s "$@" <"$file"
}

# bytes_to NODE PEER: bytes of all writes that a node has posted to another one
bytes_to()
{
	spindle-ctl -j stats node "$1" >/tmp/stats &&
		json-get /tmp/stats "/0/peers/$(($2 - 2))/stats/bytes"
}

# direct NODE GROUP: of its messages, how many are for some of the members?
direct()
{
	loop_stat "$1" "$2" direct
}

check "module loads" loop_start
check "four nodes" loop_nodes 4
check "four nodes begin a live view" live_view 4 \
	subgroup 1 max-msg 10000 window 16 ring 262144 subgroup 2 mode unordered max-msg 64 \
	subgroup 3 max-msg 2M window 4 ring 8M hold 0
check "four nodes are in the first view" wait_until 60 in_view 1 1 2 3 4
for i in 1 2 3 4; do
	read_at $i 1 /tmp/m$i
	read_at $i 2 /tmp/u$i
done
check "node 4 has a reader" wait_until 30 readers_are 4 1

seq 10 >/tmp/ten
seq 3 >/tmp/three
check "node 1 sends to nodes 2 and 4" send_at 1 1 /tmp/ten -t 2 -t 4
check "node 3 sends to all" send_at 3 1 /tmp/three
for i in 1 3; do
	check "node $i has the messages for all" wait_until 30 has_lines /tmp/m$i 3
	check "node $i knows the positions of the others" counts /tmp/m$i 10
done
for i in 2 4; do
	check "node $i has all messages" wait_until 30 has_lines /tmp/m$i 13
	check "node $i has them at the same positions" counts /tmp/m$i 0
done
check "nodes 2 and 4 have the same" cmp /tmp/m2 /tmp/m4
check "nodes 1 and 3 have the same" cmp /tmp/m1 /tmp/m3
is "node 1 counts what it has sent so" "$(direct 1 1)" 10
is "node 3 sent nothing so" "$(direct 3 1)" 0
is "node 3 counts all as delivered" "$(loop_stat 3 1 delivered)" 13
is "node 3 counts the bytes that it got" "$(loop_stat 3 1 delivered_bytes)" 3

# A message of an unordered subgroup for one member goes from point to point.
check "node 3 sends to node 1 alone" send_at 3 2 /tmp/ten -t 1
check "node 3 sends to all in the unordered subgroup" send_at 3 2 /tmp/three
check "node 1 has all of these" wait_until 30 has_lines /tmp/u1 13
for i in 2 3 4; do
	check "node $i has the others" wait_until 30 has_lines /tmp/u$i 3
done

# 200 messages of 10,000 bytes. A header, a guard and acknowledgments go to all members.
awk 'BEGIN { for (i = 0; i < 200; i++) printf "%010000d\n", i }' >/tmp/long
two=$(bytes_to 1 2)
three=$(bytes_to 1 3)
check "node 1 sends 2 MB to node 2" send_at 1 1 /tmp/long -t 2
two=$(($(bytes_to 1 2) - two))
three=$(($(bytes_to 1 3) - three))
check "node 2 has them" wait_until 30 has_lines /tmp/m2 213
echo "# bytes to a destination: $two; to another member: $three"
check "all bytes went to the destination" test "$two" -ge 2000000
check "less than 2 % went to the other member" test "$three" -lt 40000

# A message that would go by RDMC to all does not, and the limit is smaller.
read_at 2 3 /tmp/g2
read_at 3 3 /tmp/g3
awk 'BEGIN { printf "%0300000d\n", 1 }' >/tmp/large
awk 'BEGIN { printf "%01048577d\n", 1 }' >/tmp/larger
check "node 1 sends a large message to node 2" send_at 1 3 /tmp/large -t 2
check "node 2 has its bytes" wait_until 30 sh -c "sed 's/^0 1 //' /tmp/g2 | cmp - /tmp/large"
is "it did not go by RDMC" "$(loop_stat 1 3 sent) $(loop_stat 1 3 large) $(direct 1 3)" "1 0 1"
check "a longer one is refused" sh -c "! limit 60 spindle-pipe -n 1 -g 3 -s -t 2 </tmp/larger \
	2>/tmp/refused && grep -q 'at most 1048576 (to some members)' /tmp/refused"
check "to all it goes by RDMC" send_at 1 3 /tmp/larger
check "node 3 has its bytes" wait_until 30 sh -c "sed 's/^1 1 //' /tmp/g3 | cmp - /tmp/larger"

# The ranks of nodes 3 and 4 change. A process that only sends stays in its view.
mkfifo /tmp/in
spindle-pipe -n 1 -g 1 -s -t 4 </tmp/in 2>/tmp/sender &
sender=$!
exec 9>/tmp/in
echo before >&9
check "node 4 has the first message" wait_until 30 grep -q ' 1 before$' /tmp/m4
check "node 2 leaves" spindle-ctl node leave id 2
check "three nodes are in view 2" wait_until 60 in_view 2 1 3 4
echo between >&9
check "node 4 has the second message" wait_until 30 grep -q ' 1 between$' /tmp/m4
check "node 2 joins" spindle-ctl node join id 2 insecure contact $A:5001 timeout 60
check "four nodes are in view 3" wait_until 60 in_view 3 1 2 3 4
# The sender's input must have one writer only.
read_at 2 1 /tmp/m2.again 9>&-
check "node 2 has a reader" wait_until 30 readers_are 2 1
echo after >&9
check "node 4 has the third message" wait_until 30 grep -q ' 1 after$' /tmp/m4
check "node 3 sends to all again" send_at 3 1 /tmp/three
check "node 3 has these" wait_until 30 has_lines /tmp/m3 6
check "node 2 has these" wait_until 30 has_lines /tmp/m2.again 3
is "no other member has the three messages" \
	"$(cat /tmp/m1 /tmp/m2 /tmp/m3 /tmp/m2.again | grep -c 'before\|between\|after')" 0
check "old and new members agree on positions" \
	sh -c 'tail -n 3 /tmp/m3 | cmp - /tmp/m2.again'

# A destination that has gone gets nothing, and the message is given up.
gone=$(loop_stat 1 1 abandoned)
check "node 4 leaves" spindle-ctl node leave id 4
check "three nodes are in view 4" wait_until 60 in_view 4 1 2 3
echo late >&9
exec 9>&-
tap_wait "the sender ends without an error" $sender /tmp/sender
is "its last message is given up" "$(loop_stat 1 1 abandoned)" $((gone + 1))
check "a process that names node 4 now is refused" \
	sh -c "! limit 60 spindle-pipe -n 1 -g 1 -s -t 4 </tmp/three 2>/tmp/refused &&
	grep -q 'a node of --to is no member of subgroup 1 in view 4' /tmp/refused"
check "node 3 sends to all at the end" send_at 3 1 /tmp/three
check "node 1 has these" wait_until 30 has_lines /tmp/m1 9
check "nodes go" loop_del 4
check "module goes" limit 60 rmmod spindle
finish
