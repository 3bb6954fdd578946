#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# spindle-logd repairs damaged ranges of a log by messages of other nodes: bytes in the middle, a
# segment that is gone, the end of the log, and two logs that are damaged in different places.
# vm: timeout=300 uml
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

# shellcheck disable=SC2034 # for live_view
INSECURE=
DIR=/tmp/logs

# logd NODE [WORD...]: begin to write the log of subgroup 3
logd()
{
	local i

	i=$1
	shift
	rm -f "/tmp/logd$i.err"
	spindle-logd -d $DIR -S 1 -K /tmp/key "$@" "$i" 3 2>"/tmp/logd$i.err" &
	eval "logd_$i=$!"
	wait_until 30 grep -qs 'begins with position' "/tmp/logd$i.err" && return 0
	cat "/tmp/logd$i.err"
	return 1
}

# end_logd NODE
end_logd()
{
	local pid

	eval "pid=\$logd_$1"
	kill "$pid"
	wait "$pid" 2>/dev/null
	return 0
}

# sends N: node 1 sends so many lines of 400 bytes
sends()
{
	awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) printf "%0400d\n", i }' >/tmp/lines
	limit 60 spindle-pipe -n 1 -g 3 -s </tmp/lines
}

# is_whole NODE: its log has all messages, and none is damaged
is_whole()
{
	spindle-ctl -j log show $DIR/"$1"/3 >/tmp/show 2>&1
	grep -q "\"next\":$(number_of 1 3 lsn)," /tmp/show && grep -q '"damaged":\[\]' /tmp/show
}

# repaired NODE
repaired()
{
	wait_until 60 is_whole "$1" && return 0
	cat "/tmp/logd$1.err"
	cat /tmp/show
	return 1
}

# segment NODE I: the I-th segment of its log, from 1 on
segment()
{
	# shellcheck disable=SC2012 # the names are numbers
	ls $DIR/"$1"/3/*.seg | sed -n "${2}p"
}

# overwrite NODE I BLOCK COUNT: bytes of a segment that are lost
overwrite()
{
	dd if=/dev/urandom of="$(segment "$1" "$2")" bs=4096 seek="$3" count="$4" conv=notrunc \
		2>/dev/null
}

# is_damaged NODE
is_damaged()
{
	! spindle-ctl log verify $DIR/"$1"/3 >/tmp/verify && grep '^damaged' /tmp/verify
}

# dump NODE: its messages, without what differs from node to node
dump()
{
	spindle-ctl log dump $DIR/"$1"/3 | sed 's/ vid [0-9]*//; s/time [^ ]* //' >/tmp/log"$1"
}

umask 077
echo "a key of thirty-two bytes, or so." >/tmp/key
check "module loads" loop_start
ip link set lo up
check "three nodes have the key" loop_nodes 3 key-file /tmp/key
check "three nodes begin a live view" live_view 3 subgroup 3 max-msg 512 window 16 hold 0 log 1
check "three nodes are in the first view" wait_until 60 in_view 1 1 2 3
for i in 1 2 3; do
	check "node $i keeps much" spindle-ctl subgroup set $i id 3 history 16M
	logd $i
	is "node $i has a log" $? 0
done
check "node 1 sends" sends 9000
for i in 1 2 3; do
	check "node $i has it all" repaired $i
done

# In the middle of a segment, in two places, and at the beginning of another one.
end_logd 3
check "the log has segments" test -f "$(segment 3 4)"
overwrite 3 2 20 10
overwrite 3 2 120 3
overwrite 3 3 0 5
check "the log of node 3 is damaged" is_damaged 3
logd 3
is "its process comes back" $? 0
check "the log is repaired" repaired 3
cat /tmp/logd3.err
check "it says so" wait_until 30 grep -q 'no range of the log is damaged any more' /tmp/logd3.err
check "messages come while others are repaired" sends 100

# Damage that comes while the log is written is repaired when somebody asks for it.
overwrite 3 2 40 4
check "the log is damaged while its process runs" is_damaged 3
check "its process is asked for a repair" \
	sh -c "spindle-ctl log repair $DIR/3/3 >/tmp/repair"
is "one range was repaired" "$(grep -c '^repaired: ' /tmp/repair)" 1
check "the log is whole" spindle-ctl log verify $DIR/3/3
check "a log that is whole needs no repair" spindle-ctl log repair $DIR/3/3
end_logd 3
overwrite 3 2 40 4
check "without the process nothing is repaired" sh -c "! spindle-ctl log repair $DIR/3/3"
logd 3
is "its process comes back" $? 0
check "the log is repaired" repaired 3

