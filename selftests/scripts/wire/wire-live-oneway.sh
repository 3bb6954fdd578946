#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A guest receives nothing any more, or its packets do not arrive, while the other direction works.
# The two that hear each other go on without it.
#
# Failures of other systems: a node that hears nobody takes healthy members along; a broken
# connection aborts everything.
# vm: uml timeout=180
# shellcheck disable=SC2154 # node and nodes come from lib-wire.sh
. ./lib-wire-live.sh

wl_start
wl_begin 3 1 2
for how in in out; do
	if [ "$node" = 3 ]; then
		check "$how: packets are dropped" cut_off $how
		out 3 minority evicted
		usleep $((3 * TIMEOUT * 1000))
		check "$how: packets are not dropped any more" cut_off none
	else
		goes_on "$how: two members go on" 1 2
	fi
	barrier "$node" "$nodes" "$how.healed" || bail "all meet when it is over"
	[ "$node" != 3 ] || comes_back 3 1 2
	goes_on "$how: node 3 is back" 1 2 3
	barrier "$node" "$nodes" "$how.back" || bail "all meet when it is back"
done
wl_end 1 2 3
finish
