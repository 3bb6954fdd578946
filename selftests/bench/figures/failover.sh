#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What a change of a live view costs those that stay: the longest gap in what they deliver, in
# the subgroup that changes and in one whose members stay the same, and where it comes from;
# beside them the longest gap when nothing changes. In virtual time. All nodes have one
# processor, so many nodes send less.
# bench: machine=icount
. ./lib-bench.sh

JSON=/tmp/failover.json
KINDS="join leave evict del crash subgroup-add subgroup-replace subgroup-del"
FIGURES="longest_gap_us fixed_longest_gap_us detect_us wedge_us agree_us install_us"
CHANGES=5
[ -z "$QUICK" ] || CHANGES=2

# longest WHERE: between two messages of the subgroup while nothing happens, at any node
longest()
{
	local i got most

	i=0
	most=0
	while got=$(json-get $JSON "/quiet/$i/longest_us" 2>/dev/null); do
		[ "$(json-get $JSON "/quiet/$i/fixed")" != "$1" ] ||
			most=$(awk "BEGIN { print ($got > $most ? $got : $most) }")
		i=$((i + 1))
	done
	echo "$most"
}

# change KIND NODES: the worst of some
change()
{
	local f row kind

	turn "$1" "$2" || return 0
	rm -f $JSON
	if ! limit "$POINT_LIMIT" spindle-perf failover --kind="$1" --nodes="$2" \
		--rate=$((12000 / ($2 * ($2 - 1)))) --repetitions=$CHANGES --json=$JSON >/tmp/bench.out 2>&1; then
		# shellcheck disable=SC2154 # lib-bench.sh
		failed "$points" "$1" "$2"
		sweep_up 64
		return 0
	fi
	[ "$rows" != 0 ] || tell "head changes,$(echo "$FIGURES" | tr ' ' ,),quiet_us,fixed_quiet_us"
	rows=$((rows + 1))
	kind=$(echo "$1" | tr - _)
	row=$(json-get $JSON "/kinds/$kind/changes")
	for f in $FIGURES; do
		row=$row,$(json-get $JSON "/kinds/$kind/$f/max")
	done
	tell "row $points,$1,$2,$row,$(longest false),$(longest true)"
}

sweep()
{
	local n kind

	for n in 3 ${QUICK:+-} 4 8; do
		[ "$n" != - ] || break
		for kind in $KINDS; do
			change "$kind" "$n"
		done
	done
}

bench
