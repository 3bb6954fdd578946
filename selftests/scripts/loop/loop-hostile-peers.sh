#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Hostile peers: the effect on other members. A node gives up a peer that does not answer, whatever
# retries the peer asked for. Traffic between the other members goes on while a peer breaks the
# protocol, uses foreign keys, or pretends to be another node.
# vm: timeout=300 hostile
. ./guest-lib.sh
. ./lib-loop.sh
. ./lib-hostile.sh

check "module loads" loop_start
listen_in
check "a victim is added" spindle-ctl node add id 2 addr 10.0.0.1 port 5002 visibility imm

# A dialling peer chooses the retries of the other side, but must not choose endless ones. The node
# may refuse the request, or limit the retries.
fresh
case $(hostile dial,retry=7,rnr=7,flags=1) in
rejected*)
	ok "a peer that asks for endless retries is refused"
	;;
*)
	hostile_bg dial,retry=7,rnr=7,flags=1 setup mute
	limit 60 mcast-load -n 2 -g 1 -s 1 -c 1 -l 1-100 -w 25 >/tmp/load.out 2>&1
	check "a peer that asks for endless retries is given up" \
		grep -q "the connection to a member broke" /tmp/load.out
	check "the view is removed" limit 30 spindle-ctl view del node 2
	let_go
	;;
esac
fresh
hostile_bg dial,flags=1 setup mute
limit 60 mcast-load -n 2 -g 1 -s 1 -c 1 -l 1-100 -w 25 >/tmp/load.out 2>&1
check "a peer that does not answer is given up" \
	grep -q "the connection to a member broke" /tmp/load.out
check "the reason of the loss is shown" sh -c "spindle-ctl stats node 2 >/tmp/stats
	grep -q 'retry counter' /tmp/stats || { cat /tmp/stats; exit 1; }"
let_go
fresh
hostile_bg dial,retry=6,rnr=6,norecv,flags=1 setup
limit 60 mcast-load -n 2 -g 1 -s 1 -c 1 -l 1-100 -w 25 >/tmp/load.out 2>&1
check "a peer that never takes a doorbell is given up" \
	grep -q "the connection to a member broke" /tmp/load.out
let_go
check "the node is removed" limit 30 spindle-ctl node del id 2

# ---- effect on other members -------------------------------------------------

# bystanders: a view of 1 (hostile) to 4; subgroup 1 is shared with it, 2 is not.
bystanders()
{
	local i

	vid=$((vid + 1))
	view="vid $vid"
	for i in 1 2 3 4; do
		view="$view member $i@10.0.0.1:500$i"
	done
	view="$view subgroup 1 members 1,2 hold 0 ring 4096 window 8 max-msg 512"
	view="$view subgroup 2 members 2,3,4 window 16 max-msg 1024"
	: >$EV
	for i in 2 3 4; do
		# shellcheck disable=SC2086
		limit 30 spindle-ctl view set node $i $view || return 1
	done
	# The same file has the end of the view before.
	wait_until 60 others_active || diag "subgroup 2 does not form"
	: >$EV
}

others_active()
{
	[ "$(grep -c "subgroup-active .*vid $vid *subgroup 2" $EV)" = 3 ]
}

# unharmed DESCRIPTION STEP...: hostile while the others send. Node 2 follows by nulls
# to two rounds, so the subgroup is active when the steps begin.
unharmed()
{
	local desc

	desc=$1
	shift
	limit 100 mcast-load -n 2-4 -g 2 -c 400 -l 1-1000 -w 60 >/tmp/load.out 2>&1 &
	load_pid=$!
	diag "$(hostile dial setup block,sent=2 await,received=1 "$@" gone)"
	told "subgroup 1 has failed: $desc" "subgroup-failed *node 2 .*subgroup 1 "
	check "subgroup 2 has not failed" test "$(grep -c 'subgroup-failed' $EV)" = 1
	check "no other connection has failed" test "$(grep -c 'peer-down' $EV)" = 1
	if wait "$load_pid"; then
		ok "the other members go on: $desc"
	else
		not_ok "the other members go on: $desc"
		sed 's/^/#   /' /tmp/load.out
	fi
}

for i in 2 3 4; do
	spindle-ctl node add id $i addr 10.0.0.1 port 500$i visibility imm
done
bystanders
check "the other members work without the hostile one" limit 60 mcast-load -n 2-4 -g 2 -c 10

# Duplicates: the real one keeps its connection, and how it wants to be told.
is "refused: a second node 3 (busy)" "$(FROM=3 TO=4 hostile flood,n=20)" "20 rejected 1"
# A restarted node looks the same, so the event comes only if this goes on.
told_busy()
{
	FROM=3 TO=4 hostile flood,n=5 >/dev/null
	grep -q "peer-refused *node 4 *peer 3 .*busy" $EV
}
check "an event reports the busy peer" wait_until 30 told_busy
is "refused: node 4 dials node 3" "$(FROM=4 TO=3 hostile flood,n=5)" "5 rejected 22"
check "the real nodes still exchange messages" \
	limit 60 mcast-load -n 2-4 -g 2 -c 20 -w 30

unharmed "rounds go back" block,sent=1
bystanders
key=$(kernel_keys | tail -n 1)
unharmed "a key of another connection ($key)" "write,key=$key"
check "the key did not open it" event "peer-down *node 2 *peer 1 *error peer-lost"
bystanders
unharmed "garbage" garbage,n=300,seed=8 hangup
bystanders
unharmed "a peer says that it has lost all members" node,lost=-1 hangup

# If a message asks to invalidate a key, soft-RoCE does not check the owner of the key, although
# IBTA o10-37.2.17 demands that. No other code can check it. So connections are lost, but nothing
# more.
bystanders
limit 60 mcast-load -n 2-4 -g 2 -c 5
steps=
for key in $(kernel_keys); do
	steps="$steps send,inv=$key"
done
# shellcheck disable=SC2086
diag "$(hostile dial setup $steps)"
bystanders
check "invalidated keys cost connections at most: the next view works" limit 60 mcast-load -n 2-4 -g 2 -c 20

for i in 2 3 4; do
	check "node $i is removed" limit 30 spindle-ctl node del id $i
done
is "no memory region is left" "$(kernel_keys)" ""
listen_out
check "module goes" limit 60 rmmod spindle
finish
