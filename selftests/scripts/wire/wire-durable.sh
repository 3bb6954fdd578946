#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A life of a guest that ends with its power: a node with a disk and four durable subgroups, of each
# rule one. The host (machines/uml/crash) boots three of them, and kills them again and again.
# vm: crash uml timeout=300
# shellcheck disable=SC2154 # node and nodes come from lib-wire.sh
. ./lib-wire-live.sh
. ./lib-damage.sh

DIR=/var/lib/spindle
SGS="1 2 3 4"
# The host says what this life is: "first", "joins" (the others run), "new" (the disk), "damage".
WORDS=" ${WORDS:-} "

# is_life WORD
is_life()
{
	case $WORDS in
	*" $1 "*) return 0 ;;
	esac
	return 1
}

# describe: how it is, for the host to show if this fails
describe()
{
	status_of "$node"
	spindle-ctl -j subgroup show node "$node" | tr '{' '\n' | sed 's/^/# /' | cut -c 1-300 |
		head -n 60
	tail -n 12 /tmp/logd.err | sed 's/^/# /'
}

# need WHAT COMMAND...: without it there is nothing to go on with
need()
{
	local what

	what=$1
	shift
	check "$what" "$@" && return 0
	describe
	bail "no life without this"
}

# sg_says SUBGROUP TEXT: does its JSON have it?
sg_says()
{
	spindle-ctl -j subgroup show node "$node" id "$1" | grep -q -- "$2"
}

# together: are all nodes in one view, with a logger here, and is each subgroup established?
together()
{
	local g

	has "$node" 1 2 3 || return 1
	for g in $SGS; do
		sg_says "$g" '"comm":"spindle-logd"' && sg_says "$g" '"established":true' || return 1
	done
}

# is_whole SUBGROUP: is all that was delivered durable, and in the log here?
is_whole()
{
	local lsn

	lsn=$(number_of "$node" "$1" lsn)
	[ "$(number_of "$node" "$1" durable)" = "$lsn" ] || return 1
	spindle-ctl log dump $DIR/"$node"/"$1" >/tmp/dump 2>/tmp/dump.err || [ "$lsn" = 0 ] &&
		[ "$(wc -l </tmp/dump)" = "$lsn" ]
}

# has_more SUBGROUP: has its log more than one segment?
has_more()
{
	[ "$(segments $DIR/"$node"/"$1" | wc -l)" -gt 1 ]
}

# both_have_more: do so the logs of the subgroups in which all members count?
both_have_more()
{
	has_more 1 && has_more 2
}

# hurt SUBGROUP: a message that was acknowledged is damaged, and a scan says so
hurt()
{
	damage $DIR/"$node"/"$1" $((LIFE * 7919)) && is_damaged $DIR/"$node"/"$1" &&
		echo "$1" >>/tmp/hurt
}

# hurt_all: this log may be behind the majority of a subgroup, and then it may stay as it is
hurt_all()
{
	hurt 1 && hurt 2 || return 1
	! has_more 3 || hurt 3 || return 1
	! has_more 4 || hurt 4
}

# all_mended: was the damage of each log noticed, and repaired?
all_mended()
{
	local g

	while read -r g; do
		mended "$node" "$g" $DIR/"$node"/"$g" /tmp/logd.err || return 1
	done </tmp/hurt
}

# begin: the first view. All members are given the same.
begin()
{
	spindle-ctl view set node "$node" vid 1 live timeout-ms "$TIMEOUT" \
		member "1@$(place_of 1)" member "2@$(place_of 2)" member "3@$(place_of 3)" \
		subgroup 1 max-msg 256 log 1 \
		subgroup 2 max-msg 256 log 1 deliver durable \
		subgroup 3 max-msg 256 log 1 ack majority \
		subgroup 4 max-msg 256 log 1 ack majority deliver durable
}

# join_others: a node without files has to be told where its group is
join_others()
{
	try_join "$node" $((node % 3 + 1)) $(((node + 1) % 3 + 1))
}

# logd_begins: the process of this node
logd_begins()
{
	spindle-logd -S 1 -K /tmp/key "$node" >/dev/null 2>>/tmp/logd.err &
	logd=$!
}

# logd_falls: it dies under load, and comes back
logd_falls()
{
	kill -KILL "$logd"
	need "spindle-logd dies" wait_until 30 dead "$logd"
	logd_begins
	need "it comes back" wait_until 120 together
	need "it writes other segments" wait_until 120 both_have_more
	rm "$LOGS/kill.$LIFE"
}

# loads: a process for each subgroup. One of two sends and waits, and the other one sends ahead.
# They leave some of the processors to the others.
loads()
{
	local g options

	for g in $SGS; do
		options=
		[ $(((g + LIFE) % 2)) = 0 ] || options=-w
		case $g in
		2 | 4) options="$options -G" ;;
		esac
		# shellcheck disable=SC2086
		durable-load -n "$node" -g "$g" -l "$LIFE" -p 20000 \
			-o "$LOGS/acks-$g.$LIFE" $options 2>>/tmp/load.err &
	done
}

find_logs || bail "a place for logs"
[ "$machine" = uml ] && [ -e /dev/ubda ] || skip_all "this needs the power switch of the host"
umask 077
echo "a key of thirty-two bytes, or so." >/tmp/key
KEY_FILE=/tmp/key
setup_rxe_eth "$(addr_of "$node")" || bail "a card with rxe"
need "module loads" modprobe spindle
mkdir -p $DIR
need "the disk is there" mount -t ext4 /dev/ubda $DIR
! is_life damage || need "its logs are damaged, and scans name that" hurt_all
need "the node is there" wl_node "$node"
! is_life first || need "it begins a view" begin
! is_life new || need "it joins" wait_until 120 join_others
logd_begins
need "all nodes are together" wait_until 120 together
if ! is_life joins; then
	for g in $SGS; do
		need "all of subgroup $g is durable" wait_until 120 is_whole "$g"
		cp /tmp/dump "$LOGS/dump-$g.$LIFE"
	done
fi
! is_life damage || need "the damage was noticed, and is repaired" wait_until 120 all_mended
: >"$LOGS/ready.$LIFE"
need "the host lets the load begin" wait_until 300 test -e "$LOGS/go.$LIFE"
loads
# Until the power goes.
while [ ! -s /tmp/load.err ]; do
	[ ! -e "$LOGS/kill.$LIFE" ] || logd_falls
	usleep 200000
done
sed 's/^/# /' /tmp/load.err
describe
bail "a load has failed"
