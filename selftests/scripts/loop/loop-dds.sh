#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Topics: writers and readers of several topics on shared subgroups. Readers get the samples of all
# writers in one order. A participant that comes late has the same topics. What does not fit is
# refused in words, and a participant that dies is forgotten.
# vm: timeout=300 uml
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh
. ./lib-dds.sh

A=10.0.0.1

check "module loads" loop_start
check "four nodes" loop_nodes 4
check "three of them begin a live view" live_view 3 \
	subgroup 1 name dds max-msg 1024 window 16 hold 0 \
	subgroup 2 name dds-atomic-0 max-msg 256 window 16 hold 0 \
	subgroup 3 name dds-atomic-1 max-msg 256 window 16 hold 0 \
	subgroup 4 name dds-unordered-0 mode unordered max-msg 256 window 16 hold 0 \
	subgroup 5 name dds-unordered-1 mode unordered max-msg 256 window 16 hold 0 \
	subgroup 6 name heavy max-msg 1024 window 16 hold 0
check "they are in it" wait_until 60 in_view 1 1 2 3

check "a participant of node 1 begins a domain" join_in a 1 -s 2
check "one of node 2" join_in b 2
check "one of node 3, which begins no other domain" join_in c 3 -b

# Two topics are on each of the two shared subgroups: t1 and t3, t2 and t4.
for i in 1 2 3 4; do
	for p in a b c; do
		check "topic t$i has a reader of $p" talk $p reader r$i t$i type=T
	done
	check "and a writer of b" talk b writer w$i t$i type=T
	check "and one of c" talk c writer w$i t$i type=T
done
check "t1 has a second reader of a" talk a reader s1 t1 type=T
check "and a second writer of b" talk b writer v1 t1 type=T
check "a writer knows all readers of its topic" talk b match w1 4
check "and of one with fewer" talk b match w2 3
check "a reader knows all writers" talk a match r1 3

for i in 1 2 3 4; do
	tell b write w$i 100
	tell c write w$i 100
done
tell b write v1 100
check "all is written" said_yes b c
check "a reader of t1 has the samples of three writers" talk a have r1 300
check "the other one of this participant, too" talk a have s1 300
for p in b c; do
	check "the one of $p" talk $p have r1 300
done
for i in 2 3 4; do
	for p in a b c; do
		check "$p has all of t$i" talk $p have r$i 200
	done
done
for i in 1 2 3 4; do
	check "all readers of t$i have one order" same_samples r$i a b c
done
is "both readers of t1 have the same" "$(samples a s1)" "$(samples a r1)"
is "the samples of a writer are in its order" "$(fifo_breaks a r2)" 0
is "no reader has a sample twice, or of another topic" \
	"$(for i in 1 2 3 4; do samples a r$i | wc -l; done | tr '\n' ' ')" "300 200 200 200 "

check "the unordered level" talk a reader u loose level=0
check "has a writer" talk b writer u loose level=0
check "which matches" talk b match u 1
check "which writes" talk b write u 50
check "all samples come" talk a have u 50
is "in the order of the writer" "$(fifo_breaks a u)" 0

check "a topic with a subgroup of its own" talk a reader h big sub=heavy max=900
check "has a writer" talk b writer h big sub=heavy max=900
check "that knows the reader" talk b match h 1
check "a sample as long as it may be" talk b bytes h 900
check "comes" talk a have h 1
check "a longer one is refused" refuses b "the sample has 901 bytes" bytes h 901
check "a writer of samples without room is refused" \
	refuses b "samples of 300 bytes do not fit" writer x t1 type=T max=300

check "keys" talk a reader k keyed keys=4
check "have a writer" talk b writer k keyed keys=4
check "that knows the reader" talk b match k 1
check "samples go round" talk b write k 8
check "a key is disposed of" talk b end k 2 dispose
check "and unregistered" talk b end k 3 unregister
check "a sample is built in place, with a source time" talk b text k place 1 77
check "a sample without a key is refused" refuses b "the topic has keys" text k x
check "all of them come" talk a have k 11
is "with their keys" "$(samples a k 4 | tr '\n' ' ')" "0 1 2 3 0 1 2 3 2 3 1 "
is "and flags" "$(samples a k 5 | tr '\n' ' ')" "1 1 1 1 1 1 1 1 3 5 1 "
is "and time" "$(samples a k 3,6 | tail -n 1)" "77 place"

check "another type is refused" refuses b "the topic has another type" writer x t1 type=U
check "another level is refused" refuses b "the topic has another level" reader x t1 type=T level=0
check "keys where there are none are refused" refuses b "the topic and the description differ" \
	reader x t1 type=T keys=1
check "another subgroup is refused" refuses b "the topic is in another subgroup" \
	reader x t1 type=T sub=heavy
