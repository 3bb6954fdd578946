# SPDX-License-Identifier: GPL-2.0-only
load BENCH."/common.gp"
set xlabel "bytes"
set ylabel "us, one way"
set y2label "MB/s"
set y2tics
set y2range [0:*]
set logscale x 2
set logscale y
set yrange [*:*]
plot rows("raw write", "raw_latency") using 1:2:3:4 title "latency", \
	rows("raw write", "raw_bandwidth") using 1:($2 / 1e6):($3 / 1e6):($4 / 1e6) \
	axes x1y2 title "bandwidth"
