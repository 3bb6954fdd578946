#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Hostile peers: requests and set-up. A request that is wrong is refused with the code
# that says why, and counted; a set-up that goes wrong leaves the node waiting for a
# right one; view and node can be removed at any step. What is to fail is shown to work
# when it is done right.
# vm: timeout=300 hostile
. ./guest-lib.sh
. ./lib-loop.sh
. ./lib-hostile.sh

# refused DESCRIPTION CODE KEYS...: a request with these faults.
refused()
{
	local desc code before

	desc=$1
	code=$2
	shift 2
	before=$(engine_stat "${TO:-2}" refused)
	is "refused: $desc" "$(hostile "dial,$*")" "rejected $code"
	is "the refusal is counted" "$(engine_stat "${TO:-2}" refused)" $((before + 1))
}

# taken SAID: what the liar says of its page of rights, if the node has taken it. A page that ends
# the connection may do that before soft-RoCE has acknowledged it.
taken()
{
	echo "$1" | sed -e 's/^up|0 transport retry counter exceeded|/up|1 success|/' \
		-e 's/^up|0 Work Request Flushed Error|/up|1 success|/'
}

# setup_fault DESCRIPTION WANT STEP...: afterwards the node waits again, in the same view.
setup_fault()
{
	local desc want got

	desc=$1
	want=$2
	shift 2
	got=$(hostile dial "$@")
	case $want in
	"1 success|"*) got=$(taken "$got") ;;
	esac
	is "set-up: $desc" "$got" "up|$want"
}

check "module loads" loop_start
listen_in
check "a victim is added" spindle-ctl node add id 2 addr 10.0.0.1 port 5002 visibility poll

# ---- requests ---------------------------------------------------------------

fresh
told "the monitor listens" "view-install *node 2"
refused "a request without private data" 16 nodata
refused "a request with short private data" 18 short
refused "garbage" 16 junk
refused "another magic" 16 magic
refused "another version" 17 version
refused "another cluster" 18 cluster
refused "a request for another node" 19 dst=9
refused "a request of an unknown node" 20 src=7
refused "a request of the node itself" 20 src=2
refused "another view" 21 digest
refused "a knock of a member of a static view" 24 flags=2
check "an event has the reason" event "peer-refused *node 2 *peer 1 *(refused: another cluster)"
: >$EV
before=$(engine_stat 2 refused)
is "500 wrong requests in a row" "$(hostile flood,n=500,junk)" "500 rejected 16"
is "all refusals are counted" "$(engine_stat 2 refused)" $((before + 500))
n=$(grep -c peer-refused $EV)
check "the flood causes few events ($n)" test "$n" -lt 100
n=$(dmesg | grep -c "node 2 of cluster spindle: a stranger: refused: not a spindle peer")
check "the log has few lines ($n)" sh -c "[ $n -ge 1 ] && [ $n -lt 10 ]"
is "a correct request is accepted after all this" \
	"$(hostile dial setup hdr,len=100 block,sent=1,slots=1 await,received=1 \
		block,sent=1,slots=1,received=1 await,delivered=1)" \
	"up|up|success|success|there|success|there"

# ---- set-up -----------------------------------------------------------------

fresh
setup_fault "the length of another row" "1 success|yes" give,len=4096 gone
setup_fault "a huge length" "1 success|yes" give,len=0xffffffffffffffff gone
setup_fault "chunks that no device has" "1 success|yes" give,shift=18 gone
setup_fault "chunks beyond all bounds" "1 success|yes" give,shift=22 gone
setup_fault "chunks that cannot be" "1 success|yes" give,shift=0xffffffff gone
setup_fault "more than rights" "1 success|yes" give,zero=1 gone
setup_fault "half a page" "1 success|yes" give,size=2048 gone
setup_fault "an empty page" "1 success|yes" give,size=0 gone
setup_fault "more than a page" "0 remote operation error|yes" give,size=8192 gone
setup_fault "a doorbell instead" "1 chunks of 2048 KiB|success|yes" take write,len=0,imm=1 gone
setup_fault "gone after the answer" "yes" hangup
is "set-up: dead after the answer" "$(hostile dial exit)" "up"
is "set-up: no answer to the answer" "$(hostile half)" "answered"
setup_fault "silence" "1 chunks of 2048 KiB|yes" take gone
is "the node still waits and takes a correct peer" \
	"$(hostile dial setup block,sent=2 await,received=1)" "up|up|success|there"

fresh
is "a row that cannot be written is set up" "$(taken "$(hostile dial give,key=1 take gone)")" \
	"up|1 success|1 chunks of 2048 KiB|yes"
told "the peer loses the connection" "peer-down *node 2 *peer 1 *error peer-lost"
fresh
is "a peer that dies right after its rights" "$(hostile dial give exit)" "up|1 success"
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
check "the victim is added again" spindle-ctl node add id 2 addr 10.0.0.1 port 5002 visibility poll
# shellcheck disable=SC2086
check "the victim dials in a view" spindle-ctl view set node 2 $view
is "a request to the node that dials is refused" "$(hostile dial)" "rejected 22"
for bad in nodata magic version cluster digest src=5 dst=5; do
	is "an answer that is wrong: $bad" "$(hostile "lure,$bad" gone)" "up|yes"
done
is "a refusal without a code" "$(hostile lure,reject=0)" "rejected"
is "a refusal with an unknown code" "$(hostile lure,reject=0xffffffff)" "rejected"
check "the node reports the refusal" \
	wait_until 30 sh -c "spindle-ctl stats node 2 | grep -q refused"
is "silence after the answer" "$(hostile lure hangup)" "up|yes"
is "rights to another row" "$(hostile lure give,len=1 gone)" "up|1 success|yes"
is "a correct answer is accepted after all this" \
	"$(hostile lure setup hdr,len=1 block,sent=1,slots=1 await,sent=1)" \
	"up|up|success|success|there"
FROM=1
check "the node is removed" limit 30 spindle-ctl node del id 2
is "no memory region is left" "$(kernel_keys)" ""
listen_out
check "module goes" limit 60 rmmod spindle
finish
