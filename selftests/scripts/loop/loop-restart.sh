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

# shellcheck disable=SC2034 # for live_view
INSECURE=
DIR=/var/lib/spindle

# logd NODE: begin its process, which restarts the group or joins it. A check has a shell of its own,
# so the id of the process is in a file.
logd()
{
	spindle-logd -S 1 -K /tmp/key "$1" >/dev/null 2>>"/tmp/logd$1.err" &
	echo $! >"/tmp/logd$1.pid"
}

# end_logd NODE [SIGNAL]
end_logd()
{
	local pid

	pid=$(cat "/tmp/logd$1.pid")
	kill "-${2:-TERM}" "$pid"
	wait_until 30 dead "$pid"
}

# crash NODE...: these hosts crash, one right after the other. The last ones may be in another view by
# then.
crash()
{
	local i

	for i in "$@"; do
		end_logd "$i" KILL
		spindle-ctl node del id "$i" || return 1
	done
}

# boot NODE...: these hosts start
boot()
{
	local i

	for i in "$@"; do
		spindle-ctl node add id "$i" addr 10.0.0.1 port $((5000 + i)) \
			key-file /tmp/key || return 1
		logd "$i"
	done
}

# logger_on NODE: does it tell the kernel how far its disk is?
logger_on()
{
	spindle-ctl -j subgroup show node "$1" id 1 | grep -q '"comm":"spindle-logd"'
}

# together NODE...: are these nodes in one view, with their loggers?
together()
{
	local i

	in_one_view "$@" || return 1
	for i in "$@"; do
		logger_on "$i" || return 1
	done
}

# come_together NODE...
come_together()
{
	local i

	wait_until 120 together "$@" && return 0
	for i in "$@"; do
		spindle-ctl status node "$i"
		tail -n 8 "/tmp/logd$i.err"
	done
	return 1
}

# all_durable NODE...: is all that these nodes have delivered durable?
all_durable()
{
	local i lsn

	for i in "$@"; do
		lsn=$(number_of "$i" 1 lsn)
		[ -n "$lsn" ] && [ "$(number_of "$i" 1 durable)" = "$lsn" ] || return 1
	done
}

# sends NODE N MEMBER...: so many messages, and all of them are durable then
sends()
{
	local node n

	node=$1
	n=$2
	shift 2
	send_lines "$node" 1 "$n" || return 1
	echo $(($(cat /tmp/sent) + n)) >/tmp/sent
	wait_until 60 all_durable "$@" && return 0
	spindle-ctl status node "$node"
	return 1
}

# log_of NODE: the messages of its log, without view and time
log_of()
{
	spindle-ctl log dump $DIR/"$1"/1 2>/tmp/dump.err | sed 's/ era [0-9]*  vid [0-9]*//'
}

# has_all NODE: has its log each message that was sent?
has_all()
{
	[ "$(log_of "$1" | grep -c '"from ')" = "$(cat /tmp/sent)" ]
}

# logs_agree NODE...: have the logs of these nodes all messages, and the same ones?
logs_agree()
{
	local i

	for i in "$@"; do
		wait_until 60 has_all "$i" || {
			echo "log of node $i: $(log_of "$i" | grep -c '"from ') of $(cat /tmp/sent)"
			head -n 2 /tmp/dump.err
			tail -n 8 "/tmp/logd$i.err"
			return 1
		}
		log_of "$i" >"/tmp/log$i"
		cmp "/tmp/log$1" "/tmp/log$i" || return 1
	done
}

# status_says NODE TEXT
status_says()
{
	spindle-ctl status node "$1" | grep -q -- "$2"
}

# waits_for NODE TEXT: does its restart wait, and say so?
waits_for()
{
	wait_until 30 status_says "$1" "$2" && return 0
	spindle-ctl status node "$1"
	cat "$DIR/$1/restart"
	tail -n 8 "/tmp/logd$1.err"
	return 1
}

# go_on NODE NODE: these two are a view, and messages pass
go_on()
{
	wait_until 60 in_one_view "$@" && sends "$1" 10 "$@"
}

umask 077
mkdir -p /var/lib
echo "a key of thirty-two bytes, or so." >/tmp/key
echo 0 >/tmp/sent
check "module loads" loop_start
ip link set lo up
check "three nodes have the key" loop_nodes 3 key-file /tmp/key
check "they begin a live view" live_view 3 subgroup 1 max-msg 256 log 1
for i in 1 2 3; do
	logd $i
done
check "all three are in it, with loggers" come_together 1 2 3
check "messages are durable" sends 1 100 1 2 3

# All hosts crash at once.
check "all nodes crash" crash 1 2 3
check "all start again" boot 1 2 3
check "the group is back" come_together 1 2 3
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
check "the last one starts" boot 1
check "it joins" come_together 1 2 3
check "it may send" sends 1 30 1 2 3
check "no message is lost, and the late one has caught up" logs_agree 1 2 3

# One by one: the others go on.
for i in 1 2 3; do
	check "node $i crashes" crash "$i"
	# shellcheck disable=SC2046 # numbers
	check "the others go on" go_on $(seq 3 | grep -v "$i")
	check "node $i starts again" boot "$i"
	check "it joins the group that runs" come_together 1 2 3
done
check "all goes on" sends 2 20 1 2 3
check "no message is lost" logs_agree 1 2 3

check "nodes go" crash 1 2 3
check "module goes" limit 60 rmmod spindle
finish
