# SPDX-License-Identifier: GPL-2.0-only
load BENCH."/common.gp"
set xlabel "members"
set ylabel "ms"
plot for [i=1:words(SERIES)] rows(word(SERIES, i), "time_us") \
	using 1:($2 / 1000):($3 / 1000):($4 / 1000) title word(SERIES, i)
