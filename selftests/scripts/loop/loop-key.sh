#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Group keys: nodes with the same key connect, in static and in live views; with another key, or
# with none, they do not, and learn the reason. A key is never shown.
# vm: timeout=300 hostile
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

# shellcheck disable=SC2034 # for live_view
INSECURE=

# key_node ID [KEY-FILE]
key_node()
{
	# shellcheck disable=SC2086
	spindle-ctl node add id "$1" addr 10.0.0.1 port $((5000 + $1)) ${2:+key-file $2}
}

# refused NODE PEER TEXT: has an event of the node told that a peer was refused?
refused()
{
	grep -q "peer-refused .*node $1 .*peer $2 .*$3" /tmp/events
}

# stays_out NODE REASON [WORD]: a join that fails for good
stays_out()
{
	! spindle-ctl node join id "$1" contact 10.0.0.1:5001 timeout 25 ${3:+"$3"} \
		>/tmp/join 2>&1 &&
		grep "$2" /tmp/join
}

# Are messages of both processes delivered?
flows()
{
	[ "$(messages 1)" -gt 0 ] && [ "$(messages 3)" -gt 0 ]
}

umask 077
echo "a key of thirty-two bytes, or so." >/tmp/key
echo "another key, of the same length.." >/tmp/other
echo "short" >/tmp/short
check "module loads" loop_start
spindle-ctl monitor >/tmp/events 2>&1 &
monitor=$!
check "the monitor listens" wait_until 30 listens $monitor
for i in 1 2 3; do
	check "node $i has the key" key_node $i /tmp/key
done
check "node 4 has another key" key_node 4 /tmp/other
check "node 5 has no key" key_node 5
check "a short key is refused" sh -c \
	"! spindle-ctl node add id 6 addr 10.0.0.1 port 5006 key-file /tmp/short"

check "nodes with the key install a static view" loop_view 3 1 subgroup 1 window 32 max-msg 256
check "the static view becomes active" wait_until 60 all_active 3
check "messages flow in the static view" limit 60 mcast-load -n 1-3 -g 1 -c 100 -l 0-256 -w 30
for i in 1 2 3; do
	check "node $i has no view" spindle-ctl view del node $i
done

# strangers VID NODE DESCRIPTION: NODE and node 1 do not connect in a static view. The node with the
# lower id dials, and the other one tells it the refusal.
strangers()
{
	local i

	for i in 1 "$2"; do
		spindle-ctl view set node "$i" vid "$1" member 1@10.0.0.1:5001 \
			member "$2@10.0.0.1:500$2" subgroup 1
	done
	check "$3" wait_until 30 refused "$2" 1 "another key"
	for i in 1 "$2"; do
		check "node $i has no view" spindle-ctl view del node "$i"
	done
}

strangers 2 4 "another key is refused"
strangers 3 5 "a node without a key refuses a key"

check "two nodes with the key begin a live view" live_view 2 subgroup 1 window 32 max-msg 256
check "the live view forms" wait_until 60 in_view 1 1 2
check "a node with the key joins" spindle-ctl node join id 3 contact 10.0.0.1:5001
check "all members have the second view" wait_until 60 in_view 2 1 2 3
check "a node with another key does not join" stays_out 4 "another key"
check "a node without a key does not join" stays_out 5 "another key" insecure
check "the view is as it was" in_view 2 1 2 3
load_start 1
load_start 3
check "messages flow in the live view" wait_until 60 flows
check "processes end" load_stop 1 3
check "logs agree" loads_agree

says_no_key()
{
	! spindle-ctl -j -p node show | grep -i "bytes, or so" &&
		! dmesg | grep -i "bytes, or so" && ! spindle-ctl showconf | grep -i "or so"
}
check "no output shows a key" says_no_key
check "the kernel log has the refusal, and not often" sh -c \
	"n=\$(dmesg | grep -c 'another key, or none'); [ \$n -ge 1 ] && [ \$n -le 40 ]"
kill $monitor
check "nodes go" loop_del 5
check "module goes" rmmod spindle
finish
