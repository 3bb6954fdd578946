#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Joiners and guests whose partner never makes progress have a limit. A contact has a minute, a
# wish 20 timeouts, and the seat of a guest that is wished for 80 seconds.
# vm: timeout=400 uml
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh
. ./lib-hostile.sh

RULES="timeout-ms 2000 max-nodes 8"
GROUP="subgroup 1 window 8 max-msg 256 ring 4096"
STILL="member 2@10.0.0.1:5002 member 3@10.0.0.1:5003 member 4@10.0.0.1:5004"
BUSY="member 12@10.0.0.1:5012 member 13@10.0.0.1:5013"

# set_live MEMBERS NODE...: these nodes begin the view.
set_live()
{
	local i members

	members=$1
	shift
	for i in "$@"; do
		spindle-ctl node add id "$i" addr 10.0.0.1 port $((5000 + i)) || return 1
		# shellcheck disable=SC2086
		limit 30 spindle-ctl view set node "$i" vid 1 live insecure $RULES $members \
			$GROUP || return 1
	done
}

# guest ID MEMBER MEMBERS [STEP]...: a guest of this member alone. The guest says that it is
# connected to all members, and waits until the member closes the connection.
guest()
{
	local id

	view="live vid 1 $RULES $3 $GROUP"
	FROM=$1
	TO=$2
	id=$1
	shift 3
	(hostile dial,flags=2,inc=6 setup node,ready=1 mark="/tmp/guest.$id" "$@" \
		gone,ms=190000) >"/tmp/guest.$id.out" 2>&1 &
	guest=$!
	wait_until 60 test -e "/tmp/guest.$id"
}

# liar ID KEYS: this node, which is no member, answers the questions of joiners.
liar()
{
	rm -f /tmp/listens /tmp/go
	# shellcheck disable=SC2086
	hostile-peer -i "$1" -t "$1" live vid 1 $RULES member "$1@10.0.0.1:50$1" $GROUP -- \
		listen mark=/tmp/listens "contact,$2,until=/tmp/go" >/tmp/liar.out 2>&1 &
	liar=$!
	wait_until 60 test -e /tmp/listens
}

# liar_ends: the number of questions that it has answered.
liar_ends()
{
	: >/tmp/go
	wait $liar
	answers=$(sed -n 's/^contact: //p' /tmp/liar.out)
}

# joins_by ID CONTACT: a node asks the liar first, and then a member.
joins_by()
{
	spindle-ctl node add id "$1" addr 10.0.0.1 port "50$1" &&
		spindle-ctl node join id "$1" insecure contact "10.0.0.1:50$2" \
			contact 10.0.0.1:5012 timeout 180
}

# asks ID: the node asks its contacts.
asks()
{
	spindle-ctl -j status node "$1" | grep -q "asks the contacts"
}

# note_reasons ID: note why a node has not joined yet, until the shell ends the loop.
note_reasons()
{
	while :; do
		spindle-ctl -j status node "$1"
		usleep 50000
	done >/tmp/reasons 2>&1
}

has_guest()
{
	spindle-ctl -j status node "$1" | grep -q "\"id\":$2,\"self\":false,\"joins\":true"
}

has_no_guest()
{
	! has_guest "$@"
}

check "module loads" loop_start
check "nodes 2 to 4 begin the view for a guest" set_live "$STILL" 2 3 4
check "nodes 12 and 13 begin the view for joiners" set_live "$BUSY" 12 13
check "the view for a guest forms" wait_until 60 in_view 1 2 3 4
check "the view for joiners forms" wait_until 60 in_view 1 12 13
# Neither member leads its view.
guest 8 3 "$STILL" || bail "node 3 has a hostile guest"
first=$guest
guest 18 13 "$BUSY" joined,ready=2 mark=/tmp/told.18 || bail "node 13 has a hostile guest"
check "node 3 has a guest" has_guest 3 8
check "node 13 has a guest" has_guest 13 18

# Node 13 wishes for its guest, and its leader never admits that guest.
check "an honest node is added" spindle-ctl node add id 14 addr 10.0.0.1 port 5014
check "the honest node joins through node 13" \
	spindle-ctl node join id 14 insecure contact 10.0.0.1:5013 timeout 150
check "node 13 tells its guest that it has gone on without it" wait_until 90 test -e /tmp/told.18
is "the hostile guest of node 13 is still connected" "$(cat /tmp/guest.18.out)" ""

liar 10 endless,len=1,ms=1000 || bail "a liar whose card has no end runs"
joins_by 15 10 >/tmp/join.15 2>&1 &
join=$!
check "the contact has a question" wait_until 60 asks 15
check "a second honest node is added" spindle-ctl node add id 17 addr 10.0.0.1 port 5017
note_reasons 17 &
notes=$!
check "the second node joins through an honest contact" \
	spindle-ctl node join id 17 insecure contact 10.0.0.1:5012 \
	timeout 180
kill $notes
check "the liar does not spoil the answers of that contact" \
	sh -c "! grep -q 'no spindle node' /tmp/reasons"
tap_wait "a joiner leaves a contact whose card has no end" $join /tmp/join.15
check "the liar still runs" kill -0 $liar
liar_ends
check "the liar has answered more than once ($answers)" test "$answers" -ge 2
liar 11 restless,ms=200 || bail "a liar that always has another view runs"
check "a joiner leaves a contact that always has another view" joins_by 16 11
check "the liar still runs" kill -0 $liar
liar_ends
check "the liar has answered more than once ($answers)" test "$answers" -ge 2

check "the guest of node 3 loses its seat" wait_until 180 grep -q "|yes$" /tmp/guest.8.out
check "node 3 has no guest any more" wait_until 60 has_no_guest 3 8
check "the view of node 3 is as it was" in_view 1 2 3 4

wait "$first" "$guest"
is "that was in view 2" "$(sed 's/.*success|//' /tmp/guest.18.out)" "yes|yes"
for i in 2 3 4 12 13 14 15 16 17; do
	check "node $i goes" spindle-ctl node del id $i
done
check "module goes" rmmod spindle
finish
