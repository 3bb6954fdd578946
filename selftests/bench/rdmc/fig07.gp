# SPDX-License-Identifier: GPL-2.0-only
load BENCH."/common.gp"
set xlabel "members"
set ylabel "objects/s"
plot for [i=1:words(SERIES)] rows(word(SERIES, i), "rate") \
	using 1:($2 / 1):($3 / 1):($4 / 1) title word(SERIES, i)
