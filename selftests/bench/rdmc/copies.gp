# SPDX-License-Identifier: GPL-2.0-only
load BENCH."/common.gp"
set xlabel "members"
set ylabel "bytes copied for a byte at a receiver"
plot for [i=1:words(SERIES)] rows(word(SERIES, i), "per_byte") \
	using 1:2:3:4 title word(SERIES, i)
