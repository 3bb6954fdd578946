#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Rules of a live view: shards, in which nodes stay as long as they can; subgroups that wait because
# too few members are left; nodes that leave with their last reader; members that only receive.
# Messages flow all the time, and all logs agree.
# vm: timeout=600 kernel=6.12

# load_N are set by load_start.
# shellcheck disable=SC2154
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

A=10.0.0.1
# SPINDLE_ERR_NOT_MEMBER
NOT_MEMBER=13

# logs_of SUBGROUP: logs of its processes, from here on
logs_of()
{
	LOGS=/tmp/live.$1
	mkdir -p "$LOGS"
}

# load NODE SUBGROUP [OPTION]...
load()
{
	local i g

	i=$1
	g=$2
	shift 2
	logs_of "$g"
	load_start "$i" -g "$g" "$@"
}

# agree SUBGROUP: do its logs?
agree()
{
	logs_of "$1"
	[ ! -s "$LOGS/errors" ] || { cat "$LOGS/errors"; return 1; }
	loads_agree
}

# compared SUBGROUP: how much was compared, for people
compared()
{
	logs_of "$1"
	diag "$(live-check $LOGS/[0-9]*)"
}

# has NODE SUBGROUP: is it in it?
has()
{
	spindle-ctl subgroup show node "$1" id "$2" >/dev/null 2>&1
}

# where NODE...: the shard of each, as it sees it
where()
{
	local i

	for i in "$@"; do
		if has "$i" 10 && has "$i" 11; then
			printf '%s:both ' "$i"
		elif has "$i" 10; then
			printf '%s:10 ' "$i"
		elif has "$i" 11; then
			printf '%s:11 ' "$i"
		else
			printf '%s:none ' "$i"
		fi
	done
}

# state NODE SUBGROUP: in a word
state()
{
	spindle-ctl -j -p subgroup show node "$1" id "$2" |
		sed -n 's/^ *"state": *"\([a-z]*\)",*$/\1/p' | head -n 1
}

state_is()
{
	[ "$(state "$1" "$2")" = "$3" ]
}

stopped()
{
	[ "$(live_word "$1" state)" = stopped ]
}

# log NODE: the latest of a node's
log()
{
	# shellcheck disable=SC2012
	ls -t "$LOGS/$1".* | head -n 1
}

# grows SUBGROUP NODE: do messages of all come to this node's process?
grows()
{
	local before

	logs_of "$1"
	before=$(loop_stat "$2" "$1" delivered)
	wait_until 30 more "$2" "$1" "$((before + 200))"
}

more()
{
	[ "$(loop_stat "$1" "$2" delivered)" -gt "$3" ]
}

# refused PATTERN WORD...
refused()
{
	local pattern out

	pattern=$1
	shift
	out=$(spindle-ctl "$@" 2>&1) && { not_ok "$* is refused"; return; }
	check "$*: $pattern" sh -c "echo '$out' | grep -q '$pattern'" || diag "$out"
}

# ---- shards ----------------------------------------------------------------

check "module loads" loop_start
check "nodes" loop_nodes 6
check "four nodes begin two shards" live_view 4 subgroup 10 window 32 max-msg 256 shards 2 min 2
check "four nodes are in the first view" wait_until 60 in_view 1 1 2 3 4
is "the shards have two nodes each" "$(where 1 2 3 4)" "1:10 2:11 3:10 4:11 "
for i in 1 3; do load $i 10; done
for i in 2 4; do load $i 11; done
check "messages flow in the first shard" grows 10 3
check "messages flow in the second shard" grows 11 2
check "node 5 joins" spindle-ctl node join id 5 insecure contact $A:5002
check "five nodes are in view 2" wait_until 60 in_view 2 1 2 3 4 5
is "node 5 is in the first shard" "$(where 1 2 3 4 5)" "1:10 2:11 3:10 4:11 5:10 "
check "node 6 joins" spindle-ctl node join id 6 insecure contact $A:5005
check "six nodes are in view 3" wait_until 60 in_view 3 1 2 3 4 5 6
is "node 6 is in the smaller shard" "$(where 1 2 3 4 5 6)" "1:10 2:11 3:10 4:11 5:10 6:11 "
load 5 10
load 6 11
check "messages flow in the first shard" grows 10 5
check "messages flow in the second shard" grows 11 6
check "node 1 leaves" spindle-ctl node leave id 1
check "five nodes are in view 4" wait_until 60 in_view 4 2 3 4 5 6
is "the other nodes stay in their shards" "$(where 2 3 4 5 6)" "2:11 3:10 4:11 5:10 6:11 "
check "messages flow in the first shard" grows 10 5
check "node 3 leaves" spindle-ctl node leave id 3
check "four nodes are in view 5" wait_until 60 in_view 5 2 4 5 6
is "node 6 has moved to the smaller shard" "$(where 2 4 5 6)" "2:11 4:11 5:10 6:10 "
logs_of 11
check "the process of node 6 in its former shard ends" wait_until 20 dead "$load_6"
is "that process gets the error not-member" "$(sed -n 's/^e //p' "$(log 6)")" $NOT_MEMBER
load 6 10
check "messages flow in the first shard" grows 10 6
check "messages flow in the second shard" grows 11 4
refused 'too few members' node leave id 2
refused 'too few members' node leave id 5
refused 'too few members' node evict id 2 node 6
check "the view is as it was" in_view 5 2 4 5 6

