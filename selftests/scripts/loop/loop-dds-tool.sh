#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# spindle-dds beside participants of programs: each verb lists, shows, reads, writes or measures
# topics of other nodes, ends as it should, and leaves nothing behind.
# vm: timeout=300 uml
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh
. ./lib-dds.sh

# The tool is the participant of node 3.
printed=/tmp/tool
errors=/tmp/tool.err

# tool STATUS VERB WORD...: spindle-dds ends so. $printed and $errors have what it printed
tool()
{
	local want rc verb

	want=$1
	verb=$2
	shift 2
	rc=0
	limit 120 spindle-dds topic "$verb" -n 3 -t 60 "$@" >$printed 2>$errors || rc=$?
	[ $rc = "$want" ] && return 0
	echo "status $rc, wanted $want"
	cat $printed $errors
	return 1
}

# fails PATTERN VERB WORD...: spindle-dds fails, and says why
fails()
{
	local pattern

	pattern=$1
	shift
	tool 1 "$@" && grep -e "$pattern" $errors && return 0
	cat $printed $errors
	return 1
}

# start VERB WORD...: spindle-dds in the background
start()
{
	local verb

	verb=$1
	shift
	spindle-dds topic "$verb" -n 3 -t 60 "$@" >$printed 2>$errors &
	pid=$!
}

# ended DESCRIPTION STATUS: it ends so. A child of this shell is waited for in no other one.
ended()
{
	local rc

	rc=0
	wait_until 120 dead $pid || kill -KILL $pid
	wait $pid || rc=$?
	is "$1" $rc "$2" || sed 's/^/# /' $printed $errors
}

# lines TEXT...: these are the lines of $printed
lines()
{
	[ "$(printf '%s\n' "$@")" = "$(cat $printed)" ] && return 0
	cat $printed
	return 1
}

# texts: lines of echo without their positions and nodes, in one line
texts()
{
	cut -d ' ' -f 3- $printed | tr '\n' '|'
}

# counts TOPIC WRITERS READERS: so many does the directory have
counts()
{
	tell a find "$1"
	[ "$(answer a)" = "= ok" ] &&
		[ "$(grep "^topic [0-9]* $1 " /tmp/a | tail -n 1 | cut -d ' ' -f 6,8)" = "$2 $3" ]
}

check "module loads" loop_start
check "three nodes" loop_nodes 3
check "they begin a live view" live_view 3 \
	subgroup 1 name dds max-msg 1024 window 16 hold 0 \
	subgroup 2 name dds-atomic-0 max-msg 256 window 16 hold 0 \
	subgroup 3 name dds-transient-0 max-msg 256 window 16 hold 0 \
	subgroup 4 name heavy max-msg 4096 window 16 hold 0
check "they are in it" wait_until 60 in_view 1 1 2 3
for i in 1 2 3; do
	check "node $i keeps messages" spindle-ctl subgroup set node "$i" id 3 history 64K
done
check "a participant of node 1" join_in a 1
check "one of node 2" join_in b 2

# ---- list and info -------------------------------------------------------------------------

check "a domain without topics has none" tool 0 list
check "and says so" lines "There is no topic."
check "a topic has a reader of a" talk a reader r news
check "and a writer of b" talk b writer w news
check "another topic has keys, a type and a subgroup of its own" \
	talk b writer h big sub=heavy max=4000 type=T keys=2
check "they are listed" tool 0 list
check "as a table" lines \
	"TOPIC  LEVEL   TYPE  KEYED  SUBGROUP  WRITERS  READERS" \
	"news   atomic  -     no     -               1        1" \
	"big    atomic  T     yes    heavy           1        0"
