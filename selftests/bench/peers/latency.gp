# SPDX-License-Identifier: GPL-2.0-only
load BENCH."/common.gp"
set xlabel "bytes of a message"
set ylabel "us until the last delivery, median"
set logscale xy
set yrange [*:*]
set xrange [45:15000]
set xtics (64, 1024, 10240)
set format y "10^{%T}"
plot for [i=1:words(SERIES)] rows(word(SERIES, i), "slowest_p50") \
	using (strstrt(word(SERIES, i), "paced") ? $1 : NaN):2:3:4 \
	title strstrt(word(SERIES, i), "paced") ? word(SERIES, i) : ""
