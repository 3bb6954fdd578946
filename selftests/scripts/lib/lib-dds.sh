# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Participants of topics for loop tests: source it after lib-loop.sh.

# begin NAME NODE OPTION...: a participant in the background, without an answer yet
begin()
{
	local name node

	name=$1
	node=$2
	shift 2
	rm -f "/tmp/$name.in"
	mkfifo "/tmp/$name.in"
	dds-talk -n "$node" -i "/tmp/$name.in" "$@" >"/tmp/$name" 2>"/tmp/$name.err" &
	echo $! >"/tmp/$name.pid"
	echo 1 >"/tmp/$name.asked"
}

pid_of()
{
	cat "/tmp/$1.pid"
}

# tell NAME WORD...: a command, whose answer comes later
tell()
{
	local name asked

	name=$1
	asked=$(cat "/tmp/$name.asked")
	shift
	echo $((asked + 1)) >"/tmp/$name.asked"
	# A participant that has stopped does not read, and an open() for writing would wait for it.
	echo "$*" 1<>"/tmp/$name.in"
}

has_answered()
{
	[ "$(grep -c '^= ' "/tmp/$1")" -ge "$(cat "/tmp/$1.asked")" ] ||
		grep -q '^= stopped' "/tmp/$1"
}

# answer NAME: the last answer, when all commands have one
answer()
{
	wait_until 120 has_answered "$1" || return 1
	grep '^= ' "/tmp/$1" | tail -n 1
}

# said_yes NAME...: have their last commands succeeded?
said_yes()
{
	local name last

	for name in "$@"; do
		last=$(answer "$name")
		case $last in
		"= ok"*) ;;
		*)
			echo "# $name: $last"
			sed "s/^/# $name: /" "/tmp/$name.err"
			return 1
			;;
		esac
	done
}

# join_in NAME NODE OPTION...: a participant that is there
join_in()
{
	begin "$@"
	said_yes "$1"
}

# talk NAME WORD...: a command that succeeds
talk()
{
	tell "$@"
	said_yes "$1"
}

# says NAME TEXT WORD...: the answer of a command has these words
says()
{
	local name text last

	name=$1
	text=$2
	shift 2
	tell "$name" "$@"
	last=$(answer "$name")
	case $last in
	*"$text"*) return 0 ;;
	esac
	echo "# $name: $last"
	return 1
}

# refuses NAME TEXT WORD...: a command fails with these words
refuses()
{
	local name text

	name=$1
	text=$2
	shift 2
	says "$name" "= no $text" "$@"
}

# samples NAME READER [FIELD...]: what a reader has printed, some columns of it
samples()
{
	local file reader

	file=/tmp/$1
	reader=$2
	shift 2
	sed -n "s/^$reader //p" "$file" | cut -d ' ' -f "${1:-1-}"
}

# last_is NAME READER SEQUENCE: of the last sample that a reader has printed
last_is()
{
	[ "$(samples "$1" "$2" 2 | tail -n 1)" = "$3" ]
}

# same_samples READER NAME...: has this reader printed the same at all of these, in one order?
same_samples()
{
	local reader first name

	reader=$1
	first=$2
	shift 2
	for name in "$@"; do
		samples "$name" "$reader" >/tmp/other
		samples "$first" "$reader" | cmp - /tmp/other || return 1
	done
}

# fifo_breaks NAME READER: samples of a node and a key that are not behind those before
fifo_breaks()
{
	samples "$1" "$2" 1,2 | awk '{ if ($2 <= last[$1]) bad++; last[$1] = $2 } END { print bad + 0 }'
}

# quit NAME...: participants end well
quit()
{
	local name

	for name in "$@"; do
		tell "$name" quit
		said_yes "$name" && wait_until 60 dead "$(pid_of "$name")" || return 1
	done
}

# crash NAME: as kill -9 does
crash()
{
	kill -KILL "$(pid_of "$1")"
	wait_until 60 dead "$(pid_of "$1")"
}
