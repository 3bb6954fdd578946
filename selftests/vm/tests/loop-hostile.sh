#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Peers that do not keep to the protocol (see selftests/progs/hostile-peer.c). Node 1
# is always the hostile one; it is a member of the view and has the lowest id, so that
# it dials. What has to hold, whatever it does:
#	- a request that is wrong is refused with the code that says why, and counted;
#	- a set-up that goes wrong leaves the node waiting for a right one;
#	- the peer can reach its own row and nothing else;
#	- values that no correct member writes end the connection and the subgroups that
#	  are shared with it, with PEER_PROTOCOL, and nothing beyond them;
#	- view, node and module can be removed at any time; the kernel does not complain.
# Every case that is to fail comes after one that shows that the same steps, done
# right, work.
# vm: timeout=300
. ./guest-lib.sh
. ./lib-loop.sh

EV=/tmp/events
vid=0
view=

# fresh WORD...: the next view of nodes 1 and 2 with one subgroup, on node 2.
fresh()
{
	vid=$((vid + 1))
	view="vid $vid member 1@10.0.0.1:5001 member 2@10.0.0.1:5002"
	view="$view subgroup 1 window 8 max-msg 512 ring ${RING:-4096} hold 0 $*"
	: >$EV
	# shellcheck disable=SC2086
	limit 30 spindle-ctl view set node 2 $view
}

# hostile STEP...: the lines that the steps print, joined.
# From / to another node than 1 / 2: FROM=, TO=.
hostile()
{
	# shellcheck disable=SC2086
	limit 120 hostile-peer -i "${FROM:-1}" -t "${TO:-2}" $view -- "$@" 2>&1 |
		sed 's/^[a-z]*: //' | paste -s -d '|'
}

# hostile_bg STEP...: does the steps, then stays until let_go.
hostile_bg()
{
	rm -f /tmp/ready /tmp/go
	# shellcheck disable=SC2086
	limit 120 hostile-peer -i "${FROM:-1}" -t "${TO:-2}" $view -- "$@" \
		mark=/tmp/ready until=/tmp/go >/tmp/hostile.out 2>&1 &
	hostile_pid=$!
	wait_until 60 test -e /tmp/ready
}

let_go()
{
	: >/tmp/go
	wait "$hostile_pid"
}

engine_stat()
{
	spindle-ctl -j -p stats node "$1" |
		sed -n "s/^ *\"$2\": *\([0-9]*\),*\$/\1/p" | head -n 1
}

event()
{
	grep -q "$*" $EV
}

# refused DESCRIPTION CODE KEYS...: a request with these faults.
refused()
{
	local desc code before

	desc=$1
	code=$2
	shift 2
	before=$(engine_stat "${TO:-2}" refused)
	is "refused: $desc" "$(hostile "dial,$*")" "rejected $code"
	is "and counted" "$(engine_stat "${TO:-2}" refused)" $((before + 1))
}

# setup_fault DESCRIPTION WANT STEP...: afterwards the node waits again, in the same view.
setup_fault()
{
	local desc want

	desc=$1
	want=$2
	shift 2
	is "set-up: $desc" "$(hostile dial "$@")" "up|$want"
}

# outside DESCRIPTION WANT STEP: one work request that must not succeed; it costs the
# connection, and the reason is that of a lost peer.
outside()
{
	local desc want

	desc=$1
	want=$2
	shift 2
	fresh
	is "beyond its rights: $desc" "$(hostile "dial${READS:+,reads=1}" setup joined "$@" gone)" \
		"up|up|yes|$want|yes"
	check "costs the connection" wait_until 30 event \
		"peer-down *node 2 *peer 1 *error peer-lost"
	check "and the subgroup" wait_until 30 event \
		"subgroup-failed *node 2 *vid $vid *subgroup 1 *error peer-lost"
}

# broken DESCRIPTION STEP...: values that no correct member writes.
broken()
{
	local desc got

	desc=$1
	shift
	fresh "${WORDS:-}"
	got=$(hostile dial setup "$@" gone)
	case $got in
	"up|up|"*"|yes") ok "protocol: $desc" ;;
	*)
		not_ok "protocol: $desc"
		diag "have '$got'"
		;;
	esac
	check "is the peer's fault" wait_until 30 event \
		"peer-down *node 2 *peer 1 *error peer-protocol"
	check "and ends the subgroup" wait_until 30 event \
		"subgroup-failed *node 2 *vid $vid *subgroup 1 *error peer-protocol"
}