check "and as JSON" tool 0 list -j
is "with all that is known" "$(sed 's/"id":[0-9]*,//g' $printed)" \
	"[{\"topic\":\"news\",\"level\":\"atomic\",\"keyed\":false,\"writers\":1,\"readers\":1},\
{\"topic\":\"big\",\"level\":\"atomic\",\"type\":\"T\",\"keyed\":true,\"subgroup\":\"heavy\",\
\"writers\":1,\"readers\":0}]"
check "and as CSV" tool 0 list --csv
is "with a line of each" "$(sed 's/,[0-9]*,/,ID,/' $printed | tail -n 2 | tr '\n' ' ')" \
	"news,ID,atomic,,,no,,1,1 big,ID,atomic,T,,yes,heavy,1,0 "
check "a topic is shown" tool 0 info big
is "with its subgroup" "$(grep '^subgroup' $printed)" "subgroup   heavy"
check "a topic that is not there is none" fails "there is no topic 'nothing'" info nothing
start info late -w 60
check "a topic that comes is waited for" talk a reader l late
ended "and shown" 0
is "with its reader" "$(grep '^readers' $printed)" "readers    1"
check "it goes" talk a close l

# ---- refusals ------------------------------------------------------------------------------

check "a node has one participant" sh -c "limit 60 spindle-dds topic list -n 1 2>&1 |
	grep 'another process is the participant of the node'"
check "which is still there" talk a find news
check "several nodes need --node" sh -c "limit 60 spindle-dds topic list 2>&1 |
	grep 'there are 3 nodes in this network namespace; say which by --node'"
check "an unknown control subgroup is refused" fails "control subgroup 'nothing'" list -c nothing

# ---- echo ----------------------------------------------------------------------------------

start echo news -N 5
check "the writer knows the reader of echo" talk b match w 2
check "it writes" talk b write w 5
ended "echo ends after five samples" 0
is "it has printed them" "$(texts)" "0|1|2|3|4|"
is "with the node of the writer" "$(cut -d ' ' -f 2 $printed | sort -u)" 2
check "the other reader has them, too" talk a have r 5
is "at positions that grow" "$(cut -d ' ' -f 1 $printed | awk 'NR > 1 && $1 <= last { bad++ }
	{ last = $1 } END { print bad + 0 }')" 0
check "and counts them" grep "^read 5 samples, 5 bytes in" $errors
check "the writer knows the reader no more" talk b match w 1

start echo big -N 2 -j
check "a writer with keys knows the reader" talk b match h 1
check "it writes a sample with a key" talk b text h hello 1 77
check "and disposes of the key" talk b end h 1 dispose
ended "both come" 0
is "as JSON" "$(sed 's/"lsn":[0-9]*,//; s/"writer":[0-9]*,//; s/"time":[0-9]\{3,\}/"time":0/' $printed)" \
	'{"node":2,"sequence":1,"time":77,"key":"01000000000000000000000000000000","bytes":5,"text":"hello"}
{"node":2,"sequence":2,"time":0,"key":"01000000000000000000000000000000","state":"disposed","bytes":0}'
check "the writer knows that reader no more" talk b match h 0
start echo big -1 -k -f hex
check "the writer knows the next reader" talk b match h 1
check "it writes" talk b text h xyz 2
ended "it comes" 0
is "in hexadecimal, with its key" "$(texts)" "02000000000000000000000000000000 78797a|"
check "and that one no more" talk b match h 0

check "a writer of a topic that keeps samples" talk b writer s state level=2 depth=2 keys=2
check "writes" talk b write s 8
check "and all have it" talk b flush s
check "echo gets samples from before" tool 0 echo state -N 4 -d 2
is "the last two of each key" "$(texts)" "4|5|6|7|"
check "a topic that keeps nothing has no old samples" \
	fails "topic 'news' has level atomic, which keeps no samples" echo news -d 1
start echo state -d 3
check "a reader that wants too much says so" wait_until 60 grep -q \
	"a writer does not match: the last 2 samples of a key are kept, and the reader needs 3" $errors
kill -INT $pid
ended "SIGINT ends it" 130
check "with a summary" grep "^read 0 samples, 0 bytes in" $errors
check "the writer knows its reader no more" talk b match s 0

# ---- pub -----------------------------------------------------------------------------------

