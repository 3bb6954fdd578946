# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# For the wire tests: source it with ". ./lib-wire.sh", it brings guest-lib.sh.
# The script is called with NODE NODES and runs on all nodes at the same time.
. ./guest-lib.sh

node=$1
nodes=$2

# wire_start: the card, the module, and everybody is there.
wire_start()
{
	setup_rxe_eth "10.0.0.$node" || bail "a card with rxe"
	modprobe spindle || bail "the module loads"
	# What "agree" compares; ends with the script, it is of its process group.
	mkdir -p /tmp/share
	httpd -f -p 7532 -h /tmp/share &
	barrier "$node" "$nodes" start || bail "everybody is there"
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

# agree NAME TEXT: one test, and every node calls it: all have the same TEXT.
agree()
{
	local file i other desc

	desc="$1: the same on all nodes"
	file=$(echo "$1" | tr ' ' -)
	printf '%s\n' "$2" | tr '\n' ';' >"/tmp/share/$file"
	if ! barrier "$node" "$nodes" "$1"; then
		not_ok "$desc"
		return 1
	fi
	for i in $(seq "$nodes"); do
		# (Its own -T crashes in the busybox of Debian 12.)
		other=$(limit 30 wget -q -O - "http://10.0.0.$i:7532/$file")
		if [ "$other" != "$(cat "/tmp/share/$file")" ]; then
			not_ok "$desc"
			diag "here: $(cat "/tmp/share/$file")"
			diag "node $i: $other"
			return 1
		fi
	done
	ok "$desc"
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

# subgroup_is ID STATE: for wait_until
subgroup_is()
{
	spindle-ctl -j subgroup show node "$node" id "$1" |
		grep -q "\"state\": *\"$2\""
}

# wire_end: everything can be removed again, when nobody needs us any more.
wire_end()
{
	check "everybody has come to the end" barrier "$node" "$nodes" end
	check "the node is removed" spindle-ctl node del id "$node"
	check "the module is removed" limit 60 rmmod spindle
}
