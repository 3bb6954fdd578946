#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# Runs in the debug guest: SCRIPT ARG..., then looks for leaks. Any report makes
# init say "exit 97", so the script's own status is told apart; whose reports
# they are is decided by the host (reports.awk).
leaks=/sys/kernel/debug/kmemleak

to_log()
{
	while IFS= read -r line; do
		printf '%s\n' "$line" >/dev/kmsg
	done
}

script=$1
shift
/bin/sh "/tests/$script" "$@"
rc=$?
echo "# script: $rc"
# What boot left is nobody's, as it is older than the script; so is nothing
# else: an object is a leak when nothing points to it in two scans, which takes
# five seconds, as young objects are passed over.
if [ -e $leaks ]; then
	usleep 5200000
	echo scan >$leaks
	usleep 200000
	echo scan >$leaks
	echo "# leaks: $(grep -c '^unreferenced' $leaks)"
	to_log <$leaks
else
	echo "# leaks: kmemleak is not there"
fi
exit "$rc"
