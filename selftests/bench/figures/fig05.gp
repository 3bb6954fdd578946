# SPDX-License-Identifier: GPL-2.0-only
load BENCH."/common.gp"
set xlabel "members"
set ylabel "MB/s, delivered at each (full lines)"
set y2label "ms from sending to own delivery, median (broken lines)"
set y2tics
set logscale y2
plot for [i=1:words(SERIES)] rows(word(SERIES, i), "goodput") \
	using 1:($2 / 1e6):($3 / 1e6):($4 / 1e6) linetype i title word(SERIES, i), \
	for [i=1:words(SERIES)] rows(word(SERIES, i), "own_p50") using 1:($2 / 1e3) \
	axes x1y2 with lines linetype i dashtype 2 notitle
