#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# RDMC in one kernel: objects of all sizes, by all algorithms, in groups of 2 to 16 members, one
# and many at a time; rdmc-load looks at every byte.
# vm: own
# vm: mem=2048
# vm: timeout=600
. ./guest-lib.sh
. ./lib-loop.sh

# whole WORD...: rdmc-load ends well.
whole()
{
	limit 120 rdmc-load "$@"
}

check "module loads" loop_start
check "16 nodes" loop_nodes 16
check "a view without subgroups" loop_view 16 1
check "one object from one member to another" whole -v -m 1,2 -l 1000000
