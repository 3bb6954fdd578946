# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# For the wire tests: source it with ". ./lib-wire.sh", it brings guest-lib.sh.
# The script is called with NODE NODES and runs on all nodes at the same time.
. ./guest-lib.sh

node=$1
nodes=$2

# wire_start: set up the card and the module, and wait for all guests.
wire_start()
{
	setup_rxe_eth "10.0.0.$node" || bail "a card with rxe"
	modprobe spindle || bail "the module loads"
	# The server for "agree" ends with the script, because it is in its process group.
	mkdir -p /tmp/share
	httpd -f -p 7532 -h /tmp/share &
	barrier "$node" "$nodes" start || bail "all guests are up"
}

# wire_addr ID [FAMILY]
wire_addr()
{
	case ${2:-4} in
	4) echo "10.0.0.$1" ;;
	6) echo "fd00::$1" ;;
	esac
}

# wire_conf VID [FAMILY]: prints one configuration for all hosts. Sections for
# subgroups come from the standard input.
wire_conf()
{
	local i a

	i=1
	while [ "$i" -le "$nodes" ]; do
		printf '[Node]\nId = %d\nAddress = %s\n\n' "$i" \
			"$(wire_addr "$i" "${2:-4}")"
		i=$((i + 1))
	done
	printf '[View]\nVid = %d\n' "$1"
	i=1
	while [ "$i" -le "$nodes" ]; do
		a=$(wire_addr "$i" "${2:-4}")
		[ "${2:-4}" = 4 ] || a="[$a]"
		printf 'Member = %d@%s\n' "$i" "$a"
		i=$((i + 1))
	done
	cat
}

# three_subgroups [MEMBERS]: small ones for wire_conf, the third one of MEMBERS only
three_subgroups()
{
	printf '\n[Subgroup]\nId = %d\nMaxMsg = 1K\n' 1 2 3
	[ -z "${1:-}" ] || echo "Members = $1"
}

# publish FILE TEXT, for the others; fetch NODE FILE
publish()
{
	printf '%s\n' "$2" | tr '\n' ';' | sed 's/;$//' >"/tmp/share/$1"
}

fetch()
{
	# (The option -T crashes in the busybox of Debian 12.)
	limit 30 wget -q -O - "http://10.0.0.$1:7532/$2"
}

# How many packets this node has lost: netem counts them. For the next one, publish it as "dropped".
dropped()
{
	tc -s qdisc show dev eth0 | sed -n 's/.*(dropped \([0-9]*\),.*/\1/p' |
		head -n 1
}

# How many packets all nodes lost: each may have been lucky.
dropped_by_all()
{
	local i sum

	sum=0
	for i in $(seq "$nodes"); do
		sum=$((sum + $(fetch "$i" dropped)))
	done
	echo "$sum"
}

# agree NAME TEXT: one test, and every node calls it: all have the same TEXT.
agree()
{
	local file i mine other

	file=$(echo "$1" | tr ' ' -)
	publish "$file" "$2"
	mine=$(cat "/tmp/share/$file")
	if ! barrier "$node" "$nodes" "$1"; then
		not_ok "$1: the same on all nodes"
		return 1
	fi
	for i in $(seq "$nodes"); do
		other=$(fetch "$i" "$file")
		if [ "$other" != "$mine" ]; then
			not_ok "$1: the same on all nodes"
			diag "here: $mine"
			diag "node $i: $other"
			return 1
		fi
	done
	ok "$1: the same on all nodes"
}

# load ARG...: mcast-load for this node. What it found is in $loaded.
load()
{
	local rc

	rc=0
	loaded=$(mcast-load -n "$node" -H -w 100 "$@" 2>&1) || rc=$?
	loaded=$(printf '%s\n' "$loaded" | sed 's/^node [0-9]* //')
	printf '%s\n' "$loaded" | sed 's/^/# /'
	return "$rc"
}

# load_same NAME ARG...: two tests, all is delivered and in one order.
load_same()
{
	local name

	name=$1
	shift
	if load "$@"; then
		ok "$name: all is delivered"
	else
		not_ok "$name: all is delivered"
	fi
	agree "$name" "$loaded"
}

# load_unordered NAME ARG...: the same for unordered subgroups.
load_unordered()
{
	local name

	name=$1
	shift
	if load -u "$@"; then
		ok "$name: all is delivered"
	else
		not_ok "$name: all is delivered"
	fi
	agree "$name" "$(printf '%s\n' "$loaded" | sed 's/ order .*//')"
}

# subgroup_is ID STATE [ERROR]: for wait_until
subgroup_is()
{
	spindle-ctl -j -p subgroup show node "$node" id "$1" >/tmp/subgroup &&
		grep -q "\"state\": *\"$2\"" /tmp/subgroup &&
		grep -q "\"error\": *\"${3:-}" /tmp/subgroup
}

# delivered_at_least N ID: for wait_until
delivered_at_least()
{
	local n

	n=$(spindle-ctl -j -p subgroup show node "$node" id "$2" |
		sed -n 's/^ *"delivered": *\([0-9]*\),*$/\1/p' | head -n 1)
	[ "${n:-0}" -ge "$1" ]
}

# begin NAME COMMAND...: a command in the background. What it says is in
# /tmp/NAME.out, its status in /tmp/NAME.rc when it has ended.
begin()
{
	local name

	name=$1
	shift
	rm -f "/tmp/$name.rc"
	{
		rc=0
		"$@" >"/tmp/$name.out" 2>&1 || rc=$?
		echo "$rc" >"/tmp/$name.rc"
	} &
}

has_ended()
{
	[ -s "/tmp/$1.rc" ]
}

# wire_end: everything can be removed again, when no other guest needs this one.
wire_end()
{
	check "all guests reach the end of the test" barrier "$node" "$nodes" end
	check "the node is removed" spindle-ctl node del id "$node"
	check "the module is removed" limit 60 rmmod spindle
}
