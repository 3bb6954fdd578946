#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Nodes join at the same moment, by several contacts, with messages under way. One change of the
# view lets several in, these connect to each other, and all logs agree.
# vm: uml timeout=300
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

JOINERS="4 5 6 7 8 9"

# all_join: without waiting for any of them
all_join()
{
	local i

	for i in $JOINERS; do
		spindle-ctl node join id "$i" contact "10.0.0.1:500$((1 + i % 3))" insecure \
			no-wait || return 1
	done
}

in_all()
{
	local i

	for i in $(seq 9); do
		[ "$(live_word "$i" state)" = active ] || return 1
	done
}

all_send()
{
	local i

	for i in $(seq 9); do
		[ "$(messages "$i")" -ge 50 ] || return 1
	done
}

# most: nodes that one change has let in, at most
most()
{
	sed -n 's/.*view-install.*(view [0-9]* with \([0-9]*\) members.*/\1/p' /tmp/ev |
		awk 'BEGIN { had = 3 } { if ($1 - had > n) n = $1 - had; had = $1 }
		     END { print n + 0 }'
}

check "module loads" loop_start
check "nodes" loop_nodes 9
check "three nodes begin a live view" live_view 3 subgroup 1 window 32 max-msg 256
check "three nodes are in the first view" wait_until 60 in_view 1 1 2 3
for i in 1 2 3; do
	load_start "$i"
done
spindle-ctl monitor node 1 >/tmp/ev 2>&1 &
monitor=$!
check "six nodes ask to join" all_join
check "all are members" wait_until 100 in_all
check "the monitor has seen all of them" wait_until 10 grep -q "with 9 members" /tmp/ev
kill $monitor
check "one change has let in several nodes" [ "$(most)" -ge 2 ]
grep view-install /tmp/ev | sed 's/^/# /'
for i in $JOINERS; do
	load_start "$i"
done
check "messages of all flow" wait_until 60 all_send
check "processes end" load_stop 1 2 3 $JOINERS
check "logs agree" loads_agree
check "nodes go" loop_del 9
check "module goes" rmmod spindle
finish
