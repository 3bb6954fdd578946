#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Nodes join at the same moment, by two contacts, with messages under way. One change of the view
# lets several in, these connect to each other, and all logs agree. A slow reader holds up node 2
# until all joiners are connected to the other members, because a joiner that is ready earlier than
# the others is heard of would be let in alone.
# vm: uml timeout=300
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

OLD="1 2 3"
JOINERS="5 6 7 8 9"

# Are all joiners connected to the members that nothing holds up?
all_wait_at_others()
{
	# shellcheck disable=SC2086
	has_guests 1 $JOINERS && has_guests 3 $JOINERS
}

in_all()
{
	local i

	for i in $OLD $JOINERS; do
		[ "$(live_word "$i" state)" = active ] || return 1
	done
}

all_send()
{
	local i

	for i in $OLD $JOINERS; do
		[ "$(messages "$i")" -ge 50 ] || return 1
	done
}

# most: nodes that one change has let in, at most
most()
{
	sed -n 's/.*view-install.*(view [0-9]* with \([0-9]*\) members.*/\1/p' /tmp/ev |
		awk 'BEGIN { had = 3 } { if ($1 - had > n) n = $1 - had; had = $1 }
		     END { print n + 0 }'
}

check "module loads" loop_start
check "nodes" loop_nodes 9
check "four nodes begin a live view" live_view 4 timeout-ms 30000 \
	subgroup 1 window 8 max-msg 64 subgroup 2 window 32 max-msg 256
check "four nodes are in the first view" wait_until 60 in_view 1 1 2 3 4
hold_up_node_2
for i in $OLD; do
	load_start "$i" -g 2
done
spindle-ctl monitor node 1 >/tmp/ev 2>&1 &
monitor=$!
check "the monitor listens" wait_until 30 listens $monitor
# shellcheck disable=SC2086
check "five nodes ask to join" all_ask "3 1" $JOINERS
check "the members that nothing holds up know all joiners" wait_until 60 all_wait_at_others
is "node 2 is still in the first view" "$(live_word 2 vid)" 1
kill -CONT "$held_reader"
check "all are members" wait_until 100 in_all
check "the monitor has seen all of them" wait_until 10 grep -q "with 8 members" /tmp/ev
kill $monitor
check "one change has let in several nodes" [ "$(most)" -ge 2 ]
grep view-install /tmp/ev | sed 's/^/# /'
for i in $JOINERS; do
	load_start "$i" -g 2
done
check "messages of all flow" wait_until 60 all_send
# shellcheck disable=SC2086
check "processes end" load_stop $OLD $JOINERS
kill "$held_sender"
check "logs agree" loads_agree
check "nodes go" loop_del 9
check "processes of the subgroup that was held up end" wait_until 60 held_are_dead
check "module goes" rmmod spindle
finish
