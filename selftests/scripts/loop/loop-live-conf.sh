#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Files with live views: apply a file once and again, while members join and leave. Refusals of
# apply. The output of showconf can be applied, here and after a new start.
# vm: timeout=200
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

A=10.0.0.1
conf=/tmp/l.conf

# quiet WHAT: the last apply changed nothing.
quiet()
{
	is "$1" "$(grep -ce '^[-+~]' "$out")" 0
}

# refuses LINE PATTERN: apply says so of this line, and nothing was changed.
refuses()
{
	says 1 "l.conf:$1: .*$2" apply $conf
	is "the output says that nothing was changed" "$(grep -c 'nothing was changed' "$out")" 1
	quiet "nothing was done"
}

# node ID [LINE]...: a section
node()
{
	printf '[Node]\nId = %s\nAddress = %s\nPort = 500%s\nKeyFile = group.key\n' "$1" $A "$1"
	shift
	for line; do
		echo "$line"
	done
}

# rules: the subgroups
rules()
{
	cat <<X
[Subgroup]
Id = 1
Window = 32
MaxMsg = 256
Min = 2
[Subgroup]
Id = 4
Window = 8
MaxMsg = 256
Shards = 2
OnExit = leave
[Subgroup]
Id = 9
Window = 8
MaxMsg = 256
Members = 7,1,2
Senders = 1,7
X
}

# view LINE...: a live view of 1, 2 and 3 with rules
view()
{
	echo "[View]"
	for line; do
		echo "$line"
	done
	printf 'TimeoutMs = 5000\nMaxNodes = 8\n'
	for i in 1 2 3; do
		echo "Member = $i@$A:500$i"
	done
	rules
}

check "module loads" loop_start
echo 0123456789abcdef >/tmp/group.key

# ---- errors in a file --------------------------------------------

{ node 1; view "Vid = 1"; } >$conf
chmod 644 /tmp/group.key
refuses 5 'KeyFile = /tmp/group.key: everybody on this machine can read it'
chmod 600 /tmp/group.key
mv /tmp/group.key /tmp/group
refuses 5 'KeyFile = /tmp/group.key: No such file'
mv /tmp/group /tmp/group.key
{ node 1; view "Vid = 1" "Live = no"; } >$conf
refuses 9 'TimeoutMs is for live views only, and line 8 says Live = no'
is "no node was added" "$(spindle-ctl -j node show)" "[]"

# ---- a first view, and a node that joins ------------------------------------

{ for i in 1 2 3; do node $i; done; node 4 "Join = $A:5001"; view "Vid = 1"; } >$conf
says 0 'Dry run: nothing was changed' apply $conf --dry-run
is "a dry run adds no node" "$(spindle-ctl -j node show)" "[]"
says 0 '^+ view of node 1 begins: live, vid 1, members 1, 3 subgroups$' apply $conf --bootstrap
is "node 2 begins to join" "$(grep -c "^+ view of node 2: it begins to join by $A:5001, $A:5003" "$out")" 1
is "node 4 begins to join" "$(grep -c "^+ view of node 4: it begins to join by $A:5001" "$out")" 1
check "all nodes are in one view" wait_until 60 in_one_view 1 2 3 4
vid=$(live_word 1 vid)
says 0 "^= view of node 2 unchanged (live, vid $vid by now)\$" apply $conf --prune
quiet "a second apply changes nothing"
is "the output names the joined member" "$(grep -c "^    member 4@$A:5004 joins" "$out")" 3
is "node 4 is left unchanged" "$(grep -c '^= view of node 4 unchanged' "$out")" 1
check "a node without the key does not join" sh -c "spindle-ctl node add id 5 addr $A port 5005 &&
	! limit 60 spindle-ctl node join id 5 insecure contact $A:5001 && spindle-ctl node del id 5"

# ---- what cannot be done to it ----------------------------------------------

sed 's/^MaxNodes = 8/MaxNodes = 9/' $conf >/tmp/saved && cp $conf /tmp/right && cp /tmp/saved $conf
refuses 22 'node 1 is in a live view with other rules'
is "the output names the changed value" "$(grep -c 'max-nodes: 8 -> 9' "$out")" 3
sed 's/^Senders = 1,7/Senders = 1/' /tmp/right >$conf
refuses 22 'other rules'
is "the output names the changed value" "$(grep -c 'subgroup 9 senders: 1,7 -> 1$' "$out")" 3
sed 's/^Vid = 1/Vid = 9/' /tmp/right >$conf
refuses 23 "whose vid grows by itself and is $vid now.*spindle-ctl node leave id 1"
{ node 1; printf '[View]\nVid = 9\nMember = 1@%s:5001\n' $A; } >$conf
refuses 7 'spindle-ctl node leave id 1, then view del node 1'
check "the view is as it was" in_view "$vid" 1 2 3 4
is "node show says which nodes have a key" \
	"$(spindle-ctl -j node show | grep -o '"keyed":true' | wc -l)" 4
