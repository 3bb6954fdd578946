# SPDX-License-Identifier: GPL-2.0-only
load BENCH."/common.gp"
# The largest subgroup that was measured.
largest = system("awk -F, '$1 == \"batching\" { if ($2 > x) x = $2 + 0 } END { print x + 0 }' '".CSV."'")
set title largest." members, batching"
set xlabel "messages in a batch, at least"
set ylabel "% of the batches"
set logscale x 2
plot for [s in "send recv dlv"] batches("batching", largest, s) using 1:2 with linespoints \
	title (s eq "recv" ? "received" : s eq "dlv" ? "delivered" : "sent")
