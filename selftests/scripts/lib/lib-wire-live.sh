# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Live views over several guests: source it with ". ./lib-wire-live.sh", it brings
# lib-wire.sh and lib-live.sh. The script is called with NODE NODES and runs on all nodes.
#
# Guest N has node N, of port 4790, and more if the test wants them: node 10 * K + N, of port
# 4790 + K. Node 1 serves the barriers, so its guest is never the one that suffers. What
# processes deliver is written to where it outlives the guest, and the host compares it all
# when the last guest has ended (logs_agree in lib/guests.sh).
# shellcheck disable=SC2154,SC2034
. ./lib-wire.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

# The channel to the host. "check" would capture output to it.
exec 3>&1

# Logs of one group have the same number, from its first view to its last.
group=1
# A guest shows life later when the host has other work.
TIMEOUT=$((3000 * ${PATIENCE:-1}))
machine=qemu
# Options of live-load, which uses the first one of these, and nodes that have no such process.
LOAD=
IDLE=
SUBGROUPS="subgroup 1 window 32 max-msg 256"
# Addresses are IPv4, or 6; a file with the group's key.
FAMILY=4
KEY_FILE=
ERRORS=/tmp/live-errors

# The place for logs that the host offers: a directory of its own, or ports of virtio-serial.
find_logs()
{
	local word dir cmdline

	read -r cmdline </proc/cmdline
	for word in $cmdline; do
		case $word in
		spn_share=*)
			dir=${word#*=}
			# Not in /tmp, which is emptied when the test is over.
			mkdir -p /run/host &&
				mount -t hostfs -o "$dir" none /run/host || return 1
			LOGS=/run/host
			machine=uml
			;;
		esac
	done
	return 0
}

# log_name NODE N, see lib-live.sh. A port's file has the name of the group and so on within.
log_name()
{
	local p name

	if [ "$LOGS" = /run/host ]; then
		echo "$LOGS/$group-$1.$2"
		return 0
	fi
	for p in /sys/class/virtio-ports/*; do
		read -r name <"$p/name" || continue
		if [ "$name" = "org.spindle.live$2" ]; then
			echo "# name $group-$1.$2" >"/dev/${p##*/}"
			echo "/dev/${p##*/}"
			return 0
		fi
	done 2>/dev/null
	echo "$LOGS/$1.$2"
}

# addr_of ID, port_of ID: node 23 is the third node of guest 3.
addr_of()
{
	wire_addr $(($1 % 10)) "$FAMILY"
}

port_of()
{
	echo $((4790 + $1 / 10))
}

# place_of ID: address and port
place_of()
{
	if [ "$FAMILY" = 6 ]; then
		echo "[$(addr_of "$1")]:$(port_of "$1")"
	else
		echo "$(addr_of "$1"):$(port_of "$1")"
	fi
}

mine()
{
	[ $(($1 % 10)) = "$node" ]
}

is_idle()
{
	case " $IDLE " in
	*" $1 "*) return 0 ;;
	esac
	return 1
}

# wl_node ID
wl_node()
{
	# shellcheck disable=SC2086
	spindle-ctl node add id "$1" addr "$(addr_of "$1")" port "$(port_of "$1")" \
		${KEY_FILE:+key-file $KEY_FILE}
}

# insecure: the word that a live view takes whose nodes have no key
insecure()
{
	[ -n "$KEY_FILE" ] || echo insecure
}

# wl_start [ID]...: card, module, node, and the more nodes of all guests
wl_start()
{
	local i

	find_logs || bail "a place for logs"
	wire_start
	check "nodes" wl_node "$node"
	for i in "$@"; do
		! mine "$i" || check "node $i" wl_node "$i"
	done
}

# wl_begin ID...: a first view of these nodes in this order, by rank: the first one leads.
wl_begin()
{
	local i members

	members=
	for i in "$@"; do
		members="$members member $i@$(place_of "$i")"
	done
	barrier "$node" "$nodes" "begin$group" || bail "all guests are ready to begin"
	for i in "$@"; do
		mine "$i" || continue
		# shellcheck disable=SC2046,SC2086
		check "node $i begins" spindle-ctl view set node "$i" vid 1 live \
			$(insecure) timeout-ms "$TIMEOUT" $members $SUBGROUPS
	done
	for i in "$@"; do
		mine "$i" || continue
		check "node $i is in the first view" wait_until 60 in_view 1 "$i" ||
			status_of "$i"
		# shellcheck disable=SC2086
		is_idle "$i" || load_start "$i" $LOAD
	done
	barrier "$node" "$nodes" "begun$group" || bail "messages flow on all guests"
	usleep 500000
}

# ids NODE: members of its view, as "1 2 3"
ids()
{
	spindle-ctl -j -p status node "$1" | awk '
		/^ *"id":/ { id = $2 + 0 }
		/^ *"rank":/ { print id }' | sort -n | xargs
}

# has NODE ID...: is it active, in a view of just these?
has()
{
	local i

	i=$1
	shift
	[ "$(live_word "$i" state)" = active ] && [ "$(ids "$i")" = "$*" ]
}

stopped()
{
	[ "$(live_word "$1" state)" = stopped ]
}

status_of()
{
	spindle-ctl status node "$1" 2>&1 | sed 's/^/# /'
}

# breakdown NODE TEXT: where the time of its last change went
breakdown()
{
	diag "$2: node $1, view $(live_word "$1" vid), members $(ids "$1"):" \
		"detect $(live_word "$1" detect_us)" \
		"wedge $(live_word "$1" wedge_us) agree $(live_word "$1" agree_us)" \
		"install $(live_word "$1" install_us) us"
}

