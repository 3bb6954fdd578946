# SPDX-License-Identifier: GPL-2.0-only
load BENCH."/common.gp"
set xlabel "members"
set ylabel "time, over that to one receiver"
set logscale x 2
set yrange [*:*]
set logscale y
plot for [i=1:words(SERIES)] rows(word(SERIES, i), "over_unicast") \
	using 1:($2 / 1):($3 / 1):($4 / 1) title word(SERIES, i)
