#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A group restarts after all its nodes have gone: spindle-logd of each node finds the others. Nothing
# that was durable is lost, a node that comes later joins, and without a majority the others wait.
# vm: timeout=600 uml
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh
. ./lib-restart.sh

# Nodes with the settings that the administrator has given.
TUNED="1 2 3"

# go_on NODE NODE: these two are a view, and messages pass
go_on()
{
	wait_until 60 in_one_view "$@" && sends "$1" 10 "$@"
}

# has_tuning NODE: are the settings those that the administrator has given?
has_tuning()
{
	spindle-ctl -j subgroup show node "$1" id 1 >/tmp/tuning &&
		grep -q '"history":8388608[,}]' /tmp/tuning &&
		grep -q '"log_stall_ms":7000[,}]' /tmp/tuning && return 0
	grep -o '"tune":{[^}]*}' /tmp/tuning
	return 1
}

# file_has_tuning NODE: are they in its group file?
file_has_tuning()
{
	grep -q '^History = 8388608$' "$DIR/$1/group" &&
		grep -q '^LogStallMs = 7000$' "$DIR/$1/group"
}

# have_tuning NODE...
have_tuning()
{
	local i

	for i in "$@"; do
		has_tuning "$i" || return 1
	done
}

# roll NODE: it crashes, the others go on, and it joins them
roll()
{
	check "node $1 crashes" crash "$1"
	# shellcheck disable=SC2046 # numbers
	check "the others go on" go_on $(seq 3 | grep -v "$1")
	check "node $1 starts again" boot "$1"
	check "it joins the group that runs" come_together 1 2 3
	case " $TUNED " in
	*" $1 "*)
		check "it has the settings from before" has_tuning "$1"
	esac
}

# join_by_hand NODE CONTACT: an administrator has the node join
join_by_hand()
{
	limit 60 spindle-ctl node join id "$1" contact "10.0.0.1:$((5000 + $2))"
}

# add_by_hand NODE CONTACT: the same with a node that is not there yet
add_by_hand()
{
	spindle-ctl node add id "$1" addr 10.0.0.1 port $((5000 + $1)) key-file /tmp/key &&
		join_by_hand "$1" "$2"
}

# log_is_refused NODE: the process ends, because its log is not of this era
log_is_refused()
{
	logd "$1"
	wait_until 30 dead "$(cat "/tmp/logd$1.pid")" &&
		tail -n 1 "/tmp/logd$1.err" | grep 'belongs to another lineage or era'
}

# looks_no_more NODE: its process has found the view. The logger waits for logs of other nodes then.
looks_no_more()
{
	! [ -e "$DIR/$1/restart" ] && ! dead "$(cat "/tmp/logd$1.pid")"
}

# forms_alone NODE: its kernel waits for a view that the other nodes know nothing of
forms_alone()
{
	spindle-ctl node add id "$1" addr 10.0.0.1 port $((5000 + $1)) key-file /tmp/key &&
		spindle-ctl view set node "$1" vid 99 live member 1@10.0.0.1:5001 \
			member 2@10.0.0.1:5002 member 3@10.0.0.1:5003 \
			lineage "$(sed -n 's/^Lineage = *//p' "$DIR/$1/group")" \
			subgroup 1 max-msg 256 log 1
}

# waits_for_kernel NODE
waits_for_kernel()
{
	grep -q 'the kernel is on its way into a view' "/tmp/logd$1.err"
}

restart_nodes 3
echo 0 >/tmp/sent
check "they begin a live view" live_view 3 subgroup 1 max-msg 256 log 1
for i in 1 2 3; do
	check "node $i gets another history" spindle-ctl subgroup set node $i id 1 history 8M
	logd $i
done
check "all three are in it, with loggers" come_together 1 2 3
check "messages are durable" sends 1 100 1 2 3
for i in 1 2 3; do
	check "node $i gets another limit, while its logger runs" \
		spindle-ctl subgroup set node $i id 1 log-stall-ms 7000
	check "its group file has both" wait_until 30 file_has_tuning $i
done

# One by one, before the group has restarted for the first time.
for i in 1 2 3; do
	roll $i
done
check "no message is lost" logs_agree 1 2 3

# All hosts crash at once.
check "all nodes crash" crash 1 2 3
check "all start again" boot 1 2 3
check "the group is back" come_together 1 2 3
check "with the settings from before" have_tuning 1 2 3
check "it goes on behind what was there" sends 2 50 1 2 3
check "no message is lost" logs_agree 1 2 3

# Two of three come first, and the third one later.
check "all nodes crash again" crash 1 2 3
check "one starts alone" boot 2
check "it waits, and says for whom" waits_for 2 \
	'1 more of these nodes has to be there: .*3 '
check "it is in no view" status_says 2 'has no live view'
check "another one starts" boot 3
check "two are a majority" come_together 2 3
check "they go on" sends 3 40 2 3
check "the last one joins by hand" add_by_hand 1 2
check "its log of the era before is refused" log_is_refused 1
# The node was in a view before its process began, so it has the default settings.
TUNED="2 3"
check "it leaves" limit 60 spindle-ctl node leave id 1
check "the others are still there" wait_until 60 in_one_view 2 3
logd 1
check "it joins" come_together 1 2 3
check "it may send" sends 1 30 1 2 3
check "no message is lost, and the late one has caught up" logs_agree 1 2 3

# One by one: the others go on.
for i in 1 2 3; do
	roll $i
done
check "all goes on" sends 2 20 1 2 3
check "no message is lost" logs_agree 1 2 3

# An administrator is faster than the process that looks for the group.
check "a node crashes" crash 1
check "the others are there" wait_until 60 in_one_view 2 3
check "their loggers die" end_logd 2 KILL
check "both of them" end_logd 3 KILL
check "the node starts again" boot 1
check "nobody answers it" waits_for 1 'asks for reports'
check "it joins by hand" join_by_hand 1 2
check "its process sees that" wait_until 30 looks_no_more 1
logd 2
logd 3
check "all are in the view, with loggers" come_together 1 2 3
check "messages are durable again" sends 1 20 1 2 3

# A process has died while its kernel was on its way into a view.
check "all nodes crash once more" crash 1 2 3
check "the kernel of one waits for a view" forms_alone 2
logd 2
check "its process waits as well" wait_until 30 waits_for_kernel 2
check "the others start" boot 1 3
check "it gives that view up, and joins" come_together 1 2 3
check "all go on" sends 2 10 1 2 3
check "no message is lost" logs_agree 1 2 3

check "nodes go" crash 1 2 3
check "module goes" limit 60 rmmod spindle
finish
