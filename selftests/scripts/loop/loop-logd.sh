#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# spindle-logd writes what is delivered to three nodes of a live view, is killed again and again
# under load, and misses nothing: the logs agree with each other and with what readers got. A
# process that would have to leave something out says so and ends.
# vm: timeout=300 uml
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

A=10.0.0.1
KILLS=${SEEDS:-9}
DIR=/tmp/logs

# logd NODE [WORD...]: begin to write the log of subgroup 1, or of these words
logd()
{
	local i

	i=$1
	shift
	# The shell of the process opens the file later, and what is there now is not meant.
	rm -f "/tmp/logd$i.err"
	spindle-logd -d $DIR -S 1 "$i" "${@:-1}" 2>"/tmp/logd$i.err" &
	eval "logd_$i=$!"
	wait_until 30 grep -qs 'begins with position' "/tmp/logd$i.err" && return 0
	cat "/tmp/logd$i.err"
	return 1
}

# logd_ends NODE STATUS TEXT: a process ends, and says this
logd_ends()
{
	local pid rc

	eval "pid=\$logd_$1"
	wait_until 60 dead "$pid" || return 1
	rc=0
	wait "$pid" || rc=$?
	[ $rc = "$2" ] && grep -q -- "$3" "/tmp/logd$1.err" && return 0
	echo "status $rc:"
	cat "/tmp/logd$1.err"
	return 1
}

# refused TEXT WORD...: spindle-logd does not begin
refused()
{
	local text rc

	text=$1
	shift
	rc=0
	limit 60 spindle-logd -d $DIR -S 1 "$@" 2>/tmp/refused || rc=$?
	[ $rc = 1 ] && grep -q -- "$text" /tmp/refused && return 0
	echo "status $rc:"
	cat /tmp/refused
	return 1
}

# load NODE: bursts of lines until /tmp/load is gone
load()
{
	local n

	n=0
	while [ -e /tmp/load ]; do
		seq "$n" $((n + 49)) | sed "s/^/from $1 number /"
		n=$((n + 50))
		usleep 50000
	done | spindle-pipe -n "$1" -g 1 -s 2>"/tmp/load$1.err"
}

# load_ended: have all senders sent everything?
load_ended()
{
	local p

	for p in $senders; do
		dead "$p" || return 1
	done
}

# goes_on NODE: the subgroup has delivered 100 messages more than at the last call
goes_on()
{
	[ "$(number_of "$1" 1 lsn)" -gt $((mark + 100)) ]
}

# kill_and_restart NODE: the process is killed, and begins again under load
kill_and_restart()
{
	local pid

	eval "pid=\$logd_$1"
	mark=$(number_of "$1" 1 lsn)
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
	logd "$1" && wait_until 60 goes_on "$1"
}

# has_read NODE SUBGROUP: the process has taken all messages
has_read()
{
	spindle-ctl -j subgroup show node "$1" id "$2" |
		grep -q '"comm":"spindle-logd"[^}]*"lag":0,'
}

# reads_all NODE SUBGROUP: it takes them in a while
reads_all()
{
	wait_until 60 has_read "$1" "$2" && return 0
	spindle-ctl -j subgroup show node "$1" id "$2"
	return 1
}

# delivered NODE SUBGROUP N: as many messages
delivered()
{
	[ "$(number_of "$1" "$2" lsn)" -ge "$3" ]
}

# forgot NODE SUBGROUP LSN: is the position not in the history any more?
forgot()
{
	[ "$(number_of "$1" "$2" oldest)" -gt "$3" ]
}

# lines_of DIR: the messages of a log, as spindle-pipe prints them
lines_of()
{
	spindle-ctl log dump "$1" | grep -v ' node 0 ' |
		sed 's/^lsn \([0-9]*\) .* node \([0-9]*\) .* len [0-9]*  "\(.*\)"$/\1 \2 \3/'
}

# positions_of DIR: all positions of a log
positions_of()
{
	spindle-ctl log dump "$1" | sed 's/^lsn \([0-9]*\) .*/\1/'
}

check "module loads" loop_start
check "four nodes" loop_nodes 4
check "three nodes begin a live view" live_view 3 subgroup 1 name prices max-msg 4096 hold 0 \
	subgroup 2 max-msg 64 mode unordered hold 0 subgroup 3 max-msg 64 window 16 hold 0