check "a node without a key is added" spindle-ctl node add id 5 addr $A port 5005
node 5 >$conf
refuses 1 'node 5 runs with other values'
is "the output names the missing key" "$(grep -c 'key: none -> that of group.key' "$out")" 1
check "the node without a key is removed" spindle-ctl node del id 5

# ---- what runs, as a file ---------------------------------------------------

spindle-ctl showconf >/tmp/conf1
is "showconf writes the live view once" "$(grep -c '^Live = yes' /tmp/conf1)" 1
is "showconf writes each rule once" "$(grep -c '^\[Subgroup\]' /tmp/conf1)" 3
is "a rule may name a node that is no member" "$(grep -c '^Members = 7,1,2$' /tmp/conf1)" 1
is "showconf has a comment for each key" "$(grep -c '^# KeyFile = ' /tmp/conf1)" 4
is "showconf shows no key" "$(grep -c 0123456789abcdef /tmp/conf1)" 0
says 0 'there is nothing to change' apply /tmp/conf1 --dry-run --prune --replace

# ---- members that left return ------------------------------------------------

check "node 4 leaves" spindle-ctl node leave id 4
check "three nodes are in the next view" wait_until 60 in_view $((vid + 1)) 1 2 3
cp /tmp/right $conf
says 0 '^~ view of node 4: it begins to join' apply $conf
check "node 4 has joined again" wait_until 60 in_view $((vid + 2)) 1 2 3 4
check "node 4 is removed" spindle-ctl node del id 4
says 0 '^+ view of node 4: it begins to join' apply $conf
check "node 4 has joined again" wait_until 60 in_one_view 1 2 3 4
check "node 3 leaves" spindle-ctl node leave id 3
says 0 '^~ view of node 3: it begins to join' apply $conf
check "node 3 has joined again" wait_until 60 in_one_view 1 2 3 4
check "node 3 is removed" spindle-ctl node del id 3
says 0 '^+ view of node 3: it begins to join' apply $conf --bootstrap
check "node 3 joins the others despite --bootstrap" wait_until 60 in_one_view 1 2 3 4
check "node 3 is removed" spindle-ctl node del id 3
{ for i in 1 2; do node $i; done; for i in 3 4; do node $i "Join = $A:5001"; done
	view "Vid = 1" "Nodes = 1,2"; } >$conf
says 0 '^+ view of node 3: it begins to join' apply $conf
check "node 3 has joined again" wait_until 60 in_one_view 1 2 3 4
says 0 '^= view of node 3 unchanged (live, vid [0-9]* by now)$' apply $conf
quiet "a static view in the file changes nothing"
sed "s/^KeyFile = group.key/&\\nIdleUs = 7/" $conf >/tmp/idle && cp /tmp/idle $conf
says 0 '^+ view of node 1: it begins to join' apply $conf --replace --dry-run
check "all members stay in their view" in_one_view 1 2 3 4

# ---- all begin again ---------------------------------------------------------

spindle-ctl showconf | sed 's/^# KeyFile = .*/KeyFile = group.key/' >$conf
check "all nodes are removed" loop_del 4
says 0 '^+ view of node 4: it begins to join' apply $conf --bootstrap
check "the same members form a new view" wait_until 60 in_one_view 1 2 3 4
# Members have the order in which they came.
spindle-ctl showconf | sed 's/^# KeyFile = .*/KeyFile = group.key/' | grep -v ^Vid | sort >/tmp/conf2
check "apply of what showconf wrote changes nothing" \
	sh -c "grep -v ^Vid $conf | sort | cmp - /tmp/conf2"
for i in 1 2 3 4; do
	load_start $i
done
usleep 300000
check "processes end" load_stop 1 2 3 4
check "logs agree" loads_agree

# ---- the device goes, and comes back ----------------------------------------

check "the device is deleted" limit 60 rdma link delete rxe0
says 1 'node 1 lost its RDMA device; --replace removes it' apply $conf
check "a new device is added" rxe_add rxe0 dummy0
says 0 '^- node 1, to make it again (it lost its RDMA device)' apply $conf --replace --bootstrap
check "the same members form another view" wait_until 60 in_one_view 1 2 3 4
check "nodes go" loop_del 4
check "module goes" rmmod spindle
finish
