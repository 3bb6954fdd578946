#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Nodes that come late, and a view that is replaced while messages flow.
# shellcheck disable=SC2154 # node and nodes come from lib-wire.sh
. ./lib-wire.sh

wire_start
three_subgroups | wire_conf 1 >/tmp/conf.1
three_subgroups | wire_conf 2 >/tmp/conf.2

# One node after the other; each sends at once. 300 do not fit into the window.
for turn in $(seq "$nodes"); do
	if [ "$turn" = "$node" ]; then
		check "the node of this guest gets the view" spindle-ctl apply /tmp/conf.1
		begin early mcast-load -H -f /tmp/committed -n "$node" -g 1 -s all -c 300 -w 200
		if [ "$node" = 1 ]; then
			check "messages are committed" wait_until 60 test -e /tmp/committed
			check "the subgroup is still forming" subgroup_is 1 forming
		fi
	elif [ "$turn" -gt "$node" ] && [ "$node" = 1 ]; then
		check "the subgroup waits for node $turn" subgroup_is 1 forming
	fi
	barrier "$node" "$nodes" "turn $turn" || not_ok "turn $turn"
done
check "early messages are delivered" wait_until 200 has_ended early
is "the early process succeeds" "$(cat /tmp/early.rc)" 0
sed 's/^/# /' /tmp/early.out
agree "early messages" "$(sed 's/^node [0-9]* //' /tmp/early.out)"

# Endless traffic in one subgroup, and a reader that never gets a message.
begin busy mcast-load -n "$node" -g 2 -s all -c 1000000000 -w 200
begin idle mcast-load -n "$node" -g 3 -s 9 -w 200
check "messages flow" wait_until 100 delivered_at_least 500 2
barrier "$node" "$nodes" flow || not_ok "messages flow on all guests"
if [ "$node" = 1 ]; then
	check "a view with a higher id replaces it" spindle-ctl apply /tmp/conf.2
	check "busy attachments end" wait_until 100 has_ended busy
	check "idle attachments end" wait_until 100 has_ended idle
	check "a busy process gets the reason" grep "view was replaced or removed" /tmp/busy.out
	check "an idle process gets the reason" grep "view was replaced or removed" /tmp/idle.out
	sed 's/^/# /' /tmp/busy.out /tmp/idle.out
else
	# The first node has left this view: the others lose it.
	check "busy attachments end" wait_until 100 has_ended busy
	check "idle attachments end" wait_until 100 has_ended idle
	check "a busy process gets the reason" grep "connection to a member broke" /tmp/busy.out
	check "an idle process gets the reason" grep "connection to a member broke" /tmp/idle.out
	sed 's/^/# /' /tmp/busy.out /tmp/idle.out
	check "the subgroup has failed" subgroup_is 2 failed peer-lost
	check "a view with a higher id replaces it" spindle-ctl apply /tmp/conf.2
fi
load_same "the new view" -g 1 -s all -c 100
check "a lower id is refused" sh -c '! spindle-ctl apply /tmp/conf.1 2>/tmp/err'
check "the refusal has a reason" grep -q newer /tmp/err
wire_end
finish
