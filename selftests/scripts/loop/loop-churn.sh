#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Churn: nodes leave, are evicted, are removed and join again, one after the other and several
# at once, as a seed says, while messages flow. In the end all logs agree, and nothing is left.
# vm: timeout=600 uml
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

NODES=6
ROUNDS=${ROUNDS:-12}
SEED=${SEED:-$(date +%s)}
diag "seed $SEED"

# dice N: 1..N; the same seed gives the same numbers.
dice()
{
	SEED=$(((SEED * 1103515245 + 12345) % 2147483648))
	result=$((SEED / 65536 % $1 + 1))
}

# active NODE
active()
{
	[ "$(live_word "$1" state)" = active ]
}

# gone NODE: it is no member, and does not want to be one
gone()
{
	case $(live_word "$1" state) in
	"" | stopped) return 0 ;;
	*) return 1 ;;
	esac
}

# some_member: a node that is active, any.
some_member()
{
	local i n

	dice $NODES
	i=$result
	for n in $(seq $NODES); do
		i=$((i % NODES + 1))
		if active $i; then
			result=$i
			return 0
		fi
	done
	return 1
}

members()
{
	local i n

	n=0
	for i in $(seq $NODES); do
		! active "$i" || n=$((n + 1))
	done
	echo $n
}

# add NODE: every other one believes guards only when their completion has come.
add()
{
	how=poll
	[ $(($1 % 2)) = 0 ] || how=imm
	spindle-ctl node add id "$1" addr 10.0.0.1 port $((5000 + $1)) visibility $how
}

# go NODE: it goes, in one way or the other.
go()
{
	dice 3
	case $result in
	1)	spindle-ctl node leave id "$1" ;;
	2)	some_member
		[ "$result" != "$1" ] || return 0
		spindle-ctl node evict id "$result" node "$1" ;;
	3)	spindle-ctl node del id "$1" && add "$1" ;;
	esac
}

# come NODE...: they join, all at once.
come()
{
	local i pids pid rc

	pids=
	rc=0
	for i in "$@"; do
		some_member || return 1
		spindle-ctl node join id "$i" insecure contact 10.0.0.1:$((5000 + result)) &
		pids="$pids $!"
	done
	for pid in $pids; do
		wait "$pid" || rc=1
	done
	return $rc
}

check "module loads" loop_start
for i in $(seq $NODES); do
	check "node $i is added" add "$i"
done
check "all nodes begin a live view" live_view $NODES subgroup 1 window 32 max-msg 256
check "all nodes are in the first view" wait_until 60 in_view 1 1 2 3 4 5 6
for i in $(seq $NODES); do
	load_start "$i" -r 500
done
bad=0
round=0
while [ $round -lt "$ROUNDS" ]; do
	round=$((round + 1))
	if [ "$(members)" -gt 3 ]; then
		dice $NODES
		if active $result; then
			go $result || { bad=1; diag "round $round: node $result does not go"; }
		fi
	fi
	dice 3
	[ $result = 1 ] || continue
	out=
	for i in $(seq $NODES); do
		gone "$i" || continue
		eval "wait_until 20 dead \$load_$i" || diag "the old process of node $i still runs"
		out="$out $i"
	done
	[ -n "$out" ] || continue
	# shellcheck disable=SC2086
	come $out || { bad=1; diag "round $round: not all of $out come"; }
	for i in $out; do
		load_start "$i" -r 500
	done
done
if [ $bad = 0 ]; then ok "$ROUNDS rounds"; else not_ok "$ROUNDS rounds"; fi
diag "views: $(for i in $(seq $NODES); do live_word "$i" vid; done | sort -n | tail -n 1)"
# shellcheck disable=SC2046
check "processes end" load_stop $(seq $NODES)
check "logs agree" loads_agree
diag "$(limit 60 live-check $LOGS/[0-9]*)"
check "nodes go" loop_del $NODES
check "module goes" rmmod spindle
finish
