#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Work that must not happen in an idle group, and system calls that a busy one must not need.
#
#	- A group without traffic sleeps, with readers that wait: its engines do not pass,
#	  take no processor time, and nothing is sent. All of it is counted by others: the
#	  scheduler, the device.
#	- The first message after that wakes all threads that have to wake: the own engine by a kick
#	  of the process, those of the others by doorbells.
#	- Between two heartbeats of a live view, engines leave the processor: by the scheduler's
#	  count, whenever they say that they sleep. They wake up for their own heartbeats and for
#	  little else; the share of a processor that this takes is printed.
#	- Sending and reading take no system calls. A process that has nothing to do waits in
#	  poll(), so there are some; but ten times as many messages take hardly more of them.
# vm: timeout=400
. ./guest-lib.sh
. ./lib-loop.sh
. ./lib-live.sh

# Ticks of the processor that the three threads have used.
ticks()
{
	local i

	for i in 1 2 3; do
		sed 's/.*) //' "/proc/$(engine_stat $i pid)/stat"
	done | awk '{ sum += $12 + $13 } END { print sum }'
}

# Times that the three threads have left the processor because they had nothing to do.
switches()
{
	local i

	for i in 1 2 3; do
		cat "/proc/$(engine_stat $i pid)/status"
	done | awk '/^voluntary_ctxt_switches/ { sum += $2 } END { print sum }'
}

# The threads of all unbound work queues
queue_pids()
{
	local f

	for f in /proc/[0-9]*/comm; do
		case $(cat "$f" 2>/dev/null) in
		kworker/u*)
			f=${f%/comm}
			echo "${f#/proc/}"
			;;
		esac
	done
}

packets()
{
	echo $(($(rxe_counter sent_pkts) + $(rxe_counter rcvd_pkts)))
}

# idle DESCRIPTION: nothing happens for five seconds.
idle()
{
	local passes used sent

	check "$1: engines come to rest" wait_until 30 quiet 3
	passes=$(engines 3 passes)
	used=$(ticks)
	sent=$(packets)
	sleep 5
	is "$1: no pass in 5 s" "$(engines 3 passes)" "$passes"
	is "$1: no packet" "$(packets)" "$sent"
	used=$(($(ticks) - used))
	check "$1: no processor time ($used ticks of all three)" test $used -le 1
}

readers_wait()
{
	spindle-ctl -j -p subgroup show node 3 id 1 | grep -q '"readers": *1'
}

check "module loads" loop_start
for how in poll imm; do
	# Each node has its own engine, so that a woken engine is another thread.
	for i in 1 2 3; do
		spindle-ctl node add id $i addr 10.0.0.1 port $((5000 + i)) \
			visibility $how engine $i || not_ok "node $i"
	done
	check "three nodes, three engines ($how)" loop_view 3 1 subgroup 1 max-msg 1024
	slept=$(engines 3 sleeps)
	check "traffic" limit 60 mcast-load -n 1-3 -g 1 -c 100
	idle "after traffic ($how)"
	check "engines went to sleep" test "$(engines 3 sleeps)" -gt "$slept"

	# The readers on nodes 2 and 3 wait in poll(). Node 1 sends when all sleep.
	limit 120 mcast-load -n 2,3 -g 1 -s one -c 3 -w 100 >/tmp/readers.out 2>&1 &
	readers=$!
	check "readers wait in poll()" wait_until 30 readers_wait
	idle "with readers ($how)"
	kicks=$(engines 3 kicks)
	bells=$(engines 3 bells)
	check "messages after the rest are sent" limit 60 mcast-load -n 1 -g 1 -s one -c 3 -w 50 \
		-p 500
	rc=0
	wait $readers || rc=$?
	is "the messages arrive" $rc 0
	check "a process has kicked its engine" test "$(engines 3 kicks)" -gt "$kicks"
	check "peers have rung doorbells" test "$(engines 3 bells)" -gt "$bells"
	sed 's/^[^#]/# &/' /tmp/readers.out
	check "nodes go" loop_del 3
done