check "three nodes are in the first view" wait_until 60 in_view 1 1 2 3

# What is refused.
check "a subgroup without a history is refused, with the command that helps" \
	refused "subgroup set node 1 id 1 history 64M" 1 1
check "node 1 keeps an unordered subgroup" spindle-ctl subgroup set 1 id 2 history 64K
check "an unordered subgroup is refused" refused 'no positions in common' 1 2
check "an unknown subgroup is refused" refused 'subgroup 9' 1 9
check "nothing was written" test ! -e $DIR

for i in 1 2 3; do
	check "node $i keeps a history" spindle-ctl subgroup set $i id 1 history 16M
	spindle-pipe -n $i -g 1 -r -f oldest >/tmp/reader$i 2>/tmp/reader$i.err &
	readers="$readers $!"
	check "node $i has a reader" wait_until 30 readers_are $i 1
done
logd 1 prices
is "node 1 has a log by the name of the subgroup" $? 0
for i in 2 3; do
	logd $i
	is "node $i has a log" $? 0
done
check "a second process with this directory is refused" refused 'another process writes' 1 1

# Kill them under load, while views change.
touch /tmp/load
for i in 1 2 3; do
	load $i &
	senders="$senders $!"
done
for n in $(seq "$KILLS"); do
	i=$((n % 3 + 1))
	rc=0
	kill_and_restart $i || rc=$?
	is "kill $n: the process of node $i goes on" $rc 0
	# A process that is not there cannot be killed.
	[ $rc = 0 ] || break
	case $n in
	1) check "node 4 joins" spindle-ctl node join id 4 insecure contact $A:5001 timeout 60 ;;
	2) check "node 4 leaves" spindle-ctl node leave id 4 ;;
	esac
done
rm /tmp/load
check "all messages are sent" wait_until 60 load_ended
check "no sender has failed" sh -c 'cat /tmp/load?.err >&2; [ ! -s /tmp/load1.err ] &&
	[ ! -s /tmp/load2.err ] && [ ! -s /tmp/load3.err ]'

# Messages for other members have their positions.
check "a message goes to node 2 alone" sh -c 'echo secret | limit 60 spindle-pipe -n 1 -g 1 -s -t 2'
check "a message goes to all" send_lines 1 1 1
check "the last message goes to node 2 alone" \
	sh -c 'echo secret | limit 60 spindle-pipe -n 1 -g 1 -s -t 2'
end=$(number_of 1 1 lsn)
for i in 1 2 3; do
	check "node $i has delivered all" wait_until 30 test "$(number_of $i 1 lsn)" = "$end"
	check "node $i: the process has read all" reads_all $i 1
	eval "kill -TERM \$logd_$i"
	logd_ends $i 0 "all below position $end is on disk"
	is "node $i: the process ends well" $? 0
done

# Compare.
for p in $readers; do
	kill "$p"
done
for i in 1 2 3; do
	check "node $i: the log is whole" spindle-ctl log verify $DIR/$i/1
	positions_of $DIR/$i/1 >/tmp/positions
	check "node $i: the log has each position once, in order" counts /tmp/positions 0
	is "node $i: it has all positions" "$(wc -l </tmp/positions)" "$end"
	lines_of $DIR/$i/1 >/tmp/log$i
	check "node $i: the log has what its reader got" cmp /tmp/log$i /tmp/reader$i
done
check "the logs of nodes 1 and 3 agree" cmp /tmp/log1 /tmp/log3
check "that of node 2 has two messages more" sh -c 'grep -v secret /tmp/log2 | cmp - /tmp/log1'
is "they were for node 2" "$(grep -c secret /tmp/log2)" 2
check "more than one view is in the log" sh -c \
	"[ \$(spindle-ctl log dump $DIR/1/1 | sed 's/.* vid \([0-9]*\) .*/\1/' | sort -u | wc -l) -gt 1 ]"

