# SPDX-License-Identifier: GPL-2.0-only
load BENCH."/common.gp"
set xlabel "bytes"
set ylabel "us (full line)"
set y2label "GB/s (broken line)"
set y2tics
set y2range [0:*]
set logscale x 2
set logscale y
set yrange [*:*]
plot rows("memcpy", "latency_ns") using 1:($2 / 1e3):($3 / 1e3):($4 / 1e3) title "latency", \
	rows("memcpy", "bandwidth") using 1:($2 / 1e9) axes x1y2 with lines dashtype 2 \
	linetype 2 title "bandwidth"
