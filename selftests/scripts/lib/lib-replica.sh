# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Replicas for loop tests: source it after lib-loop.sh.

stop=/tmp/stop
all=

# replica NAME NODE OPTION...: a process in the background, its output in /tmp/NAME
replica()
{
	local name node

	name=$1
	node=$2
	shift 2
	replica-load -n "$node" -g 1 -f $stop "$@" >"/tmp/$name" 2>"/tmp/$name.err" &
	eval "pid_$name=$!"
	all="$all $name"
}

# keeper NAME NODE OPTION...: a replica of subgroup 1 with the log of its node, which
# is below $DIR of lib-restart.sh
keeper()
{
	local name node

	name=$1
	node=$2
	shift 2
	replica "$name" "$node" -L "$DIR/$node/1" -l 200 -b 300000 "$@"
}

pid_of()
{
	eval "echo \$pid_$1"
}

# is_now STATE NAME...: are these replicas in a state?
is_now()
{
	local state name

	state=$1
	shift
	for name in "$@"; do
		grep '^state ' "/tmp/$name" | tail -n 1 | grep -q "^state $state " || return 1
	done
}

# was STATE NAME: has a replica been in a state?
was()
{
	grep -q "^state $1 " "/tmp/$2"
}

# totals NAME...: have they reached their total, with the same state?
totals()
{
	local name

	for name in "$@"; do
		grep -q '^total ' "/tmp/$name" || return 1
	done
	# shellcheck disable=SC2046
	[ "$(cat $(printf '/tmp/%s ' "$@") | grep '^total ' | sort -u | wc -l)" = 1 ]
}

# from_log N NAME...: have these asked nobody, served nobody, and got N states of their log?
from_log()
{
	local n name

	n=$1
	shift
	for name in "$@"; do
		grep -q '^end: asked 0 served 0 foreign 0 ' "/tmp/$name" &&
			grep -q "^log: restored $n " "/tmp/$name" || return 1
	done
}

# kill_off NAME: as a crash does
kill_off()
{
	kill -KILL "$(pid_of "$1")"
	wait "$(pid_of "$1")" 2>/dev/null
	return 0
}

# show_all: what the replicas said, after a failure
show_all()
{
	for name in $all; do
		sed "s/^/# $name: /" "/tmp/$name" "/tmp/$name.err"
	done
}

# end_round NAME: a test: all replicas end, and none has found an error
end_round()
{
	local name bad

	bad=
	touch $stop
	for name in $all; do
		wait "$(pid_of "$name")" 2>/dev/null
		[ $? != 1 ] || bad="$bad $name"
	done
	is "$1" "$bad" ""
	[ "${tap_bad:-0}" = 0 ] || show_all
	rm -f $stop
	all=
}
