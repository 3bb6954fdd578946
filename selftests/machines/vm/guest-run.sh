#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# Runs in the guest: test scripts one after another, each with its own time
# limit.
#
#   guest-run.sh [-a ARG]... TEST:SECONDS...
#
# Each script gets the ARGs. Its TAP is framed by "# test: NAME" and
# "# test-end: NAME STATUS"; a frame that is not closed tells the host which
# test the guest died in.

# shellcheck source=selftests/scripts/lib/guest-lib.sh
. ./guest-lib.sh

args=
failed=0

while [ "$1" = -a ]; do
	args="$args $2"
	shift 2
done

# A test must not find the remains of the test before it.
tidy()
{
	local d

	if grep -q '^spindle ' /proc/modules; then
		echo "# $1 left the module loaded"
		limit 60 rmmod spindle || return 1
	fi
	for d in /sys/class/infiniband/*; do
		[ -e "$d" ] || continue
		limit 60 rdma link delete "${d##*/}" || return 1
	done
	for d in /sys/class/net/*; do
		d=${d##*/}
		case $d in
		lo) ;;
		eth*) ip addr flush dev "$d"; ip link set "$d" down ;;
		*) [ ! -e "/sys/class/net/$d" ] || ip link delete "$d" ;;
		esac
	done 2>/dev/null
	rm -rf /tmp/*
	return 0
}

for t in "$@"; do
	begin=$(uptime_s)
	name=${t%%:*}
	secs=${t#*:}
	[ "$secs" != "$t" ] || secs=300
	echo "vm: test $name" >/dev/kmsg
	echo "# test: ${name%.sh}"
	# shellcheck disable=SC2086 # words are wanted
	TEST_NAME=${name%.sh} limit "$secs" /bin/sh "/tests/$name" $args
	rc=$?
	[ "$rc" != 124 ] || echo "# $name: over its limit of $secs s"
	if ! tidy "$name"; then
		echo "# $name left something that cannot be removed"
		[ "$rc" != 0 ] || rc=1
	fi
	echo "# ${name%.sh} took $(($(uptime_s) - begin)) s"
	echo "# test-end: ${name%.sh} $rc"
	[ "$rc" = 0 ] || failed=1
done
exit "$failed"
