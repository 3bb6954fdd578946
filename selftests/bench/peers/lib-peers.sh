# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# Networks and systems for peers.sh, in the guest: source it after lib-bench.sh.
#
# Member I has a veth pair, wI to sI, and sI is a port of a bridge: all packets from one member to
# another cross both, at the same MTU, for all systems.
#
#	up spindle N TRANSPORT	wI has an rxe device. soft-RoCE of 6.12 sends and receives
#			in the first network namespace only, so wI are there, with rules by
#			which the kernel does not take the way over lo
#	up tipc N	wI are in namespaces peerI, a TIPC node each
#	up knet N, up udpu N	the same namespaces, a corosync daemon each
#	down		whatever is up; what is left of one that failed, too

NETS=10.7.0
PEER_MTU=9000

# The system that is up, and the number of its members.
peers_up=

set_sys()
{
	echo "$2" >"/proc/sys/$1"
}

# wire I [NETNS]
wire()
{
	ip link add "w$1" mtu $PEER_MTU ${2:+netns "$2"} type veth peer name "s$1" mtu $PEER_MTU &&
		ip link set "s$1" master br0 up || return 1
	# shellcheck disable=SC2086
	ip ${2:+-n $2} addr add $NETS."$1"/24 dev "w$1" &&
		ip ${2:+-n $2} link set "w$1" up
}

switch_up()
{
	try_load veth bridge
	set_sys net/ipv6/conf/default/disable_ipv6 1
	ip link add br0 mtu $PEER_MTU type bridge && ip link set br0 up
}

# Packets that come in at a wire may be for this kernel. Packets from the address of a wire leave by
# that wire, although the other end is here, too.
spindle_wire()
{
	local k

	wire "$1" || return 1
	for k in accept_local=1 rp_filter=0 arp_ignore=1 arp_announce=2; do
		set_sys "net/ipv4/conf/w$1/${k%=*}" "${k#*=}"
	done
	ip route add $NETS.0/24 dev "w$1" src $NETS."$1" table $((100 + $1)) &&
		ip rule add pref 10 iif "w$1" lookup local &&
		ip rule add pref 20 from $NETS."$1" to $NETS.0/24 lookup $((100 + $1)) &&
		rxe_add "rxe$1" "w$1"
}

spindle_up()
{
	local i

	rdma_modules && switch_up || return 1
	set_sys net/ipv4/conf/all/rp_filter 0
	for i in $(seq "$1"); do
		spindle_wire "$i" || return 1
	done
	ip rule add pref 100 lookup local && ip rule del pref 0 && modprobe spindle
}

spindle_down()
{
	local i

	sweep_up 8
	! grep -q '^spindle ' /proc/modules || rmmod spindle
	for i in $(seq 8); do
		[ ! -e "/sys/class/infiniband/rxe$i" ] || rdma link delete "rxe$i"
		ip rule del pref 10
		ip rule del pref 20
	done 2>/dev/null
	if ip rule | grep -q '^100:'; then
		ip rule add pref 0 lookup local
		ip rule del pref 100
	fi
}

# spindle_nodes N SIZE: nodes and a view for messages of this size, else as they come; but
# of short ones as many may be under way as in the queues of the others.
spindle_nodes()
{
	local i members window

	members=
	window=128
	[ "$2" -gt 1024 ] || window=1024
	sweep_up 8
	for i in $(seq "$1"); do
		members="$members member $i@$NETS.$i"
		spindle-ctl node add id "$i" addr $NETS."$i" || return 1
	done
	for i in $(seq "$1"); do
		# shellcheck disable=SC2086
		spindle-ctl view set node "$i" vid 1 $members subgroup 1 max-msg "$2" \
			window $window || return 1
	done
}

# Namespaces peer1 to peerN, a wire each
spaces_up()
{
	local i

	switch_up || return 1
	mkdir -p /var /run
	for i in $(seq "$1"); do
		ip netns add "peer$i" && ip -n "peer$i" link set lo up &&
			wire "$i" "peer$i" || return 1
	done
}

