# SPDX-License-Identifier: GPL-2.0-only
#
# Some rows of a CSV for gnuplot: x, median, least, most of a metric in a series.
#
#	awk -F, -f pick.awk -v series="baseline all" -v metric=goodput FILE
#
# A metric of which there is only one value is its own least and most.
NR == 1 {
	for (i = 1; i <= NF; i++)
		at[$i] = i
	next
}
$at["series"] == series && (metric in at) && $at[metric] != "" {
	v = $at[metric]
	min = (metric "_min") in at ? $at[metric "_min"] : v
	max = (metric "_max") in at ? $at[metric "_max"] : v
	print $at["x"], v, min, max
	n++
}
# gnuplot takes no empty data.
END { if (!n) print "NaN NaN NaN NaN" }
