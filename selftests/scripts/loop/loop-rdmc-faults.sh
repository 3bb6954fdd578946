#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# RDMC when something goes wrong: objects that are cancelled, refused, dropped; processes that die,
# sleep, or never come; nodes, views and the device that go. Complete objects have the right bytes,
# the others are reported to all members, and nothing hangs.
# vm: own
# vm: uml
# vm: mem=1024
# vm: timeout=600
. ./guest-lib.sh
. ./lib-loop.sh
. ./lib-live.sh

out=/tmp/rdmc
flag=/tmp/flag

# load SECONDS OPTION...: rdmc-load, for at most so long. A group waits as long unless the options
# say another timeout, because other work may have the processors.
load()
{
	local most

	most=$1
	shift
	limit "$most" rdmc-load -t $((most * 1000 * ${PATIENCE:-1})) "$@"
}

# ends STATUS PATTERN OPTION...: rdmc-load ends with this status and has said this.
ends()
{
	local want pattern rc

	want=$1
	pattern=$2
	shift 2
	rc=0
	load "${MOST:-120}" "$@" >$out 2>&1 || rc=$?
	if [ "$rc" = "$want" ] && grep -q "$pattern" $out; then
		return 0
	fi
	echo "status $rc, wanted $want and '$pattern'"
	cat $out
	return 1
}

# begin NAME OPTION...: start it in the background. Its output is in $out.NAME, and its pid in $pid.
begin()
{
	local name

	name=$1
	shift
	load 120 "$@" >"$out.$name" 2>&1 &
	pid=$!
}

# ended NAME PID STATUS PATTERN: how it did.
ended()
{
	local rc

	rc=0
	wait "$2" || rc=$?
	if [ "$rc" = "$3" ] && grep -q "$4" "$out.$1"; then
		return 0
	fi
	echo "$1: status $rc, wanted $3 and '$4'"
	cat "$out.$1"
	return 1
}

# killed MEMBERS SURVIVORS VICTIM OPTION...: a node's process is killed in the middle.
killed()
{
	local members survivors victim live

	members=$1
	survivors=$2
	victim=$3
	shift 3
	rm -f $flag
	begin live -m "$members" -n "$survivors" -c 2000 -l 1-300000 -b 16384 -f $flag "$@"
	live=$pid
	rdmc-load -m "$members" -n "$victim" -c 2000 -l 1-300000 -b 16384 "$@" >$out.dead 2>&1 &
	pid=$!
	wait_until 60 test -e $flag || return 1
	usleep "${PAUSE:-20000}"
	kill -9 $pid
	wait $pid 2>/dev/null
	# All of them learn of the failure and of the culprit.
	ended live $live 3 "error 5 node $victim" || return 1
	[ "$(grep -c "^node [0-9]* group 0: error 5 node $victim\$" $out.live)" = \
		"$(count "$survivors")" ]
}

# count LIST: how many "1-3,5" are
count()
{
	echo "$1" | tr , '\n' | awk -F- '{ n += NF > 1 ? $2 - $1 + 1 : 1 } END { print n }'
}

check "module loads" loop_start
check "8 nodes" loop_nodes 8
check "a view of eight nodes is installed" loop_view 8 1

for n in 2 4 7; do
	check "the root cancels an object, $n members" \
		ends 3 "object 2: error 1 node 1 reason 4242" -m "1-$n" -c 6 -l 500000 -b 16384 \
		-x 2:cancel
	check "the other objects arrive" grep "# $((5 * n)) of $((6 * n)) objects whole" $out
	check "the group reports the missing object" grep "^node $n group 0: error 10 node 0" $out
	check "the last member refuses objects, $n members" \
		ends 3 "object 1: error 2 node $n reason 4242" -m "1-$n" -c 4 -l 500000 -b 16384 \
		-x 1:refuse:$((n - 1))
	check "the other objects arrive" grep "# $((3 * n)) of $((4 * n)) objects whole" $out
	MOST=300
	check "receivers drop objects, $n members" \
		ends 3 "object 1: error 1 node 2 reason 4242" -m "1-$n" -c 4 -l 30000000 -b 4096 \
		-x 1:drop:1
	unset MOST
done

check "the group fails if a member never comes" \
	ends 3 "node 1 group 0: error 3 node 3" -m 1-3 -n 1,2 -t 1000
check "the other member gets the same error" grep "node 2 group 0: error 3 node 3" $out
# The member that notices first reports the mismatch and leaves. A member that did not know of it
# yet reports a loss.
mismatched()
{
	begin one -m 1-3 -n 1,2 -b 4096
	ends 3 "node 3 group 0: error [47] node" -m 1-3 -n 3 -b 8192 &&
		ended one $pid 3 "node 1 group 0: error [47] node" &&
		grep "group 0: error 7" $out $out.one
}

