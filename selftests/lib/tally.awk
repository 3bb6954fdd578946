# SPDX-License-Identifier: GPL-2.0-only
#
# Reads the TAP of one lane, prints it with running numbers, counts.
#
#	awk -v prefix="6.1 " -v totals=FILE -v loose=1 -f tally.awk
#
# TOTALS is read at the start and written at the end: passed failed skipped. What
# failed is added to TOTALS.failed, with the first remarks that followed it and what a
# kernel said before it, for readers that see only the end of a long run.
# A block is what stands between "# test: NAME" and "# test-end: NAME STATUS";
# what is outside of any is the lane's own.  Every block needs a plan that its
# results agree with; loose means that the lane's own needs none.

function result(good, text)
{
	number++
	remarks = 0
	if (good) {
		passed++
		printf "ok %d - %s\n", number, text
	} else {
		failed++
		printf "not ok %d - %s\n", number, text
		printf "# not ok %d - %s%s\n", number, text, kernel >>(totals ".failed")
		remarks = 6
	}
	kernel = ""
	kernel_lines = 0
	fflush()
}

function remark(text)
{
	if (remarks > 0) {
		remarks--
		printf "# %s\n", substr(text, 1, 200) >>(totals ".failed")
	} else if (text ~ /^# kernel: / && kernel_lines++ < 12) {
		kernel = kernel "\n# " substr(text, 1, 200)
	}
	print text
	fflush()
}

function start_block(name)
{
	block = name
	label = prefix (name == "" ? "" : name ": ")
	planned = 0
	plans = 0
	results = 0
	bad = 0
}

function end_block(status)
{
	if (results != planned && !(loose && block == "" && !plans))
		result(0, label "planned " planned " tests, saw " results)
	else if (!plans && !(loose && block == ""))
		result(0, label "no plan and no results")
	else if (status != 0 && !bad)
		result(0, label "exit status " status)
}

BEGIN {
	passed = failed = skipped = 0
	if ((getline line < totals) > 0) {
		split(line, t, " ")
		passed = t[1]
		failed = t[2]
		skipped = t[3]
	}
	close(totals)
	number = passed + failed + skipped
	start_block("")
}

{ sub(/\r$/, "") }

/^# test: / {
	end_block(0)
	start_block($3)
	next
}

/^# test-end: / {
	end_block($4)
	start_block("")
	next
}

# The lane itself is over: the status of what made this output.
/^# lane-end: / {
	if (block != "")
		end_block("of " block " never came")
	else
		end_block($3)
	ended = 1
	next
}

/^1\.\.[0-9]+/ {
	plans++
	n = $1
	sub(/^1\.\./, "", n)
	planned += n
	if (n == 0) {
		number++
		skipped++
		remarks = 0
		reason = $0
		sub(/^1\.\.0 *(# *[Ss][Kk][Ii][Pp][^ ]* *)?/, "", reason)
		printf "ok %d - %sall # SKIP %s\n", number, label, reason
	}
	next
}

/^(not )?ok( |$)/ {
	good = !/^not ok/
	text = $0
	sub(/^(not )?ok *[0-9]* *(- *)?/, "", text)
	results++
	if (good && text ~ /# *[Ss][Kk][Ii][Pp]/) {
		number++
		skipped++
		remarks = 0
		printf "ok %d - %s%s\n", number, label, text
		fflush()
		next
	}
	if (!good)
		bad++
	result(good, label text)
	next
}

/^#/ { remark($0); next }
/^$/ { next }
{ remark("# " $0) }

END {
	if (!ended)
		result(0, prefix "died")
	printf "%d %d %d\n", passed, failed, skipped >totals
}