check "module loads" loop_start
spindle-ctl monitor >>$EV 2>/dev/null &
monitor_pid=$!
check "a victim" spindle-ctl node add id 2 addr 10.0.0.1 port 5002 visibility poll

# ---- requests ---------------------------------------------------------------

fresh
check "the monitor listens" wait_until 30 event "view-install *node 2"
refused "without private data" 16 nodata
refused "short private data" 18 short
refused "garbage" 16 junk
refused "another magic" 16 magic
refused "another version" 17 version
refused "another cluster" 18 cluster
refused "meant for another node" 19 dst=9
refused "of an unknown node" 20 src=7
refused "of the node itself" 20 src=2
refused "another view" 21 digest
check "events say why" event "peer-refused *node 2 *peer 1 *(refused: another cluster)"
: >$EV
before=$(engine_stat 2 refused)
is "500 wrong requests in a row" "$(hostile flood,n=500,junk)" "500 rejected 16"
is "all are counted" "$(engine_stat 2 refused)" $((before + 500))
n=$(grep -c peer-refused $EV)
check "but few events are sent ($n)" test "$n" -ge 1 -a "$n" -lt 100
is "the right request is accepted after all that" \
	"$(hostile dial setup hdr,len=100 block,sent=1,slots=1 await,received=1 \
		block,sent=1,slots=1,received=1 await,delivered=1)" \
	"up|up|success|success|there|success|there"

# ---- set-up -----------------------------------------------------------------

fresh
setup_fault "lengths of another row" "1 success|yes" give,len=4096 gone
setup_fault "huge lengths" "1 success|yes" give,len=0xffffffff gone
setup_fault "half a page" "1 success|yes" give,size=2048 gone
setup_fault "an empty page" "1 success|yes" give,size=0 gone
setup_fault "more than a page" "0 remote operation error|yes" give,size=8192 gone
setup_fault "a doorbell instead" "1 chunks|success|yes" take write,len=0,imm=1 gone
setup_fault "gone after the answer" "yes" hangup
is "set-up: dead after the answer" "$(hostile dial exit)" "up"
is "set-up: no answer to the answer" "$(hostile half)" "answered"
setup_fault "silence" "1 chunks|yes" take gone
is "the node still waits and takes a correct peer" \
	"$(hostile dial setup block,sent=2 await,sent=1)" "up|up|success|there"

fresh
is "a row that cannot be written" "$(hostile dial give,key=1 take gone)" \
	"up|1 success|1 chunks|yes"
check "costs the connection" wait_until 30 event "peer-down *node 2 *peer 1 *error peer-lost"
fresh
is "dead as soon as all is said" "$(hostile dial give exit)" "up|1 success"
fresh
hostile_bg dial
check "view del while a peer is silent" limit 30 spindle-ctl view del node 2
let_go
fresh
hostile_bg half
check "node del while a peer does not confirm" limit 30 spindle-ctl node del id 2
let_go

# The other direction: the node dials. It goes on trying, so each fault gets a call.
FROM=9
vid=$((vid + 1))
view="vid $vid member 2@10.0.0.1:5002 member 9@10.0.0.1:5009 subgroup 1 hold 0"
check "the victim again" spindle-ctl node add id 2 addr 10.0.0.1 port 5002 visibility poll
# shellcheck disable=SC2086
check "a view in which it dials" spindle-ctl view set node 2 $view
is "refused: it has to wait" "$(hostile dial)" "rejected 22"
for bad in nodata magic version cluster digest src=5 dst=5; do
	is "an answer that is wrong: $bad" "$(hostile "lure,$bad" gone)" "up|yes"
done
is "refused without a code" "$(hostile lure,reject=0)" "rejected"
is "refused with a code that nobody knows" "$(hostile lure,reject=0xffffffff)" "rejected"
check "it says so" wait_until 30 sh -c "spindle-ctl stats node 2 | grep -q refused"
is "silence after the answer" "$(hostile lure hangup)" "up|yes"
is "rights of another row" "$(hostile lure give,len=1 gone)" "up|1 success|yes"
is "a correct answer is taken after all that" \
	"$(hostile lure setup block,sent=2 await,sent=2)" "up|up|success|there"
FROM=1
check "view del" limit 30 spindle-ctl view del node 2

# ---- rights -----------------------------------------------------------------

fresh
is "within its rights" "$(hostile dial setup write,off=-8,end write,off=4096,len=4096)" \
	"up|up|success|success"
