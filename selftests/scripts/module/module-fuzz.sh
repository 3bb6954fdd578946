#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# Random requests on netlink, the device and the handshake, next to bystanders, which no request may
# harm: the seeds of the corpus, or the one of FUZZ_SEED. FUZZ_ARGS are more arguments of fuzz. See
# selftests/guest/fuzz.
# vm: timeout=600 hostile
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh

stop=/tmp/stop
fault=/sys/kernel/debug

# The process that makes allocations chooses the one that fails (fail-nth), of all kinds. Failures
# are silent, because their stacks would be taken for reports.
faults()
{
	local d

	for d in "$fault/failslab" "$fault/fail_page_alloc"; do
		[ -d "$d" ] || continue
		echo 0 >"$d/verbose"
		echo N >"$d/ignore-gfp-wait"
	done
	if [ -d "$fault/fail_page_alloc" ]; then
		echo N >"$fault/fail_page_alloc/ignore-gfp-highmem"
		echo 0 >"$fault/fail_page_alloc/min-order"
	fi
}

# Run one load after the other until the file exists. Each of them checks all deliveries.
load_loop()
{
	local n

	n=0
	while [ ! -e "$stop" ]; do
		n=$((n + 1))
		limit 120 mcast-load -n 1-3 -g 1 -c 30 -l 0-1024 -S "$n" -w 90 || return 1
	done
	echo "# $n loads"
}

# The state of the bystanders, without counters.
bystanders()
{
	local i

	for i in 1 2 3; do
		spindle-ctl -j node show "$i"
		spindle-ctl -j view show "$i"
	done
}

# The ids of all nodes.
all_nodes()
{
	spindle-ctl -j -p node show | sed -n 's/^ *"id": *\([0-9]*\),*$/\1/p'
}

# Readers of bystanders' subgroups that were too slow for how these were tuned just then.
stalled()
{
	local i

	for i in 1 2 3; do
		loop_stat "$i" 2 stalled
		loop_stat "$i" 3 stalled
	done | tr '\n' ' '
}

# round SEED
round()
{
	local load before id

	check "seed $1: nodes" loop_nodes 3
	check "seed $1: a view" loop_view 3 1 \
		subgroup 1 window 16 max-msg 1024 ring 16384 \
		subgroup 2 window 16 max-msg 512 ring 4096 hold 0 \
		subgroup 3 window 4 max-msg 4096 ring 8192 hold 0 \
		table 4 cells 16 cell 128 table 5 cells 16 cell 128 mode read
	check "seed $1: subgroups become active" wait_until 60 all_active 15
	rm -f "$stop"
	load_loop >/tmp/load 2>&1 &
	load=$!
	before=$(bystanders)
	# shellcheck disable=SC2086 # words
	tap_run limit 300 fuzz -s "$1" ${FUZZ_ARGS:-}
	touch "$stop"
	diag "readers that stalled: $(stalled)"
	tap_wait "seed $1: messages of bystanders are right" "$load" /tmp/load
	is "seed $1: bystanders are unchanged" "$(bystanders)" "$before"
	# An error in these subgroups concerned only its sender.
	tap_run limit 120 fuzz -q
	check "seed $1: all subgroups of bystanders still work" \
		limit 120 mcast-load -n 1-3 -g 1,2,3 -c 50 -l 0-512 -w 60
	for id in $(all_nodes); do
		check "seed $1: node $id goes" limit 60 spindle-ctl node del id "$id"
	done
}

check "module loads" loop_start
faults
for seed in ${FUZZ_SEED:-$(fuzz -k)}; do
	round "$seed"
done
check "module goes" limit 60 rmmod spindle
finish
