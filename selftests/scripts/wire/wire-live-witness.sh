#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Two hosts, which cannot lose one: the survivor begins again, with the words that "status" names.
# Then the same two with a witness on a third host: either of the three may be cut off, the other
# two go on, and the one that was cut off joins them again.
#
# vm: uml timeout=400
# shellcheck disable=SC2154 # node and nodes come from lib-wire.sh
. ./lib-wire-live.sh

conf=/tmp/cluster.conf

# write_conf MIN NODES [LINE]...: the same file on all hosts
write_conf()
{
	local i min n

	min=$1
	n=$2
	shift 2
	for i in $(seq "$n"); do
		printf '[Node]\nId = %d\nAddress = %s\nInsecure = yes\n' "$i" "$(addr_of "$i")"
	done
	printf '[View]\nVid = 1\nTimeoutMs = %d\n' "$TIMEOUT"
	printf '%s\n' "$@"
	printf '[Subgroup]\nId = 1\nWindow = 32\nMaxMsg = 256\nMin = %d\n' "$min"
}

apply()
{
	limit 60 spindle-ctl apply "$conf" "$@"
}

meet()
{
	barrier "$node" "$nodes" "$what: $1" || bail "$what: all meet: $1"
}

# together ID...: these are in one view.
together()
{
	case " $* " in
	*" $node "*)
		check "$what: $* are in one view" wait_until 60 has "$node" "$@" ||
			status_of "$node"
		;;
	esac
	meet "$* are in one view"
}

# state_is STATE: of the subgroup here
state_is()
{
	[ "$(spindle-ctl -j -p subgroup show node "$node" id 1 |
		sed -n 's/^ *"state": *"\([a-z]*\)".*/\1/p' | head -n 1)" = "$1" ]
}

# cut_one: this host is cut off, stops, hears the others again, and starts again.
cut_one()
{
	check "$what: packets are dropped" cut_off both
	check "$what: the node stops" wait_until 60 stopped "$node" || status_of "$node"
	check "$what: the reason is the minority" says_why "$node" minority || status_of "$node"
	check "$what: packets are not dropped any more" cut_off none
}

start_again()
{
	check "$what: its node is removed" spindle-ctl node del id "$node"
	check "$what: the file is applied" apply
}

# survive WORD: 2 is cut off, and 1 begins again with this word.
survive()
{
	what=$1
	meet "begin"
	case $node in
	1)
		check "$what: the survivor stops" wait_until 60 stopped 1 || status_of 1
		says 0 'spindle-ctl apply --bootstrap FILE. A witness on one more host' status node 1
		last=$(live_word 1 lineage)
		check "$what: the survivor begins" apply "$1"
		check "$what: the survivor is in a view" wait_until 60 has 1 1 || status_of 1
		check "$what: the new view has another lineage" \
			[ "$(live_word 1 lineage)" != "$last" ]
		check "$what: the subgroup waits for two" state_is forming
		;;
	2) cut_one ;;
	esac
	meet "one has begun"
	[ "$node" != 2 ] || start_again
	together 1 2
	[ "$node" = 3 ] || check "$what: the subgroup has two" wait_until 30 state_is active
	meet "end"
}

find_logs || bail "a place for logs"
wire_start

# ---- two hosts ------------------------------------------------------------

what=two
write_conf 2 2 >$conf
[ "$node" = 3 ] || check "the file is applied" apply
meet "applied"
[ "$node" != 2 ] || check "one begins" apply --bootstrap
together 1 2
survive --bootstrap
survive --force-new
[ "$node" = 3 ] || check "the node is removed" spindle-ctl node del id "$node"

# ---- and a witness --------------------------------------------------------

what=witness
write_conf 1 3 "Witness = 3" >$conf
meet "begin"
check "the file is applied" apply
meet "applied"
[ "$node" != 2 ] || check "one begins" apply --bootstrap
together 1 2 3
says 0 '^ *3 .* witness$\|^ *3 .*this node, witness$' status
if [ "$node" = 3 ]; then
	is "a witness is in no subgroup" "$(spindle-ctl -j subgroup show)" "[]"
	says 0 'witness 3,' view show
	check "no process attaches at the witness" \
		sh -c '! echo x | limit 20 spindle-pipe -n 3 -g 1'
else
	load_start "$node"
	check "messages flow" flows "$node"
fi

# lose ID: it is cut off, the others go on, and it comes back.
lose()
{
	local i rest

	what="without $1"
	rest=
	for i in 1 2 3; do
		[ "$i" = "$1" ] || rest="$rest $i"
	done
	meet "begin"
	if [ "$node" = "$1" ]; then
		cut_one
		[ "$node" = 3 ] || check "$what: its process sees the end" process_ended "$node"
	else
		# shellcheck disable=SC2086
		check "$what:$rest go on" wait_until 60 has "$node" $rest || status_of "$node"
		[ "$node" = 3 ] || check "$what: messages flow" flows "$node"
	fi
	meet "the others go on"
	[ "$node" != "$1" ] || start_again
	together 1 2 3
	if [ "$node" = "$1" ] && [ "$node" != 3 ]; then
		load_start "$node"
	fi
	[ "$node" = 3 ] || check "$what: and again they flow" flows "$node"
}

lose 2
lose 3
meet "end"
[ "$node" = 3 ] || check "processes end" load_stop "$node"
meet "processes have ended"
check "the node is removed" spindle-ctl node del id "$node"
check "the module is removed" limit 60 rmmod spindle
finish
