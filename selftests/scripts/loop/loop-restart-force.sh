#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A restart is forced: the one node that is left goes on without the others, when its administrator
# consents. Nodes that come back join only with a consent of their own, and what their logs lose is
# kept.
# vm: timeout=600 uml
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh
. ./lib-restart.sh

WRONG=00112233445566778899aabbccddeeff

# code_of NODE: the code that is on show
code_of()
{
	spindle-ctl status node "$1" | sed -n 's/^restart: .*: code //p'
}

# shows_code NODE
shows_code()
{
	[ -n "$(code_of "$1")" ]
}

# asks_only NODE: without a code, the command says what would be lost, and changes nothing
asks_only()
{
	! spindle-ctl log restart "$1" --force >/tmp/out 2>/tmp/err &&
		grep -q 'subgroup 1: it goes on at position 100; nodes that are away' /tmp/out &&
		grep -q "nothing has changed.*--force $(code_of "$1")" /tmp/err &&
		! [ -e "$DIR/$1/consent" ] && return 0
	cat /tmp/out /tmp/err
	return 1
}

# refuses_code NODE
refuses_code()
{
	! spindle-ctl log restart "$1" --force $WRONG 2>/tmp/err &&
		grep -q 'shows another code' /tmp/err && ! [ -e "$DIR/$1/consent" ]
}

# ignores_code NODE: a consent to something else has no effect
ignores_code()
{
	echo $WRONG >"$DIR/$1/consent"
	wait_until 30 status_says "$1" "the code $WRONG has a consent" || return 1
	sleep 3
	status_says "$1" 'has no live view' && rm "$DIR/$1/consent"
}

# is_of NODE CODE: is the lineage of its view the code?
is_of()
{
	spindle-ctl -j view show node "$1" | grep -q "\"lineage\":\"$2/"
}

# consents NODE CODE
consents()
{
	spindle-ctl log restart "$1" --force "$2"
}

# keeps NODE TEXT: is a message with that text in the part of the log that was cut?
keeps()
{
	spindle-ctl log dump $DIR/"$1"/1.lost-* | grep -q "$2"
}

# waits_outside NODE CODE: it knows of the group, and is not in it
waits_outside()
{
	waits_for "$1" "without this node, because nodes 3 were forced: code $2" || return 1
	sleep 3
	status_says "$1" 'has no live view' && [ "$(log_of "$1" | grep -c '"from ')" = 110 ]
}

echo 0 >/tmp/sent
restart_begin subgroup 1 max-msg 256 log 1
check "messages are durable" sends 1 100 1 2 3
check "the logger of node 3 dies" end_logd 3 KILL
check "the others have messages that its log does not" send_lines 2 1 10
echo 110 >/tmp/sent
check "on disk" logs_agree 1 2
log_of 1 | tail -n 1 >/tmp/last
check "they crash" crash 1 2
check "and so does node 3" spindle-ctl node del id 3

# Node 3 alone.
check "node 3 starts" boot 3
check "it waits" waits_for 3 '1 more of these nodes has to be there: 1, 2 '
check "it shows a code" wait_until 30 shows_code 3
code=$(code_of 3)
check "to ask what would be lost changes nothing" asks_only 3
check "another code is refused" refuses_code 3
check "and has no effect by itself" ignores_code 3
check "it still shows the code" wait_until 30 shows_code 3
check "which is the same" test "$(code_of 3)" = "$code"
check "its administrator consents" consents 3 "$code"
check "it goes on alone" come_together 3
check "in a group that has the code as its name" is_of 3 "$code"
check "the consent has gone" test ! -e $DIR/3/consent
echo 100 >/tmp/sent
check "it goes on behind what it had" sends 3 20 3
check "its log has that" logs_agree 3

# The others come back.
check "node 1 comes back" boot 1
check "it does not join by itself" waits_outside 1 "$code"
check "another code is refused there" refuses_code 1
check "its administrator consents" consents 1 "$code"
check "it joins" come_together 1 3
check "messages go on" sends 1 10 1 3
check "its log has what the group has" logs_agree 1 3
check "what it has lost is kept" keeps 1 "$(sed 's/.*"\(.*\)"/\1/' /tmp/last)"
check "node 2 comes back" boot 2
check "it does not join by itself" waits_outside 2 "$code"
check "its administrator consents" consents 2 "$code"
check "it joins" come_together 1 2 3
check "messages go on" sends 2 10 1 2 3
check "no message of the group is lost" logs_agree 1 2 3

# From then on, the group restarts as any other one.
check "all nodes crash" crash 1 2 3
check "all start again" boot 1 2 3
check "the group is back" come_together 1 2 3
check "it is the same one" is_of 2 "$code"
check "messages go on" sends 3 10 1 2 3
check "no message is lost" logs_agree 1 2 3

check "nodes go" crash 1 2 3
check "module goes" limit 60 rmmod spindle
finish
