#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A live view without a key is begun and joined on an explicit word only, on the command line and
# in a file. The word is shown, and what shows it can be applied again. A node that has a key
# needs no word, refuses it, and never loses its key.
# vm: timeout=200 own
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

A=10.0.0.1
WAYS='add it with one (key-file), or say insecure'
conf=/tmp/i.conf

# keyed_node ID
keyed_node()
{
	spindle-ctl node add id "$1" addr $A port $((5000 + $1)) key-file /tmp/group.key
}

# insecure NODE: the word in the status
insecure()
{
	live_word "$1" insecure
}

# logged NODE: lines of the kernel log that tell of its live view without a key
logged()
{
	dmesg | grep -c "node $1 of cluster [a-z]*: the live view is insecure"
}

has_key()
{
	spindle-ctl -j node show id "$1" | grep -q '"keyed":true'
}

# section ID [LINE]...: a node of a file
section()
{
	printf '[Node]\nId = %s\nAddress = %s\nPort = 500%s\n' "$1" $A "$1"
	shift
	for line; do
		echo "$line"
	done
}

# view [LINE]...: a view of a file
view()
{
	printf '[View]\nVid = 1\n'
	for line; do
		echo "$line"
	done
	printf '[Subgroup]\nId = 1\n'
}

# refuses LINE PATTERN: so do apply and a dry run, and nothing is changed.
refuses()
{
	local before

	before=$(spindle-ctl -j node show; spindle-ctl -j view show)
	says 1 "i.conf:$1: .*$2" apply $conf --dry-run --bootstrap
	says 1 "i.conf:$1: .*$2" apply $conf --bootstrap
	is "nothing was changed" "$(spindle-ctl -j node show; spindle-ctl -j view show)" "$before"
}

umask 077
echo "a key of thirty-two bytes, or so." >/tmp/group.key
: >/tmp/empty
check "module loads" loop_start
check "nodes 1, 2 and 5 have no key" sh -c \
	"for i in 1 2 5; do spindle-ctl node add id \$i addr $A port 500\$i || exit 1; done"
check "node 3 has one" keyed_node 3
check "node 4 has the same" keyed_node 4

# ---- without a key and without the word --------------------------------------------

before=$(spindle-ctl -j status)
says 1 "$WAYS" view set node 1 vid 1 live member 1@$A:5001 subgroup 1
says 1 "$WAYS" view set node 1 vid 1 live contact $A:5002 member 1@$A:5001 subgroup 1
says 1 "$WAYS" node join id 1 contact $A:5002
says 2 "'insecure' is for live views only" view set node 1 vid 1 insecure member 1@$A:5001
is "no view has begun" "$(spindle-ctl -j status)" "$before"
is "the kernel log has no line about it" "$(logged 1)" 0

# ---- with the word -------------------------------------------------------------------

check "node 1 begins with the word" \
	spindle-ctl view set node 1 vid 1 live insecure member 1@$A:5001 subgroup 1
check "node 1 is active" wait_until 60 in_view 1 1
is "the kernel log has one line about it" "$(logged 1)" 1
check "the same view again changes nothing" \
	spindle-ctl view set node 1 vid 1 live insecure member 1@$A:5001 subgroup 1
is "the kernel log does not repeat it" "$(logged 1)" 1
says 1 "$WAYS" view set node 1 vid 1 live member 1@$A:5001 subgroup 1
check "node 2 joins with the word" spindle-ctl node join id 2 insecure contact $A:5001
check "nodes 1 and 2 are in view 2" wait_until 60 in_view 2 1 2
is "the kernel log has one line about node 2" "$(logged 2)" 1
for i in 1 2; do
	is "status of node $i shows the word in JSON" "$(insecure $i)" true
	says 0 'key: none (insecure)' status node $i
	says 0 'a majority goes on, insecure (without a key)' view show node $i
	check "the view of node $i shows the word in JSON" sh -c \
		"spindle-ctl -j view show node $i | grep -q '\"insecure\":true'"
done
check "node 5 begins to join" spindle-ctl node join id 5 insecure contact 10.0.0.77:5001 no-wait
is "a node that joins shows the word" "$(insecure 5)" true
is "showconf has the word of all three nodes" \
	"$(spindle-ctl showconf | grep -c '^Insecure = yes')" 3
check "node 5 gives up its join" spindle-ctl node leave id 5
says 1 'the node was added without a key' node set id 1 key-file /tmp/group.key

# ---- with a key ----------------------------------------------------------------------

