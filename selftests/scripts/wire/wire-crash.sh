#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Hosts that die: the last node in the middle of traffic, the second one while
# all is quiet. Survivors learn of it, and can go on with another view.
# vm: own
# shellcheck disable=SC2154 # node and nodes come from lib-wire.sh
. ./lib-wire.sh

wire_start
begin monitor spindle-ctl monitor
three_subgroups 1,2 | wire_conf 1 >/tmp/conf.1
nodes=2
three_subgroups 1,2 | wire_conf 2 >/tmp/conf.2
nodes=3
# Until the first event it is not certain that it listens.
check "the monitor shows events" wait_until 30 sh -c \
	"spindle-ctl apply /tmp/conf.1 >/dev/null &&
	 spindle-ctl view del node $node &&
	 grep -q view-remove /tmp/monitor.out"
barrier "$node" "$nodes" listening || bail "all guests listen"
check "the view is installed" spindle-ctl apply /tmp/conf.1

begin busy mcast-load -n "$node" -g 1 -s all -c 1000000000 -w 200
begin idle mcast-load -n "$node" -g 2 -s 9 -w 200
check "messages flow" wait_until 100 delivered_at_least 500 1
barrier "$node" "$nodes" flow || bail "messages flow on all guests"
if [ "$node" = 3 ]; then
	ok "this host dies"
	vm_die
fi
nodes=2

# The transport makes six retries of half a second each.
check "the subgroup fails" wait_until 120 subgroup_is 1 failed peer-lost
check "an idle subgroup with the same member fails" \
	wait_until 30 subgroup_is 2 failed peer-lost
check "busy attachments end" wait_until 30 has_ended busy
check "idle attachments end" wait_until 30 has_ended idle
check "a busy process gets the reason" grep "connection to a member broke" /tmp/busy.out
check "an idle process gets the reason" grep "connection to a member broke" /tmp/idle.out
check "an event names the peer" wait_until 30 \
	grep "peer-down .* peer 3 .*peer-lost" /tmp/monitor.out
check "an event names the subgroup" \
	grep "subgroup-failed .* subgroup 1 .*peer-lost" /tmp/monitor.out
check "no process can attach any more" sh -c \
	"mcast-load -n $node -g 1 -c 1 2>&1 | grep 'not connected'"
check "a subgroup without the dead host goes on" subgroup_is 3 active
load_same "survivors" -g 3 -s all -c 100

check "survivors install another view" spindle-ctl apply /tmp/conf.2
load_same "another view" -g 1 -s all -c 100

# While no node sends, no node can notice the death.
barrier "$node" "$nodes" quiet || bail "both survivors are quiet"
if [ "$node" = 2 ]; then
	ok "this host dies"
	vm_die
fi
sleep 2
begin late mcast-load -n 1 -g 2 -s one -c 1 -w 200
check "one message shows that the peer is dead" \
	wait_until 120 subgroup_is 2 failed peer-lost
check "the sender gets the error" wait_until 30 has_ended late
check "an event names the peer" wait_until 30 \
	grep "peer-down .* peer 2 .*peer-lost" /tmp/monitor.out
grep -E "peer-down|subgroup-failed" /tmp/monitor.out | sed 's/^/# /'
check "the node is removed" spindle-ctl node del id "$node"
check "the module is removed" limit 60 rmmod spindle
finish
