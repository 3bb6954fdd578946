#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Three hosts with one file. Each subset of them is started again, politely and not, and applies
# the file again: it is back in the group that went on. Where none could go on, all wait, say
# what for, and a view begins by its own word, at one of them.
#
# vm: uml timeout=600
# shellcheck disable=SC2154 # node and nodes come from lib-wire.sh
. ./lib-wire-live.sh

conf=/tmp/cluster.conf

# The same file on all hosts.
write_conf()
{
	local i

	for i in $(seq "$nodes"); do
		printf '[Node]\nId = %d\nAddress = %s\nInsecure = yes\n' "$i" \
			"$(addr_of "$i")"
	done
	printf '[View]\nVid = 1\nLive = yes\nTimeoutMs = %d\n' "$TIMEOUT"
	printf '[Subgroup]\nId = 1\nWindow = 32\nMaxMsg = 256\nMin = 2\n'
}

apply()
{
	limit 60 spindle-ctl apply "$conf" "$@"
}

lineage()
{
	live_word "$node" lineage
}

waits()
{
	[ "$(live_word "$node" state)" = joining ] &&
		spindle-ctl status node "$node" | grep -q 'apply --bootstrap FILE'
}

# down HOST...: these hosts are down; is this one of them?
down()
{
	case " $* " in
	*" $node "*) return 0 ;;
	esac
	return 1
}

# stop_host HOW: the host goes down.
stop_host()
{
	[ "$1" = polite ] || check "$what: packets are dropped" cut_off both
	check "$what: the node is removed" spindle-ctl node del id "$node"
	check "$what: the module is removed" limit 60 rmmod spindle
	check "$what: the device is deleted" limit 60 rdma link delete rxe0
}

# start_host HOW: and comes back.
start_host()
{
	[ "$1" = polite ] || check "$what: packets are not dropped any more" cut_off none
	check "$what: a new device is added" rxe_add rxe0 eth0
	check "$what: the module is loaded" modprobe spindle
}

refused_by_lineage()
{
	[ "$(live_word "$node" state)" = failed ] &&
		live_word "$node" reason | grep -q 'another lineage'
}

meet()
{
	barrier "$node" "$nodes" "$what: $1" || bail "$what: all meet: $1"
}

# together: all three are in one view, of one lineage.
together()
{
	check "$what: three nodes are in one view" wait_until 60 has "$node" 1 2 3 || {
		status_of "$node"
		bail "$what: one view"
	}
	agree "$what: lineage" "$(lineage)"
	agree "$what: view" "$(live_word "$node" vid)"
}

# begin_at HOST: no node is in a view. One begins, and the others find it without help.
begin_at()
{
	check "$what: no node begins, and status says so" wait_until 30 waits || status_of "$node"
	meet "all wait"
	[ "$node" != "$1" ] || check "$what: it begins by a word of its own" apply --bootstrap
	together
	check "$what: the new view has another lineage" [ "$(lineage)" != "$last" ]
}

# stop_in_turn HOST...: each goes when the others go on without the one before, because a farewell
# counts in the view in which it is said.
stop_in_turn()
{
	local h gone

	gone=
	for h in "$@"; do
		gone="$gone $h"
		# shellcheck disable=SC2086
		if [ "$node" = "$h" ]; then
			stop_host polite
		elif ! down $gone; then
			check "$what: it goes on without$gone" wait_until 60 alone $gone ||
				status_of "$node"
		fi
		meet "down:$gone"
	done
}

# round HOW HOST...: these hosts start again.
round()
{
	local how

	how=$1
	shift
	what="$how $*"
	last=$(lineage)
	meet "begin"
	# The rest goes on if it is a majority, or if the others have said that they leave.
	if [ "$how" = polite ]; then
		stop_in_turn "$@"
	elif down "$@"; then
		stop_host "$how"
	else
		case $how-$# in
		rude-1) check "$what: two go on" wait_until 60 alone "$@" ;;
		rude-2) check "$what: one stops" wait_until 60 stopped "$node" ;;
		esac || status_of "$node"
	fi
	down "$@" && start_host "$how"
	meet "all are up"
	check "$what: the file is applied" apply
	case $how-$# in
	rude-2)
		# The one that has stopped asks, too, for its own lineage.
		begin_at "$(survivor "$@")"
		;;
	*-3) begin_at 2 ;;
	*)
		together
		is "$what: the view has the former lineage" "$(lineage)" "$last"
		;;
	esac
}

# alone HOST...: are all except these in a view of their own?
alone()
{
	local i rest

	rest=
	for i in 1 2 3; do
		case " $* " in
		*" $i "*) ;;
		*) rest="$rest $i" ;;
		esac
	done
	# shellcheck disable=SC2086
	has "$node" $rest
}

survivor()
{
	local i

	for i in 1 2 3; do
		case " $* " in
		*" $i "*) ;;
		*) echo "$i" ;;
		esac
	done
}

find_logs || bail "a place for logs"
wire_start
write_conf >$conf

# A cold boot: all hosts apply the file, in any order, and one begins.
what=cold
last=none
[ "$node" != 3 ] || check "the last host comes first" apply
meet "first"
check "the file is applied" apply
begin_at 1
check "a second apply changes nothing" apply
check "apply --bootstrap changes nothing" apply --bootstrap
together

for how in polite rude; do
	for set in "1" "2" "3" "1 2" "1 3" "2 3" "1 2 3"; do
		# shellcheck disable=SC2086
		round $how $set
	done
done

# Apply on another host than the one that has stopped. That one belongs to a lineage, so it is
# refused, with the reason, until the administrator removes its view.
what=apart
meet "begin"
if [ "$node" = 3 ]; then
	check "node 3 is cut off" cut_off both
	check "node 3 stops" wait_until 60 stopped 3
	check "node 3 receives packets again" cut_off none
fi
meet "it is back"
[ "$node" = 3 ] || check "the others go on" wait_until 60 has "$node" 1 2
meet "two go on"
[ "$node" = 3 ] || check "they stop, too" spindle-ctl node del id "$node"
meet "no node goes on"
[ "$node" = 3 ] || check "the file is applied" apply
meet "two wait"
[ "$node" != 1 ] || check "a view begins" apply --bootstrap
[ "$node" = 3 ] || check "two are in it" wait_until 60 has "$node" 1 2
meet "two are in another lineage"
if [ "$node" = 3 ]; then
	says 0 'it begins to join' apply $conf
	check "node 3 is refused" wait_until 60 refused_by_lineage || status_of 3
	says 0 'spindle-ctl view del node 3' status node 3
	check "the view of node 3 is removed" spindle-ctl view del node 3
	check "node 3 applies the file" apply
fi
together
meet "end"

# The word is not enough where the others are in a view, be it forgotten here.
what=force
if [ "$node" = 2 ]; then
	check "node 2 is removed" spindle-ctl node del id 2
	says 1 'it is in a view of this cluster' apply $conf --bootstrap
	says 1 '10.0.0.[13]:4790: ' apply $conf --bootstrap
	check "node 2 joins" apply
fi
together

# After all this the group is like any other.
load_start "$node"
meet "all send"
check "messages flow" flows "$node"
meet "all deliver"
check "processes end" load_stop "$node"
meet "end"
check "the node is removed" spindle-ctl node del id "$node"
check "the module is removed" limit 60 rmmod spindle
finish
