#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A group with logs begins again in a later era: at a position, behind views of earlier eras. Nothing
# is durable before majorities of these views have the record of the first view.
# vm: timeout=300 uml
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

A=10.0.0.1
HEX=000102030405060708090a0b0c0d0e0f
loggers=
said=/tmp/logger.said

# begins N LAST WORD...: node N begins view 57 of nodes 1 to LAST
begins()
{
	local i n members

	n=$1
	members=
	for i in $(seq "$2"); do
		members="$members member $i@$A:$((5000 + i))"
	done
	shift 2
	# shellcheck disable=SC2086
	spindle-ctl view set node "$n" vid 57 live insecure timeout-ms 5000 lineage $HEX/1 \
		$members "$@"
}

# all_begin LAST WORD...
all_begin()
{
	local i

	for i in $(seq "$1"); do
		begins "$i" "$@" || return 1
	done
}

# logger_goes NODE_SUBGROUP: the logger ends, if there is one
logger_goes()
{
	local pid

	eval "pid=\${logger_$1:-}"
	[ -n "$pid" ] || return 0
	kill "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	unset "logger_$1"
}

# logs NODE SUBGROUP LSN [RECORD]: a logger, in place of the last one. $said has its words. Not for
# check, which has a shell of its own.
logs()
{
	logger_goes "$1_$2"
	fake-logger "$@" >"$said" 2>&1 &
	eval "logger_$1_$2=$!"
	loggers="$loggers $1_$2"
	wait_until 30 grep -q begins "$said" && return 0
	cat "$said"
	return 1
}

# none_logs: all loggers go
none_logs()
{
	local i

	for i in $loggers; do
		logger_goes "$i"
	done
	loggers=
}

# shows NODE SUBGROUP TEXT: does its JSON have this?
shows()
{
	spindle-ctl -j subgroup show node "$1" id "$2" | grep -q -- "$3"
}

# have_record VID N NODE SUBGROUP: so many logs have the record of the view, as the node knows
have_record()
{
	[ "$(spindle-ctl -j subgroup show node "$3" id "$4" | grep -o "\"record\":$1," |
		wc -l)" = "$2" ]
}

# number_is NODE SUBGROUP NAME N
number_is()
{
	[ "$(number_of "$1" "$2" "$3")" = "$4" ]
}

# established NODE SUBGROUP yes|no
established()
{
	local want=true

	[ "$3" = yes ] || want=false
	shows "$1" "$2" "\"established\":$want"
}

# all_durable SUBGROUP N NODE...: do these nodes know so?
all_durable()
{
	local sg n i

	sg=$1
	n=$2
	shift 2
	for i in "$@"; do
		number_is "$i" "$sg" durable "$n" || return 1
	done
}

# refused: has a node reported that another one has another view?
refused()
{
	spindle-ctl stats | grep -q 'have different views'
}

check "module loads" loop_start
check "four nodes" loop_nodes 4

# What the kernel does not take.
says 1 'a range needs a lineage and an era above 0' view set node 1 vid 57 live insecure \
	member 1@$A:5001 subgroup 1 log 1 range 1,2,3
says 1 'a range needs a lineage and an era above 0' view set node 1 vid 57 live insecure \
	lineage $HEX member 1@$A:5001 subgroup 1 log 1 range 1,2,3
says 1 'a node is twice in a view of a range' view set node 1 vid 57 live insecure \
	lineage $HEX/1 member 1@$A:5001 subgroup 1 log 1 range 1,2,1
says 1 'has a member in the first view' view set node 1 vid 57 live insecure \
	lineage $HEX/1 member 1@$A:5001 subgroup 1 log 1 members 2 range 1,2,3
check "no node is in a view" sh -c '! spindle-ctl -j status | grep -q vid'

# Other ranges, and other positions.
check "node 1 begins" begins 1 2 subgroup 1 log 1 lsn 5000 range 1,2,3
check "node 2 begins with another range" begins 2 2 subgroup 1 log 1 lsn 5000 range 1,2,4
check "they refuse each other" wait_until 60 refused
is "no view has formed" "$(live_word 1 state)" forming
check "node 2 gives up" spindle-ctl view del node 2
check "node 2 begins with no range" begins 2 2 subgroup 1 log 1 lsn 5000
is "no view has formed again" "$(live_word 2 state)" forming
says 1 'in a live view already' view set node 2 vid 57 live insecure timeout-ms 5000 \
	lineage $HEX/1 member 1@$A:5001 member 2@$A:5002 subgroup 1 log 1 lsn 5000 range 1,2,3
check "node 2 gives up again" spindle-ctl view del node 2
check "node 2 begins at another position" begins 2 2 subgroup 1 log 1 lsn 5001 range 1,2,3
sleep 1
is "no view has formed any time" "$(live_word 1 state)" forming
check "node 2 gives up for the last time" spindle-ctl view del node 2
check "node 2 begins with the same range" begins 2 2 subgroup 1 log 1 lsn 5000 range 3,1,2
check "both nodes are in the view" wait_until 60 in_view 57 1 2
check "the same view again changes nothing" begins 1 2 subgroup 1 log 1 lsn 5000 range 1,2,3
says 1 'in a live view already' view set node 1 vid 57 live insecure timeout-ms 5000 \
	lineage $HEX/1 member 1@$A:5001 member 2@$A:5002 subgroup 1 log 1 lsn 5000 range 1,2
