# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# A group of nodes of one guest whose hosts crash and start: source it after lib-live.sh. The group
# has a key, and spindle-logd of each node writes all logs.
# shellcheck disable=SC2034 # for live_view
INSECURE=
DIR=/var/lib/spindle
# Ids of the subgroups
SGS=1

# restart_nodes COUNT: nodes with a key, and a place for their logs
restart_nodes()
{
	umask 077
	mkdir -p /var/lib
	echo "a key of thirty-two bytes, or so." >/tmp/key
	check "module loads" loop_start
	ip link set lo up
	check "nodes 1 to $1 have the key" loop_nodes "$1" key-file /tmp/key
}

# restart_begin WORD...: three nodes, in a live view of these subgroups, with loggers
restart_begin()
{
	local i

	restart_nodes 3
	check "they begin a live view" live_view 3 "$@"
	for i in 1 2 3; do
		logd "$i"
	done
	check "all three are in it, with loggers" come_together 1 2 3
}

# logd NODE: begin its process, which restarts the group or joins it. A check has a shell of its
# own, so the id of the process is in a file.
logd()
{
	spindle-logd -S "${SEGMENT:-1}" -K /tmp/key "$1" >/dev/null 2>>"/tmp/logd$1.err" &
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

# crash NODE...: these hosts crash, one right after the other. The last ones may be in another view
# by then.
crash()
{
	local i

	for i in "$@"; do
		end_logd "$i" KILL
		spindle-ctl node del id "$i" || return 1
	done
}

# crash_at_once NODE...: these hosts crash, and none of them has a record of a view without the
# others
crash_at_once()
{
	local i

	for i in "$@"; do
		end_logd "$i" KILL
	done
	for i in "$@"; do
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
	local g

	for g in $SGS; do
		spindle-ctl -j subgroup show node "$1" id "$g" | grep -q '"comm":"spindle-logd"' ||
			return 1
	done
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
	local i g lsn

	for g in $SGS; do
		for i in "$@"; do
			lsn=$(number_of "$i" "$g" lsn)
			[ -n "$lsn" ] && [ "$(number_of "$i" "$g" durable)" = "$lsn" ] || return 1
		done
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
