#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Large messages of ordered and unordered subgroups, which go by RDMC: alone and between small
# ones, of one sender and of all, in place and copied, around the threshold and the ring's end;
# mcast-load checks every byte and the order, and counters tell which way messages went.
# vm: own
# vm: mem=2048
# vm: timeout=600
. ./guest-lib.sh
. ./lib-loop.sh

# load NODES SUBGROUPS OPTIONS...
load()
{
	local nodes groups

	nodes=$1
	groups=$2
	shift 2
	limit 150 mcast-load -n "$nodes" -g "$groups" -w 100 "$@"
}

# stats NODE SUBGROUP WORD...: counters
stats()
{
	local node sg word list

	node=$1
	sg=$2
	shift 2
	list=
	for word; do
		list="$list $(loop_stat "$node" "$sg" "$word")"
	done
	echo "${list# }"
}

check "module loads" loop_start
check "8 nodes" loop_nodes 8
check "a view of eight nodes is installed" loop_view 8 1 \
	subgroup 1 window 16 max-msg 1048576 ring 4194304 members 1,2,3 \
	subgroup 2 window 8 max-msg 3000000 ring 8388608 members 4,5,6,7 senders 5 \
	subgroup 3 mode unordered window 8 max-msg 524288 ring 2097152 members 1,2,8 \
	subgroup 4 window 8 max-msg 524288 ring 1048576 \
	subgroup 5 window 8 max-msg 1048576 ring 2097152 members 8 \
	subgroup 6 window 4 max-msg 262144 ring 1048576 members 1,2
is "the counters begin at 0" "$(stats 1 1 sent large large_bytes large_waiting)" "0 0 0 0"
check "one large message is delivered" load 1-3 1 -s one -c 1 -l 1000000
is "RDMC sent the large message" "$(stats 1 1 sent large large_bytes)" "1 1 1000000"
check "one sender sends 20 large messages" load 1-3 1 -s one -c 20 -l 262145-1048576 -S 2
is "RDMC sent all of them" "$(stats 1 1 large large_bytes)" "$(stats 1 1 sent sent_bytes)"
is "a receiver counts no sent messages" "$(stats 2 1 sent large large_bytes)" "0 0 0"
check "one sender sends messages just below the threshold" load 1-3 1 -s one -c 10 -l 262144 -S 12
is "RDMC sent none of them" "$(stats 1 1 sent large)" "31 21"
check "one sender sends messages just above the threshold" load 1-3 1 -s one -c 10 -l 262145 -S 13
is "RDMC sent all of them" "$(stats 1 1 sent large)" "41 31"
check "all send large and small messages" load 1-3 1 -s all -c 40 -l 1-1048576 -S 3
check "all send messages around the threshold" load 1-3 1 -s all -c 40 -l 262143-262146 -S 4
check "copied" load 1-3 1 -s all -c 30 -l 1-600000 -S 5 -C
check "receivers read out of order" load 1-3 1 -s all -c 40 -l 1-200000 -S 6 -R
check "one of four sends up to 3 MB" load 4-7 2 -c 15 -l 1000000-3000000 -S 7
check "unordered" load 1,2,8 3 -s all -c 30 -l 1-524288 -u -S 8
check "8 members send in rings of two messages" load 1-8 4 -s all -c 8 -l 1-524288 -S 9
check "one member is alone and sends" load 8 5 -c 20 -l 1-1048576 -S 10
check "three subgroups send at once" load 1-8 1,3,4 -u -c 10 -l 1-500000 -S 11

# ---- another threshold ------------------------------------------------------

# set_large NODE BYTES: of subgroup 1
set_large()
{
	spindle-ctl subgroup set node "$1" id 1 large "$2"
}

