#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Hostile peers and tables of mode read. A peer with a connection for reads reads the cells of the
# node's row of that table, and nothing else: no other byte, no other connection's memory, no write,
# no atomic. Wrong requests get no connection. The right ends with the table and with the
# membership. A peer whose memory the node reads spoils its own row only, whatever is in there. Each
# failing case comes after a case that shows that the same correct steps work.
# vm: timeout=300 hostile
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh
. ./lib-hostile.sh

READ=dial,flags=64,table=1
ROW3="5 5 5 5 5 5 5 5"
ROW2="7 7 7 7 7 7 7 7"

# set_view FROM: the next view of the liar FROM and of nodes 2 and 3, on 2 and 3
set_view()
{
	local i members

	vid=$((vid + 1))
	members="member 2@10.0.0.1:5002 member 3@10.0.0.1:5003"
	if [ "$1" = 1 ]; then
		members="member 1@10.0.0.1:5001 $members"
	else
		members="$members member $1@10.0.0.1:500$1"
	fi
	view="vid $vid $members subgroup 4 window 8 max-msg 512 ring 4096 hold 0 members 2,$1"
	view="$view table 1 cells 8 mode read table 2 cells 8 mode read members 2,3"
	view="$view table 3 cells 8 members 2,$1"
	: >$EV
	for i in 2 3; do
		# shellcheck disable=SC2086
		limit 30 spindle-ctl view set node $i $view || return 1
	done
	# A member that does not connect keeps no process from its row.
	table-rows -n 2 -t 1 -p 7 -s 0 >/dev/null
	table-rows -n 3 -t 1 -p 5 -s 0 >/dev/null
	table-rows -n 2 -t 2 -p 99 -s 0 >/dev/null
	table-rows -n 2 -t 3 -p 98 -s 0 >/dev/null
	return 0
}

# reader STEP...: as hostile(). A connection that was lost has a successor after a while.
reader()
{
	local said tries

	tries=0
	while [ $tries -lt 100 ]; do
		said=$(hostile "$@")
		[ "$said" = "rejected 20" ] || break
		tries=$((tries + 1))
		usleep 100000
	done
	echo "$said"
}

# outside DESCRIPTION WANT STEP: one work request that must not succeed; it costs the connection.
outside()
{
	is "beyond its rights: $1" "$(reader $READ setup "$3" gone)" "up|up|$2|yes"
}

# rows NODE: the rows that this node has of ranks 1 and 2, nodes 2 and 3 in the views here
rows()
{
	table-rows -n "$1" -t 1 -a "${2:-2=5}" >/tmp/rows
	sed -n 's/^[12]: //p' /tmp/rows | paste -s -d '|'
}

# lied_to DESCRIPTION: the node has the rows of others as they are, and its other table goes on
lied_to()
{
	is "$1: other rows are as they are" "$(rows 2)" "$ROW2|$ROW3"
	is "$1: the other table goes on" \
		"$(table-rows -n 3 -t 2 | sed -n 's/^0: //p')" "99 99 99 99 99 99 99 99"
}

# the_row: row 0 at node 2, that of the liar
the_row()
{
	sed -n 's/^0: //p' /tmp/rows
}

# later NAME STEP...: a peer that does its steps in the background until let_on
later()
{
	rm -f /tmp/up /tmp/on
	reader "$@" >/tmp/later &
	later_pid=$!
	wait_until 60 test -e /tmp/up
}

# let_on DESCRIPTION: the steps of later() go on: a read fails, and the connection has gone
let_on()
{
	: >/tmp/on
	wait $later_pid
	case $(cat /tmp/later) in
	"up|up|success $ROW2|"*success*) not_ok "$1" ;;
	"up|up|success $ROW2|"*"|yes")
		ok "$1"
		return
		;;
	*) not_ok "$1" ;;
	esac
	diag "have '$(cat /tmp/later)'"
}

# wrong_page DESCRIPTION RESULT: rights that are wrong cost the attempt. The connection may have
# gone before soft-RoCE has acknowledged them.
wrong_page()
{
	case $2 in
	"up|1 success|yes" | "up|0 transport retry counter exceeded|yes") ok "set-up: $1" ;;
	*)
		not_ok "set-up: $1"
		diag "have '$2'"
		;;
	esac
}

CELLS=read,len=512,cells

check "module loads" loop_start
check "a second address is added" ip addr add 10.0.0.9/24 dev dummy0
listen_in
for i in 2 3; do
	check "node $i is added" spindle-ctl node add id $i addr 10.0.0.1 port 500$i visibility poll
done

# ---- rights -----------------------------------------------------------------

set_view 1 || bail "a view with tables is set"
is "within its rights: the cells of the node's own row, and zeroes" \
	"$(reader $READ setup $CELLS read,off=512,len=3584,cells read,end,off=-1,len=1)" \
	"up|up|success $ROW2|success zeroes|success"
is "the other node shows its own row" "$(TO=3 reader $READ setup $CELLS)" "up|up|success $ROW3"
is "rights are keys and sizes, and no address" "$(reader $READ give take)" \
	"up|1 success|1 chunks of 2048 KiB"
