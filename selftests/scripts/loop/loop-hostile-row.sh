#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Hostile peers: writes of a connected peer. The peer can reach only its own row. Values that no
# correct member writes end the connection and the subgroup, with PEER_PROTOCOL. Garbage and floods
# end in one of both. Each failing case comes after a case that shows that the same correct steps
# work.
# vm: timeout=300 hostile
. ./guest-lib.sh
. ./lib-loop.sh
. ./lib-hostile.sh

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
	told "the peer loses the connection" \
		"peer-down *node 2 *peer 1 *error peer-lost"
	told "the subgroup fails with the connection" \
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
	told "the peer is blamed" \
		"peer-down *node 2 *peer 1 *error peer-protocol"
	told "the subgroup ends" \
		"subgroup-failed *node 2 *vid $vid *subgroup 1 *error peer-protocol"
}

check "module loads" loop_start
listen_in
check "a victim is added" spindle-ctl node add id 2 addr 10.0.0.1 port 5002 visibility poll

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
outside "the key of another chunk" "remote access error" write,foreign
outside "across two chunks" "remote access error" write,off=0x1ffffc
fresh
is "rights are keys and sizes, and no address" "$(hostile dial give take)" \
	"up|1 success|3 chunks of 2048 KiB"

# Devices that register fewer pages at once: on the node's side, on the peer's, on both.
for pages in 511 128; do
	echo $pages >/sys/module/spindle/parameters/fast_reg_pages
	kib=$((pages == 128 ? 512 : 1024))
	fresh
	is "chunks of a device with $pages pages" "$(hostile dial give take)" \
		"up|1 success|$((4096 / kib + 1)) chunks of $kib KiB"
	for shift in 19 20 21; do
		fresh
		is "the peer's of 2^$shift bytes" \
			"$(hostile dial setup,shift=$shift write,off=0x80000,len=64 \
				write,off=-64,end,len=64 block,sent=2 await,received=1)" \
			"up|up|success|success|success|there"
	done
	outside "the key of another chunk" "remote access error" write,foreign
	outside "across two chunks" "remote access error" write,off=$((kib * 1024 - 4))
done
echo 127 >/sys/module/spindle/parameters/fast_reg_pages
says 1 "registers less than 512 KiB" node add id 3 addr 10.0.0.1 port 5003
echo 0 >/sys/module/spindle/parameters/fast_reg_pages
RING=4096

# ---- contents of the row ---------------------------------------------------------

broken "rounds go back" block,sent=2 await,received=1 block,sent=1
broken "rounds beyond all bounds" block,sent=-1
broken "more messages than rounds" block,sent=1,slots=2
broken "more messages than the window" block,sent=9,slots=9
broken "delivered is above received" block,delivered=1
broken "received is above the sent rounds" block,received=5
broken "received is beyond all bounds" block,received=-1
broken "received goes back" hdr,len=1 block,sent=1,slots=1 await,received=1 \
	block,sent=1,slots=1,received=1 await,delivered=1 block,sent=1,slots=1
broken "a guard without a header" block,sent=1,slots=1
broken "a header of another lap" hdr,word=9 block,sent=1,slots=1
broken "a header of an undecided round" hdr,round=1 block,sent=1,slots=1
broken "two headers of one round" hdr hdr,slot=1 block,sent=2,slots=2
broken "a message longer than the limit" hdr,len=513 block,sent=1,slots=1
broken "a seal that stays wrong" block,sent=1,seal=bad
broken "a seal of the node that stays wrong" node,sleep=1,seal=bad
broken "express: more messages than the window" express,sent=9,slots=9,len=64
broken "express: a message without its predecessor" express,sent=2,slots=2,round=1
broken "express: an undecided round" express,sent=1,slots=1,round=1
broken "express: rounds beyond all bounds" express,sent=-1,slots=1
broken "express: rounds go back" express,sent=2,slots=1,len=5 await,received=1 \
	express,sent=1,slots=2,round=1
broken "express: a message longer than its place" express,sent=1,slots=1,says=129
broken "express: bytes that never match the hash" express,sent=1,slots=1,len=64,mix=bad
WORDS="senders 2"
broken "rounds of a member that does not send" block,sent=1
WORDS=
fresh
is "other members follow half the way to the last round" \
	"$(hostile dial setup hdr,len=1,round=0xffffffffffffff \
		block,sent=0x100000000000000,slots=1 await,sent=0x80000000000000)" \
	"up|up|success|success|there"
fresh
is "no member follows the most rounds without a message" \
	"$(hostile dial setup block,sent=0x100000000000000 await,received=1 await,sent=1,ms=3000)" \
	"up|up|success|there|not there|# await: sent 0 received 1 delivered 0 slots 0"
fresh
is "a block of no subgroup has no effect" \
	"$(hostile dial setup write,off=640,len=64,imm=0x12000000 block,sent=2 await,received=1)" \
	"up|up|success|success|there"

# Where the bytes are is the sender's business, but they are inside its ring: a reader
# that copies gets 512 bytes from there, wrapped, and the checker finds them wrong.
fresh
limit 60 mcast-load -n 2 -g 1 -s one -c 1 -l 1-9 -C >/tmp/load.out 2>&1 &
load_pid=$!
check "a reader waits" wait_until 30 sh -c "spindle-ctl subgroup show node 2 | grep -q ' 1  *0'"
is "an extent beyond the ring is delivered" \
	"$(hostile dial setup hdr,unit=0xffffffff,len=512 block,sent=1,slots=1 await,received=1 \
		block,sent=1,slots=1,received=1 await,delivered=1)" \
	"up|up|success|success|there|success|there"
wait "$load_pid"
check "the reader gets the bytes of the ring" grep -q "length 512" /tmp/load.out

fresh
limit 60 mcast-load -n 2 -g 1 -s one -c 1 -l 1-9 -C >/tmp/load.out 2>&1 &
load_pid=$!
check "a reader waits" wait_until 30 sh -c "spindle-ctl subgroup show node 2 | grep -q ' 1  *0'"
is "an extent beyond the ring by express" \
	"$(hostile dial setup express,unit=0xffffffff,len=100,sent=1,slots=1 await,received=1 \
		block,sent=1,slots=1,received=1 await,delivered=1)" \
	"up|up|success|there|success|there"
wait "$load_pid"
check "the reader gets the bytes of the place" grep -q "length 100" /tmp/load.out

# ---- garbage and floods -----------------------------------------------------

for seed in 1 2 3 4 5; do
	fresh
	hostile dial setup "garbage,n=150,seed=$seed" imms,n=100 \
		"garbage,n=150,seed=1$seed" | sed 's/^/# /'
	check "view del after garbage $seed" limit 30 spindle-ctl view del node 2
done
check "the node is removed" limit 30 spindle-ctl node del id 2

# Guards that are believed by completion: garbage there, too. And an engine that has
# nothing to do must sleep, although a member that does not send rings with numbers.
check "a victim that waits for completions is added" \
	spindle-ctl node add id 2 addr 10.0.0.1 port 5002 visibility imm
for seed in 6 7; do
	fresh
	hostile dial setup "garbage,n=150,seed=$seed" imms,n=300 | sed 's/^/# /'
done
fresh senders 2
hostile_bg dial setup imms,n=1,v=5
passes=$(engine_stat 2 passes)
sleep 2
check "an engine sleeps after a doorbell for no subgroup" \
	test $(($(engine_stat 2 passes) - passes)) -lt 1000
let_go

check "the node is removed" limit 30 spindle-ctl node del id 2
is "no memory region is left" "$(kernel_keys)" ""
listen_out
check "module goes" limit 60 rmmod spindle
finish
