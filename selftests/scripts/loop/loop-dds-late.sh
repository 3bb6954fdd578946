#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Topics that keep samples: a reader that comes late gets the last samples of each key, and then all
# others, once. The samples come from the history of its node, also if their writer is gone.
# vm: timeout=300 uml
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh
. ./lib-dds.sh

A=10.0.0.1

# oldest NAME READER: position of the oldest message that a reader could know
oldest()
{
	tell "$1" status "$2"
	answer "$1" | sed 's/.* oldest \([0-9]*\) .*/\1/'
}

check "module loads" loop_start
check "four nodes" loop_nodes 4
check "three of them begin a live view" live_view 3 \
	subgroup 1 name dds max-msg 1024 window 16 hold 0 \
	subgroup 2 name dds-transient-0 max-msg 256 window 16 hold 0
check "they are in it" wait_until 60 in_view 1 1 2 3

check "a participant of node 1" join_in a 1
check "one of node 2" join_in b 2
check "a level that keeps samples needs a history" \
	refuses a "subgroup 'dds-transient-0' cannot carry topics of level transient" \
	reader r kept level=2 depth=1
for i in 1 2 3; do
	check "node $i keeps messages" spindle-ctl subgroup set node "$i" id 2 history 64K
done

check "a writer that keeps three of each key" talk b writer w kept level=2 depth=3 keys=3
check "writes" talk b write w 30
check "and all have it" talk b flush w
check "a reader comes late" talk a reader r kept level=2 depth=2 keys=3
check "and has two samples of each of three keys" talk a have r 6
is "they are the last ones, in order" "$(samples a r 6 | tr '\n' ' ')" "24 25 26 27 28 29 "
is "with their keys" "$(samples a r 4 | tr '\n' ' ')" "0 1 2 0 1 2 "
is "nothing is unknown to the reader" "$(oldest a r)" 0
check "a reader that wants nothing old" talk a reader n kept level=2 keys=3
check "a reader that wants more than is kept" talk a reader m kept level=2 depth=5 keys=3
check "does not match" \
	says a "the last 3 samples of a key are kept, and the reader needs 5" status m
check "the writer knows those that match" talk b match w 2
check "it writes on" talk b write w 6
check "the late reader has all" talk a have r 12
is "each of them once" "$(samples a r 2 | tr '\n' ' ')" "25 26 27 28 29 30 31 32 33 34 35 36 "
check "the other one has the new ones" talk a have n 6
is "and no more" "$(samples a n 6 | tr '\n' ' ')" "30 31 32 33 34 35 "
is "the one that does not match has none" "$(samples a m | wc -l)" 0

# A key that has ended has a last sample as well.
check "a key is disposed of" talk b end w 1 dispose
check "another one is unregistered" talk b end w 2 unregister
check "the reader hears both" talk a have r 14
check "all have them" talk b flush w
check "a participant of node 3" join_in c 3
check "with a late reader" talk c reader r kept level=2 depth=1 keys=3
check "has a sample of each key" talk c have r 3
is "of those that have ended, their ends" "$(samples c r 4,5,6 | tr '\n' '|')" "0 1 33|1 3 |2 5 |"

# The topic outlives its writer, and its participants.
check "the writer closes" talk b close w
check "its participant ends" quit b
check "the late one, too" quit c
check "another process of node 3" join_in c 3
check "finds the topic" talk c find kept
check "its reader comes late" talk c reader r kept level=2 depth=2 keys=3
check "and has what a writer that is gone has written" talk c have r 6
is "the last two samples of each key" "$(samples c r 2 | tr '\n' ' ')" "31 34 35 36 37 38 "

# Readers come while samples are written: the last ones of each key, and then all, once.
check "another process of node 2" join_in b 2
check "a topic with two keys" talk b writer g grow level=2 depth=2 keys=2
tell b write g 300
for i in 1 2 3 4 5; do
	check "reader $i comes in between" talk a reader g$i grow level=2 depth=2 keys=2
	check "has its first samples" talk a have g$i 4
done
check "all are written" said_yes b
check "five more" talk b write g 5
for i in 1 2 3 4 5; do
	check "reader $i has the last one" wait_until 60 last_is a g$i 305
	is "and no gap and nothing twice" "$(samples a g$i 2 |
		awk 'NR > 1 && $1 != last + 1 { bad++ } { last = $1 } END { print bad + 0 }')" 0
done

# Memory for late readers has a limit.
check "the participant of node 3 ends" quit c
check "one with room for two samples" join_in c 3 -k 2
check "has a reader of two keys" talk c reader r grow level=2 depth=1 keys=2
check "which has them" talk c have r 2
check "one that wants two of each is refused in words" \
	says c "= stopped: more than 2 samples would have to be kept" reader s grow level=2 depth=2 keys=2

check "the next process of this node takes its place" join_in c 3
check "the writer knows that" talk b match g 5

# A node that joins does not know what was sent before.
check "node 4 joins" spindle-ctl node join id 4 insecure contact $A:5001 timeout 60
check "and keeps messages" spindle-ctl subgroup set node 4 id 2 history 64K
check "its participant comes late" join_in d 4
check "so does its reader" talk d reader g grow level=2 depth=2 keys=2
check "which matches the writer" talk d match g 1
check "and the writer knows" talk b match g 6
check "which writes" talk b write g 4
check "the reader has these" talk d have g 4
is "and these alone" "$(samples d g 2 | tr '\n' ' ')" "306 307 308 309 "
is "and knows since when" "$([ "$(oldest d g)" -gt 0 ] && echo yes)" yes

# A history waits for no reader.
kill -STOP "$(pid_of d)"
check "a reader stands still while much is written" talk b write g 3000
kill -CONT "$(pid_of d)"
check "and hears that it has missed something" \
	says d "= stopped: the history has overtaken" status g

check "participants end" quit a b
check "nodes go" loop_del 4
check "module goes" limit 60 rmmod spindle
finish