for i in 1 2; do
	check "node $i goes back" spindle-ctl view del node $i
done

# Node 1 begins alone, after it has asked another one.
check "node 1 asks, and begins" begins 1 1 contact $A:5002 subgroup 1 log 1 lsn 7 range 1,2,3
check "node 1 is in its view" wait_until 60 in_view 57 1
logs 1 1 7 57
is "it has a logger" $? 0
check "it has its record" wait_until 30 have_record 57 1 1 1
check "it is no majority of the range" established 1 1 no
none_logs
check "node 1 leaves its view" spindle-ctl view del node 1

# Era 1, at position 5000.
check "three nodes begin" all_begin 3 \
	subgroup 1 max-msg 64 hold 0 log 1 deliver durable lsn 5000 range 1,2,3 range 2,3,4 \
	subgroup 2 max-msg 64 hold 0 log 1 ack majority lsn 300 range 3,4,5 \
	subgroup 3 max-msg 64 hold 0 log 1
check "three nodes are in view 57" wait_until 60 in_view 57 1 2 3
for i in 1 2 3; do
	is "node $i begins at position 5000" "$(number_of $i 1 lsn)" 5000
done
check "an empty log is refused" sh -c \
	"! spindle-logd -d /tmp/new -S 1 -P none 3 1 2>/tmp/new.err && grep -q 'is in front' /tmp/new.err"
read_at 1 1 /tmp/gated
check "node 1 has a reader" wait_until 30 readers_are 1 1
for i in 1 2 3; do
	logs $i 1 5000
	is "node $i has a logger whose log ends at 5000" $? 0
	check "its subgroup had views before" grep -q 'begins 5000 first 0' "$said"
done
check "node 1 sends" send_lines 1 1 10
check "all logs have that" wait_until 30 \
	shows 3 1 '"persisted":5010.*"persisted":5010.*"persisted":5010'
check "nothing is durable without records" all_durable 1 0 1 2 3
logs 1 1 5010 57
is "node 1 has its record" $? 0
logs 2 1 5010 57
is "node 2 has its record" $? 0
check "node 3 knows that" wait_until 30 have_record 57 2 3 1
check "that is a majority of the view, and of the first one of the range" established 3 1 no
check "and not of the last one, so nothing is durable" all_durable 1 0 1 2 3
check "the reader has nothing" test ! -s /tmp/gated
logs 3 1 5010 57
is "node 3 has its record" $? 0
check "all is durable" wait_until 30 all_durable 1 5010 1 2 3
check "the view is established" established 1 1 yes
check "the reader has all" wait_until 30 has_lines /tmp/gated 10
check "its positions begin at 5000" counts /tmp/gated 5000
check "node 2 sends" send_lines 2 1 5
check "that is durable" wait_until 30 all_durable 1 5015 1 2 3

# A subgroup without a range, beside them.
logs 1 3 0 57
is "node 1 has a log of subgroup 3" $? 0
check "it had no view before" grep -q 'begins 0 first 1' "$said"
logs 2 3 0 57
is "node 2 has one" $? 0
check "two records are enough" wait_until 30 established 3 3 yes

# Node 4 joins, and is in a view of the range.
for i in 1 2 3; do
	logs $i 2 300 57
	is "node $i has a log of subgroup 2" $? 0
done
check "node 2 sends in subgroup 2" send_lines 2 2 7
check "all logs have it" wait_until 30 \
	shows 1 2 '"persisted":307.*"persisted":307.*"persisted":307'
check "all records of the view are there" wait_until 30 have_record 57 3 1 2
check "node 3 alone is no majority of the range" established 1 2 no
check "nothing is durable in subgroup 2" all_durable 2 0 1 2 3
check "node 4 joins" spindle-ctl node join id 4 insecure contact $A:5001 timeout 60
check "four nodes are in view 58" wait_until 60 in_view 58 1 2 3 4
is "node 4 knows the position" "$(number_of 4 2 lsn)" 307
for i in 1 2 3; do
	logs $i 2 307 58
	is "node $i has the record of view 58" $? 0
done
check "node 4 sees that" wait_until 30 have_record 58 3 4 2
check "that is not enough" established 4 2 no
logs 4 2 307 58
is "node 4 has its record" $? 0
check "the view of four is established" wait_until 30 established 4 2 yes
check "all of subgroup 2 is durable" wait_until 30 all_durable 2 307 1 2 3 4
check "node 4 sends in subgroup 2" send_lines 4 2 3
check "that is durable, too" wait_until 30 all_durable 2 310 1 2 3 4

none_logs
check "nodes go" loop_del 4
check "module goes" limit 60 rmmod spindle
finish
