# SPDX-License-Identifier: GPL-2.0-only
load BENCH."/common.gp"
set xlabel "bytes of a cell"
set ylabel "us"
set logscale x 2
set logscale y
set yrange [*:*]
plot for [i=1:words(SERIES)] rows(word(SERIES, i), "time_us") \
	using 1:2:3:4 title word(SERIES, i), \
	rows("write", "post_us") using 1:2:3:4 title "of a write: the call", \
	rows("read", "post_us") using 1:2:3:4 title "of a read: the call", \
	rows("raw read", "post_us") using 1:2:3:4 title "of a raw read: the post"
