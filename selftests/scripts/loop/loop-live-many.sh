#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A live view of 24 members in one kernel. Half of them begin it, and half of them join at once.
# Then one leaves, one is evicted and one is removed. After each change all members send, and get
# the same messages. Three of them send all the time, and their logs agree. MEMBERS=32 is another
# number.
# vm: uml timeout=400
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

members=${MEMBERS:-24}
first=$((members / 2))
# old and new are the members of the first view, and the joiners.
old=$(seq "$first")
new=$(seq $((first + 1)) "$members")

# all_send WHAT NODE...: all of these send and receive. One program attaches to all nodes, because a
# process for each of them would take most of the processor.
all_send()
{
	local what

	what=$1
	shift
	check "$what: messages of $# members" limit 100 mcast-load \
		-n "$(echo "$@" | tr ' ' ,)" -g 1 -c 20 -l 16-64
	check "$what: node 1 delivers what three send all the time" wait_until 30 more_lines
}

# more_lines: has node 1 delivered more messages of the three since the last time?
more_lines()
{
	local had

	had=$lines
	lines=$(messages 1)
	[ "$lines" -gt "$had" ]
}
lines=0

# without NODE...: all members but these
without()
{
	local i

	for i in $(seq "$members"); do
		case " $* " in
		*" $i "*) ;;
		*) echo "$i" ;;
		esac
	done
}

check "module loads" loop_start
check "$members nodes" loop_nodes "$members"
check "$first of them begin a live view" live_view "$first" timeout-ms 30000 max-nodes "$members" \
	subgroup 1 window 4 max-msg 64 subgroup 2 window 8 max-msg 64 senders 1,2,3 hold 0
# shellcheck disable=SC2086
check "they are in the first view" wait_until 100 in_view 1 $old
for i in 1 2 3; do
	load_start "$i" -g 2 -r 50 -l 64
done
# shellcheck disable=SC2086
all_send "the first view" $old
# shellcheck disable=SC2086
check "the others join" all_ask "2 3 1" $new
# shellcheck disable=SC2046
check "all of them are in one view" wait_until 200 in_one_view $(seq "$members")
diag "$members members after $(($(live_word 1 vid) - 1)) changes"
# shellcheck disable=SC2046
all_send "all" $(seq "$members")

leaver=$members
evicted=$((first + 1))
removed=4
check "node $leaver leaves" spindle-ctl node leave id "$leaver"
# shellcheck disable=SC2046
{
check "the others are in one view" wait_until 100 in_one_view $(without "$leaver")
all_send "one has left" $(without "$leaver")
check "node $evicted is evicted" spindle-ctl node evict id 1 node $evicted
check "the others are in one view" wait_until 100 in_one_view $(without "$leaver" $evicted)
all_send "one is evicted" $(without "$leaver" $evicted)
check "node $removed is removed" spindle-ctl node del id $removed
check "the others are in one view" wait_until 100 in_one_view $(without "$leaver" $evicted $removed)
all_send "one is removed" $(without "$leaver" $evicted $removed)
}
check "processes end" load_stop 1 2 3
check "logs agree" loads_agree
diag "$(limit 60 live-check $LOGS/[0-9]*)"
diag "$(awk '/MemTotal|MemAvailable/ { printf "%s %d MB ", $1, $2 / 1024 }' /proc/meminfo)"
spindle-ctl node add id $removed addr 10.0.0.1 port $((5000 + removed))
check "nodes go" loop_del "$members"
check "module goes" rmmod spindle
finish
