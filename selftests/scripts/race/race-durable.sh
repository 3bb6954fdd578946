#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Durable subgroups for the race checker: loggers write, die and come back while three nodes send, a
# fourth one joins and leaves, readers wait behind the gate, and dump-loop reads all state.
# vm: timeout=400
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh
. ./lib-race.sh

CYCLES=${CYCLES:-1}
A=10.0.0.1

# logd NODE: begin to write the logs of all subgroups that have some. A check waits for all that has
# its output, so this has not.
logd()
{
	spindle-logd -d /tmp/logs -S 1 -P open "$1" >/dev/null 2>>"/tmp/logd$1.err" &
	echo $! >"/tmp/logd$1.pid"
}

# signal NODE NAME: a signal for its logger
signal()
{
	kill "-$2" "$(cat "/tmp/logd$1.pid")"
}

# send NODE GROUP: some lines, one after the other
send()
{
	seq 100 | limit 100 spindle-pipe -n "$1" -g "$2" -s
}

# send_all: all nodes send to both subgroups at once
send_all()
{
	local sg i

	for sg in 1 2; do
		for i in 1 2 3; do
			job "send.$i.$sg" send "$i" "$sg"
		done
	done
	for sg in 1 2; do
		for i in 1 2 3; do
			job_ended "send.$i.$sg" 0 || return 1
		done
	done
}

# all_durable SUBGROUP: is all that was sent durable at node 1?
all_durable()
{
	[ "$(number_of 1 "$1" durable)" = "$(number_of 1 "$1" lsn)" ]
}

# cycle: a logger dies under load and comes back, and a node joins and leaves
cycle()
{
	send_all || return 1
	signal 2 KILL
	send_all || return 1
	logd 2
	spindle-ctl node join id 4 insecure contact $A:5001 timeout 100 || return 1
	send_all && spindle-ctl node leave id 4 || return 1
	wait_until 100 all_durable 1 && wait_until 100 all_durable 2
}

check "module loads" loop_start
check "4 nodes on 2 engines" race_nodes 4
check "three nodes begin a live view" live_view 3 timeout-ms 20000 \
	subgroup 1 max-msg 256 hold 0 log 1 ack majority \
	subgroup 2 max-msg 256 hold 0 log 1 ack majority deliver durable
check "they are in the first view" wait_until 100 in_view 1 1 2 3
for i in 1 2 3; do
	logd $i
	spindle-pipe -n $i -g 2 -r >/dev/null 2>&1 &
	readers="$readers $!"
done
# logd_reads NODE: does its logger read both subgroups? A check that fails shows what it said.
logd_reads()
{
	readers_are "$1" 2 2 && readers_are "$1" 1 1 && return 0
	cat "/tmp/logd$1.err" >&2
	return 1
}

check "node 1 has a logger and a reader" wait_until 100 logd_reads 1
look_start
check "loggers and views come and go" cycles "$CYCLES" cycle
look_stop
# shellcheck disable=SC2086
kill $readers
for i in 1 2 3; do
	signal $i TERM
done
check "nodes go" loop_del 4
check "module goes" limit 100 rmmod spindle
finish