# Since boot, in centiseconds
now_cs()
{
	local up rest

	# shellcheck disable=SC2034
	read -r up rest </proc/uptime
	echo "${up%.*}${up#*.}"
}

# shares SECONDS: print the share of one processor that engines and work queues take in this time.
# All unbound work queues are counted, soft-RoCE's among them.
shares()
{
	local engines queues used queued begin

	engines="$(engine_stat 1 pid) $(engine_stat 2 pid) $(engine_stat 3 pid)"
	queues=$(queue_pids)
	begin=$(now_cs)
	# shellcheck disable=SC2086
	used=$(cpu-time $engines)
	# shellcheck disable=SC2086
	queued=$(cpu-time $queues)
	sleep "$1"
	# shellcheck disable=SC2086
	used=$(($(cpu-time $engines) - used))
	# shellcheck disable=SC2086
	queued=$(($(cpu-time $queues) - queued))
	awk -v e=$used -v q=$queued -v cs=$(($(now_cs) - begin)) 'BEGIN {
		printf "# of a processor, in %.2f s: three engines %.3f %%, work queues %.3f %%\n",
			cs / 100, e / cs / 100, q / cs / 100
	}'
}

# beats TIMEOUT SECONDS: a live view of three with an engine each, in which nothing happens. In a
# tenth of the timeout an engine wakes up for its own heartbeat. Two wake-ups are allowed, because
# reading the numbers wakes the engine, too. This is a count, and the same on any machine.
beats()
{
	local i slept left begin took most

	for i in 1 2 3; do
		spindle-ctl node add id $i addr 10.0.0.1 port $((5000 + i)) engine $i ||
			not_ok "node $i"
	done
	check "a live view ($1 ms)" live_view 3 timeout-ms "$1" subgroup 1 max-msg 64
	check "all nodes are in the first view" wait_until 60 in_view 1 1 2 3
	begin=$(now_cs)
	slept=$(engines 3 sleeps)
	left=$(switches)
	shares "$2"
	left=$(($(switches) - left))
	slept=$(($(engines 3 sleeps) - slept))
	took=$(($(now_cs) - begin))
	most=$((2 * 3 * took * 10 * 10 / $1))
	diag "an idle live view, $1 ms: in $took cs slept $slept times, left the processor $left times"
	check "engines sleep between heartbeats" test "$slept" -gt 10
	check "each sleep leaves the processor" test "$slept" -le $((2 * left))
	if in_view 1 1 2 3; then
		check "engines wake up at most $most times" test "$slept" -le "$most"
	else
		skip "engines wake up at most $most times" "the view has changed"
	fi
	check "nodes go" loop_del 3
}

beats 2000 5
beats 500 10

# System calls: an engine that does not sleep in between needs no kicks.
for i in 1 2 3; do
	spindle-ctl node add id $i addr 10.0.0.1 port $((5000 + i)) idle-us 100000
done
check "three nodes" loop_view 3 1 subgroup 1 window 256 max-msg 64

# syscalls COUNT [OPTION]...: the number of system calls to send and read COUNT messages
syscalls()
{
	local count

	count=$1
	shift
	limit 120 strace -f -o /tmp/trace /bin/mcast-load -n 1-3 -g 1 -c "$count" -l 1-64 "$@" \
		>/tmp/load.out 2>&1 || cat /tmp/load.out >&2
	wc -l </tmp/trace
}

for opts in "-s all" "-C"; do
	# shellcheck disable=SC2086
	few=$(syscalls 200 $opts)
	# shellcheck disable=SC2086
	many=$(syscalls 2000 $opts)
	diag "system calls: $few for 200, $many for 2000 of each of three"
	sed 's/(.*//; s/^[0-9]* *//' /tmp/trace | sort | uniq -c | sort -rn | head -n 5 | sed 's/^/# /'
	check "something was traced" test "$few" -gt 20
	check "5400 more messages take less than 270 more calls ($opts)" \
		test $((many - few)) -lt 270
done
check "nodes go" loop_del 3
check "module goes" limit 60 rmmod spindle
finish
