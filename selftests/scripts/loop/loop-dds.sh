#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Topics: participants find each other, readers get the samples of all writers in one order, and a
# participant that goes with its node is forgotten.
# vm: timeout=300 uml
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

# talk NAME WORD...: a participant in the background
talk()
{
	local name

	name=$1
	shift
	dds-talk "$@" >"/tmp/$name" 2>"/tmp/$name.err" &
	eval "pid_$name=$!"
	wait_until 60 grep -q . "/tmp/$name.err" || return 1
	grep -q '^ready' "/tmp/$name.err" && return 0
	cat "/tmp/$name.err"
	return 1
}

# ends NAME: it ends well
ends()
{
	eval "set -- \$pid_$1 $1"
	wait_until 120 dead "$1" && wait "$1" && return 0
	cat "/tmp/$2.err"
	return 1
}

# refused TEXT WORD...: a participant is refused with these words
refused()
{
	local text

	text=$1
	shift
	limit 60 dds-talk "$@" >/tmp/out 2>&1 && return 1
	grep -q -- "$text" /tmp/out && return 0
	cat /tmp/out
	return 1
}

check "module loads" loop_start
check "four nodes" loop_nodes 4
check "three of them begin a live view" live_view 3 \
	subgroup 1 name dds max-msg 1024 window 16 hold 0 \
	subgroup 2 name dds-atomic-0 max-msg 256 window 16 \
	subgroup 3 name dds-unordered-0 mode unordered max-msg 256 window 16
check "they are in it" wait_until 60 in_view 1 1 2 3
for i in 1 2 3; do
	check "node $i keeps records" spindle-ctl subgroup set "$i" id 1 history 1M
done

check "a reader on node 1" talk a -n 1 -t chatter -r 200
check "a writer and reader on node 2" talk b -n 2 -t chatter -r 200 -w 100 -m 3
check "and on node 3" talk c -n 3 -t chatter -r 200 -w 100 -m 3
for i in a b c; do
	check "participant $i has all samples" ends $i
done
is "all samples came" "$(wc -l </tmp/a)" 200
check "nodes 1 and 2 have the same order" cmp /tmp/a /tmp/b
check "nodes 1 and 3, too" cmp /tmp/a /tmp/c
for i in 2 3; do
	is "the samples of node $i are in order" \
		"$(awk -v n="$i" '$1 == n { if ($2 != last + 1) bad++; last = $2 } END { print bad + 0, last }' \
		/tmp/a)" "0 100"
done

# What is said of a topic first counts.
check "a topic with a type and keys" talk a -n 1 -t keyed -y Position -k 4 -r 8
check "another type is refused" refused "another type" -n 2 -t keyed -y Speed -k 4 -w 1
check "another level is refused" refused "another level" -n 2 -t keyed -y Position -k 4 -l 0 -w 1
check "a writer with keys" talk b -n 2 -t keyed -y Position -k 4 -w 8
check "the writer ends" ends b
check "the reader has all" ends a
is "with their keys" "$(cut -d ' ' -f 3 /tmp/a | tr '\n' ' ')" "0 1 2 3 0 1 2 3 "

check "the unordered level" talk a -n 1 -t loose -l 0 -r 10
check "has a writer" talk b -n 2 -t loose -l 0 -w 10
check "which ends" ends b
check "the reader has its samples" ends a
check "a level that no subgroup carries is refused" \
	refused "dds-transient-0" -n 2 -t kept -l 2 -w 1

# The record of node 3 is from a process that is killed. The next one of the node takes its place.
check "a participant of node 3" talk c -n 3 -t lost -r 1
kill -9 $pid_c
check "another one of this node" talk c -n 3 -t lost -r 5
check "is the only reader" talk a -n 1 -t lost -w 5 -m 1
check "gets what is written" ends c
check "and the writer ends" ends a

check "nodes go" loop_del 4
check "module goes" limit 60 rmmod spindle
finish
