# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Live views for loop tests: source it after lib-loop.sh.

# Nodes of tests have no key, unless the test says so by INSECURE=
INSECURE=insecure

# live_view N WORDS...: nodes 1..N begin with a live view. Machines are slow now and then, so the
# default is a long timeout.
live_view()
{
	local i n members timeout

	n=$1
	shift
	timeout="timeout-ms 5000"
	case " $* " in
	*" timeout-ms "*) timeout= ;;
	esac
	members=
	for i in $(seq "$n"); do
		members="$members member $i@${LOOP_ADDR:-10.0.0.1}:$((5000 + i))"
	done
	for i in $(seq "$n"); do
		# shellcheck disable=SC2086
		spindle-ctl view set node "$i" vid 1 live $INSECURE $timeout $members \
			"$@" || return 1
	done
}

# live_word NODE NAME: a number or name of a node's status.
live_word()
{
	spindle-ctl -j -p status node "$1" | sed -n "s/^ *\"$2\": *\"*\([^\",]*\)\"*,*\$/\1/p" |
		head -n 1
}

# in_one_view NODE...: are just these in the view of the first, all of them?
in_one_view()
{
	local vid

	vid=$(live_word "$1" vid)
	in_view "$vid" "$@" &&
		[ "$(spindle-ctl -j -p status node "$1" | grep -c '"rank"')" = $# ]
}

# has_guests NODE GUEST...: is each of these joiners a guest of the node, and connected?
has_guests()
{
	local status i

	status=$(spindle-ctl -j status node "$1")
	shift
	for i in "$@"; do
		case $status in
		*"\"id\":$i,\"self\":false,\"joins\":true,\"state\":\"up\""*) ;;
		*) return 1 ;;
		esac
	done
}

# sg_active SUBGROUP NODE...: does the subgroup carry messages at these nodes?
sg_active()
{
	local sg i

	sg=$1
	shift
	for i in "$@"; do
		spindle-ctl -j -p subgroup show node "$i" id "$sg" | grep -q '"state": "active"' ||
			return 1
	done
}

# in_view VID NODE...: have just these nodes installed this view, and is it active?
in_view()
{
	local vid i

	vid=$1
	shift
	for i in "$@"; do
		[ "$(live_word "$i" vid)" = "$vid" ] || return 1
		[ "$(live_word "$i" state)" = active ] || return 1
	done
}

# readers_are NODE N [SUBGROUP]: has subgroup 1, or this one, exactly N readers at the node?
readers_are()
{
	spindle-ctl -j -p subgroup show node "$1" id "${3:-1}" | grep -q "\"readers\": *$2"
}

# has_subgroup NODE SUBGROUP: does the node's view have the subgroup?
has_subgroup()
{
	spindle-ctl -j view show node "$1" | sed 's/.*"subgroups"//' | grep -q "\"id\":$2,"
}

# all_have SUBGROUP NODE...
all_have()
{
	local sg i

	sg=$1
	shift
	for i in "$@"; do
		has_subgroup "$i" "$sg" || return 1
	done
}

# all_ask CONTACTS NODE...: the nodes ask to join, each the next one of these contacts, without waiting
all_ask()
{
	local contacts i

	contacts=$1
	shift
	for i in "$@"; do
		spindle-ctl node join id "$i" contact "10.0.0.1:500${contacts%% *}" insecure \
			no-wait || return 1
		# The first one goes to the end.
		contacts="${contacts#* } ${contacts%% *}"
	done
}

# read_at NODE GROUP FILE: a process reads, "lsn sender bytes" in lines
read_at()
{
	spindle-pipe -n "$1" -g "$2" -r >"$3" 2>>/tmp/pipes &
}

# send_lines NODE GROUP N: so many messages
send_lines()
{
	seq "$3" | sed "s/^/from $1 /" | limit 60 spindle-pipe -n "$1" -g "$2" -s
}

