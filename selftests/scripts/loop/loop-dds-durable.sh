#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Topics of level persistent: a sample comes to readers when the logs have it, and a reader that
# comes late gets the last samples of each key.
# vm: timeout=300 uml
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh
. ./lib-dds.sh

# logd NODE: begin to write the log of subgroup 2
logd()
{
	spindle-logd -d /tmp/logs -S 1 -P none "$1" 2 >/dev/null 2>"/tmp/logd$1.err" &
	echo $! >"/tmp/logd$1.pid"
	wait_until 30 grep -qs 'begins with position' "/tmp/logd$1.err" && return 0
	cat "/tmp/logd$1.err"
	return 1
}

# loggers SIGNAL: send it to all loggers
loggers()
{
	cat /tmp/logd?.pid | xargs kill "-$1"
}

loggers_are_dead()
{
	local i

	for i in 1 2 3; do
		dead "$(cat /tmp/logd$i.pid)" || return 1
	done
}

check "module loads" loop_start
check "three nodes" loop_nodes 3
check "they begin a live view" live_view 3 \
	subgroup 1 name dds max-msg 1024 window 16 hold 0 \
	subgroup 2 name dds-persistent-0 max-msg 256 window 16 hold 0 log 1 deliver durable \
	subgroup 3 name plain max-msg 256 window 16 hold 0
check "they are in it" wait_until 60 in_view 1 1 2 3
for i in 1 2 3; do
	check "node $i keeps messages without a log" \
		spindle-ctl subgroup set node "$i" id 3 history 64K
	check "and has a log of the persistent ones" logd "$i"
done

check "a participant of node 1" join_in a 1
check "one of node 2" join_in b 2
check "a subgroup without logs does not carry the level" \
	refuses a "subgroup 'plain' cannot carry topics of level persistent" \
	reader r ledger level=3 sub=plain
check "a writer that keeps two of each key" talk b writer w ledger level=3 depth=2 keys=2
check "writes" talk b write w 6
check "a reader comes late" talk a reader r ledger level=3 depth=1 keys=2
check "and has the last sample of each key" talk a have r 2
is "which are these" "$(samples a r 2 | tr '\n' ' ')" "5 6 "
check "the writer knows the reader" talk b match w 1
check "a reader of a lower level" talk a reader n ledger level=3 own=1 keys=2
check "matches, too" talk b match w 2

check "the logs stand still" loggers STOP
check "a sample is written" talk b write w 1
check "and others announce something" talk b reader x other sub=plain
check "which comes" talk a find other
is "the sample does not come to a reader" "$(samples a r 2 | tr '\n' ' ')" "5 6 "
is "nor to the other one" "$(samples a n | wc -l)" 0
check "the logs go on" loggers CONT
check "the sample is there" talk a have r 3
check "at both" talk a have n 1
is "as the next one" "$(samples a r 2 | tail -n 1)$(samples a n 2)" 77

check "participants end" quit a b
check "loggers end" loggers TERM
check "all of them" wait_until 60 loggers_are_dead
check "nodes go" loop_del 3
check "module goes" limit 60 rmmod spindle
finish
