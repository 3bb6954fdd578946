#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A host of a live view dies: spindle-perf failover, which watches on the others, reports the view
# without it, and the time until a member noticed.
# vm: own
# shellcheck disable=SC2154 # node and nodes come from lib-wire.sh
. ./lib-wire.sh

active()
{
	spindle-ctl -j -p status node "$node" | grep -q '"state": *"active"'
}

get()
{
	json-get /tmp/watch.json "/$1"
}

wire_start
check "a node is added" spindle-ctl node add id "$node" addr "10.0.0.$node"
check "a live view is set" spindle-ctl view set node "$node" vid 1 live insecure member 1@10.0.0.1 \
	member 2@10.0.0.2 member 3@10.0.0.3 subgroup 1 max-msg 256
check "the node is active" wait_until 60 active
begin watch spindle-perf failover --wait 120 --node "$node" --json=/tmp/watch.json
sleep 3
barrier "$node" "$nodes" flow || bail "messages flow on all guests"
if [ "$node" = 3 ]; then
	ok "this host dies"
	vm_die
fi
nodes=2
check "a line reports the next view" wait_until 60 \
	grep "^view 2: 2 members; longest gap [0-9.]* [um]s; detect [0-9]" /tmp/watch.out
sleep 1
barrier "$node" "$nodes" seen || bail "both survivors have seen the view"
check "the node is removed" spindle-ctl node del id "$node"
check "the watcher ends" wait_until 20 has_ended watch
sed 's/^/# /' /tmp/watch.out
is "the watcher has failed" "$(cat /tmp/watch.rc)" 1
check "the watcher names its node" grep -q "^spindle-perf: node $node, subgroup 1: " /tmp/watch.out
is "JSON has the new view" "$(get changes/0/vid) $(get changes/0/members)" "2 2"
for figure in gaps longest_gap_us detect_us; do
	check "  JSON has $figure" awk "BEGIN { exit !($(get changes/0/survivors/0/$figure) > 0) }"
done
check "the module is removed" limit 60 rmmod spindle
finish
