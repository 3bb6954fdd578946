#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# One of twenty subgroups has messages. The others are looked at now and then: far less
# often than it is, so that they cost next to nothing; without the technique they are
# looked at in every pass. What happens in one of them all the same is seen.
#
# Only visits are counted, of all subgroups of a node in the same passes: how long anything
# takes, and how many passes there are, is another matter.
# vm: timeout=300
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh

groups=20

# visits: "BUSY IDLE" of node 1: of subgroup 1, and of all others together
visits()
{
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

# measure COUNT: messages in subgroup 1; what they took in $busy and $idle
measure()
{
	local before

	before=$(visits)
	check "messages in one of $groups subgroups" \
		limit 100 mcast-load -n 1,2 -g 1 -c "$1" -l 64 -w 60
	# shellcheck disable=SC2046 # four numbers
	set -- "$1" $before $(visits)
	busy=$(($4 - $2))
	idle=$((($5 - $3) / (groups - 1)))
	diag "$1 messages of each: $busy visits of their subgroup, $idle of each other one"
}

check "module loads" loop_start
check "two nodes" loop_nodes 2 idle-us 20000
words=
for g in $(seq $groups); do
	words="$words subgroup $g window 16 max-msg 64"
done
# shellcheck disable=SC2086
check "a view of $groups subgroups" loop_view 2 1 $words
check "all are active" wait_until 60 all_active $((2 * groups))

# When all have just become active, all are looked at for a while.
measure 200
measure 1000
check "idle ones are hardly looked at" test $((2 * idle)) -lt "$busy"
check "without tracking" tracking off
measure 1000
check "they are looked at like the other one" test "$idle" -ge $((busy - 1))
check "with tracking again" tracking on
measure 200
measure 1000
check "they are not" test $((2 * idle)) -lt "$busy"

# What happens in a cold one while another one keeps the engine from sleeping, so that
# nothing but its turn has the engine look there.
limit 120 order-watch -g 1 -n 1,2 -s 1,2 -l 64 -r /tmp/ready -f /tmp/stop >/tmp/watch 2>&1 &
watch=$!
check "one is never without messages" wait_until 30 test -e /tmp/ready
for g in 2 11 20; do
	check "messages arrive in subgroup $g" \
		limit 60 mcast-load -n 1,2 -g $g -c 20 -l 64 -w 30
done
touch /tmp/stop
tap_wait "and in that one" "$watch" /tmp/watch
check "nodes go" loop_del 2
check "module goes" limit 60 rmmod spindle
finish
