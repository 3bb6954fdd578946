#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The module comes and goes: not while it is used, and many times without
# leaving anything behind; and behind a join that is broken off anywhere. Network namespaces: each has its
# own nodes.
# vm: own
# vm: mem=768
# vm: timeout=900 each
. ./guest-lib.sh
. ./lib-loop.sh
. ./lib-live.sh

CYCLES=${CYCLES:-40}
# Until here caches of the kernel may still grow to the size that they need.
WARM=20

refuses_to_go()
{
	! rmmod spindle 2>/dev/null && grep -q '^spindle ' /proc/modules
}

# ---- references -------------------------------------------------------------

check "the module is loaded" loop_start
check "a node is added" loop_nodes 1
check "a node keeps the module" refuses_to_go
check "a view is installed" loop_view 1 1 subgroup 1
check "a view keeps the module" refuses_to_go
sleep 300 3</dev/spindle &
holder=$!
check "the node is removed" loop_del 1
check "an open file keeps the module" refuses_to_go
kill $holder
wait $holder 2>/dev/null
check "the module can be unloaded without users" limit 60 rmmod spindle
check "the control device is gone" test ! -e /dev/spindle

# ---- namespaces -------------------------------------------------------------

# A namespace with an RDMA device of its own.
setup_netns()
{
	ip netns add "$1" && ip -n "$1" link add dummy1 type dummy &&
		ip -n "$1" addr add 10.0.1.1/24 dev dummy1 &&
		ip -n "$1" link set dummy1 mtu 4200 up &&
		ip netns exec "$1" rdma link add rxe1 type rxe netdev dummy1
}

# Where iproute2 keeps namespaces and where others look for them are one.
mkdir -p /var /run/netns
[ -e /var/run ] || ln -s ../run /var/run
check "the module is loaded again" modprobe spindle
check "a namespace is set up" setup_netns blue
check "node 1 is added in the first namespace" loop_nodes 1
check "a view is installed in the first namespace" loop_view 1 1 subgroup 1
check "node 1 is added in the second namespace" \
	spindle-ctl -n blue node add id 1 addr 10.0.1.1 port 7001
check "node 2 is added in the second namespace" \
	spindle-ctl -n blue node add id 2 addr 10.0.1.1 port 7002
is "the first namespace shows its nodes" \
	"$(spindle-ctl node show | awk 'NR > 1 { print $1, $2 }')" "1 10.0.0.1:5001"
is "the second namespace shows its nodes" \
	"$(spindle-ctl -n blue node show | awk 'NR > 1 { printf "%s %s ", $1, $2 }')" \
	"1 10.0.1.1:7001 2 10.0.1.1:7002 "
check "an address of the first namespace is not in the second one" sh -c \
	"! spindle-ctl -n blue node add id 3 addr 10.0.0.1 2>/tmp/msg &&
		grep -q 'belongs to no RDMA device' /tmp/msg"
check "a process attaches in its own namespace" limit 30 mcast-load -n 1 -g 1 -c 5
for ns in blue red; do
	[ $ns = blue ] || ip netns add $ns
	ip netns exec $ns mcast-load -n 1 -g 1 -c 5 >/tmp/msg 2>&1
	case $ns in
	# There is a node 1, but without a view.
	blue) check "not from $ns" grep -q "nothing to attach to" /tmp/msg ;;
	red) check "not from $ns" grep -q "No such device" /tmp/msg ;;
	esac
done
check "a removal in the second namespace spares the first one" spindle-ctl -n blue node del id 1
check "messages flow in the first namespace" limit 30 mcast-load -n 1 -g 1 -c 5
check "node 1 is removed in the first namespace" loop_del 1
check "a node in the second namespace keeps the module" refuses_to_go
check "node 2 is removed in the second namespace" spindle-ctl -n blue node del id 2
check "the device of the second namespace goes" limit 60 rdma link delete rxe1
check "module goes" limit 60 rmmod spindle
ip netns del blue
ip netns del red

# ---- leaks ------------------------------------------------------------------

cycle()
{
	modprobe spindle && loop_nodes 3 visibility "$1" &&
		loop_view 3 1 subgroup 1 window 16 max-msg 512 subgroup 2 members 1,2 &&
		limit 60 mcast-load -n 1-3 -g 1 -c 5 -l 1-500 >/tmp/load.out &&
		loop_del 3 && limit 60 rmmod spindle
}

# snapshot NAME: record the present use of memory. Per-processor caches of free objects and pages
# are emptied or counted as free, the files of this test are not counted. Workers belong to the
# kernel, and have the name of the queue that they served last.
snapshot()
{
	local f

	sync
	for f in 1 2 3; do
		echo 3 >/proc/sys/vm/drop_caches
		# Inodes go after a grace period.
		usleep 400000
	done
	for f in /sys/kernel/slab/*/shrink; do
		[ -L "${f%/shrink}" ] || echo 1 >"$f"
	done 2>/dev/null
	rdma resource show >"/tmp/$1.rdma"
	grep -c vmap /proc/vmallocinfo >"/tmp/$1.vmap"
	[ ! -e /proc/slabinfo ] ||
		awk 'NR > 2 { print $1, $2 }' /proc/slabinfo | sort >"/tmp/$1.slab"
	for f in /proc/[0-9]*/comm; do
		cat "$f"
	done 2>/dev/null | grep spindle | grep -v kworker >"/tmp/$1.threads"
	{
		awk '/count:/ { n += $2 } END { print "pcp:", n * 4 }' /proc/zoneinfo
		cat /proc/meminfo
	} | awk '{ v[$1] = $2 } END {
		print v["MemTotal:"] - v["MemFree:"] - v["pcp:"] - v["Cached:"] - v["Buffers:"] -
			v["AnonPages:"] - v["PageTables:"] - v["KernelStack:"]
	}' >"/tmp/$1.kb"
}

