#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# One of twenty subgroups has messages. The others are looked at now and then: far less
# often than it is, so that they cost next to nothing; without the technique they are
# looked at in every pass. What happens in one of them all the same is seen.
#
# Only visits are counted, and passes of the engine, most of which find nothing: how long
# anything takes is another matter.
# vm: timeout=300
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh

groups=20

passes()
{
	spindle-ctl -j stats node 1 | sed 's/.*"engine":{"passes":\([0-9]*\).*/\1/'
}

asleep()
{
	local before

	before=$(passes)
	usleep 100000
	[ "$(passes)" = "$before" ]
}

# counts: "PASSES BUSY IDLE": passes of the engine, visits of subgroup 1 of node 1 in them,
# and of all others together. While it goes on they would not be of one moment.
counts()
{
	wait_until 30 asleep
	passes
	spindle-ctl -j subgroup show node 1 | tr '{' '\n' |
		sed -n 's/.*"visits":\([0-9]*\).*/\1/p' |
		awk 'NR == 1 { busy = $1 } NR > 1 { idle += $1 } END { print busy, idle }'
}

tracking()
{
	local i g

	for i in 1 2; do
		for g in $(seq $groups); do
			spindle-ctl subgroup set $i id "$g" tracking "$1" || return 1
		done
	done
}

# measure COUNT: send messages in subgroup 1. Their costs are in $passed, $busy and $idle
measure()
{
	local before

	before=$(counts)
	check "messages in one of $groups subgroups" \
		limit 100 mcast-load -n 1,2 -g 1 -c "$1" -l 64 -w 60
	# shellcheck disable=SC2046,SC2086 # six numbers
	set -- "$1" $before $(counts)
	passed=$(($5 - $2))
	busy=$(($6 - $3))
	idle=$((($7 - $4) / (groups - 1)))
	diag "$1 messages of each: $passed passes, $busy visits of their subgroup," \
		"$idle of each other one"
}

check "module loads" loop_start
check "two nodes" loop_nodes 2 idle-us 20000
words=
for g in $(seq $groups); do
	words="$words subgroup $g window 16 max-msg 64"
done
# shellcheck disable=SC2086
check "a view of $groups subgroups is installed" loop_view 2 1 $words
check "all subgroups are active" wait_until 60 all_active $((2 * groups))

# When all have just become active, all are looked at for a while.
measure 200
measure 1000
check "cold subgroups are rarely visited" test $((2 * idle)) -lt "$passed"
check "each cold subgroup is visited in turn" test $((groups * idle)) -ge "$passed"
check "tracking is switched off" tracking off
measure 1000
check "cold subgroups are visited as often as the busy one" test "$idle" -ge $((busy - 1))
check "cold subgroups are visited in every pass" test $((10 * idle)) -ge $((9 * passed))
check "tracking is switched on" tracking on
measure 200
measure 1000
check "cold subgroups are rarely visited again" test $((2 * idle)) -lt "$passed"

# An event in a cold subgroup, while another one keeps the engine from sleeping. So the engine looks
# at the cold one only when its turn comes.
limit 120 order-watch -g 1 -n 1,2 -s 1,2 -l 64 -r /tmp/ready -f /tmp/stop >/tmp/watch 2>&1 &
watch=$!
check "one subgroup always has messages" wait_until 30 test -e /tmp/ready
for g in 2 11 20; do
	check "messages arrive in subgroup $g" \
		limit 60 mcast-load -n 1,2 -g $g -c 20 -l 64 -w 30
done
touch /tmp/stop
tap_wait "the busy subgroup delivers all messages" "$watch" /tmp/watch
check "nodes go" loop_del 2
check "module goes" limit 60 rmmod spindle
finish
