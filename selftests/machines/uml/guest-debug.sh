#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# Runs in the debug guest: SCRIPT ARG..., then looks for leaks. Any report makes
# init say "exit 97", so the script's own status stays distinct; the host decides
# to which module the reports belong (reports.awk).
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
# Objects from the boot do not count, because they are older than the script. An
# object is a leak if nothing points to it in two scans. That takes five
# seconds, because kmemleak skips young objects.
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