# ---- too few ----------------------------------------------------------------

check "node 5 is removed" spindle-ctl node del id 5
check "three nodes are in view 6" wait_until 60 in_view 6 2 4 6
check "the first shard waits" wait_until 20 state_is 6 10 forming
is "the other nodes stay in their shards" "$(where 2 4 6)" "2:11 4:11 6:10 "
check "the second shard goes on" grows 11 2
before=$(loop_stat 6 10 delivered)
usleep 300000
is "the first shard delivers nothing" "$(loop_stat 6 10 delivered)" "$before"
check "node 1 joins again" spindle-ctl node join id 1 insecure contact $A:5004
check "four nodes are in view 7" wait_until 60 in_view 7 2 4 6 1
is "node 1 is in the shard that lacked a node" "$(where 1 2 4 6)" "1:10 2:11 4:11 6:10 "
check "the first shard goes on" wait_until 20 state_is 6 10 active
load 1 10
check "messages flow in the first shard" grows 10 6
check "processes end" load_stop 1 2 4 6
check "logs of the first shard agree" agree 10
check "logs of the second shard agree" agree 11
compared 10
compared 11
spindle-ctl node add id 5 addr $A port 5005
check "nodes go" loop_del 6

# ---- the last reader ---------------------------------------------------------

check "nodes" loop_nodes 5
check "five nodes begin a live view" live_view 5 subgroup 20 window 32 max-msg 256 on-exit leave \
	subgroup 21 window 32 max-msg 256
check "five nodes are in the first view" wait_until 60 in_view 1 1 2 3 4 5
for i in 1 2 3 4 5; do load $i 21; done
check "messages flow in a subgroup without on-exit leave" grows 21 3
check "processes end" load_stop 1 2 3 4 5
check "logs agree" agree 21
check "no node has left" in_view 1 1 2 3 4 5
for i in 1 2 3 4 5; do load $i 20; done
load_a=$load_3
load 3 20 -R
load_b=$load_3
check "messages flow" grows 20 1
kill -KILL "$load_a"
check "one of two readers is killed" wait_until 20 dead "$load_a"
check "messages flow" grows 20 1
check "the node of the other reader stays" in_view 1 1 2 3 4 5
kill -TERM "$load_b"
check "the last reader ends" wait_until 20 dead "$load_b"
check "the node leaves" wait_until 20 stopped 3
is "status: why" "$(live_word 3 why)" left
check "the others are in view 2" wait_until 60 in_view 2 1 2 4 5
check "messages flow" grows 20 1
load_a=$load_4
kill -KILL "$load_a"
check "the only reader is killed" wait_until 20 dead "$load_a"
check "the node leaves" wait_until 20 stopped 4
check "the others are in view 3" wait_until 60 in_view 3 1 2 5
check "messages flow" grows 20 5
check "a node leaves when its process ends" load_stop 5
check "the others are in view 4" wait_until 60 in_view 4 1 2
load 1 21
load 2 21
load_a=$load_1
check "messages flow" grows 21 2
kill -KILL "$load_a"
check "a process is killed in a subgroup without on-exit leave" wait_until 20 dead "$load_a"
check "messages of the other process flow" grows 21 2
check "the node stays" in_view 4 1 2
check "the other process ends" load_stop 2
check "logs agree" agree 20
check "logs agree" agree 21
check "nodes go" loop_del 5

# ---- receivers -------------------------------------------------------

check "nodes" loop_nodes 4
check "three nodes begin a live view" \
	live_view 3 subgroup 30 window 32 max-msg 256 members 1,2,3,4 senders 1,4
check "three nodes are in the first view" wait_until 60 in_view 1 1 2 3
logs_of 30
check "a member that may not send cannot attach as a sender" sh -c \
	"live-load -n 2 -g 30 -o /tmp/no -c 1 2>&1 | grep -q 'attach: '"
load 1 30
load 2 30 -R
load 3 30 -R
check "messages flow" grows 30 3
refused 'too few members' node leave id 1
check "a second sender joins" spindle-ctl node join id 4 insecure contact $A:5003
check "four nodes are in view 2" wait_until 60 in_view 2 1 2 3 4
load 4 30
check "messages flow" grows 30 2
check "the first sender ends" load_stop 1
check "the node of the first sender leaves" spindle-ctl node leave id 1
check "three nodes are in view 3" wait_until 60 in_view 3 2 3 4
check "messages flow" grows 30 3
check "the last sender fails" spindle-ctl node del id 4
check "two nodes are in view 4" wait_until 60 in_view 4 2 3
check "the subgroup waits" wait_until 20 state_is 2 30 forming
check "a sender comes back" spindle-ctl node join id 1 insecure contact $A:5002
check "three nodes are in view 5" wait_until 60 in_view 5 2 3 1
check "the subgroup goes on" wait_until 20 state_is 2 30 active
load 1 30
check "messages flow" grows 30 3
check "processes end" load_stop 1 2 3
check "logs agree" agree 30
compared 30
spindle-ctl node add id 4 addr $A port 5004
check "nodes go" loop_del 4
check "module goes" rmmod spindle
finish