# TIPC sees that its neighbour is a namespace of the same kernel, and hands messages over in
# memory (tipc_lxc_xmit()): by a word of what neighbours tell each other, the 14th of a
# message of the user LINK_CONFIG. Without that word they are strangers, as on two hosts.
tipc_strangers()
{
	tc qdisc add dev "s$1" clsact &&
		tc filter add dev "s$1" ingress protocol 0x88ca u32 \
			match u32 0x1a000000 0x1e000000 at 0 \
			action pedit munge offset 52 u32 set 0
}

# The link for broadcast and one to each other node
tipc_linked()
{
	[ "$(ip netns exec peer1 tipc link list | grep -c ': up')" = "$1" ]
}

tipc_up()
{
	local i

	modprobe tipc && spaces_up "$1" || return 1
	try_load sch_ingress cls_u32 act_pedit
	for i in $(seq "$1"); do
		tipc_strangers "$i" || return 1
	done
	for i in $(seq "$1"); do
		ip netns exec "peer$i" tipc node set identity "peer$i" &&
			ip netns exec "peer$i" tipc bearer enable media eth device "w$i" ||
			return 1
	done
	wait_until 30 tipc_linked "$1"
}

# corosync_conf N TRANSPORT
corosync_conf()
{
	local i

	printf 'totem {\n\tversion: 2\n\tcluster_name: bench\n\ttransport: %s\n' "$2"
	# This transport does not find out about larger packets. knet does.
	[ "$2" = knet ] || printf '\tnetmtu: %s\n' $((PEER_MTU - 18))
	printf '\tcrypto_cipher: none\n\tcrypto_hash: none\n}\n'
	printf 'logging {\n\tto_syslog: no\n\tto_stderr: yes\n}\nnodelist {\n'
	for i in $(seq "$1"); do
		printf '\tnode {\n\t\tnodeid: %d\n\t\tname: peer%d\n\t\tring0_addr: %s.%d\n\t}\n' \
			"$i" "$i" $NETS "$i"
	done
	printf '}\n'
}

# The state of a daemon is in directories whose names are built in: each has its own.
corosync_start()
{
	# shellcheck disable=SC2016 # for the shell that runs it
	ip netns exec "peer$1" sh -c '
		for d in /var /run; do
			mount -t tmpfs none $d || exit 1
		done
		mkdir -p /var/lib/corosync /var/log/corosync /var/run /run
		exec corosync -f -c "$0"' "$2" >"/tmp/corosync$1.log" 2>&1 &
	echo $! >>/tmp/corosync.pids
}

# All daemons see all members.
corosync_joined()
{
	local i

	for i in $(seq "$1"); do
		[ "$(ip netns exec "peer$i" corosync-cmapctl runtime.members 2>/dev/null |
			grep -c 'status.*joined')" = "$1" ] || return 1
	done
}

corosync_up()
{
	local i

	spaces_up "$1" || return 1
	corosync_conf "$1" "$2" >/tmp/corosync.conf
	for i in $(seq "$1"); do
		corosync_start "$i" /tmp/corosync.conf
	done
	wait_until 60 corosync_joined "$1" || {
		tail -n 1 /tmp/corosync1.log
		return 1
	}
}

corosync_down()
{
	local pid

	[ -e /tmp/corosync.pids ] || return 0
	while read -r pid; do
		kill "$pid" 2>/dev/null
		# All processes for which corosync waits have left by now.
		wait_until 20 test ! -e "/proc/$pid" || kill -9 "$pid"
		wait "$pid" 2>/dev/null
	done </tmp/corosync.pids
	rm -f /tmp/corosync.pids /dev/shm/qb-*
}

# Each step is tried whatever became of the others.
down()
{
	local i

	corosync_down
	spindle_down
	for i in $(seq 8); do
		ip netns del "peer$i"
		ip link del "s$i"
	done 2>/dev/null
	ip link del br0 2>/dev/null
	peers_up=
}

# up SYSTEM N: start it, unless it is up already
up()
{
	[ "$peers_up" != "$1 $2" ] || return 0
	down >/dev/null 2>&1
	case $1 in
	spindle) spindle_up "$2" ;;
	tipc) tipc_up "$2" ;;
	knet | udpu) corosync_up "$2" "$1" ;;
	esac || return 1
	peers_up="$1 $2"
}
