#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A node gets snapshots of programs from other nodes: with a new disk, when the others have trimmed
# what its log needs next, and when its snapshots are gone. Its replica has the state from such a
# snapshot and the log, and asks nobody.
# vm: timeout=600 uml
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh
. ./lib-restart.sh
. ./lib-replica.sh

# snapshot NODE N: the N-th of its snapshots, the oldest one first
snapshot()
{
	find "$DIR/$1/1" -name 'snap.load.*' | grep '\.[0-9a-f]*$' | sort | sed -n "$2p"
}

# place_of FILE: position of a snapshot
place_of()
{
	echo $((0x${1##*.}))
}

# kept NODE...: have they two snapshots each?
kept()
{
	local i

	for i in "$@"; do
		[ "$(snapshot "$i" 2)" ] || return 1
	done
}

# begins_at NODE LSN
begins_at()
{
	spindle-ctl -j log show "$DIR/$1/1" | grep -q "\"low\":$2,"
}

# trim LSN NODE...: nobody needs what is in front of this position
trim()
{
	local lsn i

	lsn=$1
	shift
	for i in "$@"; do
		spindle-ctl log trim "$DIR/$i/1" below "$lsn" || return 1
		wait_until 30 begins_at "$i" "$lsn" || return 1
	done
}

# oldest NODE...: the smallest position of the snapshots of these nodes
oldest()
{
	local i

	for i in "$@"; do
		place_of "$(snapshot "$i" 1)"
	done | sort -n | head -n 1
}

# fetched: how many snapshots has node 3 got?
fetched()
{
	grep -c 'a snapshot of load at position' /tmp/logd3.err
}

# same_as NODE...: has node 3 the newest snapshot of one of these nodes, and nothing left over?
same_as()
{
	local i own

	own=$(snapshot 3 1)
	[ "$own" ] && [ ! -e "$DIR/3/1/fetched" ] || return 1
	for i in "$@"; do
		cmp -s "$own" "$(snapshot "$i" 2)" && return 0
	done
	return 1
}

# all_said: what node 3 has said, after a failure
all_said()
{
	[ "${tap_bad:-0}" = 0 ] || sed 's/^/# /' /tmp/logd3.err
}

restart_begin subgroup 1 max-msg 256 log 1

keeper a 1 -t 4000 -c 2000 -S 500
keeper b 2 -t 4000 -c 2000 -S 500
keeper c 3 -t 4000
check "three replicas have the same state" wait_until 120 totals a b c
check "two of them have kept snapshots" wait_until 60 kept 1 2
check "all is durable" wait_until 60 all_durable 1 2 3
kill_off c
check "node 3 crashes" crash 3
check "the others go on" wait_until 60 in_one_view 1 2
low=$(oldest 1 2)
check "nobody needs what is in front of the snapshots" trim "$low" 1 2
check "the disk of node 3 is lost" rm -r "$DIR/3/1"
check "node 3 starts again" boot 3
check "it joins, and has a log" come_together 1 2 3
check "its log begins where those of the others do" begins_at 3 "$low"
is "it got a snapshot" "$(fetched)" 1
check "this is the newest one of another node" same_as 1 2
keeper d 3 -t 4000
check "its replica has the same state" wait_until 120 totals a b d
all="a b d"
end_round "the first round ends"
check "the state is from the log, and nobody was asked" from_log 1 d
all_said

check "a node whose log is whole" end_logd 3
logd 3
check "attaches again" come_together 1 2 3
is "and gets no snapshot" "$(fetched)" 1

end=$(number_of 3 1 lsn)
check "node 3 crashes" crash 3
keeper a 1 -t 8000 -c 2000 -S 500
keeper b 2 -t 8000 -c 2000 -S 500
check "the others go on" wait_until 120 totals a b
moved() { kept 1 2 && [ "$(oldest 1 2)" -gt "$end" ]; }
check "their snapshots are behind the log of node 3" wait_until 60 moved
low=$(oldest 1 2)
check "so is the beginning of their logs" trim "$low" 1 2
check "node 3 starts again" boot 3
check "it joins, and has a log" come_together 1 2 3
check "it says what no log has any more" \
	grep -q "positions .* to $((low - 1)) are in no log any more" /tmp/logd3.err
check "its log begins where those of the others do" begins_at 3 "$low"
check "and is whole" spindle-ctl log verify "$DIR/3/1"
is "it got one more snapshot" "$(fetched)" 2
keeper d 3 -t 8000
check "its replica has the same state" wait_until 120 totals a b d
end_round "the second round ends"
check "the state is from the log, and nobody was asked" from_log 1 d
all_said

check "node 3 has lost its snapshots" end_logd 3
rm -f "$DIR"/3/1/snap.*
logd 3
check "its process comes back" come_together 1 2 3
is "it got another one" "$(fetched)" 3
check "this is the newest one of another node" same_as 1 2
all_said

for i in 1 2 3; do
	check "logger $i goes" end_logd $i
done
check "nodes go" loop_del 3
check "module goes" rmmod spindle
finish
