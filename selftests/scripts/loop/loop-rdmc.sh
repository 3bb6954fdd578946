#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# RDMC in one kernel: objects of all sizes, by all algorithms, in groups of 2 to 16 members, one
# and many at a time; rdmc-load looks at every byte.
# vm: own
# vm: mem=2048
# vm: timeout=600 each
. ./guest-lib.sh
. ./lib-loop.sh

# whole WORD...: rdmc-load ends well. A group waits as long as the process may take, because nothing
# here is about a group's timeout, and other work may have the processors.
whole()
{
	limit 120 rdmc-load -t $((120000 * ${PATIENCE:-1})) "$@"
}

# As many as objects take below: 22 of 2 MiB. Early, while memory is in large pieces.
HUGE=32
huge_pages()
{
	echo $HUGE >/proc/sys/vm/nr_hugepages && [ "$(cat /proc/sys/vm/nr_hugepages)" = $HUGE ]
}

huge_free()
{
	[ "$(sed -n 's/^HugePages_Free: *//p' /proc/meminfo)" = $HUGE ]
}

# Block - 1, block, block + 1, one byte, two blocks, an odd number, many blocks.
SIZES=1,4095,4096,4097,8192,8193,100000,300001
COUNT=8

# User-Mode Linux has none; the kernels of the emulated guests do.
if [ -e /proc/sys/vm/nr_hugepages ]; then
	check "huge pages are set aside" huge_pages
fi
check "module loads" loop_start
check "16 nodes" loop_nodes 16
check "a view without subgroups" loop_view 16 1
check "one object arrives at one member" whole -m 1,2 -l 1000000
# An emulated processor is slow: there a few of them have to do.
case $(uname -r) in
*-spindle)
	pipelines="2 3 4 5 6 7 8 9 11 13 15 16"
	others="2 3 5 8 16"
	large=67108864
	;;
*)
	pipelines="2 3 6 8"
	others="5"
	large=8388608
	;;
esac
for n in $pipelines; do
	check "pipeline, $n members, blocks of 4096" \
		whole -m "1-$n" -b 4096 -l $SIZES -c $COUNT -S "$n"
done
for a in sequential chain tree hybrid; do
	for n in $others; do
		check "$a, $n members, blocks of 4096" \
			whole -a $a -m "1-$n" -b 4096 -l $SIZES -c $COUNT -S "$n"
	done
done
check "two blocks for three members" whole -m 1-3 -b 65536 -l 100000 -c 10
check "three members, five groups at once" whole -m 1-3 -g 5 -b 65536 -l 1-400000 -c 20
check "eight members, each sends" whole -m 1-8 -g 8 -b 16384 -l 1-200000 -c 10
check "64 objects of one byte" whole -m 1-4 -l 1 -c 64
check "1 MiB, blocks of 1 MiB, nothing aligned" whole -m 1-4 -b 1048576 -l 1048576,3145729 -c 2 -o 17
check "an object of 16 MiB arrives at three members" whole -m 4,3,2,1 -l 16777216 -v
check "$((large >> 20)) MiB arrive in memfds of two members" whole -m 2,3,1 -b 1048576 -l $large -M -v
if [ -e /proc/sys/vm/nr_hugepages ]; then
	# Less than a huge page, just one, one and a byte, some.
	for n in 1048576 65536; do
		check "objects in huge pages, blocks of $n" \
			whole -H -m 1-3 -b $n -l 1,2097152,2097153,5000001 -c 4
	done
	check "objects in huge pages, nothing aligned" \
		whole -H -m 3,1,2 -a chain -b 65536 -l 2097151,4194305 -c 2 -o 17
	check "all huge pages are free again" wait_until 30 huge_free
else
	skip "objects in huge pages" "the kernel has none: CONFIG_HUGETLBFS"
fi
# idle_passes: passes of the engine that found no work. All nodes here have one engine.
idle_passes()
{
	echo $(($(engine_stat 1 passes) - $(engine_stat 1 busy)))
}

# idle US COMMAND...: run with this idle time before engines sleep. /tmp/idle gets the number of
# passes without work. How often an engine sleeps depends on the other load of the machine.
idle()
{
	local before i us

	us=$1
	shift
	for i in $(seq 16); do
		spindle-ctl node set "$i" idle-us "$us" || return 1
	done
	before=$(idle_passes)
	"$@" || return 1
	echo $(($(idle_passes) - before)) >/tmp/idle
}
check "processes wait for events" idle 0 whole -m 1-5 -b 4096 -l 1-300000 -c 20
events=$(cat /tmp/idle)
check "processes poll" idle 1000000 whole -m 1-5 -b 4096 -l 1-300000 -c 20
diag "$events passes without work, and $(cat /tmp/idle)"
check "engines that poll look in vain more often" [ "$(cat /tmp/idle)" -gt "$events" ]
check "nodes can be removed" loop_del 16
check "module goes" rmmod spindle
finish
