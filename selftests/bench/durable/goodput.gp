# SPDX-License-Identifier: GPL-2.0-only
load BENCH."/common.gp"
set xlabel "bytes of a message"
set ylabel "MB/s, at each member"
set logscale xy
set yrange [*:*]
set xrange [45:15000]
set xtics (64, 1024, 10240)
plot for [i=1:words(SERIES)] rows(word(SERIES, i), "goodput") \
	using 1:($2 / 1e6):($3 / 1e6):($4 / 1e6) title word(SERIES, i)
