# SPDX-License-Identifier: GPL-2.0-only
load BENCH."/common.gp"
set xlabel "bytes"
set ylabel "us"
set logscale x 2
plot for [i=1:words(SERIES)] rows(word(SERIES, i), "time_us") \
	using 1:2:3:4 title word(SERIES, i)
