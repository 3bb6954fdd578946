#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A group whose subgroup has two shards restarts after all its nodes have gone. Each node is in the
# shard whose log it has, each shard goes on behind its own messages, and nothing is lost.
# vm: timeout=900 uml
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh
. ./lib-restart.sh

# in_shard ID NODE...: are these nodes in the shard, with their loggers?
in_shard()
{
	local id i

	id=$1
	shift
	for i in "$@"; do
		spindle-ctl -j subgroup show node "$i" id "$id" |
			grep -q '"comm":"spindle-logd"' || return 1
	done
}

# are_placed NODES1 NODES2: who is in the first shard, and in the second one?
are_placed()
{
	# shellcheck disable=SC2086 # lists
	in_one_view $1 $2 && in_shard 1 $1 && in_shard 2 $2
}

# come_together_in NODES1 NODES2
come_together_in()
{
	local i

	wait_until 120 are_placed "$1" "$2" && return 0
	for i in $1 $2; do
		spindle-ctl status node "$i"
		tail -n 8 "/tmp/logd$i.err"
	done
	return 1
}

# durable_to SHARD LSN NODE...: is all that the shard has delivered durable, up to this position?
durable_to()
{
	local sg lsn i

	sg=$1
	lsn=$2
	shift 2
	for i in "$@"; do
		[ "$(number_of "$i" "$sg" lsn)" = "$lsn" ] &&
			[ "$(number_of "$i" "$sg" durable)" = "$lsn" ] || return 1
	done
}

# sends_in SHARD N NODE...: the first of these sends, and all is durable then
sends_in()
{
	local sg n sent

	sg=$1
	n=$2
	shift 2
	sent=$(($(cat "/tmp/sent$sg") + n))
	send_lines "$1" "$sg" "$n" || return 1
	echo "$sent" >"/tmp/sent$sg"
	wait_until 60 durable_to "$sg" "$sent" "$@" && return 0
	spindle-ctl status node "$1"
	return 1
}

# log_in SHARD NODE: the messages of its log, without view and time
log_in()
{
	spindle-ctl log dump "$DIR/$2/$1" 2>/dev/null | sed 's/ era [0-9]*  vid [0-9]*//'
}

# has_all_in SHARD NODE
has_all_in()
{
	[ "$(log_in "$@" | grep -c '"from ')" = "$(cat "/tmp/sent$1")" ]
}

# agree_in SHARD NODE...: have their logs all messages of the shard, and the same ones?
agree_in()
{
	local sg i

	sg=$1
	shift
	for i in "$@"; do
		wait_until 60 has_all_in "$sg" "$i" || {
			log_in "$sg" "$i" | grep -c '"from '
			tail -n 8 "/tmp/logd$i.err"
			return 1
		}
		log_in "$sg" "$i" >"/tmp/log$i"
		cmp "/tmp/log$1" "/tmp/log$i" || return 1
	done
}

# both_agree NODES1 NODES2: the same of both shards
both_agree()
{
	# shellcheck disable=SC2086 # lists
	agree_in 1 $1 && agree_in 2 $2
}

# both_send NODES1 NODES2: messages pass in both shards
both_send()
{
	# shellcheck disable=SC2086 # lists
	sends_in 1 20 $1 && sends_in 2 10 $2
}

# one_waits NODE...: does the one of these nodes that asks say that it waits for the second shard? The
# restart that all have accepted tells them the members that it had.
one_waits()
{
	local i

	for i in "$@"; do
		status_says "$i" 'subgroup 2: 2 more of these nodes have to be there: [24], [24] ' &&
			return 0
	done
	return 1
}

# wait_for_nodes NODE...
wait_for_nodes()
{
	local i

	wait_until 60 one_waits "$@" && return 0
	for i in "$@"; do
		spindle-ctl status node "$i"
	done
	return 1
}

# adds NODE: a node comes that was not there before
adds()
{
	spindle-ctl node add id "$1" addr 10.0.0.1 port $((5000 + $1)) key-file /tmp/key &&
		limit 60 spindle-ctl node join id "$1" contact 10.0.0.1:5001 timeout 50
}

restart_nodes 4
echo 0 >/tmp/sent1
echo 0 >/tmp/sent2
check "they begin a live view of two shards" \
	live_view 4 subgroup 1 max-msg 256 log 1 shards 2
for i in 1 2 3 4; do
	logd $i
done
check "all are in it, with loggers" wait_until 120 are_placed "1 3" "2 4"
check "messages are durable in the first shard" sends_in 1 50 1 3
check "and in the second one" sends_in 2 30 2 4

# All hosts crash, and start in another order.
check "all nodes crash" crash 1 2 3 4
check "all start again" boot 4 3 2 1
check "each is in its shard" come_together_in "1 3" "2 4"
is "the first shard goes on behind its messages" "$(number_of 1 1 lsn)" 50
is "the second one behind its own" "$(number_of 2 2 lsn)" 30
check "both go on" both_send "1 3" "2 4"
check "no message is lost" both_agree "1 3" "2 4"

# Two nodes more, one in each shard. A majority of each shard is enough then.
for i in 5 6; do
	check "node $i comes" adds $i
	logd $i
done
check "one is in each shard" wait_until 120 are_placed "1 3 5" "2 4 6"
check "they go on" both_send "1 3 5" "2 4 6"
check "all six crash" crash 1 2 3 4 5 6
check "three start" boot 1 3 5
check "they wait for the second shard, and know who was in it" wait_for_nodes 1 3 5
check "two of the others start" boot 4 6
check "both shards are back" come_together_in "1 3 5" "4 6"
check "they go on without the last one" both_send "1 3 5" "4 6"
check "no message is lost" both_agree "1 3 5" "4 6"
check "the last one starts" boot 2
check "it joins the smaller shard, which was its own" come_together_in "1 3 5" "4 6 2"
check "all go on" both_send "1 3 5" "2 4 6"
check "no message is lost, and the late one has caught up" both_agree "1 3 5" "2 4 6"

check "nodes go" crash 1 2 3 4 5 6
check "module goes" limit 60 rmmod spindle
finish
