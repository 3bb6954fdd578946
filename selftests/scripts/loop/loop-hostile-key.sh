#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Hostile peers and group keys. A peer sends a recorded hello, an answer or a proof of another
# connection, one of the wrong kind, one with a wrong bit, or none. None of these peers gets rights
# or counts as connected. An event and the log report it, but not often. An old request keeps no
# connection busy, and a knock of another life removes no guest. A node with the key is admitted,
# before and after, and a live view beside it does not notice.
# vm: timeout=300 uml hostile
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh
. ./lib-hostile.sh

KEY=27		# SPINDLE_REFUSE_KEY
ADDRESS=28	# SPINDLE_REFUSE_ADDRESS
AGAIN=29	# SPINDLE_REFUSE_AGAIN

RULES="timeout-ms 5000 max-nodes 8"
GROUP="subgroup 1 window 8 max-msg 256 ring 4096"
HONEST="member 5@10.0.0.1:5005 member 6@10.0.0.1:5006 member 7@10.0.0.1:5007"

key_node()
{
	spindle-ctl node add id "$1" addr 10.0.0.1 port $((5000 + $1)) visibility poll \
		key-file /tmp/key
}

# renew: node 2 without a past, so that nothing holds its events back, and a view with 1
renew()
{
	spindle-ctl node del id 2 >/dev/null 2>&1
	lines=$(log_lines)
	key_node 2 && fresh
}

# renew_dialling: the same, and it is node 2 that dials: 3
renew_dialling()
{
	renew && vid=$((vid + 1))
	view="vid $vid member 2@10.0.0.1:5002 member 3@10.0.0.1:5003 $GROUP"
	# shellcheck disable=SC2086
	spindle-ctl view set node 2 $view
}

# up NODE: how many peers are connected to it
up()
{
	spindle-ctl -j -p stats node "$1" | grep -c '"state": *"up"'
}

# How often the kernel log has said it.
log_lines()
{
	dmesg | grep -c "another key, or none"
}

# refused DESCRIPTION WANT STEP...: the result of the steps. The refusal is counted and reported,
# and no peer is connected. The log has one line since the node was added, and does not repeat it.
refused()
{
	local desc want before

	desc=$1
	want=$2
	shift 2
	before=$(engine_stat 2 refused)
	: >$EV
	is "$desc" "$(hostile "$@")" "$want"
	told "$desc: an event reports the refusal" "peer-refused .*node 2 .*another key"
	is "$desc: no peer is connected" "$(up 2)" 0
	is "$desc: no peer has rights" "$(strange_keys)" ""
	check "$desc: the refusal is counted" [ "$(engine_stat 2 refused)" -gt "$before" ]
	check "$desc: the log reports the refusal" [ "$(log_lines)" -gt "$lines" ]
}

# untouched WHAT
untouched()
{
	check "$1: the view is as it was" in_view 1 5 6 7
	is "$1: node 5 has two peers" "$(up 5)" 2
}

# Rights that others have than nodes 5 to 7.
strange_keys()
{
	kernel_keys | grep -vxF "$honest"
}

no_strangers()
{
	[ -z "$(strange_keys)" ]
}

umask 077
echo "a key of thirty-two bytes, or so." >/tmp/key
echo "another key, of the same length.." >/tmp/other
check "module loads" loop_start
check "a second address is added" ip addr add 10.0.0.9/24 dev dummy0
listen_in
for i in 5 6 7; do
	check "node $i is added with the key" key_node $i
done
for i in 5 6 7; do
	# shellcheck disable=SC2086
	check "node $i has a live view" spindle-ctl view set node $i vid 1 live $RULES $HONEST \
		$GROUP
done
check "the live view forms" wait_until 60 in_view 1 5 6 7
for i in 5 6 7; do
	load_start $i -r 500
done
honest=$(kernel_keys)

# ---- dialling peers -----------------------------------------------------------------

# The recorded messages come from a node with the key. The attempt went no further, so the node
# waits again.
renew || bail "a victim is added"
HOSTILE_KEY=/tmp/key
is "a conversation is recorded" \
	"$(hostile dial,keep=/tmp/hello give,n=0,keep=/tmp/proof)" "up|0 nothing"
HOSTILE_KEY=
refused "no key" "rejected $KEY" dial
HOSTILE_KEY=/tmp/other
refused "another key" "rejected $KEY" dial
HOSTILE_KEY=/tmp/key
refused "a tag that is one bit off" "rejected $KEY" dial,tag=bad
renew || bail "a victim without refusals is added"
is "a conversation is recorded" \
	"$(hostile dial,keep=/tmp/hello give,n=0,keep=/tmp/proof)" "up|0 nothing"
HOSTILE_KEY=
# A connection remembers four lives of its peer.
: >$EV
is "a recorded hello is refused" "$(hostile dial,again=/tmp/hello)" "rejected $AGAIN"
told "an event reports the repeated request" "peer-refused .*node 2 .*same request was made before"
HOSTILE_KEY=/tmp/key
for i in 11 12 13; do
	is "incarnation $i of the peer is admitted" "$(hostile dial,inc=$i,keep=/tmp/hello.$i)" up
done
HOSTILE_KEY=
for i in 11 12 13; do
	is "the hello of incarnation $i is refused again" \
		"$(hostile dial,again=/tmp/hello.$i)" "rejected $AGAIN"
done
is "the first hello of the peer is refused again" \
	"$(hostile dial,again=/tmp/hello)" "rejected $AGAIN"
HOSTILE_KEY=/tmp/key
is "an earlier request of the same incarnation is refused" \
	"$(hostile dial,inc=13,nonce=5)" "rejected $AGAIN"
is "a later request of the same incarnation is admitted" "$(hostile dial,inc=13)" up
is "the same incarnation from another address is refused" \
	"$(hostile dial,inc=13,from=9)" "rejected $ADDRESS"
