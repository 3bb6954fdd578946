#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# spindle-logd of durable subgroups is killed again and again under load: at one node, at two, and
# at all three. Each process comes back within the time of on-log-stall, so no view changes. The
# logs have all that was acknowledged, once and in order. A process that does not come back costs
# its node the view.
# vm: timeout=300 uml
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh
. ./lib-restart.sh
. ./lib-durable.sh

KILLS=${SEEDS:-6}
SGS="1 2"

# grace NODE MILLISECONDS: a log that stands still for that time costs the node its view
grace()
{
	local g

	for g in $SGS; do
		spindle-ctl subgroup set node "$1" id "$g" log-stall-ms "$2" on-log-stall leave ||
			return 1
	done
}

# marks_set: remember what the loads have
marks_set()
{
	local i g

	for g in $SGS; do
		for i in 1 2 3; do
			eval "mark_${i}_$g=$(acks $i "$g")"
		done
	done
}

# more N SUBGROUP NODE...: has each load of these nodes so many acknowledgements more?
more()
{
	local n g i mark

	n=$1
	g=$2
	shift 2
	for i in "$@"; do
		eval "mark=\$mark_${i}_$g"
		[ "$(acks "$i" "$g")" -ge $((mark + n)) ] || return 1
	done
}

# go_on NODE...: both subgroups do
go_on()
{
	wait_until 60 more 10 1 "$@" && wait_until 60 more 10 2 "$@" && return 0
	spindle-ctl status node "$1"
	tail -n 4 /tmp/logd?.err
	cat /tmp/loads.err
	return 1
}

# victims N: the nodes whose processes are killed then
victims()
{
	case $(($1 % 6)) in
	1) echo 1 ;;
	2) echo 2 ;;
	3) echo 2 3 ;;
	4) echo 3 ;;
	5) echo 3 1 ;;
	0) echo 1 2 3 ;;
	esac
}

# kill_logd NODE...: no logger of these nodes is left
kill_logd()
{
	local i

	for i in "$@"; do
		end_logd "$i" KILL || return 1
	done
}

# in_old_view: all have come together, and the view has not changed
in_old_view()
{
	come_together 1 2 3 && [ "$(live_word 1 vid)" = "$vid" ] && return 0
	spindle-ctl status node 1
	return 1
}

# round N
round()
{
	local nodes i

	nodes=$(victims "$1")
	what="kill $1, of node $nodes"
	marks_set
	# shellcheck disable=SC2086
	check "$what: the processes die" kill_logd $nodes
	# Two of three logs are a majority.
	[ ${#nodes} -gt 1 ] || check "$what: the majority goes on" wait_until 60 more 10 2 1 2 3
	marks_set
	for i in $nodes; do
		logd "$i"
	done
	check "$what: all goes on when they are back" go_on 1 2 3
	check "$what: all loggers are there, in the same view" in_old_view
}

restart_begin subgroup 1 max-msg 256 log 1 subgroup 2 max-msg 256 log 1 ack majority
for i in 1 2 3; do
	check "node $i waits long for its process" grace $i 600000
done
life=1
check "messages are acknowledged" load 1 2 3
vid=$(live_word 1 vid)
for n in $(seq "$KILLS"); do
	round "$n"
done
check "the load ends" load_ends
check_logs "all that was acknowledged is in all logs" 1 2 3
check "it is still the same view" in_old_view

# The other side of it.
life=2
check "messages are acknowledged again" load 1 2 3
check "node 3 does not wait long any more" grace 3 1000
check "its process dies" end_logd 3 KILL
check "the others are alone" wait_until 60 in_one_view 1 2
check "it is another view" test "$(live_word 1 vid)" -gt "$vid"
marks_set
check "they go on" go_on 1 2
check "the load ends once more" load_ends
check_logs "what was acknowledged to node 3, too, is in their logs" 1 2
check "nodes go" crash 1 2
check "and the last one" spindle-ctl node del id 3
check "module goes" limit 60 rmmod spindle
finish