check "an unknown topic is not found" refuses a "there is no topic 'nothing'" find nothing
check "a level without a subgroup is refused" refuses a "subgroup 'dds-transient-" \
	reader x kept level=2
check "a QoS above its topic is refused" refuses a "the QoS has level transient" reader x t1 own=2
check "nothing of this made a topic" says a "= ok 7 topics" topics

# QoS that do not match.
check "a reader that takes short samples" talk a reader q1 qos max=10
check "and one of another partition" talk c reader q2 qos part=other
check "a writer matches neither" talk b writer q qos
check "it hears why" says b \
	"matched 0 mismatched 2 wrong 0 oldest 0 samples have up to 100 bytes, and the reader takes up to 10" \
	status q
check "a reader hears why, too" says c "the writer is in partition '', and the reader in 'other'" \
	status q2
check "a reader of a lower level" talk c reader q3 low own=1
check "requests more than is offered" talk b writer q3 low own=0
check "and hears that" says c "the writer offers level unordered, and the reader requests atomic" \
	status q3
check "what does not match is not written" talk b write q 5
check "and what does match comes" talk c close q2
check "behind it" talk c reader q2 qos
check "the writer knows the reader" talk b match q 1
check "it writes again" talk b write q 3
check "the reader has it" talk c have q2 3
is "and no more" "$(samples c q2 6 | tr '\n' ' ')" "5 6 7 "
is "and the other one nothing" "$(samples a q1 | wc -l)" 0

# A node that joins has none of the records.
check "node 4 joins" spindle-ctl node join id 4 insecure contact $A:5001 timeout 60
check "its participant comes late" join_in d 4
tell a topics
tell d topics
check "it lists the topics" said_yes a d
is "there are nine" "$(grep -c '^topic' /tmp/d)" 9
is "they are those of the others" "$(grep '^topic' /tmp/d)" "$(grep '^topic' /tmp/a | tail -n 9)"
check "its reader finds a topic by name" talk d find t1
check "and gets samples" talk d reader r1 t1 type=T
check "a writer knows the reader" talk b match w1 5
check "and writes" talk b write w1 10
check "the late reader has these" talk d have r1 10
check "so has an old one" talk a have r1 310
is "in the same order" "$(samples a r1 | tail -n 10)" "$(samples d r1)"

# Others may write anything into the subgroups.
check "a program writes nonsense into a subgroup of samples" \
	sh -c "seq 20 | limit 60 spindle-pipe -n 1 -g 2 -s"
check "and into the other one" sh -c "seq 20 | limit 60 spindle-pipe -n 1 -g 3 -s"
check "samples go on" talk b write w1 10
check "to all readers" talk a have r1 320
check "a reader counts the nonsense" says a "wrong 20" status r1

# The participant of a node goes with its node.
check "node 4 leaves" spindle-ctl node leave id 4 timeout 60
check "a writer knows the reader no more" talk b match w1 4
check "the others have its topics" talk a find t1

# A process that is killed is found out by its lease.
check "the participant of node 3 ends" quit c
check "a writer knows that" talk b match w1 3
check "the next one of this node has a lease" join_in c 3 -l 10000
check "and a writer" talk c writer w1 t1 type=T
check "and a reader" talk c reader r1 t1 type=T
check "a reader knows all writers" talk a match r1 3
check "it is killed" crash c
check "a killed one writes no more" talk a match r1 2
check "and reads no more" talk b match w1 3
check "the node may have another one" join_in c 3 -l 10000
check "with a writer" talk c writer w1 t1 type=T
check "that is known" talk a match r1 3
# The next process of the node does not wait for the lease.
check "it is killed" crash c
check "another one takes its place" join_in c 3 -l 10000
check "the writer is gone" talk a match r1 2
check "there is a new one" talk c writer w1 t1 type=T
check "that is known, too" talk a match r1 3
kill -STOP "$(pid_of c)"
check "one that stands still is taken for dead" talk a match r1 2
kill -CONT "$(pid_of c)"
check "and learns that" says c "= stopped: others have taken this participant for dead" status w1

check "participants end" quit a b
check "a domain without participants does not begin by accident" sh -c \
	"mkfifo /tmp/e.in; limit 60 dds-talk -n 1 -i /tmp/e.in -t 3000 | grep -q 'no participant has'"
check "it begins when it is told so" join_in a 1 -b -t 10000
check "with no topic" says a "= ok 0 topics" topics
check "another one follows" join_in b 2
check "a topic" talk a reader r1 t1
check "has a writer" talk b writer w1 t1
check "that knows the reader" talk b match w1 1
check "and writes" talk b write w1 5
check "the reader has it" talk a have r1 5
check "both end" quit a b

check "nodes go" loop_del 4
check "module goes" limit 60 rmmod spindle
finish
