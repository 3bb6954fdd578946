#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Predicates of tables at work: the examples of the documentation count, wait at barriers, elect
# leaders, run steps and compute routes, a process for each node. Each program checks itself. A node
# is evicted while others wait for it.
#
# Failures of other systems: evaluation never ends once a watched member has gone; two leaders after
# a change of the members.
# vm: uml timeout=300
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

# begin_all PROGRAM TABLE ARGUMENT NODE...: one at each node
begin_all()
{
	local program table arg i

	program=$1
	table=$2
	arg=$3
	shift 3
	for i in "$@"; do
		job "$program.$i" limit 150 "$program" "$i" "$table" "$arg"
	done
}

# ended PROGRAM STATUS PATTERN NODE...: all have ended with this status, and this line
ended()
{
	local program status pattern i

	program=$1
	status=$2
	pattern=$3
	shift 3
	for i in "$@"; do
		job_ended "$program.$i" "$status" && job_said "$program.$i" "$pattern" || return 1
	done
}

# all PROGRAM TABLE ARGUMENT PATTERN NODE...: run it at all these, and compare what they print
all()
{
	local program pattern table arg

	program=$1
	table=$2
	arg=$3
	pattern=$4
	shift 4
	begin_all "$program" "$table" "$arg" "$@"
	ended "$program" 0 "$pattern" "$@"
}

# still_runs PROGRAM NODE...: none of these has ended
still_runs()
{
	local program i

	program=$1
	shift
	for i in "$@"; do
		[ ! -s "/tmp/rc.$program.$i" ] || return 1
	done
}

# one_leader NODE...: does each view have one leader in what all of these have printed?
one_leader()
{
	local i

	for i in "$@"; do
		grep '^view' "/tmp/out.election.$i"
	done | sort -u | tee /tmp/leaders |
		awk '{ if (($2 in l) && l[$2] != $4) bad = 1; l[$2] = $4 } END { exit bad || !NR }' &&
		return 0
	cat /tmp/leaders
	return 1
}

# A hub with cheap links, a ring of dear ones, and changes that concern all nodes.
cat >/tmp/links <<'END'
link 1 2 2
link 1 3 2
link 1 4 2
link 1 5 2
link 1 6 2
link 2 3 5
link 3 4 5
link 4 5 5
link 5 6 5
link 6 2 5
change 1 4 9
change 1 6 0
change 5 6 1
END

check "module loads" loop_start
for how in poll imm; do
	check "6 nodes ($how)" loop_nodes 6 visibility $how
	check "a live view with tables ($how)" live_view 6 max-nodes 6 \
		table 1 name apps cells 8 table 2 name pair cells 8 members 1,2,3 \
		table 3 name counts cells 1
	check "it begins ($how)" wait_until 60 in_view 1 1 2 3 4 5 6
	check "six nodes count in step, and no process is woken ($how)" \
		all counting counts 1000 "counted to 1000" 1 2 3 4 5 6
	check "they count on ($how)" all counting counts 1500 "counted to 1500" 1 2 3 4 5 6
	check "three nodes count ($how)" all counting pair 3000 "counted to 3000" 1 2 3
	check "a synchronous algorithm makes two steps ($how)" \
		all kstep apps 2 "right after 2 steps" 1 2 3 4 5 6
	check "and as many as make no difference any more ($how)" \
		all kstep pair 50 "right after 50 steps" 1 2 3
	check "routers compute all paths, and again when links change ($how)" \
		all routing apps /tmp/links "all paths are right" 1 2 3 4 5 6
	check "six nodes go through barriers ($how)" \
		all barrier apps 100 "through 100 barriers, 6 members" 1 2 3 4 5 6

	# Node 6 stops before the others.
	begin_all barrier apps 300 1 2 3 4 5
	begin_all barrier apps 150 6
	check "one node has done its rounds ($how)" ended barrier 0 "through 150 barriers" 6
	check "the others wait for it ($how)" still_runs barrier 1 2 3 4 5
	check "it is evicted ($how)" spindle-ctl node evict id 1 node 6
	check "the others go through all barriers ($how)" \
		ended barrier 0 "through 300 barriers, 5 members" 1 2 3 4 5

	# Node 1 leads, until it is evicted while node 5 has not voted.
	job election.1 limit 150 election 1 apps 1
	begin_all election apps 2 2 3 4
	check "an election waits for all ($how)" still_runs election 1 2 3 4
	begin_all election apps 2 5
	check "the first member leads ($how)" ended election 0 "the leader is node 1" 1
	check "the leader is evicted ($how)" spindle-ctl node evict id 2 node 1
	check "the next one leads ($how)" ended election 0 "the leader is node 2" 2 3 4 5
	check "no view had two leaders ($how)" one_leader 1 2 3 4 5
	check "nodes can be removed ($how)" loop_del 6
done
check "module goes" rmmod spindle
finish