outside "a byte beyond the row" "remote access error" write,end,len=1
outside "across the end" "remote access error" write,off=-4,end
outside "before the row" "remote access error" write,off=-8
outside "another address" "remote access error" write,addr=0xffff888000001000
outside "the next key" "remote access error" write,near=1
outside "the next memory region" "remote access error" write,near=256
outside "no key" "remote access error" write,key=0
READS=1
outside "a read" "remote invalid request error" read
outside "an atomic" "remote invalid request error" add
READS=
outside "a message" "remote operation error" send,size=8
RING=4194304
fresh
is "within its rights, several chunks" \
	"$(hostile dial setup write,off=0x200000,len=64 write,off=-64,end,len=64)" \
	"up|up|success|success"
outside "the key of another chunk" "remote access error" write,off=8,chunk=1
outside "across two chunks" "remote access error" write,off=0x1ffffc
RING=

# ---- what it writes ---------------------------------------------------------

broken "rounds go back" block,sent=2 await,sent=1 block,sent=1
broken "rounds beyond all bounds" block,sent=-1
broken "more messages than rounds" block,sent=1,slots=2
broken "more messages than the window" block,sent=9,slots=9
broken "delivered what it has not received" block,delivered=1
broken "received what nobody sent" block,received=5
broken "received beyond all bounds" block,received=-1
broken "received goes back" hdr,len=1 block,sent=1,slots=1 await,received=1 \
	block,sent=1,slots=1,received=1 await,delivered=1 block,sent=1,slots=1
broken "a guard without a header" block,sent=1,slots=1
broken "a header of another lap" hdr,word=9 block,sent=1,slots=1
broken "a header of a round that is not decided" hdr,round=1 block,sent=1,slots=1
broken "two headers of one round" hdr hdr,slot=1 block,sent=2,slots=2
broken "a message longer than the limit" hdr,len=513 block,sent=1,slots=1
broken "a seal that stays wrong" block,sent=1,seal=bad
broken "a seal of the node that stays wrong" node,sleep=1,seal=bad
WORDS="senders 2"
broken "rounds of a member that does not send" block,sent=1
WORDS=
fresh
is "as many rounds as can be: others follow half the way" \
	"$(hostile dial setup block,sent=0x100000000000000 await,sent=0x80000000000000)" \
	"up|up|success|there"
fresh
is "a block of no subgroup means nothing" \
	"$(hostile dial setup write,off=640,len=64,imm=0x12000000 block,sent=2 await,sent=1)" \
	"up|up|success|success|there"

# Where the bytes are is the sender's business, but they are inside its ring: a reader
# that copies gets 512 bytes from there, wrapped, and the checker finds them wrong.
fresh
limit 60 mcast-load -n 2 -g 1 -s one -c 1 -l 1-9 -C >/tmp/load.out 2>&1 &
load_pid=$!
check "a reader" wait_until 30 sh -c "spindle-ctl subgroup show node 2 | grep -q ' 1  *0'"
is "an extent beyond the ring" \
	"$(hostile dial setup hdr,unit=0xffffffff,len=512 block,sent=1,slots=1 await,received=1 \
		block,sent=1,slots=1,received=1 await,delivered=1)" \
	"up|up|success|success|there|success|there"
wait "$load_pid"
check "is read as such" grep -q "length 512" /tmp/load.out

# ---- garbage and floods -----------------------------------------------------

for seed in 1 2 3 4 5; do
	fresh
	hostile dial setup "garbage,n=150,seed=$seed" imms,n=100 \
		"garbage,n=150,seed=1$seed" | sed 's/^/# /'
	check "view del after garbage $seed" limit 30 spindle-ctl view del node 2
done
check "node del" limit 30 spindle-ctl node del id 2

# Guards that are believed by completion: garbage there, too. And an engine that has
# nothing to do must sleep, although a member that does not send rings with numbers.
check "a victim that believes completions" \
	spindle-ctl node add id 2 addr 10.0.0.1 port 5002 visibility imm
for seed in 6 7; do
	fresh
	hostile dial setup "garbage,n=150,seed=$seed" imms,n=300 | sed 's/^/# /'
done
fresh senders 2
hostile_bg dial setup imms,n=1,v=5
passes=$(engine_stat 2 passes)
sleep 2
check "an engine sleeps after a doorbell that means nothing" \
	test $(($(engine_stat 2 passes) - passes)) -lt 1000
let_go