# sends WORDS OPTIONS...: node 1 sends; how many messages, and how many by RDMC, are WORDS
sends()
{
	local want sent large

	want=$1
	shift
	sent=$(loop_stat 1 1 sent)
	large=$(loop_stat 1 1 large)
	check "node 1 sends: $*" load 1-3 1 -s one "$@"
	is "  the counters have the messages and those sent by RDMC" \
		"$(($(loop_stat 1 1 sent) - sent)) $(($(loop_stat 1 1 large) - large))" "$want"
}

says 0 '  large 262144  history none  history-fill 0$' subgroup show node 1 id 1 -v
for bytes in 0 4095 1048577 4294967295; do
	says 1 'large is 4096 to 1048576 bytes' subgroup set 1 id 1 silence 5 large $bytes
	is "the refusal names the value" "$(grep -c "at: large $bytes\$" "$out")" 1
done
says 0 ' silence 1024 .* large 262144  history none  history-fill 0$' subgroup show node 1 id 1 -v
says 1 'large is for subgroups with max-msg above 262144' subgroup set 1 id 6 large 4096
is "the refusal names the value" "$(grep -c 'at: large 4096$' "$out")" 1
is "a subgroup without large messages shows no threshold" "$(loop_large 1 6)" ""
check "node 1 gets the smallest threshold" set_large 1 4096
is "node 1 shows its threshold" "$(loop_large 1 1)" 4096
is "node 2 keeps its threshold" "$(loop_large 2 1)" 262144
sends "10 0" -c 10 -l 4096 -S 20
sends "10 10" -c 10 -l 4097 -S 21
check "members with different thresholds send" load 1-3 1 -s all -c 20 -l 5000-200000 -S 22
before=$(loop_stat 1 1 large)
other=$(loop_stat 2 1 large)
check "members with different thresholds send again" load 1-3 1 -s all -c 20 -l 5000-200000 -S 23
is "RDMC sent the messages of node 1" $(($(loop_stat 1 1 large) - before)) 20
is "RDMC sent no messages of node 2" "$(loop_stat 2 1 large)" "$other"
check "node 1 gets the largest threshold" set_large 1 1M
sends "10 0" -c 10 -l 1048576 -S 24
check "node 1 uses slots of a fixed size" spindle-ctl subgroup set 1 id 1 packed off
sends "10 0" -c 10 -l 1-1048576 -S 25
check "node 1 gets a threshold below the slot size" set_large 1 64K
sends "10 10" -c 10 -l 65537-1048576 -S 26
sends "10 0" -c 10 -l 1-65536 -S 27
check "node 1 uses packed slots again" spindle-ctl subgroup set 1 id 1 packed on

# turns FILE: each sender another threshold, again and again, as long as there is FILE
turns()
{
	local i turn

	turn=0
	while [ -e "$1" ]; do
		for i in 1 2 3; do
			set_large $i $((4096 << (turn + i) % 9)) || return 1
		done
		turn=$((turn + 1))
	done
	diag "$turn thresholds of each"
	[ $turn -gt 1 ]
}

for seed in 30 31 32; do
	: >/tmp/turns
	turns /tmp/turns &
	turns=$!
	before=$(stats 1 1 sent large)
	check "thresholds change while messages flow" load 1-3 1 -s all -c 100 -l 1-1048576 -S $seed
	rm /tmp/turns
	rc=0
	wait $turns || rc=$?
	is "  all changes are accepted" $rc 0
	after=$(stats 1 1 sent large)
	# shellcheck disable=SC2086 # two words each
	set -- $before $after
	check "  the ring and RDMC have sent messages" \
		test $2 -lt $4 -a $(($4 - $2)) -lt $(($3 - $1))
done
check "node 1 gets the first threshold back" set_large 1 256K
sends "10 0" -c 10 -l 262144 -S 33

is "no message waits, and no message began again" \
	"$(stats 1 1 large_waiting large_again large_nomem)" "0 0 0"
says 0 "large-bytes  *$(stats 1 1 large_bytes) " stats node 1
check "nodes can be removed" loop_del 8
check "module goes" rmmod spindle
finish
