# SPDX-License-Identifier: GPL-2.0-only
load BENCH."/common.gp"
set xlabel "members"
set ylabel "MB/s"
set yrange [*:*]
set logscale y
plot for [i=1:words(SERIES)] rows(word(SERIES, i), "bandwidth") \
	using 1:($2 / 1e6):($3 / 1e6):($4 / 1e6) title word(SERIES, i)
