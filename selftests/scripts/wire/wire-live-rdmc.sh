#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# RDMC beside small messages in a live view: members of a group are evicted because their guests
# die, stand still or are cut off. All others learn of it and make another group. An evicted member
# learns of it, too, and is a member again after a join. spindle-cast sends files to all members,
# one of which dies in the middle, and then again to the rest.
#
# All the while members send large messages in a second subgroup, in order, most of them by
# RDMC: each is there as a whole, once, and the logs of all agree in all views.
#
# Failures of other systems: a view change stops large messages for good; a process that was paused
# comes back and makes all abort; a minority goes on.
# vm: uml timeout=900 nodes=5
# shellcheck disable=SC2154,SC2034 # node and nodes come from lib-wire.sh, which wants group
. ./lib-wire-live.sh
. ./lib-rdmc.sh

# under_way MEMBERS
under_way()
{
	rdmc_begin "$1"
	check "objects come" rdmc_moves || { cat $rdmc_out; return 1; }
	barrier "$node" "$nodes" "moves$rdmc_group" || bail "objects come everywhere"
}

# Logs of subgroup 2 are compared among themselves.
large_group=2

# large_start: a second process of this node. The default threshold would leave one message in
# eight to RDMC, and then a check waits a minute by chance.
large_start()
{
	local small

	check "large messages begin at 64K" spindle-ctl subgroup set node "$node" id $large_group \
		large 64K
	eval "small=\$load_$node"
	group=$large_group
	load_start "$node" -g 2 -l 300000 -r 1
	group=1
	eval "large=\$load_$node"
	eval "load_$node=$small"
}

# large_ended: it sees the end of its view, as the other one does.
large_ended()
{
	wait_until 30 dead "$large"
}

# large_stops: the process has got all of its own messages.
large_stops()
{
	kill -TERM "$large"
	large_ended && [ ! -s "$ERRORS" ] && return 0
	cat "$ERRORS"
	return 1
}

# more_of NAME N: has a counter of subgroup 2 grown by so much?
more_of()
{
	eval "[ \$((\$(loop_stat $node 2 $1) - had_$1)) -ge $2 ]"
}

# large_flows: messages come, and own ones go by RDMC.
large_flows()
{
	had_delivered=$(loop_stat "$node" 2 delivered)
	had_large=$(loop_stat "$node" 2 large)
	wait_until 60 more_of delivered 10 && wait_until 60 more_of large 2 && return 0
	spindle-ctl -p -j subgroup show node "$node" id 2
	return 1
}

# change_was_short: large messages did not delay the view. A node that has just joined knows of
# none.
change_was_short()
{
	local us

	us=$(($(live_word "$node" wedge_us) + $(live_word "$node" agree_us)))
	[ $us -le $((2000 * TIMEOUT)) ] && return 0
	echo "it took $us us"
	return 1
}

# works_with NAME ID...: a view of just these, with messages, and a group of them.
works_with()
{
	local name

	name=$1
	shift
	goes_on "$name" "$@"
	check "$name: the view has changed in time" change_was_short
	check "$name: large messages flow" large_flows
	barrier "$node" "$nodes" "group$rdmc_group" || bail "all meet before the next group"
	rdmc_whole "$name: objects come whole" "$(echo "$*" | tr ' ' ,)" -l 1-2000000 -c 5
}

# Five guests share the machine with other work, and large messages keep them busy. So a guest may
# stand still longer than in other tests, and small messages are few: soft-RoCE repeats what is not
# acknowledged within 34 ms, and repeats for ever more if the machine cannot keep up.
TIMEOUT=$((15000 * ${PATIENCE:-1}))
[ $TIMEOUT -le 60000 ] || TIMEOUT=60000
LOAD="-r 100"
SUBGROUPS="$SUBGROUPS subgroup 2 window 8 max-msg 1048576 ring 4194304"
wl_start
wl_begin 5 4 1 2 3
large_start
check "large messages flow" large_flows
# The view tells the others when it has missed the member for its own timeout, so no timeout of a
# group is needed. An evicted member learns that its lanes are useless after at most one timeout of
# its group.
RDMC_TIMEOUT=$((5 * TIMEOUT))
by_view=$((3 * TIMEOUT))
in_time=$((by_view + RDMC_TIMEOUT))
rdmc_whole "beside messages" 1,2,3,4,5 -l 1-2000000 -c 8

under_way 1,5,2,3,4
if [ "$node" = 5 ]; then
	ok "a relay's guest dies"
	vm_die
fi
check "a relay's guest died: all members get the error" rdmc_reported $by_view "3 4 8" 5
nodes=4
works_with "without the relay" 1 2 3 4

for how in pause cut; do
	under_way 4,1,2,3
	if [ "$node" = 4 ]; then
		case $how in
		pause) check "this guest stands still" pause_me $((TIMEOUT + 6000)) ;;
		cut) check "this guest is cut off" cut_off both ;;
		esac
		check "$how: the root gets its error" rdmc_reported $in_time "3 4 8" "1 2 3 4"
		case $how in
		# The member's connections for blocks are cut, too, and it may notice that first.
		pause) out 4 evicted minority ;;
		cut)
			out 4 minority
			# The others shall see it, too.
			usleep $((3 * TIMEOUT * 1000))
			check "the network works again" cut_off none
			;;
		esac
		check "$how: the process with large messages sees the end" large_ended
	else
		check "$how: all members get the error" rdmc_reported $by_view "3 4 8" 4
		goes_on "$how: the other members go on" 1 2 3
	fi
	barrier "$node" "$nodes" "$how" || bail "all meet when it is out"
	if [ "$node" = 4 ]; then
		comes_back 4 1 2
		large_start
	fi
	works_with "$how: node 4 is back" 1 2 3 4
done

# ---- files -----------------------------------------------------------------

# The last one is long enough to die in.
cast_files 3000000 40000000

# cast_ends: the one that sends has lost a member; a receiver, too, or it has all.
cast_ends()
{
	wait_until 200 has_ended cast || { echo "it does not end"; return 1; }
	case $node.$(cat /tmp/cast.rc) in
	?.3) return 0 ;;
	[23].0) cast_whole && return 0 ;;
	esac
	echo "status $(cat /tmp/cast.rc)"
	tail -n 20 /tmp/cast.out
	return 1
}

if [ "$node" = 1 ]; then
	begin cast spindle-cast -n 1 -m 1,2,3,4 -b 16384 -t 100 /tmp/from/*
else
	begin cast spindle-recv -n "$node" -m 1,2,3,4 -b 16384 -t 100 /tmp/to
fi
if [ "$node" = 4 ]; then
	check "files come" wait_until 60 test -s /tmp/to/262145
	ok "a receiver's guest dies"
	vm_die
fi
check "the cast reports the dead receiver" cast_ends
nodes=3
if [ "$node" = 1 ]; then
	check "the cast names the dead receiver" grep -i "node 4" /tmp/cast.out
fi
sed 's/^/# /' /tmp/cast.out
goes_on "without that receiver" 1 2 3
check "without that receiver: the view has changed in time" change_was_short
barrier "$node" "$nodes" again || bail "the rest meets"
cast_all "a second cast to the remaining members" 1,2,3
check "large messages flow to the end" large_flows
diag "large messages: $(loop_stat "$node" 2 large) of $(loop_stat "$node" 2 sent), began again:" \
	"$(loop_stat "$node" 2 large_again), no memory: $(loop_stat "$node" 2 large_nomem)"
barrier "$node" "$nodes" large || bail "all have large messages"
check "large messages end" large_stops
wl_end 1 2 3
finish
