#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# spindle-cast and spindle-recv over the real device: files to three directories, again, with
# one that is lost in the middle, and again.
# vm: own
# vm: mem=1024
# vm: timeout=300
. ./guest-lib.sh
. ./lib-loop.sh

top=/tmp/cast

# receivers NODE...: start them, with options $how; what they say is in $top/N.out
pids=
how=
receivers()
{
	local i

	pids=
	for i in "$@"; do
		mkdir -p "$top/$i"
		# shellcheck disable=SC2086
		limit 120 spindle-recv -n "$i" --from 1 $how "$top/$i" >"$top/$i.out" 2>&1 &
		pids="$pids $!"
	done
}

# received STATUS: how they all ended
received()
{
	local p rc

	rc=0
	for p in $pids; do
		wait "$p" || rc=$?
	done
	[ $rc = "$1" ] || { tail -n 5 "$top"/*.out; return 1; }
}

same_files()
{
	local i f

	for i in "$@"; do
		for f in "$top"/from/*; do
			cmp "$f" "$top/$i/${f##*/}" || return 1
		done
	done
}

# cast STATUS PATTERN WORD...: with its receivers
cast()
{
	local want pattern rc

	want=$1
	pattern=$2
	shift 2
	receivers 2 3 4
	rc=0
	# shellcheck disable=SC2086
	limit 120 spindle-cast -n 1 $how "$@" >"$top/out" 2>&1 || rc=$?
	received "$want" || return 1
	[ $rc = "$want" ] && grep "$pattern" "$top/out" && return 0
	echo "status $rc"
	cat "$top/out"
	return 1
}

mkdir -p $top/from
head -c 1 /dev/urandom >$top/from/one
: >$top/from/empty
head -c 262144 /dev/urandom >$top/from/block
head -c 262145 /dev/urandom >$top/from/more
head -c 20000000 /dev/urandom >$top/from/large
head -c 3000000 /dev/urandom >"$top/from/a name"

check "module loads" loop_start
check "4 nodes" loop_nodes 4
check "a view" loop_view 4 1
check "files to three" cast 0 "" $top/from/*
check "they are there" same_files 2 3 4
check "nothing is sent again" cast 0 "" -v $top/from/*
rm -f $top/3/large
check "what one lacks is" cast 0 "" $top/from/*
check "they are there" same_files 2 3 4
for a in sequential chain tree pipeline; do
	rm -rf ${top:?}/[234]
	how="-a $a -b 65536"
	check "by $a" cast 0 "" $top/from/*
	check "they are there" same_files 2 3 4
done

# One dies in the middle.
lost()
{
	local rc

	rm -rf ${top:?}/[234]
	how="-b 4096"
	receivers 2 3 4
	limit 120 spindle-cast -n 1 -b 4096 $top/from/* >$top/out 2>&1 &
	cast=$!
	wait_until 30 sh -c "ls -a $top/3 | grep -q large || [ -s $top/3/block ]"
	kill -9 "$(awk '$2 == "(spindle-recv)" { print $1 }' /proc/[0-9]*/stat | sed -n 2p)"
	rc=0
	wait $cast || rc=$?
	received 3
	cat $top/out
	[ $rc = 3 ] && grep -i "lost\|left" $top/out
}

check "a member dies in the middle" lost
how=
check "the same command again" cast 0 "" $top/from/*
check "they are there" same_files 2 3 4
is "nothing else is" "$(ls -A $top/2 | wc -l)" "$(ls $top/from | wc -l)"
check "nodes can be removed" loop_del 4
check "module goes" rmmod spindle
finish