# The caches that have most more objects than when they were warm.
most_grown()
{
	awk 'NR == FNR { a[$1] = $2; next } { print $2 - a[$1], $1 }' \
		/tmp/warm.slab /tmp/cold.slab | sort -rn | head -n 4 | paste -s -d ','
}

diag "slab caches can be shrunk: $(ls -d /sys/kernel/slab/kmalloc-64/shrink 2>/dev/null)"
failed=
samples=
i=0
while [ $i -lt "$CYCLES" ]; do
	i=$((i + 1))
	how=poll
	[ $((i % 2)) = 0 ] || how=imm
	if ! cycle $how >/tmp/cycle.out 2>&1; then
		failed="cycle $i failed"
		sed 's/^/# /' /tmp/cycle.out /tmp/load.out
		break
	fi
	if [ $i = $WARM ]; then
		snapshot warm
	elif [ $((i % 40)) = 0 ]; then
		snapshot cold
		diag "after $i cycles: $(cat /tmp/cold.kb) kB, $(cat /tmp/cold.vmap) mappings"
		if [ -e /tmp/cold.slab ]; then
			samples="$samples /tmp/$i.slab"
			cp /tmp/cold.slab "/tmp/$i.slab"
			diag "most grown: $(most_grown)"
		fi
	fi
done
is "$CYCLES times: load, configure, send, remove, unload" "$failed" ""
snapshot cold
n=$((CYCLES - WARM))
check "RDMA resources are as before" cmp /tmp/warm.rdma /tmp/cold.rdma
sed 's/^/# /' /tmp/cold.rdma
is "mappings are as before" "$(cat /tmp/cold.vmap)" "$(cat /tmp/warm.vmap)"
is "no thread is left" "$(cat /tmp/cold.threads)" ""
# One object per cycle, of whatever kind, would make its cache grow by as many between
# any two samples, 40 cycles apart, and over all of them. What grows once, or by a slab
# now and then (kmalloc-32 by 103 of four samples in turn, and back), is the kernel's own;
# freed mappings are kept for a while, they have been counted above. kmemleak in the debug kernel is
# exact, this is for kernels that users have.
if [ -e /proc/slabinfo ]; then
	# shellcheck disable=SC2086
	is "no slab cache grows by an object per cycle" "$(awk '
		FNR == 1 { sample++ }
		sample > 1 && $2 - last[$1] >= 30 { grew[$1]++ }
		sample == 1 { first[$1] = $2 }
		{ last[$1] = $2; seen[$1] = seen[$1] " " $2 }
		END {
			for (c in grew)
				if (sample > 2 && grew[c] == sample - 1 && c != "vmap_area" &&
				    last[c] - first[c] >= 36 * (sample - 1))
					print c seen[c]
		}' $samples)" ""
	diag "most grown: $(most_grown)"
else
	skip "no slab cache grows by an object per cycle" "no /proc/slabinfo"
fi
# One page per cycle, wherever it is, would add up to this. Some hundred kilobytes vary without a
# leak, so only many cycles show one.
grown=$(($(cat /tmp/cold.kb) - $(cat /tmp/warm.kb)))
if [ $n -ge 150 ]; then
	check "memory has not grown by a page per cycle ($grown kB in $n cycles)" \
		test $grown -lt $((n * 4))
else
	skip "memory has not grown by a page per cycle" "$grown kB in $n cycles say nothing"
fi
check "the kernel lists nothing of the module" \
	sh -c "! grep -q spindle /proc/slabinfo /proc/modules"

# ---- unload against work queues ----------------------------------------------

# A join is the most that work queues have to do: questions, chores, connections. It is broken off
# by the removal of its nodes, a little later each time, and the module goes at once.
broken_join()
{
	modprobe spindle && loop_nodes 2 && live_view 1 subgroup 1 max-msg 64 || return 1
	spindle-ctl node join id 2 insecure contact 10.0.0.1:5001 timeout 60 >/tmp/join.out 2>&1 &
	joiner=$!
	usleep $(($1 * 4000))
	spindle-ctl node del id $((1 + $1 % 2)) || return 1
	spindle-ctl node del id $((2 - $1 % 2)) || return 1
	wait_until 60 dead $joiner || return 1
	wait $joiner && joined=$((joined + 1))
	limit 60 rmmod spindle
}

failed=
joined=0
for i in $(seq 20); do
	broken_join "$i" >/tmp/cycle.out 2>&1 && continue
	failed="time $i failed"
	sed 's/^/# /' /tmp/cycle.out /tmp/join.out
	break
done
is "20 times: a join is broken off, and the module goes at once" "$failed" ""
diag "$joined of the joins came first"

# ---- a namespace that goes first --------------------------------------------

# A user that deletes a namespace may forget the nodes in it, and no process can remove them then.
# The nodes have to go with their device, because otherwise the module could never be unloaded.
check "the module is loaded again" modprobe spindle
check "a namespace is set up" setup_netns green
check "a node is added in the namespace" spindle-ctl -n green node add id 1 addr 10.0.1.1 port 7001
ip netns del green
check "the device of an unreachable namespace is deleted" limit 60 rdma link delete rxe1
check "module goes" wait_until 20 rmmod spindle
finish