# A peer may ask how often it wants to be tried again: for ever is not for it to say.
fresh
hostile_bg dial,retry=7,rnr=7,flags=1 setup mute
limit 60 mcast-load -n 2 -g 1 -s 1 -c 1 -l 1-100 -w 25 >/tmp/load.out 2>&1
check "a peer that never answers is given up, though it asked for patience" \
	grep -q "the connection to a member broke" /tmp/load.out
check "view del" limit 30 spindle-ctl view del node 2
let_go
fresh
hostile_bg dial,retry=6,rnr=6,norecv,flags=1 setup
limit 60 mcast-load -n 2 -g 1 -s 1 -c 1 -l 1-100 -w 25 >/tmp/load.out 2>&1
check "a peer that never takes a doorbell is given up" \
	grep -q "the connection to a member broke" /tmp/load.out
let_go
check "node del" limit 30 spindle-ctl node del id 2

# ---- what the others notice -------------------------------------------------

# bystanders: a view of 1 (hostile) to 4; subgroup 1 is shared with it, 2 is not.
bystanders()
{
	local i

	vid=$((vid + 1))
	view="vid $vid"
	for i in 1 2 3 4; do
		view="$view member $i@10.0.0.1:500$i"
	done
	view="$view subgroup 1 members 1,2 hold 0 ring 4096 window 8 max-msg 512"
	view="$view subgroup 2 members 2,3,4 window 16 max-msg 1024"
	: >$EV
	for i in 2 3 4; do
		# shellcheck disable=SC2086
		limit 30 spindle-ctl view set node $i $view || return 1
	done
}

# unharmed DESCRIPTION STEP...: hostile while the others send.
unharmed()
{
	local desc

	desc=$1
	shift
	limit 100 mcast-load -n 2-4 -g 2 -c 400 -l 1-1000 -w 60 >/tmp/load.out 2>&1 &
	load_pid=$!
	diag "$(hostile dial setup "$@" gone)"
	wait_until 30 event "subgroup-failed *node 2 *subgroup 1" ||
		diag "subgroup 1 did not fail"
	if wait "$load_pid"; then
		ok "others go on: $desc"
	else
		not_ok "others go on: $desc"
		sed 's/^/#   /' /tmp/load.out
	fi
}

# The keys of all memory regions of the kernel.
kernel_keys()
{
	rdma -d resource show mr |
		sed -n 's/.*rkey \(0x[0-9a-f]*\) .*comm \[spindle\].*/\1/p'
}

for i in 2 3 4; do
	spindle-ctl node add id $i addr 10.0.0.1 port 500$i visibility imm
done
check "three nodes with a hostile one" bystanders
check "the others work without it" limit 60 mcast-load -n 2-4 -g 2 -c 10

# Duplicates: the real one keeps its connection, and how it wants to be told.
is "refused: a second node 3 (busy)" "$(FROM=3 TO=4 hostile flood,n=20)" "20 rejected 1"
check "the event says so" wait_until 30 event "peer-refused *node 4 *peer 3 *busy"
is "refused: node 4 dials node 3" "$(FROM=4 TO=3 hostile flood,n=5)" "5 rejected 22"
check "the real nodes still understand each other" \
	limit 60 mcast-load -n 2-4 -g 2 -c 20 -w 30

unharmed "rounds go back" block,sent=2 await,sent=1 block,sent=1
bystanders
key=$(kernel_keys | tail -n 1)
unharmed "a key of another connection ($key)" "write,key=$key"
check "the key did not open it" event "peer-down *node 2 *peer 1 *error peer-lost"
bystanders
unharmed "garbage" garbage,n=300,seed=8 hangup

# soft-RoCE does not look whose key it is when a message asks to invalidate it (IBTA
# o10-37.2.17 forbids that), and nobody else can: connections are lost by it. Not more.
bystanders
limit 60 mcast-load -n 2-4 -g 2 -c 5
steps=
for key in $(kernel_keys); do
	steps="$steps send,inv=$key"
done
# shellcheck disable=SC2086
diag "$(hostile dial setup $steps)"
check "invalidated keys cost connections at most" bystanders
check "which the next view makes anew" limit 60 mcast-load -n 2-4 -g 2 -c 20

for i in 2 3 4; do
	check "node del" limit 30 spindle-ctl node del id $i
done
is "no memory region is left" "$(kernel_keys)" ""
check "module goes" limit 60 rmmod spindle
kill "$monitor_pid" 2>/dev/null
finish
