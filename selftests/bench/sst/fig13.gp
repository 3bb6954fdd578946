# SPDX-License-Identifier: GPL-2.0-only
load BENCH."/common.gp"
set xlabel "members"
set ylabel "us"
set logscale y
set yrange [*:*]
plot rows("routers", "time_us") using 1:2:3:4 title "all", \
	rows("routers", "first_us") using 1:2:3:4 title "the first one", \
	rows("routers", "compute_us") using 1:2:3:4 title "computing"