says 1 'the node has a key: do not say insecure' \
	view set node 3 vid 1 live insecure member 3@$A:5003 subgroup 1
says 1 'the node has a key: do not say insecure' node join id 4 insecure contact $A:5003
check "node 3 begins without the word" \
	spindle-ctl view set node 3 vid 1 live member 3@$A:5003 subgroup 1
check "node 4 joins without the word" spindle-ctl node join id 4 contact $A:5003
check "nodes 3 and 4 are in view 2" wait_until 60 in_view 2 3 4
is "status of nodes 3 and 4 does not show the word" "$(insecure 3) $(insecure 4)" "false false"
is "the kernel log has no line about nodes 3 and 4" "$(logged '[34]')" 0
is "showconf of node 3 does not have the word" "$(spindle-ctl showconf node 3 | grep -c Insecure)" 0

# The key cannot be taken away.
says 1 '' node set id 3 key-file /tmp/empty
check "retiring a former key that does not exist succeeds" spindle-ctl node set id 3 former-key off
check "3 has its key" has_key 3
is "the view of node 3 is still secure" "$(insecure 3)" false

# A node with a key cannot join a view without one. A node without a key cannot join a view with
# one.
says 1 'another key, or none' node join id 5 insecure contact $A:5003
check "node 4 leaves" spindle-ctl node leave id 4
check "node 4 has left" wait_until 60 in_view 3 3
check "the view of node 4 is removed" spindle-ctl view del node 4
says 1 'another key, or none' node join id 4 contact $A:5001
check "both views are unchanged" sh -c '[ "$1$2" = truefalse ]' - "$(insecure 1)" "$(insecure 3)"

# ---- a file ----------------------------------------------------------------------------

spindle-ctl showconf node 1 >/tmp/shown
says 0 'there is nothing to change' apply /tmp/shown --dry-run
grep -v '^Insecure' /tmp/shown >$conf
refuses 1 'node 1 is to be in a live view, and has no key: .*KeyFile.*Insecure = yes'
{ section 3 "Insecure = yes"; view "Live = yes"; } >$conf
refuses 5 'Insecure = yes, and node 3 runs with a key'
check "nodes go" loop_del 5
{ section 1; section 2 "Join = $A:5001"; view "Live = yes"; } >$conf
refuses 1 'node 1 is to be in a live view, and has no key'
refuses 5 'node 2 is to be in a live view, and has no key'
{ section 1 "KeyFile = group.key" "Insecure = yes"; view "Live = yes"; } >$conf
refuses 6 'Insecure = yes, and there is a KeyFile in line 5'
{ section 1 "Insecure = yes"; view "Member = 1@$A:5001"; } >$conf
refuses 5 'Insecure is for live views only'
{ section 1 "Insecure = perhaps"; view "Live = yes"; } >$conf
refuses 5 'neither'
{ section 1 "Insecure = no"; view "Live = yes"; } >$conf
refuses 1 'node 1 is to be in a live view, and has no key'
check "no node exists" [ "$(spindle-ctl -j node show)" = "[]" ]
{ section 1 "Insecure = yes"; section 2 "Insecure = yes" "Join = $A:5001"
	view "Live = yes"; } >$conf
says 0 '^+ view of node 1 begins: live' apply $conf --bootstrap
check "both nodes are in view 2" wait_until 60 in_view 2 1 2
spindle-ctl showconf >/tmp/shown
says 0 'there is nothing to change' apply /tmp/shown --dry-run --prune --replace
check "nodes go" loop_del 2
says 0 '^+ view of node 1 begins: live' apply /tmp/shown --bootstrap
check "the file that showconf wrote begins the view again" wait_until 60 in_view 3 1 2
is "the new view is insecure" "$(insecure 1) $(insecure 2)" "true true"
check "nodes go" loop_del 2

# A file with a key begins without the word.
{ section 1 "KeyFile = group.key"; view "Live = yes"; } >$conf
says 0 '^+ view of node 1 begins: live' apply $conf --bootstrap
check "node 1 is active" wait_until 60 in_view 1 1
is "the view of node 1 is secure" "$(insecure 1)" false
check "nodes go" loop_del 1

# A static view needs no word.
check "a static view needs no word" sh -c "spindle-ctl node add id 1 addr $A port 5001 &&
	spindle-ctl view set node 1 vid 1 member 1@$A:5001 subgroup 1"
check "nodes go" loop_del 1
check "module goes" rmmod spindle
finish