outside "a byte beyond the row" "remote access error" read,end,len=1
outside "across the end" "remote access error" read,end,off=-4
outside "before the row" "remote access error" read,off=-8
outside "another address" "remote access error" read,addr=0xffff888000001000
outside "the next key" "remote access error" read,near=1
outside "the next memory region" "remote access error" read,near=256
outside "no key" "remote access error" read,key=0
outside "a write" "remote access error" write
outside "a write with immediate data" "remote access error" write,imm=1
outside "an atomic" "remote access error" add
outside "a message" "remote operation error" send,size=8
outside "immediate data" "success" write,len=0,imm=1
is "the rights are as before after all this" "$(reader $READ setup $CELLS)" \
	"up|up|success $ROW2"

# The keys of other connections: between nodes 2 and 3, and of the liar's row at node 2.
hostile_bg dial setup joined || bail "the liar is connected"
keys=$(kernel_keys)
n=0
for key in $keys; do
	got=$(reader $READ setup "read,key=$key" gone,ms=5000)
	[ "$got" = "up|up|remote access error|yes" ] || {
		not_ok "the key $key of another connection"
		diag "have '$got'"
	}
	n=$((n + 1))
done
check "no key of another connection is good for reads ($n)" test "$n" -ge 6
let_go

set_view 1 || bail "a view with tables is set"
is "no read on the connection for rows" "$(hostile dial,reads=1 setup joined read gone)" \
	"up|up|yes|remote invalid request error|yes"

# ---- requests ---------------------------------------------------------------

set_view 1 || bail "a view with tables is set"
is "refused: a table that it is no member of" "$(hostile dial,flags=64,table=2)" "rejected 20"
is "refused: a table of mode write" "$(hostile dial,flags=64,table=3)" "rejected 20"
is "refused: a subgroup" "$(hostile dial,flags=64,table=4)" "rejected 20"
is "refused: an unknown table" "$(hostile dial,flags=64,table=9)" "rejected 20"
is "refused: a request of an unknown node" "$(hostile $READ,src=7)" "rejected 20"
is "refused: a request of the node itself" "$(hostile $READ,src=2)" "rejected 20"
is "refused: a request from another address" "$(hostile $READ,from=9)" "rejected 28"
is "refused: reads and blocks" "$(hostile dial,flags=72,table=1)" "rejected 20"
is "500 wrong requests in a row" "$(hostile flood,n=500,flags=64,table=9)" "500 rejected 20"
wrong_page "the length of another row" "$(reader $READ give,len=8192 gone)"
wrong_page "a huge length" "$(reader $READ give,len=0xffffffffffffffff gone)"
is "set-up: gone after the answer" "$(reader $READ hangup)" "up|yes"
is "a correct request is accepted after all this" "$(reader $READ setup $CELLS)" \
	"up|up|success $ROW2"

# The other direction: the node dials.
FROM=9
set_view 9 || bail "a view in which the node dials is set"
is "refused: a request to the node that dials" "$(hostile $READ)" "rejected 22"
LURE=lure,flags=64,table=1
for bad in nodata magic version cluster src=5 dst=5 table=2; do
	is "an answer that is wrong: $bad" "$(hostile "lure,$bad,flags=64,table=1" gone)" "up|yes"
done
is "an answer that lets the node read nothing" "$(hostile $LURE,depth=0 gone)" "up|yes"
is "an answer that wants more reads than there are" "$(hostile $LURE,depth=16 gone)" "up|yes"
is "an answer that wants reads of a row" "$(hostile lure,depth=2 gone)" "up|yes"
wrong_page "the length of another row, the node dials" "$(hostile $LURE give,len=8192 gone)"
is "a correct answer is accepted after all this" "$(hostile $LURE setup $CELLS)" \
	"up|up|success $ROW2"
FROM=1

# ---- a peer whose memory is read ----------------------------------------------

# serve DESCRIPTION ROW STEP...: the liar serves these cells until node 2 has read. ROW: what the
# node then has of it, or nothing, if that does not matter.
serve()
{
	local desc want

	desc=$1
	want=$2
	shift 2
	set_view 1 || bail "a view with tables is set"
	later $READ "$@" mark=/tmp/up until=/tmp/on
	table-rows -n 2 -t 1 -r 300 -s "${WAIT:-60}" >/tmp/rows
	[ -z "$want" ] || is "$desc" "$(the_row)" "$want"
	lied_to "$desc"
	: >/tmp/on
	wait $later_pid
}

serve "correct cells" "6 6 6 6 6 6 6 6" cells,v=6 setup
serve "cells without seals" "0 0 0 0 0 0 0 0" cells,v=6,bad setup
serve "no bit of the cells is 0" "0 0 0 0 0 0 0 0" cells,ones setup
serve "the highest version" "18446744073709551615 18446744073709551615 18446744073709551615 \
18446744073709551615 18446744073709551615 18446744073709551615 18446744073709551615 \
18446744073709551615" cells,v=0xffffffffffffffff setup
serve "cells that change all the time" "" setup churn,ms=2000
WAIT=1
serve "a key that is none" "" give,key=1 take
serve "a peer that does not answer" "" cells,v=6 setup mute
WAIT=

