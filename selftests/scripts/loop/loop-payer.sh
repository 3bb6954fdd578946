#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The charge for rows. There are never more of them than row_mib allows. The memory cgroup of the
# requesting process pays, also for memory that work items allocate when a node joins, and for
# predicates.
# vm: timeout=300 each
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh
. ./lib-live.sh

PARAM=/sys/module/spindle/parameters/row_mib
CGROUPS=/tmp/cgroup
# Bytes of a payload ring, and MiB of it.
RING=$((8 << 20))

# charged NAME: bytes that a cgroup pays for
charged()
{
	cat "$CGROUPS/$1/memory.current"
}

# in_group NAME COMMAND...
in_group()
{
	# shellcheck disable=SC2016
	GROUP=$CGROUPS/$1 sh -c 'echo $$ >"$GROUP/cgroup.procs" && shift && exec "$@"' sh "$@"
}

# rings BEFORE AFTER: how many whole rings were added
rings()
{
	echo $((($2 - $1) / RING))
}

memory_groups()
{
	mkdir -p $CGROUPS &&
		mount -t cgroup2 none $CGROUPS 2>/dev/null &&
		grep -qw memory $CGROUPS/cgroup.controllers &&
		echo +memory >$CGROUPS/cgroup.subtree_control &&
		mkdir $CGROUPS/first $CGROUPS/joiner
}

check "module loads" loop_start
check "nodes" loop_nodes 3

# The rows of each member: its own ring, and that of the other.
echo 12 >$PARAM
says 1 "row_mib" view set node 1 vid 1 live insecure member 1@10.0.0.1:5001 member 2@10.0.0.1:5002 \
	subgroup 1 ring $RING
says 1 "row_mib" view set node 1 vid 1 member 1@10.0.0.1:5001 member 2@10.0.0.1:5002 \
	subgroup 1 ring $RING
check "the first member has only its own row" \
	spindle-ctl view set node 1 vid 1 live insecure member 1@10.0.0.1:5001 \
	subgroup 1 ring $RING
# There is memory for the own row of the joiner, and not for the first member's.
says 1 "row_mib" node join id 2 insecure contact 10.0.0.1:5001
is "a node without room for the row of a joiner stays" "$(live_word 1 state)" active
check "the view is removed" spindle-ctl view del node 1
echo 0 >$PARAM

if memory_groups; then
	first=$(charged first)
	check "a process of the first cgroup begins a view" \
		in_group first spindle-ctl view set node 1 \
		vid 1 live insecure timeout-ms 5000 member 1@10.0.0.1:5001 subgroup 1 ring $RING
	is "the first cgroup pays for the own row" "$(rings "$first" "$(charged first)")" 1
	joiner=$(charged joiner)
	check "a process of the second cgroup begins a join" in_group joiner spindle-ctl node join \
		id 2 insecure contact 10.0.0.1:5001
	check "both nodes are in the view" wait_until 60 in_view 2 1 2
	is "the first cgroup pays for the row of the joiner" \
		"$(rings "$first" "$(charged first)")" 2
	is "the second cgroup pays for both rows of its node" \
		"$(rings "$joiner" "$(charged joiner)")" 2
	check "messages flow" limit 60 mcast-load -n 1-2 -g 1 -c 50
	# 64 MiB of messages, 16 of descriptors and 4 of ends.
	first=$(charged first)
	joiner=$(charged joiner)
	check "a process of the first cgroup sets a history of node 2" \
		in_group first spindle-ctl subgroup set node 2 id 1 history 64M
	is "the first cgroup pays for the history" "$(rings "$first" "$(charged first)")" 10
	is "the second one does not" "$(rings "$joiner" "$(charged joiner)")" 0
	check "the history goes" spindle-ctl subgroup set node 2 id 1 history none
	check "the first cgroup gets it back" test "$(rings "$first" "$(charged first)")" = 0
	echo $(($(charged first) + (32 << 20))) >$CGROUPS/first/memory.max
	check "more than the cgroup may have is refused, or the process is killed" \
		sh -c "! GROUP=$CGROUPS/first sh -c 'echo \$\$ >\"\$GROUP/cgroup.procs\" &&
			exec spindle-ctl subgroup set node 2 id 1 history 64M' >/tmp/refused 2>&1"
	check "the node has no history then" sh -c "spindle-ctl -v subgroup show node 2 id 1 |
		grep -q 'history none'"

	# A process gives the engine 10 MiB of predicates.
	echo max >$CGROUPS/first/memory.max
	check "node 3 has a table" spindle-ctl view set node 3 vid 1 member 3@10.0.0.1:5003 \
		table 6 cells 8
	first=$(charged first)
	# shellcheck disable=SC2016
	GROUP=$CGROUPS/first sh -c 'echo $$ >"$GROUP/cgroup.procs" && exec dev-bad hoard' \
		>/tmp/hoard 2>&1 &
	hoard=$!
	check "a process of the first cgroup adds predicates" \
		wait_until 60 grep -q '^# hoard: all are there' /tmp/hoard
	is "the first cgroup pays for them" "$(rings "$first" "$(charged first)")" 1
	kill $hoard
	wait $hoard
	is "it gets that back with the process" "$(rings "$first" "$(charged first)")" 0
else
	skip "memory cgroups pay" "a kernel without them"
fi
check "nodes go" loop_del 3
check "module goes" rmmod spindle
finish
