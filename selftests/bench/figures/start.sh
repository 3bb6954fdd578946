#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# How long it takes until nodes that start at once are in one view, and by how many changes. One node
# begins the view. All others ask it to let them in at the same moment. All are in one kernel on one
# processor. The x axis is the number of nodes. In virtual time.
# bench: machine=icount
# bench: mem=4096
. ./lib-bench.sh

NODES="4 8 16 32"
[ -z "$QUICK" ] || NODES="4 8"

has_all()
{
	grep -q "view-install.*with $1 members" /tmp/events
}

# uptime: in seconds, with two digits behind the point
uptime()
{
	cut -d ' ' -f 1 /proc/uptime
}

# figures BEGUN ASKED ENDED: in seconds of uptime, and the changes in the events of node 1
figures()
{
	echo "changes,most,asked_s,seconds"
	awk -v begun="$1" -v asked="$2" -v ended="$3" '
	BEGIN { had = 1 }
	/view-install/ && match($0, /with [0-9]+ members/) {
		n = substr($0, RSTART + 5, RLENGTH - 13) + 0
		changes++
		if (n - had > most)
			most = n - had
		had = n
	}
	END { printf "%d,%d,%.2f,%.2f\n", changes, most, asked - begun, ended - begun }
	' /tmp/events
}

# joined N: all others join node 1, and the figures are in /tmp/figures
joined()
{
	local begun asked

	begun=$(uptime)
	# shellcheck disable=SC2046 # words
	all_ask 1 $(seq 2 "$1") || return 1
	asked=$(uptime)
	while ! has_all "$1"; do
		usleep 10000
		awk -v begun="$begun" -v limit="$POINT_LIMIT" '{ exit $1 > begun + limit }' \
			/proc/uptime || return 1
	done
	figures "$begun" "$asked" "$(uptime)" >/tmp/figures
}

# start N
start()
{
	local monitor rc

	loop_nodes "$1" >&2 &&
		live_view 1 max-nodes "$1" timeout-ms 30000 subgroup 1 window 16 max-msg 64 >&2 &&
		wait_until 30 in_view 1 1 || return 1
	spindle-ctl monitor node 1 >/tmp/events 2>&1 &
	monitor=$!
	rc=0
	wait_until 30 listens $monitor && joined "$1" || rc=1
	kill $monitor
	loop_del "$1" >&2
	[ $rc = 0 ] && cat /tmp/figures
}

sweep()
{
	local n

	for n in $NODES; do
		row_of start "$n" start "$n"
	done
}

[ "${LIST:-}" ] || . ./lib-live.sh
bench
