# SPDX-License-Identifier: GPL-2.0-only
load BENCH."/common.gp"
set xlabel "percent of objects"
set ylabel "ms"
plot for [i=1:words(SERIES)] \
	sprintf("< for m in 50:time_us 90:time_p90_us 99:time_p99_us; do echo $m | tr ':\\n' '  '; awk -F, -f '%s/pick.awk' -v series='%s' -v metric=${m#*:} '%s'; done", BENCH, word(SERIES, i), CSV) \
	using 1:($4 / 1000) with linespoints title word(SERIES, i)
