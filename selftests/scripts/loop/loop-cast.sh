#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# spindle-cast and spindle-recv over the real device: files to three directories, again, with
# one that is lost in the middle, and again.
# vm: own uml
# vm: mem=1024
# vm: timeout=300
. ./guest-lib.sh
. ./lib-loop.sh

top=/tmp/cast

# receivers NODE...: start them, with options $how. Their output is in $top/N.out, or in a pipe for
# the receiver that stands still
pids=
how=
still=
receivers()
{
	local i out

	pids=
	for i in "$@"; do
		mkdir -p "$top/$i"
		out=$top/$i.out
		[ "$i" != "$still" ] || out=$top/pipe
		# shellcheck disable=SC2086
		limit 120 spindle-recv -n "$i" --from 1 $how "$top/$i" >"$out" 2>&1 &
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
check "a view of four nodes is installed" loop_view 4 1
check "spindle-cast sends files to three receivers" cast 0 "" $top/from/*
check "the receivers have the files" same_files 2 3 4
check "files that the receivers have are not sent again" cast 0 "" -v $top/from/*
rm -f $top/3/large
check "only missing files are sent" cast 0 "" $top/from/*
check "the receivers have the files" same_files 2 3 4
for a in sequential chain tree pipeline; do
	rm -rf ${top:?}/[234]
	how="-a $a -b 65536"
	check "spindle-cast works with $a" cast 0 "" $top/from/*
	check "the receivers have the files" same_files 2 3 4
done

# stand_still NODE: what its next receiver says goes into a pipe that is full, so it stops behind
# its first file, be the machine as fast as it may; go_on ends that
stand_still()
{
	still=$1
	rm -f $top/pipe
	mkfifo $top/pipe
	exec 9<>$top/pipe
	head -c 65536 /dev/zero >&9
}

go_on()
{
	dd bs=65536 count=1 of=/dev/null <&9 2>/dev/null
}

# pidof_receiver NODE: its process, not the one that limits its time
pidof_receiver()
{
	local p

	for p in /proc/[0-9]*; do
		case $(tr '\0' ' ' <"$p/cmdline") in
		"spindle-recv -n $1 "*) echo "${p##*/}" ;;
		esac
	done 2>/dev/null
}

# One dies in the middle.
lost()
{
	local rc

	rm -rf ${top:?}/[234]
	how="-b 4096"
	stand_still 3
	receivers 2 3 4
	limit 120 spindle-cast -n 1 -b 4096 $top/from/* >$top/out 2>&1 &
	cast=$!
	wait_until 30 test -s "$top/3/a name"
	kill -9 "$(pidof_receiver 3)"
	rc=0
	wait $cast || rc=$?
	received 3
	cat $top/out
	[ $rc = 3 ] && grep -i "lost\|left" $top/out
}

check "a member dies during the transfer" lost
how=
check "the same command completes the transfer" cast 0 "" $top/from/*
check "the receivers have the files" same_files 2 3 4
is "the receivers have no other files" "$(ls -A $top/2 | wc -l)" "$(ls $top/from | wc -l)"

# ---- how far it is ---------------------------------------------------------

# Each bar is drawn over the last one. Messages between bars are drawn over it, too.
drawn()
{
	sed 's/\^\[\[K/\n/g' "$top/out" | grep -e "$1"
}

# behind: bars have said at least five times that node 4 is the last, with name, rate and time
behind()
{
	[ "$(drawn '^f[1-3][0-9] [0-9.]* [kMG]*B/s, [0-9]*:[0-5][0-9] left, last: node 4 \[' |
		wc -l)" -ge 5 ]
}

# on_tty WORD...: the cast on a terminal. Node $still, if any, goes on when the bars have shown that
# it is behind. As it has memory for one file at a time, and others get theirs first, it is.
on_tty()
{
	local rc

	rm -rf ${top:?}/[234]
	how="--memory 1 -a sequential -b 4096"
	[ -z "$still" ] || stand_still "$still"
	receivers 2 3 4
	limit 120 on-tty 24 150 "" none spindle-cast -n 1 -a sequential -b 4096 "$@" \
		$top/from/* >$top/out 2>&1 &
	cast=$!
	[ -z "$still" ] || { wait_until 60 behind; go_on; }
	rc=0
	wait $cast || rc=$?
	received 0 && [ $rc = 0 ] && return 0
	echo "status $rc"
	cat $top/out
	return 1
}

# bars_right: shares grow from 0 to 100, the row of 30 has as many marks as that is, and nothing
# is written behind them. Marks are rounded down, shares to the nearest: 16.6 is 17 % and 4 marks.
bars_right()
{
	drawn '\[[#.]*\]' | awk '
	!/ \[#*\.*\] +[0-9]+ %$/ { print "what is this: " $0; bad = 1; next }
	{
		row = $(NF - 2)
		marks = gsub(/#/, "#", row)
		off = $(NF - 1) * 30 / 100 - marks
		if (length(row) != 32 || off < -0.2 || off > 1.2 || $(NF - 1) < last || $(NF - 1) > 100) {
			print "not after " last " %: " $0
			bad = 1
		}
		last = $(NF - 1)
	}
	END { exit bad || !NR }'
}

is "without a terminal there is no bar" "$(drawn '\]' | wc -l)" 0
rm -f ${top:?}/from/*
for i in $(seq 10 33); do
	head -c 2000000 /dev/urandom >$top/from/f$i
done
still=4
check "spindle-cast draws bars on a terminal until one receiver is behind" on_tty
check "the receivers have the files" same_files 2 3 4
check "the bars show the right shares" bars_right
check "the bars show name, rate and the slowest receiver" behind
check "the last bar is wiped out" drawn '^24 files are at all 3 receivers'
drawn '\[' | sed -n '1,3s/^/# /p'
still=
check "spindle-cast -q runs on a terminal" on_tty -q
is "spindle-cast -q prints nothing" "$(cat $top/out)" ""
how=
check "nodes can be removed" loop_del 4
check "module goes" rmmod spindle
finish
