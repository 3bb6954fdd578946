# SPDX-License-Identifier: GPL-2.0-only
load BENCH."/common.gp"
set xlabel "bytes of a message"
set ylabel "messages per second, acknowledged"
set logscale xy
set yrange [*:*]
set xrange [45:1500]
set xtics (64, 1024)
plot for [i=1:words(SERIES)] rows(word(SERIES, i), "rate") \
	using 1:2:3:4 title word(SERIES, i)
