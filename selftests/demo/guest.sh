#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# One machine of "make demo": NODE NODES LINES. What it says to the host begins
# with "# demo: ", and the delivery log goes to a port of its own.
# shellcheck source=selftests/scripts/lib/guest-lib.sh
. ./guest-lib.sh

node=$1
nodes=$2
lines=$3
export TEST_NAME=demo

tell()
{
	echo "# demo: $*"
}

failed()
{
	tell "failed $*"
	exit 1
}

# stat_of NAME: a counter of the subgroup, or its state
stat_of()
{
	spindle-ctl -j -p subgroup show node "$node" id 1 |
		sed -n "s/^ *\"$1\": *\"\{0,1\}\([a-z0-9]*\).*/\1/p" | head -n 1
}

is_active()
{
	[ "$(stat_of state)" = active ]
}

# The virtio port of this name: log_port NAME
log_port()
{
	local p name

	for p in /sys/class/virtio-ports/*; do
		read -r name <"$p/name" || continue
		if [ "$name" = "$1" ]; then
			echo "/dev/${p##*/}"
			return 0
		fi
	done 2>/dev/null
	return 1
}

tell "stage Linux $(uname -r) is up"
setup_rxe_eth "10.0.0.$node" || failed "no soft-RoCE on eth0"
modprobe spindle || failed "spindle.ko does not load"
spindle-ctl apply /demo/spindle.conf >/tmp/apply 2>&1 || {
	sed 's/^/# apply: /' /tmp/apply
	failed "spindle-ctl does not accept the configuration"
}
tell "stage spindle.ko is loaded, the view is installed"
wait_until 240 is_active ||
	failed "the subgroup did not become active: $(stat_of state)"
tell "stage connected to all others"

{
	rc=0
	spindle-pipe -n "$node" -g 1 -N "$lines" -S </demo/share \
		>/tmp/delivery.log 2>/tmp/pipe.err || rc=$?
	echo "$rc" >/tmp/pipe.rc
} &
while [ ! -s /tmp/pipe.rc ]; do
	tell "delivered $(stat_of delivered)"
	usleep 300000
done
if [ "$(cat /tmp/pipe.rc)" != 0 ]; then
	failed "$(tail -n 1 /tmp/pipe.err)"
fi
sed 's/^/# spindle-pipe: /' /tmp/pipe.err

# When all have all, nothing more may come.
barrier "$node" "$nodes" delivered 240 ||
	failed "not all machines came to the end"
delivered=$(stat_of delivered)
tell "delivered $delivered"
port=$(log_port org.spindle.log) || failed "the host gave it no port for the log"
cat /tmp/delivery.log >"$port" || failed "the delivery log cannot be sent"
spindle-ctl -j -p subgroup show node "$node" | sed 's/^/# stats: /'
tell "result $(stat_of sent) $delivered $(stat_of delivered_bytes)" \
	"$(sha256sum </tmp/delivery.log | cut -d ' ' -f 1)"
barrier "$node" "$nodes" end 120 || failed "not all machines sent their log"
spindle-ctl node del id "$node" || failed "the node cannot be removed"
rmmod spindle || failed "spindle.ko cannot be removed"
