#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Tracepoints: every stage has one, and their values add up to the counters.
# vm: each
. ./guest-lib.sh

. ./lib-loop.sh

TRACE=/sys/kernel/tracing

loop_start || bail "no module"
[ -d $TRACE/events ] || mount -t tracefs tracefs $TRACE 2>/dev/null
if [ ! -d $TRACE/events/spindle ]; then
	rmmod spindle
	skip_all "a kernel without tracepoints"
fi

# added EVENT FIELD: the sum of a field over all events of node 1.
added()
{
	sed -n "s/.*spindle_$1: node=1 .*$2=\([0-9]*\).*/\1/p" $TRACE/trace |
		awk '{ n += $1 } END { print n + 0 }'
}

for event in send receive deliver null post sleep wake ring_error; do
	check "the tracepoint spindle:spindle_$event exists" \
		test -d $TRACE/events/spindle/spindle_$event
done
check "three nodes" loop_nodes 3
check "a view of three nodes is installed" loop_view 3 1 subgroup 1 max-msg 256 window 16
echo 20000 >$TRACE/buffer_size_kb
echo >$TRACE/trace
echo 1 >$TRACE/events/spindle/enable
check "traffic flows" limit 60 mcast-load -n 1-3 -g 1 -s one -c 500 -l 1-256
sleep 1
echo 0 >$TRACE/events/spindle/enable
is "no event is lost" "$(sed -n 's/^overrun: //p' $TRACE/per_cpu/cpu*/stats |
	awk '{ n += $1 } END { print n }')" 0
is "send events add up to the messages sent" "$(added send messages)" "$(loop_stat 1 1 sent)"
is "deliver events add up to the messages delivered" \
	"$(added deliver messages)" "$(loop_stat 1 1 delivered)"
is "receive and send events add up to the messages received" \
	"$(($(added receive messages) + $(added send messages)))" \
	"$(loop_stat 1 1 received)"
is "nulls" "$(added null nulls)" "$(loop_stat 1 1 nulls)"
is "null events add up to the rounds in advance" "$(added null ahead)" "$(loop_stat 1 1 silent)"
check "writes are posted" test "$(added post writes)" -gt 100
check "the engine sleeps" grep -q spindle_sleep $TRACE/trace
check "the engine wakes" grep -q spindle_wake $TRACE/trace
check "nodes go" loop_del 3
check "module goes" rmmod spindle
finish