# number_of NODE GROUP NAME: a number of a subgroup, or nothing
number_of()
{
	spindle-ctl -j -p subgroup show node "$1" id "$2" |
		sed -n "s/^ *\"$3\": *\([0-9]*\),*\$/\1/p" | head -n 1
}

# has_lines FILE N
has_lines()
{
	[ "$(wc -l <"$1")" = "$2" ]
}

# counts FILE FIRST: do its positions begin there, and grow by one?
counts()
{
	awk -v want="$2" '$1 != want { bad = 1 } { want = sprintf("%.0f", want + 1) }
		END { exit bad || !NR }' "$1"
}

# log_name NODE N: where the N-th process writes
log_name()
{
	echo "$LOGS/$1.$2"
}

# load_start NODE [OPTION]...: a process of the node that sends, reads and keeps a log.
load_start()
{
	local i

	i=$1
	shift
	logs=$((logs + 1))
	live-load -n "$i" -g 1 -o "$(log_name "$i" $logs)" "$@" 2>>"$ERRORS" &
	eval "load_$i=$!"
}

# load_stop NODE...: the loads stop sending, wait for their own messages, and end.
load_stop()
{
	local i pid

	for i in "$@"; do
		eval "kill -TERM \$load_$i" 2>/dev/null
	done
	for i in "$@"; do
		eval "pid=\$load_$i"
		wait_until 30 dead "$pid" || { echo "the process of node $i does not end"; return 1; }
	done
	[ ! -s "$ERRORS" ] && return 0
	cat "$ERRORS"
	return 1
}

# dead PID: has the process ended, even if its parent has not waited for it?
dead()
{
	! kill -0 "$1" 2>/dev/null || grep -q '^[0-9]* ([^)]*) Z' "/proc/$1/stat"
}

# loads_agree: do all logs agree?
loads_agree()
{
	[ ! -s "$ERRORS" ] || cat "$ERRORS"
	limit 60 live-check "$LOGS"/[0-9]*
}

# messages NODE: lines of its logs
messages()
{
	cat "$LOGS/$1".* | grep -c ^m
}

LOGS=/tmp/live
ERRORS=$LOGS/errors
logs=0
mkdir -p $LOGS

# stands_still [SUBGROUP]: has node 1 delivered something in subgroup 1, or in this one, and nothing
# more since the last look?
stands_still()
{
	local now

	now=$(loop_stat 1 "${1:-1}" delivered)
	usleep 300000
	[ "${now:-0}" -gt 0 ] && [ "$now" = "$(loop_stat 1 "${1:-1}" delivered)" ]
}

# hold_up_node_2: of four nodes in view 1, node 4 leaves. Node 2 stays in view 1, because its reader,
# held_reader, is stopped. held_sender fills the rings.
hold_up_node_2()
{
	local i

	spindle-pipe -n 2 -g 1 -r -q -c >/dev/null 2>&1 &
	held_reader=$!
	held_all=$held_reader
	check "a process reads at node 2" wait_until 30 readers_are 2 1
	for i in 1 3 4; do
		spindle-pipe -n "$i" -g 1 -r -q >/dev/null 2>&1 &
		held_all="$held_all $!"
	done
	kill -STOP "$held_reader"
	yes message | spindle-pipe -n 1 -g 1 -s >/tmp/send.out 2>&1 &
	held_sender=$!
	held_all="$held_all $held_sender"
	check "the ring of the reader is full, and no member delivers any more" \
		wait_until 60 stands_still
	check "a member leaves" spindle-ctl node leave id 4
	check "two members go on, and node 2 waits for its reader" wait_until 60 in_view 2 1 3
	is "node 2 is in the first view" "$(live_word 2 vid)" 1
}

# Have all processes that hold_up_node_2 began ended? Until then they keep the module.
held_are_dead()
{
	local p

	for p in $held_all; do
		dead "$p" || return 1
	done
}