# Requests that no node has received: the node is added again afterwards, with the same view.
spindle-ctl node del id 2
hostile dial,keep=/tmp/unheard >/dev/null
hostile dial,keep=/tmp/unheard.2 >/dev/null
# shellcheck disable=SC2086
key_node 2 && spindle-ctl view set node 2 $view || bail "a victim that has received nothing is added"
HOSTILE_KEY=
refused "a request that no node has received" "up|no rights" dial,again=/tmp/unheard setup
refused "a recorded proof for such a request" \
	"up|no rights" dial,again=/tmp/unheard.2 setup,again=/tmp/proof
HOSTILE_KEY=/tmp/key
refused "no proof" "up|no rights" dial setup,proof=none
refused "a proof that is one bit off" "up|no rights" dial setup,proof=bad
refused "a proof for another purpose" "up|no rights" dial setup,proof=other
hostile_bg dial || bail "a peer that proves nothing yet"
is "a peer without a proof is not connected" "$(up 2)" 0
is "a peer without a proof has no rights" "$(strange_keys)" ""
let_go
is "a peer with the key is admitted after all this" "$(hostile dial setup joined)" "up|up|yes"

# ---- dialled peers --------------------------------------------------------------

FROM=3
renew_dialling || bail "a victim that dials is added"
is "an answer is recorded" "$(hostile lure,keep=/tmp/answer,proof=none take)" "up|nothing"
renew_dialling || bail "a victim without refusals is added"
is "an answer is recorded" "$(hostile lure,keep=/tmp/answer exit)" "up"
HOSTILE_KEY=
refused "no key" "up|nothing" lure take
refused "a recorded answer" "up|nothing" lure,again=/tmp/answer take
HOSTILE_KEY=/tmp/other
refused "another key" "up|nothing" lure take
HOSTILE_KEY=/tmp/key
refused "no proof" "up|nothing" lure,proof=none take
refused "a proof that is one bit off" "up|nothing" lure,proof=bad take
refused "a proof for another purpose" "up|nothing" lure,proof=other take
is "a peer with the key is accepted after all this" "$(hostile lure setup joined)" "up|up|yes"
FROM=1

# An answer is right in every way, but it is no request.
renew || bail "a victim is added"
is "the hello of an answer is recorded" "$(hostile dial,heard=/tmp/heard)" up
# shellcheck disable=SC2086
key_node 1 && spindle-ctl view set node 1 $view || bail "a node that gets the recorded answer is added"
HOSTILE_KEY=
is "an answer is not accepted as a request" \
	"$(FROM=2 TO=1 hostile dial,again=/tmp/heard)" "rejected $KEY"
HOSTILE_KEY=/tmp/key
spindle-ctl node del id 1

# ---- a first live view ------------------------------------------------------------

renew || bail "a victim is added"
spindle-ctl view del node 2
view="live vid 1 $RULES member 1@10.0.0.1:5001 member 2@10.0.0.1:5002 $GROUP"
# shellcheck disable=SC2086
check "a live view has a member that proves nothing" spindle-ctl view set node 2 $view
refused "no proof" "up|no rights" dial setup,proof=none
is "the view does not form without a proof" "$(live_word 2 state)" forming
is "the view forms with a member that has the key" "$(hostile dial setup joined)" "up|up|yes"

spindle-ctl node del id 2
check "no other peer has rights" wait_until 30 no_strangers

# ---- at the door -------------------------------------------------------------------

FROM=9 TO=5
view="live vid 1 $RULES $HONEST $GROUP"
HOSTILE_KEY=
is "a question without a key is refused" "$(hostile dial,flags=4,dst=0,inc=0)" "rejected $KEY"
is "a knock without a key is refused" "$(hostile dial,flags=2,inc=5)" "rejected $KEY"
HOSTILE_KEY=/tmp/key
is "a question with the key is answered" "$(hostile dial,flags=4,dst=0,inc=0)" "rejected 3"
is "a knock is recorded" "$(hostile dial,flags=2,inc=5,keep=/tmp/knock)" "up"
HOSTILE_KEY=
: >$EV
is "a recorded knock is refused" "$(hostile dial,again=/tmp/knock)" "rejected $AGAIN"
sleep 11
is "a recorded knock gets no rights after the guest has gone" \
	"$(hostile dial,again=/tmp/knock setup)" "up|no rights"
told "an event reports the refused knock" "peer-refused .*node 5 .*peer 9 .*another key"
# A connection without a proof yet gives way to another one, but not at once. A proven one does not.
HOSTILE_KEY=/tmp/key
hostile_bg dial,flags=2,inc=7 setup || bail "a guest of another incarnation knocks"
rights=$(strange_keys)
check "the guest has rights" [ -n "$rights" ]
HOSTILE_KEY=
is "a recorded knock of the former life" "$(TRIES=3 hostile dial,again=/tmp/knock)" "rejected 1"
is "a recorded knock does not remove the guest" "$(strange_keys)" "$rights"
let_go
check "the guest goes" wait_until 30 no_strangers
untouched "knocks"
said=$(hostile flood,n=500,flags=2,inc=6)
is "500 knocks without a key" "$said" "500 rejected $KEY"
n=$(log_lines)
check "the log has few lines for the flood ($n)" [ "$n" -lt 200 ]
n=$(grep -c peer-refused $EV)
check "the flood causes few events ($n)" [ "$n" -lt 100 ]
untouched "a flood"
check "processes end" load_stop 5 6 7
check "logs agree" loads_agree

listen_out
for i in 5 6 7; do
	check "node $i goes" spindle-ctl node del id $i
done
is "no memory region is left" "$(kernel_keys)" ""
check "module goes" rmmod spindle
finish