# A log that keeps a part only.
spindle-logd -d /tmp/ring -S 1 -k 3M 1 1 2>/tmp/ring.err &
ring=$!
check "a log with a limit begins" wait_until 30 grep -q 'begins with position' /tmp/ring.err
awk 'BEGIN { for (i = 0; i < 2000; i++) printf "%03000d\n", i }' >/tmp/long
check "node 2 sends 6 MB" sh -c 'limit 60 spindle-pipe -n 2 -g 1 -s </tmp/long'
check "the process has read all of it" reads_all 1 1
kill -TERM $ring
rc=0
wait $ring || rc=$?
is "it ends well" $rc 0
check "its log is whole" spindle-ctl log verify /tmp/ring/1/1
positions_of /tmp/ring/1/1 >/tmp/positions
first=$(head -n 1 /tmp/positions)
check "its oldest messages are gone" test "$first" -gt 0
check "the newest ones are there" counts /tmp/positions "$first"
is "up to the last one" "$(tail -n 1 /tmp/positions)" $(($(number_of 1 1 lsn) - 1))

# A disk that is full for a while. The history of node 3 has all that it lacks.
mkdir /tmp/small
check "a small disk" mount -t tmpfs -o size=4M none /tmp/small
spindle-logd -d /tmp/small -S 1 3 1 2>/tmp/small.err &
small=$!
check "the log on it is full" wait_until 60 grep -q 'the log is full' /tmp/small.err
check "the disk gets more space" mount -o remount,size=32M /tmp/small
check "the process reads the rest" reads_all 3 1
kill -TERM $small
rc=0
wait $small || rc=$?
is "it ends well, too" $rc 0
check "the log is whole" spindle-ctl log verify /tmp/small/3/1
positions_of /tmp/small/3/1 >/tmp/positions
check "nothing is missing in it" counts /tmp/positions 0
is "to the end" "$(tail -n 1 /tmp/positions)" $(($(number_of 3 1 lsn) - 1))
umount /tmp/small

# A history that is too short.
check "node 2 keeps little" spindle-ctl subgroup set 2 id 3 history 64K
logd 2 3
is "node 2 has a log of subgroup 3" $? 0
check "node 1 sends there" send_lines 1 3 10
check "the process has these messages" reads_all 2 3
eval "kill -STOP \$logd_2"
check "node 1 sends more than the history has" send_lines 1 3 3000
check "the history has forgotten position 10" wait_until 30 forgot 2 3 10
eval "kill -CONT \$logd_2"
logd_ends 2 1 'positions 10 to [0-9]* are missing'
is "the process says which positions are missing, and fails" $? 0
check "what it had is on disk" grep -q 'all below position 10 is on disk' /tmp/logd2.err
check "a new process does not leave them out either" \
	refused 'positions 10 to [0-9]* are missing' 2 3
check "the log is as it was" sh -c "spindle-ctl log dump $DIR/2/3 | tail -n 1 | grep -q '^lsn 9 '"

# The end of the subgroup, and another group.
logd 1
is "node 1 writes again" $? 0
check "nodes go" loop_del 4
logd_ends 1 1 'the node has left the view'
is "the process says that the node has left, and fails" $? 0

# The same members and rules have the same lineage.
check "nodes again" loop_nodes 3
check "they begin another group, with the same rules" live_view 3 \
	subgroup 1 name prices max-msg 4096 hold 0 subgroup 2 max-msg 64 mode unordered hold 0 \
	subgroup 3 max-msg 64 window 16 hold 0
check "they are in its first view" wait_until 60 in_view 1 1 2 3
check "node 2 keeps a history" spindle-ctl subgroup set 2 id 3 history 64K
check "the log has more than the new group" refused 'the next one of the subgroup is 0' 2 3
check "node 1 sends other messages" \
	sh -c 'seq 20 | sed "s/^/again /" | limit 60 spindle-pipe -n 1 -g 3 -s'
check "node 2 has delivered them" wait_until 30 delivered 2 3 20
check "the log of a group that has ended is refused" refused 'position 9 is another message' 2 3
check "it is as it was, too" sh -c "spindle-ctl log dump $DIR/2/3 | tail -n 1 | grep -q '^lsn 9 '"
check "these nodes go" loop_del 3

check "one node" loop_nodes 1
check "it begins another group" live_view 1 subgroup 1 max-msg 64 hold 0
check "node 1 is in its first view" wait_until 60 in_view 1 1
check "node 1 keeps a history again" spindle-ctl subgroup set 1 id 1 history 64K
check "the log of another lineage is refused" refused 'another lineage' 1 1
check "the last node goes" loop_del 1
check "module goes" limit 60 rmmod spindle
finish
