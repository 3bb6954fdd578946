# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# A private network for the guests of one run; source it after common.sh.
#
# A network namespace of our own holds a bridge and one tap per guest, so no
# address, name or packet meets those of the host, and deleting the namespace
# deletes everything.  The namespace is named after our PID: runs do not meet
# either.  Where that cannot be had (no root, no /dev/net/tun) the guests are
# joined by unix sockets instead: node 1 is the hub.
#
#	net_up N DIR		sets net_kind=tap|unix
#	net_args NODE		the --net and --netns options of a node's run-vm
#	net_cut NS TAP MAC HOW	what its port of the bridge lets through (tap only)
#	net_down		also run on exit
#
# shellcheck disable=SC2034 # net_kind is for the caller

net_ns=
net_n=0
net_dir=
net_kind=

# A namespace that a killed run has left: its PID is gone.
net_sweep()
{
	local ns pid

	while read -r ns _; do
		[[ $ns =~ ^spindle-([0-9]+)$ ]] || continue
		pid=${BASH_REMATCH[1]}
		kill -0 "$pid" 2>/dev/null || ip netns delete "$ns" || :
	done < <(ip netns list 2>/dev/null)
}

net_in()
{
	ip netns exec "$net_ns" "$@"
}

net_up_tap()
{
	local i

	[[ -c /dev/net/tun && $EUID == 0 ]] || return 1
	net_sweep
	net_ns=spindle-$$
	ip netns add "$net_ns" 2>/dev/null || {
		net_ns=
		return 1
	}
	on_exit net_down
	# Multicast snooping and IPv6 would only bring chatter of the bridge.
	net_in sysctl -qw net.ipv6.conf.all.disable_ipv6=1 2>/dev/null || :
	net_in ip link add br0 type bridge mcast_snooping 0 forward_delay 0 ||
		return 1
	net_in ip tuntap add dev hole mode tap || return 1
	net_in ip link set hole mtu 9000 master br0 up || return 1
	for ((i = 1; i <= net_n; i++)); do
		net_in ip tuntap add dev "tap$i" mode tap || return 1
		net_in ip link set "tap$i" mtu 9000 master br0 up || return 1
	done
	net_in ip link set br0 mtu 9000 up
}

net_up()
{
	net_n=$1
	net_dir=$2
	if [[ ${SPINDLE_NET:-tap} == tap ]] && net_up_tap; then
		net_kind=tap
		return 0
	fi
	net_down
	net_kind=unix
	say "net: no taps here, joining the guests by unix sockets"
}

net_mac()
{
	printf '52:54:00:5d:00:%02x' "$1"
}

# One option or value per line.  Sockets are named relative to the directory
# of a node's logs, where its QEMU runs: nodes are DIR/1, DIR/2...
net_args()
{
	local node=$1 spec i

	if [[ $net_kind == tap ]]; then
		printf '%s\n' --netns "$net_ns" --net "tap$node:$(net_mac "$node")"
		return
	fi
	if ((node == 1)); then
		spec=
		for ((i = 2; i <= net_n; i++)); do
			spec+=${spec:+,}listen=../link$$-$i
		done
	else
		spec=connect=../link$$-$node
	fi
	printf '%s\n' --net "unix:$spec:$(net_mac "$node")"
}

# HOW: both, in, out or none of the directions are cut, as the guest sees them. Frames to the guest
# go to an unused port. Frames from the guest are frames of a stranger on a locked port.
net_cut()
{
	local ns=$1 tap=$2 mac=$3 how=$4 flood=on learning=on locked=off
	local br=(ip netns exec "$ns" bridge)

	[[ $how != in && $how != both ]] || flood=off
	if [[ $how == out || $how == both ]]; then
		learning=off
		locked=on
	fi
	"${br[@]}" link set dev "$tap" flood $flood mcast_flood $flood bcast_flood $flood \
		learning $learning locked $locked || return 1
	# Only now: it would be learned again.
	"${br[@]}" fdb del "$mac" dev "$tap" master 2>/dev/null || :
	if [[ $flood == off ]]; then
		"${br[@]}" fdb replace "$mac" dev hole master static sticky
	else
		"${br[@]}" fdb del "$mac" dev hole master 2>/dev/null || :
	fi
}

net_down()
{
	if [[ $net_ns ]]; then
		ip netns delete "$net_ns" 2>/dev/null || :
		net_ns=
	fi
	if [[ $net_kind == unix ]]; then
		rm -f "$net_dir/link$$-"*
	fi
}
