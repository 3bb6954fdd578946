#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Levels of service of a topic: one publisher.
# bench: mem=3072
. ./lib-bench.sh

sweep()
{
	local n tune

	for n in $FEW_NODES; do
		for tune in baseline final; do
			set -- $BASELINE $BASELINE,history=16M
			[ $tune = baseline ] || set -- $FINAL history=16M
			point "unordered $tune" "$n" -n "$n" -s one $PAPER --mode unordered -T "$1"
			point "atomic $tune" "$n" -n "$n" -s one $PAPER -T "$1"
			point "volatile $tune" "$n" -n "$n" -s one $PAPER -T "$2"
		done
	done
}

bench
