#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Techniques are switched on and off, budgets and silence changed at random, at each member
# separately and while messages flow. Order, content and progress stay as promised, with any
# combination and any messages under way. Nodes, visibility of guards, rings and senders are random,
# too. The last part has all techniques and nulls off all the time. There all members have to send
# equally many messages.
#
# A round follows from its seed, which is printed; SEEDS="7 8" in the environment takes
# these instead of two that are always tried and one that is new.
# vm: timeout=300
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh

stop=/tmp/stop

# pick VARIABLE WORD...: one of the words, at random.
pick()
{
	local pick_var

	pick_var=$1
	shift
	rng=$(((rng * 1103515245 + 12345) % 2147483648))
	shift $((rng / 65536 % $#))
	eval "$pick_var=\$1"
}

# nodes N HOW ENGINE: node 1 uses this visibility of guards. The others alternate if HOW is mixed.
# There is one engine for all nodes, or one for each.
nodes()
{
	local i how

	for i in $(seq "$1"); do
		how=$2
		[ "$how" != mixed ] || how=$([ $((i % 2)) = 0 ] && echo imm || echo poll)
		spindle-ctl node add id "$i" addr 10.0.0.1 port $((5000 + i)) \
			visibility "$how" engine $((i * $3)) || return 1
	done
}

# Rings of slots of a fixed size at some of them: no process may be attached for that.
pack_some()
{
	local i

	for i in $(seq "$1"); do
		pick word on off
		# shellcheck disable=SC2154 # pick sets it
		spindle-ctl subgroup set node "$i" id 1 packed "$word" || return 1
	done
}

active()
{
	wait_until 60 all_active "$1"
}

# acked N: have all members told all others that nothing is held any more?
acked()
{
	local i

	for i in $(seq "$1"); do
		[ "$(loop_stat "$i" 1 free)" = "$(loop_stat "$i" 1 sent)" ] || return 1
	done
}

# under_change MEMBERS SEED RETUNE-OPTION LOAD-OPTION...: messages flow while techniques
# change. The retuner has to have changed something, or this was no test.
under_change()
{
	local n seed option retune

	n=$1
	seed=$2
	option=$3
	shift 3
	rm -f "$stop"
	# shellcheck disable=SC2086 # an option or none
	technique retune -n "1-$n" -g 1 -S "$seed" -f "$stop" $option >/tmp/retune 2>&1 &
	retune=$!
	check "messages flow under changes: $*" limit 100 mcast-load -n "1-$n" -S "$seed" -w 60 "$@"
	touch "$stop"
	tap_wait "techniques change" "$retune" /tmp/retune
	# A change wakes the engine, and so could hide a missing wake-up.
	check "messages flow with the last settings" limit 100 mcast-load -n "1-$n" -w 60 "$@" -c 30
	check "all messages are acknowledged" wait_until 30 acked "$n"
}

# round SEED: a world, messages, and all of it away again.
# shellcheck disable=SC2154
round()
{
	local seed

	seed=$1
	# Seeds that are alike begin alike no longer.
	rng=$((seed * 2654435761 % 2147483648))
	pick n 2 3 4 5
	pick how poll imm mixed
	pick engines 0 1
	pick window 1 4 16 128
	pick max 64 500 3000
	pick mode ordered ordered unordered
	pick senders all all half one
	pick copy "" -C
	pick ahead "" -R
	diag "seed $seed: $n nodes, $how, engines $engines, window $window, up to $max bytes, $mode"
	check "seed $seed: nodes" nodes "$n" "$how" "$engines"
	check "seed $seed: a view is installed" loop_view "$n" 1 \
		subgroup 1 window "$window" max-msg "$max" mode "$mode" subgroup 2 window 8 max-msg "$max"
	check "seed $seed: all subgroups are active" active $((2 * n))
	pack_some "$n" || not_ok "seed $seed: some members pack"
	set -- -s "$senders" -c 100 -l "0-$max"
	[ -z "$copy" ] || set -- "$@" $copy
	[ -z "$ahead" ] || set -- "$@" $ahead
	if [ "$mode" = ordered ]; then
		# Subgroup 2 is left alone: what goes on next to it does not matter.
		under_change "$n" "$seed" "" -g 1,2 "$@"
	else
		under_change "$n" "$seed" "" -g 1 -u "$@"
	fi
	check "seed $seed: all subgroups are still active" all_active $((2 * n))
	check "seed $seed: nodes go" loop_del "$n"
}

check "module loads" loop_start
for seed in ${SEEDS:-36 58 1$(tr -dc 0-9 </dev/urandom | head -c 6)}; do
	round "$seed"
done

# The paper's baseline, and other settings without nulls. No member gives up a round, so all members
# have to send, and equally many messages.
check "three nodes are added" nodes 3 poll 0
check "a view of three nodes is installed" loop_view 3 1 subgroup 1 window 16 max-msg 1000
check "all subgroups are active" active 3
for i in 1 2 3; do
	check "node $i is as in the baseline" spindle-ctl subgroup set "$i" id 1 all off
done
check "messages flow with the baseline" limit 100 mcast-load -n 1-3 -g 1 -c 100 -l 0-1000
check "all messages are acknowledged" wait_until 30 acked 3
under_change 3 1 -z -g 1 -c 100 -l 0-1000
for i in 1 2 3; do
	is "node $i gave up no round" "$(loop_stat $i 1 nulls) $(loop_stat $i 1 silent)" "0 0"
done
check "nodes go" loop_del 3
check "module goes" limit 60 rmmod spindle
finish
