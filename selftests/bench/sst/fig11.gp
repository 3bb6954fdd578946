# SPDX-License-Identifier: GPL-2.0-only
load BENCH."/common.gp"
set xlabel "rows of the predicate"
set ylabel "million looks in a second"
set logscale y
set yrange [*:*]
LOOKS = "\"one row has changed\" \"a pass\" \"all rows have changed\""
plot for [i=1:words(LOOKS)] rows(word(LOOKS, i), "rate") \
	using 1:($2 / 1e6) with linespoints title word(LOOKS, i)