set_view 1 || bail "a view with tables is set"
later $READ cells,v=6 setup mark=/tmp/up until=/tmp/on cells,v=3 mark=/tmp/low until=/tmp/end
table-rows -n 2 -t 1 >/tmp/rows
is "a version is there" "$(the_row)" "6 6 6 6 6 6 6 6"
rm -f /tmp/low /tmp/end
: >/tmp/on
check "lower versions are served" wait_until 30 test -e /tmp/low
table-rows -n 2 -t 1 >/tmp/rows
is "no version goes back" "$(the_row)" "6 6 6 6 6 6 6 6"
: >/tmp/end
wait $later_pid

# An engine that nobody asks for reads must sleep, although the peer does not.
set_view 1 || bail "a view with tables is set"
later $READ setup churn,ms=1000 mark=/tmp/up until=/tmp/on
passes=$(engine_stat 2 passes)
sleep 2
check "an engine sleeps when nobody reads" test $(($(engine_stat 2 passes) - passes)) -lt 1000
: >/tmp/on
wait $later_pid

# ---- the end of rights ----------------------------------------------------------

set_view 1 || bail "a view with tables is set"
later $READ setup $CELLS mark=/tmp/up until=/tmp/on read gone || bail "a peer reads"
check "the view is removed" spindle-ctl view del node 2
let_on "no read after the view"

set_view 1 || bail "a view with tables is set"
later $READ setup $CELLS mark=/tmp/up until=/tmp/on read gone || bail "a peer reads"
is "its connection for rows is lost" "$(hostile dial setup joined hangup)" "up|up|yes|yes"
told "the table ends" "subgroup-failed *node 2 *vid $vid *subgroup 1 *error peer-lost"
let_on "no read after the table"
is "no new connection to a table that has ended" \
	"$(hostile $READ)" "rejected 20"
check "node 3 goes" limit 30 spindle-ctl node del id 3
check "node 2 goes" limit 30 spindle-ctl node del id 2

# A live view without a member that shows no sign of life any more.
RULES="timeout-ms 5000 max-nodes 8"
ALL="member 1@10.0.0.1:5001 member 2@10.0.0.1:5002 member 3@10.0.0.1:5003"
TABLES="subgroup 4 window 8 max-msg 256 ring 4096 table 1 cells 8 mode read"
for i in 2 3; do
	check "node $i is added" spindle-ctl node add id $i addr 10.0.0.1 port 500$i visibility poll
	# shellcheck disable=SC2086
	check "node $i has a live view" \
		spindle-ctl view set node $i vid 1 live insecure $RULES $ALL $TABLES
done
view="live vid 1 $RULES $ALL $TABLES"
for i in 2 3; do
	rm -f /tmp/quiet.$i
	(TO=$i hostile dial setup joined beat,ms=8000 mark=/tmp/quiet.$i gone >/tmp/liar.$i) &
	liars="${liars:-} $!"
done
check "it begins" wait_until 60 sg_active 1 2 3
table-rows -n 2 -t 1 -p 7 -s 0 >/dev/null 2>&1
later $READ setup $CELLS mark=/tmp/up until=/tmp/on read gone || bail "a peer reads"
check "it shows no life any more" wait_until 60 test -e /tmp/quiet.2
check "the others go on without it" wait_until 60 in_view 2 2 3
let_on "no read of a node that is no member"
is "no new connection of it" "$(hostile $READ)" "rejected 20"
# shellcheck disable=SC2086
wait $liars

# ---- keys -------------------------------------------------------------------------

umask 077
echo "a key of thirty-two bytes, or so." >/tmp/key
for i in 2 3; do
	spindle-ctl node del id $i
	check "node $i has a key" spindle-ctl node add id $i addr 10.0.0.1 port 500$i \
		visibility poll key-file /tmp/key
done
set_view 1 || bail "a view with tables is set"
is "refused: no key" "$(hostile $READ)" "rejected 27"
HOSTILE_KEY=/tmp/key
is "refused: a tag that is one bit off" "$(hostile $READ,tag=bad)" "rejected 27"
is "no rights without a proof" "$(reader $READ setup,proof=none)" "up|no rights"
is "no rights with a wrong proof" "$(reader $READ setup,proof=bad)" "up|no rights"
is "a request with the key is accepted" "$(reader $READ,keep=/tmp/hello setup $CELLS)" \
	"up|up|success $ROW2"
is "refused: the same request" "$(reader $READ,again=/tmp/hello)" "rejected 29"
is "a connection is lost" "$(reader $READ setup write gone)" "up|up|remote access error|yes"
is "refused: the same request, of a connection that was replaced" \
	"$(reader $READ,again=/tmp/hello)" "rejected 29"
is "a later request is accepted" "$(reader $READ setup $CELLS)" "up|up|success $ROW2"
HOSTILE_KEY=

for i in 2 3; do
	check "node $i is removed" limit 30 spindle-ctl node del id $i
done
is "no memory region is left" "$(kernel_keys)" ""
listen_out
check "module goes" limit 60 rmmod spindle
finish