check "a topic is not made by accident" \
	fails "there is no topic 'made'; --level makes it" pub made x -1
check "nor is a reader there" refuses a "there is no topic 'made'" find made
check "lines are samples" sh -c "seq 100 20 160 >/tmp/lines"
check "which are written to a topic that is there" sh -c "limit 120 spindle-dds topic pub -n 3 -t 60 \
	news -s 100 -w 1 </tmp/lines 2>$errors"
check "the reader has them" talk a have r 9
is "all of them" "$(samples a r 6 | tail -n 4 | tr '\n' ' ')" "100 120 140 160 "
is "from node 3" "$(samples a r 1 | tail -n 4 | sort -u)" 3
check "a sample of the command line is written as often as it is wanted" \
	tool 0 pub news again -N 3 -r 50
check "the reader has three" talk a have r 12
check "longer lines than a message are refused" fails "samples of 1024 bytes do not fit" pub news -
check "an option that contradicts the topic is refused" \
	fails "topic 'news' has no keys" pub news x -1 -k 01
check "so is a level" fails "topic 'news' has level atomic" pub news x -1 -l transient
check "a level without a subgroup is refused" fails "dds-persistent-0" pub made x -1 -l persistent

start pub made hello -l transient --type T -k 0102 -r 100 -d 4
check "a new topic is made" wait_until 60 counts made 1 0
check "it has a reader" talk a reader m made level=2 type=T keys=3 depth=4
check "that gets samples" wait_until 60 sh -c "[ \$(grep -c '^m 3 .* 1 1 hello' /tmp/a) -ge 8 ]"
kill -INT $pid
ended "SIGINT ends the writer" 130
check "with a summary" grep "^wrote [0-9]* samples, [0-9]* bytes in" $errors
check "the topic has no writer any more" wait_until 60 counts made 0 1
check "the reader has all that was written" \
	wait_until 60 last_is a m "$(sed 's/wrote \([0-9]*\) .*/\1/' $errors)"

# ---- hz and bw -----------------------------------------------------------------------------

start hz news -N 50 -j -W 20
check "the writer knows the reader of hz" talk b match w 2
check "it writes" talk b write w 50
ended "hz ends" 0
is "its last figures are of the window" "$(tail -n 1 $printed | sed 's/:null,/:N,/g; s/:[0-9.]*,/:N,/g')" \
	'{"rate":N,"min_ms":N,"max_ms":N,"deviation_ms":N,"samples":20}'
check "it has counted all" grep "^read 50 samples" $errors
check "the writer knows that reader no more" talk b match w 1
start bw big -N 8 --csv
check "the writer knows the reader of bw" talk b match h 1
for i in 1 2 3 4; do
	check "it writes four bytes" talk b text h four 1
	check "and twelve" talk b text h twelve-bytes 2
done
ended "bw ends" 0
is "it has the sizes" "$(tail -n 1 $printed | cut -d , -f 2-)" "8.00,4,12,8"
start bw news
check "the writer knows the reader" talk b match w 2
check "it writes" talk b write w 1
check "without a count there is a line each second" wait_until 60 grep -q "no new samples" $printed
kill -INT $pid
ended "SIGINT ends it" 130
check "with a summary" grep "^read 1 samples" $errors

# ---- ends ----------------------------------------------------------------------------------

check "nothing of the tool is left" wait_until 60 counts news 1 1
check "nor does the writer know its reader" talk b match w 1
start echo news
check "a tool that is killed" talk b match w 2
kill -KILL $pid
ended "is gone" 137
check "does not keep the next one from its node" tool 0 info news
is "and its reader is forgotten" "$(grep '^readers' $printed)" "readers    1"
check "participants end" quit a b
check "a domain without participants is not begun by accident" \
	fails "no participant has the directory" list -t 2
check "but with --begin" tool 0 list -t 2 -b
check "and has no topic" lines "There is no topic."

check "nodes go" loop_del 3
check "module goes" limit 60 rmmod spindle
finish
