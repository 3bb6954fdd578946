#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Live views over IPv6, without a group key and with one: node N is at fd00::N. A first view forms,
# a node joins by an IPv6 contact, one is evicted, one is removed and comes back, and all that stay
# agree about it. A node with another key is not admitted, and learns the reason.
# vm: timeout=300
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

# v6_node ID [KEY-FILE]
v6_node()
{
	# shellcheck disable=SC2086
	spindle-ctl node add id "$1" addr "fd00::$1" port 5001 ${2:+key-file $2}
}

# v6_view NODE...: they begin with a live view of just these.
v6_view()
{
	local i members

	members=
	for i in "$@"; do
		members="$members member $i@[fd00::$i]:5001"
	done
	for i in "$@"; do
		# shellcheck disable=SC2086
		spindle-ctl view set node "$i" vid 1 live $INSECURE timeout-ms 5000 $members \
			subgroup 1 window 32 max-msg 256 || return 1
	done
}

# joins NODE CONTACT
joins()
{
	# shellcheck disable=SC2086
	spindle-ctl node join id "$1" $INSECURE contact "[fd00::$2]:5001" timeout 50
}

# shown NODE MEMBER: is the member shown at its address?
shown()
{
	spindle-ctl -j -p view show node "$1" | grep "\"fd00::$2\""
}

# stays_out NODE: the node asks a member, and learns that it has another key.
stays_out()
{
	! joins "$1" 2 >/tmp/join 2>&1 && grep "another key" /tmp/join
}

# story NAME [KEY-FILE]
story()
{
	local i

	INSECURE=insecure
	[ -z "${2:-}" ] || INSECURE=
	rm -rf "$LOGS"
	mkdir -p "$LOGS"
	for i in 1 2 3 4; do
		check "$1: node $i is added" v6_node "$i" ${2:+"$2"}
	done
	check "$1: three nodes begin a live view" v6_view 1 2 3
	check "$1: three nodes are in the first view" wait_until 60 in_view 1 1 2 3
	for i in 1 2 3; do
		load_start $i
	done
	usleep 200000
	check "$1: a node joins by an IPv6 contact" joins 4 2
	check "$1: four nodes are in the second view" wait_until 60 in_view 2 1 2 3 4
	for i in 1 2 3 4; do
		check "$1: node $i knows the joiner's address" shown $i 4
	done
	load_start 4
	usleep 200000
	check "$1: a node is evicted" spindle-ctl node evict id 4 node 1
	check "$1: three nodes are in the third view" wait_until 60 in_view 3 2 3 4
	is "$1: node 1 says that it was evicted" "$(live_word 1 why)" evicted
	# shellcheck disable=SC2154 # set by load_start
	check "$1: the process of node 1 sees the end" wait_until 30 dead "$load_1"
	usleep 200000
	check "$1: node 3 is removed" spindle-ctl node del id 3
	check "$1: two nodes are in the fourth view" wait_until 60 in_view 4 2 4
	usleep 200000
	check "$1: node 3 is added again" v6_node 3 ${2:+"$2"}
	check "$1: node 3 joins" joins 3 4
	check "$1: three nodes are in the fifth view" wait_until 60 in_view 5 2 3 4
	load_start 3
	usleep 200000
	if [ -n "${2:-}" ]; then
		check "$1: node 5 has another key" v6_node 5 /tmp/other
		check "$1: node 6 has no key" v6_node 6
		check "$1: a node with another key does not join" stays_out 5
		INSECURE=insecure
		check "$1: a node without a key does not join" stays_out 6
		check "$1: the view is as it was" in_view 5 2 3 4
	fi
	check "$1: processes end" load_stop 2 3 4
	check "$1: logs agree" loads_agree
	diag "$1: $(limit 60 live-check "$LOGS"/[0-9]*)"
	for i in 1 2 3 4 ${2:+5 6}; do
		check "$1: node $i goes" spindle-ctl node del id "$i"
	done
}

umask 077
echo "a key of thirty-two bytes, or so." >/tmp/key
echo "another key, of the same length.." >/tmp/other
check "module loads" loop_start
for i in 2 3 4 5 6; do
	check "node $i has an address" ip addr add "fd00::$i/64" dev dummy0 nodad
done
story "no key"
story "a key" /tmp/key
check "module goes" rmmod spindle
finish
