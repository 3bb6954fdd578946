# SPDX-License-Identifier: GPL-2.0-only
#
# Batch sizes of a row of a CSV, for gnuplot: least size of a class, its share in percent.
#
#	awk -F, -f batches.awk -v series=batching -v x=16 -v stage=send FILE
NR == 1 {
	for (i = 1; i <= NF; i++)
		at[$i] = i
	next
}
$at["series"] == series && $at["x"] == x && (stage "_batches") in at {
	n = split($at[stage "_batches"], class, " ")
	for (i = 1; i <= n; i++)
		sum += class[i]
	while (n && !class[n])
		n--
	for (i = 1; i <= n; i++)
		print 2 ^ (i - 1), 100 * class[i] / sum
	done = sum
}
END { if (!done) print "NaN NaN" }