# goes_on WHAT ID...: on each guest of these nodes, but for those that are out: they are in a
# view of their own, and messages flow.
goes_on()
{
	local what i

	what=$1
	shift
	for i in "$@"; do
		mine "$i" || continue
		check "$what: node $i is in a view with $*" wait_until 60 has "$i" "$@" ||
			status_of "$i"
		breakdown "$i" "$what"
		check "$what: node $i delivers" flows "$i"
	done
}

log_size()
{
	loop_stat "$1" 1 delivered
}

delivers_more()
{
	local n

	n=$(log_size "$1")
	[ "${n:-0}" -gt "$2" ]
}

flows()
{
	local n

	n=$(log_size "$1")
	wait_until 30 delivers_more "$1" $((${n:-0} + 100))
}

# process_ended NODE
process_ended()
{
	local pid

	eval "pid=\$load_$1"
	wait_until 30 dead "$pid"
}

# says_why NODE WHY...: it has stopped, for one of these reasons
says_why()
{
	local i why

	i=$1
	why=$(live_word "$i" why)
	shift
	case " $* " in
	*" $why "*) return 0 ;;
	esac
	echo "it says '$why'"
	return 1
}

# out NODE WHY...: it stops, says why, and its process sees the end.
out()
{
	local i

	i=$1
	shift
	check "node $i stops" wait_until 60 stopped "$i" || status_of "$i"
	check "node $i says why: $*" says_why "$i" "$@" || status_of "$i"
	diag "node $i: $(live_word "$i" reason) ($(live_word "$i" why))"
	check "the process of node $i sees the end" process_ended "$i"
}

# try_join NODE CONTACT...: join by one contact after the other, because a contact may be gone
# itself.
try_join()
{
	local i c

	i=$1
	shift
	for c in "$@"; do
		# shellcheck disable=SC2046
		limit 60 spindle-ctl node join id "$i" $(insecure) contact "$(place_of "$c")" \
			timeout $((50 * ${PATIENCE:-1})) && return 0
	done
	return 1
}

# network: what this guest has of it
network()
{
	{
		ip -brief addr show dev eth0
		ip route show dev eth0
		ip neigh show dev eth0
		rdma link show
		grep -v '0000:0000:0000:0000:0000:0000:0000:0000' \
			/sys/class/infiniband/rxe0/ports/1/gids/*
		grep . /sys/class/infiniband/rxe0/ports/1/hw_counters/*pkts*
	} 2>&1 | sed 's/^/# /'
}

# comes_back NODE CONTACT...: it joins, and has a process again
comes_back()
{
	check "node $1 joins" try_join "$@" || { status_of "$1"; network; }
	# shellcheck disable=SC2086
	load_start "$1" $LOAD
}

# Does time stand still for this guest now and then? The host stops it on request.
hundredths()
{
	local up rest

	read -r up rest </proc/uptime
	# In the first second it begins with zeros, and is no octal number even so.
	up=${up%.*}${up#*.}
	up=${up#"${up%%[!0]*}"}
	echo "${up:-0}"
}

# pause_me MILLISECONDS: the host stops this guest; true when that has been.
pause_me()
{
	local before now end

	before=$(hundredths)
	end=$((before + 3000 + $1 / 10))
	echo "# vm: pause $1" >&3
	while now=$(hundredths); [ "$now" -lt $end ]; do
		[ $((now - before)) -lt $(($1 / 10 * 8 / 10)) ] || return 0
		before=$now
		usleep 5000
	done
	return 1
}

# port in|out|both|none: which packets of this guest are lost at its port of the network. The cut is
# not in this guest, because packets that a card's own queue discards break connections of soft-RoCE
# for good. That includes the connection of its connection managers.
port()
{
	echo "# vm: cut $1" >&3
}

# cut_off in|out|both|none: the same, seen from here when it is over
cut_off()
{
	port "$1"
	case $1 in
	none) wait_until 20 reaches ;;
	*) wait_until 20 reaches_not ;;
	esac
}

# reaches: does anything come back from another guest?
reaches()
{
	ping -c 1 -W 1 "10.0.0.$((node == 1 ? 2 : 1))" >/dev/null
}

reaches_not()
{
	! reaches
}

# wl_end ID...: end the test on all guests. These nodes have gone on, and the others are gone for
# good.
wl_end()
{
	local i here

	here=
	for i in "$@"; do
		! mine "$i" || here="$here $i"
	done
	barrier "$node" "$nodes" ending || not_ok "all guests reach the end of the test"
	# shellcheck disable=SC2086
	check "processes end" load_stop $here
	for i in $here; do
		breakdown "$i" "at the end"
	done
	barrier "$node" "$nodes" end || not_ok "all guests have ended their processes"
	for i in $(spindle-ctl -j -p node show | sed -n 's/^ *"id": *\([0-9]*\),*$/\1/p'); do
		check "node $i is removed" spindle-ctl node del id "$i"
	done
	check "the module is removed" limit 60 rmmod spindle
}

# random N: 0..N-1, and not of the shell: this one has none
random()
{
	result=$(od -An -N4 -tu4 /dev/urandom)
	result=$((result % $1))
}

# soon MILLISECONDS: a random while, said in the log
soon()
{
	random "$1"
	diag "after $result ms:"
	usleep $((result * 1000))
}
