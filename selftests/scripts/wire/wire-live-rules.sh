#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Members die while a change of the subgroups is offered and not decided: first the leader, then the
# member that wants the change. The survivors make the change, all of them or none, as its
# administrator is told. Messages of another subgroup go on until then, and behind it.
#
# Node 2 keeps each change open, because a stopped reader holds it up in the last view.
# vm: uml timeout=180 nodes=4
# shellcheck disable=SC2154 # node and nodes come from lib-wire.sh
. ./lib-wire-live.sh

SUBGROUPS="spares 2 spare-window 16 spare-ring 64K
	subgroup 1 window 32 max-msg 256 members 1,3,4 senders 1,3,4
	subgroup 2 window 8 max-msg 64 hold 0"
IDLE="2 11"

meet()
{
	barrier "$node" "$nodes" "$what: $1" || bail "$what: all meet: $1"
}

# hold_up ID...: node 11 leaves, and node 2 cannot follow these into the next view.
hold_up()
{
	if [ "$node" = 2 ]; then
		spindle-pipe -n 2 -g 2 -r -q -c >/dev/null 2>&1 &
		reader=$!
		check "$what: a process reads at node 2" wait_until 30 readers_are 2 1 2
		kill -STOP "$reader"
	fi
	meet "the reader is stopped"
	if [ "$node" = 1 ]; then
		yes message | spindle-pipe -n 1 -g 2 -s >/dev/null 2>&1 &
		sender=$!
		check "$what: no member delivers in its subgroup" wait_until 60 stands_still 2
		check "$what: node 11 leaves" spindle-ctl node leave id 11
	fi
	meet "node 11 has left"
	if [ "$node" = 2 ]; then
		check "$what: node 2 is in the last view" [ "$(ids 2)" = "$* 11" ]
	else
		check "$what: node $node is in the next view" wait_until 60 has "$node" "$@"
	fi
}

# let_go: node 2 goes on, without its reader
let_go()
{
	if [ "$node" = 2 ]; then
		kill -KILL "$reader"
	elif [ "$node" = 1 ]; then
		kill "$sender"
	fi
}

# is_open: all but node 2 follow the change, at the node
is_open()
{
	spindle-ctl status node "$node" | grep -q 'other subgroups, by node 3; does not follow: 2$'
}

is_suspected()
{
	spindle-ctl status node 1 | grep -q "^ *$1 .*suspected"
}

has_none()
{
	! has_subgroup "$node" "$1"
}

# made ID: "yes" or "no"
made()
{
	if has_subgroup "$node" "$1"; then echo yes; else echo no; fi
}

# begin_change ID: node 3 wants another subgroup, and all but node 2 follow
begin_change()
{
	[ "$node" != 3 ] || begin add spindle-ctl subgroup add 3 id "$1" window 4 max-msg 64 timeout 60
	[ "$node" = 2 ] || check "$what: the change is offered, and node 2 does not follow" \
		wait_until 20 is_open || status_of "$node"
	[ "$node" = 2 ] || check "$what: messages of subgroup 1 go on" flows "$node"
	meet "the change is open"
	check "$what: node $node has not made it" has_none "$1"
	meet "no node has made it"
}

# dies ID VICTIM: it dies now; the others suspect it, and then node 2 goes on
dies()
{
	if [ "$node" = "$1" ]; then
		ok "$what: guest $1 dies"
		vm_die
	fi
	nodes=$((nodes - 1))
	[ "$node" != 1 ] || check "$what: node 1 suspects node $1" wait_until 60 is_suspected "$1"
	meet "the dead one is suspected"
	let_go
}

wl_start 11
wl_begin 4 3 1 2 11

what="node 4 dies"
hold_up 1 2 3 4
begin_change 7
dies 4
check "$what: node $node is in a view with 1 2 3" wait_until 60 has "$node" 1 2 3 ||
	status_of "$node"
if [ "$node" = 3 ]; then
	check "$what: the administrator gets an answer" wait_until 100 has_ended add
	sed 's/^/# /' /tmp/add.out
	publish told "$(cat /tmp/add.rc)"
fi
meet "node 3 has an answer"
case $(fetch 3 told) in
0*)	check "$what: it says yes, and node $node has made the change" \
		wait_until 60 has_subgroup "$node" 7 ;;
1*)	check "$what: it says no, and node $node has not made the change" has_none 7 ;;
*)	not_ok "$what: the answer is yes or no" ;;
esac
agree "$what: the change" "$(made 7)"
[ "$node" = 2 ] || check "$what: messages of subgroup 1 go on" flows "$node"
meet "end"

# Names of barriers have at most 63 characters.
what="node 3 dies"
[ "$node" != 1 ] || check "$what: node 11 joins" try_join 11 1
check "$what: node $node is in a view with node 11" wait_until 60 has "$node" 1 2 3 11
meet "node 11 is back"
hold_up 1 2 3
begin_change 8
dies 3
check "$what: node $node is in a view with 1 2" wait_until 60 has "$node" 1 2 || status_of "$node"
meet "a view of two"
agree "$what: the change" "$(made 8)"
[ "$node" = 2 ] || check "$what: messages of subgroup 1 go on" flows "$node"
diag "the change that the dead one wanted is made: $(made 8)"

# A change that was not made does not stand in the way of the next one.
what="behind it"
if [ "$node" = 1 ] && has_subgroup 1 7; then
	check "$what: subgroup 7 is removed" spindle-ctl subgroup del 1 id 7 timeout 60
fi
if [ "$node" = 1 ] && has_subgroup 1 8; then
	check "$what: subgroup 8 is removed" spindle-ctl subgroup del 1 id 8 timeout 60
fi
[ "$node" != 1 ] || check "$what: node 1 adds a subgroup" \
	spindle-ctl subgroup add 1 id 9 window 4 max-msg 64 timeout 60
check "$what: node $node has it" wait_until 60 has_subgroup "$node" 9
wl_end 1
finish
