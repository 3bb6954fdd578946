#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Instructions per message, by function and by line, and what caches and branch
# predictors of a simulated processor miss.
#
#   callgrind.sh PROGRAM OUT [OPTION]...
#
# PROGRAM is core-bench, OUT what the names of the results begin with, the options are
# those of a configuration. ROUNDS are run (2000), LINES shown at most (20).
# Counted are the engines' passes and pushes, and nothing of fabric and processes. All
# numbers are per message at a member: of n members, what is done for a message, over n.
# The processor has 32 KiB of L1 and 1 MiB of L2, which the members share here.
set -euo pipefail

(($# >= 2)) || {
	sed -n '3,/^set/s/^# \?//p' "$0"
	exit 2
}
program=$1
out=$2
shift 2
rounds=${ROUNDS:-2000}
lines=${LINES:-20}

for cmd in valgrind callgrind_annotate; do
	command -v "$cmd" >/dev/null || {
		echo "callgrind: $cmd is not here; on Debian: apt-get install valgrind" >&2
		exit 1
	}
done

# Writes that are carried out in the middle of a pass are not counted either.
valgrind --tool=callgrind --cache-sim=yes --branch-sim=yes --I1=32768,8,64 \
	--D1=32768,8,64 --LL=1048576,8,64 --callgrind-out-file="$out.out" \
	--toggle-collect=run_all --toggle-collect=push_all \
	--toggle-collect=carry_out_in_place \
	"$program" "$@" -r "$rounds" >"$out.log" 2>"$out.err" || {
	cat "$out.log" "$out.err" >&2
	exit 1
}
messages=$(sed -n 's/^\([0-9]*\) messages delivered.*/\1/p' "$out.log")
cat "$out.log"

# table TITLE AWK-PATTERN: the lines of the annotation that match, per message.
table()
{
	printf '\n%-9s %9s %9s %9s %9s %9s  %s\n' "instr" "reads" "writes" "L1 miss" \
		"L2 miss" "br miss" "$1"
	awk -v messages="$messages" -v lines="$lines" -v pattern="$2" '
	# Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw Bc Bcm Bi Bim, each with a percentage.
	function per(sum) { return sum / messages }
	$0 ~ pattern {
		gsub(/\([ 0-9.]*%\)/, "")
		gsub(/,/, "")
		if (n++ >= lines)
			exit
		name = $14
		for (i = 15; i <= NF; i++)
			name = name " " $i
		sub(/ \[.*\]$/, "", name)
		sub(/^.*\//, "", name)
		printf "%-9.2f %9.2f %9.2f %9.3f %9.3f %9.3f  %s\n", per($1), per($2),
			per($3), per($5 + $6), per($8 + $9), per($11 + $13), name
	}' "$out.txt"
}

# Some versions complain about lines of their own program.
callgrind_annotate --threshold=100 --auto=yes --context=1 "$out.out" >"$out.txt" 2>>"$out.err"
table "all" 'PROGRAM TOTALS'
table "by function, inlined ones by the file that they are from" '^ *[0-9].*[a-z]:[a-z_0-9.]+( |$)'
echo
echo "by line: $out.txt"