# A segment is gone, and the others take its place.
end_logd 3
rm "$(segment 3 2)"
check "a segment of node 3 is gone" is_damaged 3
logd 3
is "its process comes back" $? 0
check "the segment is there again" repaired 3
cat /tmp/logd3.err

# Two logs, in different places, and each is repaired from the other one.
for i in 1 2 3; do
	end_logd $i
done
overwrite 2 1 30 4
overwrite 3 3 40 4
check "node 2 is damaged" is_damaged 2
check "node 3 is damaged" is_damaged 3
logd 2
logd 3
check "node 2 is repaired" repaired 2
check "node 3 is repaired" repaired 3
logd 1
check "node 1 sends" sends 100

# The end of the log, which was acknowledged.
end_logd 3
check "the others go on" sends 50
last=$(spindle-ctl -j log show $DIR/3/3 | sed 's/.*"next":\([0-9]*\).*/\1/')
for i in 1 2 3 4 5 6 7 8; do
	file=$(segment 3 $i)
	[ "$file" ] && grep -q SPLG "$file" && newest=$file
done
# The last frame says that the one in front of it is on disk.
frames=0
for i in $(seq 255 -1 1); do
	[ "$(dd if="$newest" bs=4096 skip="$i" count=1 2>/dev/null | head -c 4)" = SPLG ] || continue
	frames=$((frames + 1))
	[ $frames -lt 2 ] || break
done
is "the newest segment has frames" $frames 2
dd if=/dev/zero of="$newest" bs=4096 seek="$i" count=1 conv=notrunc 2>/dev/null
rm -f /tmp/verify
check "the end of the log is damaged" is_damaged 3
echo "# the log ended at $last"
logd 3
is "its process comes back" $? 0
check "the end is repaired, and the log goes on" repaired 3
cat /tmp/logd3.err
check "it was the end" grep -q 'the end of the log is damaged' /tmp/logd3.err
for i in 1 2 3; do
	dump $i
	is "node $i: all positions" "$(wc -l </tmp/log$i)" "$(number_of 1 3 lsn)"
done
check "logs 1 and 2 agree" cmp /tmp/log1 /tmp/log2
check "logs 1 and 3 agree" cmp /tmp/log1 /tmp/log3

# begins_at NODE LSN
begins_at()
{
	spindle-ctl -j log show $DIR/"$1"/3 | grep -q "\"low\":$2,"
}

# has_snapshot NODE LSN: do the others know of it?
has_snapshot()
{
	spindle-ctl -j subgroup show node 1 id 3 | tr -d ' \n' |
		grep -q "{\"id\":$1,[^}]*\"snapshot\":$2[,}]"
}

# Programs have snapshots, and the administrator needs no more.
end_logd 2
logd 2 -s
check "a program has a snapshot" spindle-ctl log snapshot $DIR/2/3 name a at 9000
check "another one has an older one" spindle-ctl log snapshot $DIR/2/3 name b at 20
check "the group knows of the older one" wait_until 30 has_snapshot 2 20
check "nothing was dropped" begins_at 2 0
check "a snapshot does not go back" sh -c "! spindle-ctl log snapshot $DIR/2/3 name b at 19"
files=$(find $DIR/2/3 -name '*.seg' | wc -l)
check "the other one has a newer one" spindle-ctl log snapshot $DIR/2/3 name b at 9100
check "the group knows of the smallest" wait_until 30 has_snapshot 2 9000
fewer() { [ "$(find $DIR/2/3 -name '*.seg' | wc -l)" -lt "$files" ]; }
check "segments were dropped" wait_until 30 fewer
check "the log has what is behind" spindle-ctl log dump $DIR/2/3 from 9000
check "node 1 is asked to drop messages" spindle-ctl log trim $DIR/1/3 below 5000
check "it does" wait_until 30 begins_at 1 5000
no_trim() { [ ! -e $DIR/1/3/trim ]; }
check "the request is gone" wait_until 30 no_trim
check "what is not there cannot be dropped" sh -c "! spindle-ctl log trim $DIR/1/3 below 99999"

for i in 1 2 3; do
	end_logd $i
	check "node $i: the log is whole" spindle-ctl log verify $DIR/$i/3
	check "node $i: nothing is left over" test ! -e $DIR/$i/3/fix
done
check "nodes go" loop_del 3
check "module goes" limit 60 rmmod spindle
finish
