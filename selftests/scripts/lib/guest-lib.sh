# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# For scripts that run in a test guest: source it with ". ./guest-lib.sh".
# Plain POSIX sh (dash); "local" is the only extension.  Results are TAP on
# standard output, which is the verdict channel; tap.sh has the functions.
. ./tap.sh

# The channel is a terminal. A progress bar in front of a result would hide it, where work takes long.
export TERM=dumb

# wait_until SECONDS COMMAND...: poll a condition; the limit only bounds a
# failure, so be generous: guests are emulated and the machine may be busy.
# As for "limit", it counts PATIENCE times.
wait_until()
{
	local end

	end=$(($(uptime_s) + $1 * ${PATIENCE:-1}))
	shift
	while ! "$@"; do
		[ "$(uptime_s)" -lt "$end" ] || return 1
		usleep 50000
	done
	return 0
}

# job NAME COMMAND...: a command in the background. "check" runs its command in another shell, which
# cannot wait for processes of this one. So output and status go to /tmp/out.NAME and /tmp/rc.NAME.
job()
{
	local name rc

	name=$1
	shift
	rm -f "/tmp/rc.$name"
	{
		rc=0
		"$@" >"/tmp/out.$name" 2>&1 || rc=$?
		echo $rc >"/tmp/rc.$name"
	} &
}

# job_ended NAME STATUS: it ends, with this status
job_ended()
{
	wait_until 160 test -s "/tmp/rc.$1" && [ "$(cat "/tmp/rc.$1")" = "$2" ] && return 0
	echo "$1: status $(cat "/tmp/rc.$1"), wanted $2"
	cat "/tmp/out.$1"
	return 1
}

# job_said NAME PATTERN: there is such a line in its output
job_said()
{
	grep -qe "$2" "/tmp/out.$1" && return 0
	echo "$1 has not said '$2':"
	cat "/tmp/out.$1"
	return 1
}

uptime_s()
{
	local up rest

	# shellcheck disable=SC2034
	read -r up rest </proc/uptime
	echo "${up%.*}"
}

# column FILE NAME: of its only row
column()
{
	awk -F, -v name="$2" '
	{ while (match($0, /"[^"]*"/)) $0 = substr($0, 1, RSTART - 1) "x" \
		substr($0, RSTART + RLENGTH) }
	NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next }
	{ print $at }' "$1"
}

# try_load MODULE...: the modules that this kernel has; built in is fine too.
try_load()
{
	local m

	for m in "$@"; do
		modprobe "$m" 2>/dev/null || :
	done
}

rdma_modules()
{
	# crc32 first: rxe of 6.1 asks for it by a name that no alias resolves.
	try_load crc32_generic
	modprobe rdma_rxe && modprobe rdma_cm && modprobe rdma_ucm
}

rxe_active()
{
	grep -q ACTIVE "/sys/class/infiniband/$1/ports/1/state" 2>/dev/null
}

# rxe_add NAME NETDEV
rxe_add()
{
	rdma link add "$1" type rxe netdev "$2" && wait_until 30 rxe_active "$1"
}

# Many nodes in one kernel: one rxe device on a dummy device.  The MTU makes
# the path MTU of rxe 4096 instead of 1024.
setup_rxe_loop()
{
	rdma_modules || return 1
	modprobe dummy numdummies=0 || return 1
	ip link add dummy0 type dummy &&
		ip link set dummy0 mtu 4200 up &&
		ip addr add 10.0.0.1/24 dev dummy0 &&
		ip addr add fd00::1/64 dev dummy0 nodad &&
		rxe_add rxe0 dummy0
}

# setup_rxe_eth IP: the guest's network card, for wire tests.
# ::N of fd00::/64 goes with the last number of the address.
setup_rxe_eth()
{
	rdma_modules || return 1
	wait_until 30 test -e /sys/class/net/eth0 || return 1
	ip link set eth0 mtu 9000 up &&
		ip addr add "$1/24" dev eth0 &&
		ip addr add "fd00::${1##*.}/64" dev eth0 nodad &&
		rxe_add rxe0 eth0
}

teardown_rxe()
{
	local d

	for d in /sys/class/infiniband/*; do
		[ -e "$d" ] || continue
		rdma link delete "${d##*/}" || :
	done
	if [ -e /sys/class/net/dummy0 ]; then
		ip link delete dummy0
	fi
	if [ -e /sys/class/net/eth0 ]; then
		ip addr flush dev eth0
		ip link set eth0 down
	fi
}

# rxe_counter NAME: the sum over all rxe devices.
rxe_counter()
{
	local f v sum

	sum=0
	for f in /sys/class/infiniband/rxe*/ports/1/hw_counters/"$1"; do
		[ -e "$f" ] || continue
		read -r v <"$f"
		sum=$((sum + v))
	done
	echo "$sum"
}

# barrier NODE NODES NAME: wire tests wait here for each other. The address of node N is 10.0.0.N,
# set up by setup_rxe_eth. The limit only bounds a failure, as that of wait_until.
barrier()
{
	vm-sync "$1" "$2" 10.0.0.1 7531 "${TEST_NAME:-}.$3" $((400 * ${PATIENCE:-1}))
}

# A crash that the test wants: the verdict is good and the machine is gone at
# once, without any goodbye of its kernel to the others.
vm_die()
{
	finish_quiet=$([ "$tap_bad" = 0 ] && echo 0 || echo 1)
	tap_plan
	echo "# test-end: ${TEST_NAME:-} $finish_quiet"
	echo "exit $finish_quiet"
	echo b >/proc/sysrq-trigger
	sleep 60
}