check "the group fails if arguments differ" mismatched

for algorithm in pipeline chain tree sequential; do
	check "the root dies, $algorithm" killed 1-5 2-5 1 -a $algorithm
	check "a relay dies, $algorithm" killed 1-5 1,3-5 2 -a $algorithm
	check "the last member dies, $algorithm" killed 1-5 1-4 5 -a $algorithm
done
for PAUSE in 0 1000 5000 50000; do
	check "one of eight dies, $PAUSE us later" killed 1-8 1-3,5-8 4 -S "$PAUSE"
done

# Milliseconds. The members that are awake must not seem asleep when other work has the processors.
SLEEP_TIMEOUT=$((8000 * ${PATIENCE:-1}))

asleep()
{
	grep -q "^State:.*T (stopped)" "/proc/$1/status"
}

# A receiver stops when it is offered object 5. Objects that it has not accepted are given up, one
# after the other, each after a timeout.
sleeper()
{
	begin live -m 1-3 -n 1,2 -c 8 -l 100000 -t $SLEEP_TIMEOUT
	live=$pid
	rdmc-load -m 1-3 -n 3 -c 8 -l 100000 -t $SLEEP_TIMEOUT -x 5:sleep:2 >$out.dead 2>&1 &
	pid=$!
	wait_until 60 asleep $pid || return 1
	ended live $live 3 "object 5: error 3 node 3"
	rc=$?
	kill -KILL $pid
	wait $pid
	return $rc
}

check "the group fails if a receiver sleeps" sleeper

# gone WHAT COMMAND...: with a transfer under way; both halves end with an error, at once.
gone()
{
	local one two rc

	rm -f $flag
	begin one -m 1-4 -n 1,2 -c 5000 -l 1-300000 -f $flag
	one=$pid
	begin two -m 1-4 -n 3,4 -c 5000 -l 1-300000
	two=$pid
	wait_until 60 test -e $flag || return 1
	"$@" || return 1
	rc=0
	ended one $one 3 "group 0: error [0-9]" || rc=1
	ended two $two 3 "group 0: error [0-9]" || rc=1
	return $rc
}

check "the group ends when a node is removed" gone spindle-ctl node del id 3
check "the node is added again" sh -c "spindle-ctl node add id 3 addr 10.0.0.1 port 5003"
check "a view with the node is installed" loop_view 8 2
check "the node takes part in a group" ends 0 "# 32 of 32 objects whole" -m 1-4 -c 8 -l 1-300000
check "the group ends when the view is replaced" gone loop_view 8 3
check "a group in the new view works" ends 0 "# 32 of 32 objects whole" -m 1-4 -c 8 -l 1-300000
check "the group ends when the device goes" gone limit 60 rdma link delete rxe0
check "dead nodes can be removed" loop_del 8
check "a new device is added" rxe_add rxe0 dummy0
check "eight nodes are added" loop_nodes 8
check "eight nodes begin a live view" live_view 8 subgroup 1 window 32 max-msg 256
check "the live view is installed" wait_until 60 in_view 1 1 2 3 4 5 6 7 8

# A member of the view leaves that is not a member of the group. The group does not notice.
unnoticed()
{
	rm -f $flag
	begin stays -m 1-4 -c 600 -l 1-300000 -f $flag
	wait_until 60 test -e $flag && spindle-ctl node leave id 8 &&
		wait_until 60 in_view 2 1 2 3 4 5 6 7 &&
		ended stays $pid 0 "# 2400 of 2400 objects whole"
}

check "a group goes on when a node outside of it leaves" unnoticed
check "the group ends when its member leaves" gone spindle-ctl node leave id 4
check "the view is without that member" wait_until 60 in_view 3 1 2 3 5 6 7
check "the remaining members make a group" ends 0 "# 24 of 24 objects whole" -m 1-3 -c 8 -l 1-300000

evicted()
{
	rm -f $flag
	begin evicted -m 1-3 -c 5000 -l 1-300000 -f $flag
	wait_until 60 test -e $flag && spindle-ctl node evict id 1 node 3 &&
		ended evicted $pid 3 "node 1 group 0: error [48] node 3" &&
		grep "node 2 group 0: error [48] node 3" $out.evicted
}

check "the group ends when its member is evicted" evicted
check "nodes can be removed" loop_del 8
check "module goes" rmmod spindle
finish
