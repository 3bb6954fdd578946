# SPDX-License-Identifier: GPL-2.0-only
load BENCH."/common.gp"
set xlabel "KiB"
set logscale x 2
set ylabel "MB/s, delivered at each"
plot for [i=1:words(SERIES)] rows(word(SERIES, i), "goodput") \
	using 1:($2 / 1e6):($3 / 1e6):($4 / 1e6) title word(SERIES, i)
