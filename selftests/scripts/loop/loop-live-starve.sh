#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# False suspicion: a real-time thread leaves a tenth of each processor to the nodes of a live view,
# ten times in each timeout. No node is suspected, no view changes, and messages
# flow, slowly.
# vm: uml
# vm: timeout=300
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

EV=/tmp/events
# Emulated machines need longer for anything at all.
TIMEOUT=2000
grep -q "User Mode Linux" /proc/cpuinfo || TIMEOUT=5000
SLICE=$((TIMEOUT / 10))

# messages of all nodes
delivered()
{
	echo $(($(loop_stat 1 1 delivered) + $(loop_stat 2 1 delivered) +
		$(loop_stat 3 1 delivered)))
}

# starve TIMES: nine tenths of each slice. What it says is in $busy, $pause and $gap.
starved()
{
	local said

	said=$(limit 120 starve -b $((SLICE * 9 / 10)) -f $((SLICE / 10)) -n "$1") || return 1
	# shellcheck disable=SC2086 # three words
	set -- $said
	busy=$1
	pause=$2
	gap=$3
	diag "busy $busy ms, free $pause ms, an idle thread waits $gap ms at most; timeout $TIMEOUT ms"
}

# A machine whose host does not run it for a quarter of the timeout shows nothing about us.
quiet_host()
{
	[ "$busy" -lt $((TIMEOUT / 4)) ] && [ "$pause" -lt $((TIMEOUT / 4)) ] &&
		[ "$gap" -lt $((TIMEOUT / 4)) ]
}

check "module loads" loop_start
spindle-ctl monitor >$EV 2>&1 &
monitor=$!
check "the monitor listens" wait_until 30 listens $monitor
for i in 1 2 3; do
	check "node $i has a thread of its own" spindle-ctl node add id $i addr 10.0.0.1 \
		port 500$i engine $i
done
check "three nodes begin a live view" \
	live_view 3 timeout-ms $TIMEOUT subgroup 1 window 32 max-msg 256
check "three nodes are in the first view" wait_until 60 in_view 1 1 2 3
for i in 1 2 3; do
	load_start $i -r 500
done
usleep 300000
tries=0
shown=
while [ $tries -lt 5 ] && [ -z "$shown" ]; do
	before=$(delivered)
	if ! starved 30; then
		not_ok "a thread that takes the processors"
		break
	fi
	after=$(delivered)
	! quiet_host || shown=yes
	grep -q "suspect\|stopped" $EV && break
	tries=$((tries + 1))
done
if [ -n "$shown" ]; then
	is "no node is suspected, and no node stops" "$(grep -c "suspect\|stopped" $EV)" 0 ||
		sed "s,^,# ," $EV
	check "the nodes stay in the first view" in_view 1 1 2 3
	for i in 1 2 3; do
		is "node $i has changed no view" "$(live_word $i changes)" 0
	done
	check "messages flow under starvation ($((after - before)))" [ "$after" -gt "$before" ]
else
	skip "no node is suspected" "this machine is starved itself"
fi
check "processes end" load_stop 1 2 3
check "logs agree" loads_agree
kill $monitor
check "nodes go" loop_del 3
check "module goes" rmmod spindle
finish
