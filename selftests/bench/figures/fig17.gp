# SPDX-License-Identifier: GPL-2.0-only
load BENCH."/common.gp"
set xlabel "members"
set ylabel "ms from sending to own delivery, median"
set logscale y
set yrange [*:*]
plot for [i=1:words(SERIES)] rows(word(SERIES, i), "own_p50") \
	using 1:($2 / 1e3):($3 / 1e3):($4 / 1e3) title word(SERIES, i)
