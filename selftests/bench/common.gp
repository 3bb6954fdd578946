# SPDX-License-Identifier: GPL-2.0-only
#
# Settings of all plots. selftests/bench/run sets OUT, CSV, BENCH and SERIES, the quoted
# names of the lines in CSV.
set terminal svg size 720,432 font "sans,13" background "white"
set output OUT
set grid linetype -1 linewidth 0.5 linecolor rgb "#cccccc"
set border 3
set tics nomirror
set key outside right top Left reverse
set style data yerrorlines
set pointsize 0.7
set yrange [0:*]
rows(s, metric) = sprintf("< awk -F, -f '%s/pick.awk' -v series='%s' -v metric=%s '%s'", \
	BENCH, s, metric, CSV)
batches(s, x, stage) = sprintf("< awk -F, -f '%s/batches.awk' -v series='%s' -v x=%s -v stage=%s '%s'", \
	BENCH, s, x, stage, CSV)
# The same colour for what belongs together: lines of pairs of two.
set linetype 1 lw 1.5 pt 7 lc rgb "#1b6ca8"
set linetype 2 lw 1.5 pt 5 lc rgb "#c8553d"
set linetype 3 lw 1.5 pt 9 lc rgb "#3a7d44"
set linetype 4 lw 1.5 pt 11 lc rgb "#8a4f9e"
set linetype 5 lw 1.5 pt 13 lc rgb "#b8860b"
set linetype 6 lw 1.5 pt 4 lc rgb "#444444"
set linetype 7 lw 1.5 pt 6 lc rgb "#17a2a2"
set linetype 8 lw 1.5 pt 8 lc rgb "#d16ba5"
set linetype 9 lw 1.5 pt 10 lc rgb "#7f8c3a"
set linetype cycle 9
