#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The key of a group is changed while a live view of three runs: no member is lost, messages flow,
# and a node with either key can join at that time. When the former key is retired, a node that has
# only that one is refused, and a node with the next one joins.
# vm: timeout=300 uml
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

# shellcheck disable=SC2034 # for live_view
INSECURE=

# key_node ID KEY-FILE
key_node()
{
	spindle-ctl node add id "$1" addr 10.0.0.1 port $((5000 + $1)) key-file "$2"
}

# stays_out NODE REASON: a join that fails for good
stays_out()
{
	! spindle-ctl node join id "$1" contact 10.0.0.1:5001 timeout 25 >/tmp/join 2>&1 &&
		grep "$2" /tmp/join
}

# former NODE: is its former key accepted?
former()
{
	spindle-ctl -j node show id "$1" | grep -q '"former_key":true'
}

# no_losses: no member has been suspected, and no connection lost.
no_losses()
{
	! grep -E "(peer-down|suspect) .*node [123] .*peer [123] |subgroup-failed .*node [123] " \
		/tmp/events
}

# together DESCRIPTION A B: a static view of two nodes becomes active, whichever dials.
together()
{
	local i

	vid=$((vid + 1))
	for i in "$2" "$3"; do
		spindle-ctl view set node "$i" vid $vid member "$2@10.0.0.1:500$2" \
			member "$3@10.0.0.1:500$3" subgroup 1 window 8 max-msg 256
	done
	check "$1" wait_until 60 active_both "$2" "$3"
	for i in "$2" "$3"; do
		spindle-ctl view del node "$i"
	done
}

active_both()
{
	local i

	for i in "$@"; do
		spindle-ctl -j -p subgroup show node "$i" | grep -q '"state": *"active"' || return 1
	done
}

umask 077
echo "a key of thirty-two bytes, or so." >/tmp/key
echo "the next key, of the same length." >/tmp/next
echo "a third key, of the same length.." >/tmp/third
check "module loads" loop_start
for i in 1 2 3 4; do
	check "node $i has the key" key_node $i /tmp/key
done
check "node 5 has no key" spindle-ctl node add id 5 addr 10.0.0.1 port 5005
check "node 6 has the next key" key_node 6 /tmp/next
check "three nodes begin a live view" live_view 3 subgroup 1 window 32 max-msg 256
check "the live view forms" wait_until 60 in_view 1 1 2 3
spindle-ctl monitor >/tmp/events 2>&1 &
monitor=$!
check "the monitor listens" wait_until 30 listens $monitor
load_start 1
load_start 2
load_start 3

# ---- refusals ---------------------------------------------------------

check "a node without a key does not get one" sh -c \
	"! spindle-ctl node set id 5 key-file /tmp/next 2>/tmp/said && grep 'without a key' /tmp/said"
echo short >/tmp/short
check "a short key changes nothing" sh -c "! spindle-ctl node set id 1 key-file /tmp/short"
check "'former-key on' changes nothing" sh -c "! spindle-ctl node set id 1 former-key on"
check "no node has a former key" sh -c "! spindle-ctl -j node show | grep former_key"
check "the next key is not accepted yet" stays_out 6 "another key"

# ---- one node after the other ----------------------------------------------------

check "node 1 gets the next key" spindle-ctl node set id 1 key-file /tmp/next
check "node 1 still accepts the former key" former 1
check "the view is as it was" in_view 1 1 2 3
check "a node with the next key joins through node 1, and lacks connections to two members" sh -c \
	"spindle-ctl node join id 6 contact 10.0.0.1:5001 timeout 10; :"
spindle-ctl node leave id 6 >/dev/null 2>&1
wait_until 30 in_view "$(live_word 1 vid)" 1 2 3
check "node 2 gets the next key" spindle-ctl node set id 2 key-file /tmp/next
check "node 3 gets the next key" spindle-ctl node set id 3 key-file /tmp/next
check "a node may get the same key again" \
	spindle-ctl node set id 3 key-file /tmp/next
check "node 3 keeps its former key then" former 3
check "a node with the former key still joins" \
	spindle-ctl node join id 4 contact 10.0.0.1:5001 timeout 30
check "that node gets the next key as a member" spindle-ctl node set id 4 key-file /tmp/next
check "a node with the next key joins" spindle-ctl node join id 6 contact 10.0.0.1:5002 timeout 30
vid=$(live_word 1 vid)
check "all five members have the view" wait_until 60 in_view "$vid" 1 2 3 4 6
check "no member was lost" no_losses

# ---- the former key is retired ------------------------------------------------------

for i in 1 2 3 4; do
	check "node $i drops the former key" spindle-ctl node set id $i former-key off
done
check "no node accepts the former key" sh -c "! spindle-ctl -j node show | grep former_key"
check "members that are connected stay" in_view "$vid" 1 2 3 4 6
check "node 4 is removed" spindle-ctl node del id 4
check "node 4 is added with the former key" key_node 4 /tmp/key
check "node 4 is refused" stays_out 4 "another key"
check "node 4 gets the next key" spindle-ctl node set id 4 key-file /tmp/next
check "node 4 is admitted" spindle-ctl node join id 4 contact 10.0.0.1:5001 timeout 30
check "all five members have the view" wait_until 60 in_view "$(live_word 1 vid)" 1 2 3 4 6
check "processes end" load_stop 1 2 3
check "logs agree" loads_agree
check "no member was lost" no_losses
kill $monitor

# ---- a node that dials does not know which key the other has ----------------------------------------

vid=0
for i in 1 2 3 4 6; do
	check "node $i goes" spindle-ctl node del id $i
done
check "node 1 has the key" key_node 1 /tmp/key
check "node 2 has the key" key_node 2 /tmp/key
check "node 1 gets the next key" spindle-ctl node set id 1 key-file /tmp/next
together "node 1 has both keys and dials node 2, which has the former one" 1 2
check "node 2 gets the next key" spindle-ctl node set id 2 key-file /tmp/next
check "node 2 drops the former key" spindle-ctl node set id 2 former-key off
together "node 1 has both keys and dials node 2, which has the next one" 1 2
check "node 1 gets a third key" spindle-ctl node set id 1 key-file /tmp/third
check "the second key of node 1 is its former key" former 1
together "node 1 dials node 2 with its former key" 1 2
says_no_key()
{
	! spindle-ctl -j -p node show | grep -iE "or so|same length" &&
		! dmesg | grep -iE "or so|same length" &&
		! spindle-ctl showconf | grep -iE "or so|same length"
}
check "no output shows a key" says_no_key
check "nodes go" sh -c "for i in 1 2 5; do spindle-ctl node del id \$i; done"
check "module goes" rmmod spindle
finish
