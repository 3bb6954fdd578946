# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Many nodes in one kernel, for loop tests: source it after guest-lib.sh.
# Node I listens on 10.0.0.1, or $LOOP_ADDR, port 5000 + I.

# loop_start: device and module.
loop_start()
{
	setup_rxe_loop && modprobe spindle
}

# loop_nodes N [KEY VALUE]...: create nodes 1..N.
loop_nodes()
{
	local i n

	n=$1
	shift
	for i in $(seq "$n"); do
		spindle-ctl node add id "$i" addr "${LOOP_ADDR:-10.0.0.1}" \
			port $((5000 + i)) "$@" || return 1
	done
}

# says STATUS PATTERN WORD...: spindle-ctl ends with this status and prints this text. $out has all
# of its output.
out=/tmp/out
says()
{
	local want pattern rc

	want=$1
	pattern=$2
	shift 2
	rc=0
	limit 60 spindle-ctl "$@" >"$out" 2>&1 || rc=$?
	if [ "$rc" = "$want" ] && grep -qe "$pattern" "$out"; then
		ok "$* -> $pattern"
		return
	fi
	not_ok "$* -> $pattern"
	diag "status $rc, wanted $want"
	sed 's/^/# /' "$out"
}

# loop_view N VID SUBGROUP-WORDS...: the same view on nodes 1..N.
loop_view()
{
	local i n vid members addr

	n=$1
	vid=$2
	shift 2
	addr=${LOOP_ADDR:-10.0.0.1}
	case $addr in
	*:*) addr="[$addr]" ;;
	esac
	members=
	for i in $(seq "$n"); do
		members="$members member $i@$addr:$((5000 + i))"
	done
	for i in $(seq "$n"); do
		# shellcheck disable=SC2086
		spindle-ctl view set node "$i" vid "$vid" $members "$@" || return 1
	done
}

# loop_del N: remove nodes 1..N.
loop_del()
{
	local i

	for i in $(seq "$1"); do
		spindle-ctl node del id "$i" || return 1
	done
}

# loop_stat NODE SUBGROUP NAME: a counter of a subgroup.
loop_stat()
{
	spindle-ctl -j -p subgroup show node "$1" id "$2" |
		sed -n "s/^ *\"$3\": *\([0-9]*\),*\$/\1/p" | head -n 1
}

# loop_large NODE SUBGROUP: above how many bytes its messages go by RDMC; nothing if none can.
loop_large()
{
	spindle-ctl -j subgroup show node "$1" id "$2" | grep -o '"tune":{[^}]*}' |
		sed -n 's/.*"large":\([0-9]*\).*/\1/p'
}

# engine_stat NODE NAME: a counter of the node's engine.
engine_stat()
{
	spindle-ctl -j -p stats node "$1" |
		sed -n "s/^ *\"$2\": *\([0-9]*\),*\$/\1/p" | head -n 1
}

# engines N NAME: a counter of the engines of nodes 1..N, added up.
engines()
{
	local i sum

	sum=0
	for i in $(seq "$1"); do
		sum=$((sum + $(engine_stat "$i" "$2")))
	done
	echo $sum
}

# quiet N: do the engines of nodes 1..N sleep? What they had to say has been said then.
quiet()
{
	local before

	before=$(engines "$1" passes)
	usleep 500000
	[ "$(engines "$1" passes)" = "$before" ]
}

# listens PID: has the process joined a multicast group of generic netlink? What happens
# before, "spindle-ctl monitor" does not tell. libnl's ports have the process in 22 bits.
listens()
{
	awk -v pid="$1" '$2 == 16 && $3 % 4194304 == pid && $4 != "00000000" { found = 1 }
		END { exit !found }' /proc/net/netlink
}
