# SPDX-License-Identifier: GPL-2.0-only
#
# Compute the numbers of all sentences and of all tables of figures again, and look for them in the
# page. This program shares no code with the generators of the pages.
#
#	awk -f sentences.awk kind=csv name=fig03 fig03.csv ... kind=text name=fig03 data=fig03 \
#		whole= fig03.rst ... kind=page figures.rst
#
# NAME is what of() calls the CSV. DATA is the CSV of a text. WHOLE: all of the text is sentences,
# and not only its parts @ours and @why.
#
# The output is a line for each sentence and each cell that the page does not have, and at the end
# "N expressions, M cells". The status is 1 if anything is missing, or if there is no expression.

BEGIN {
	UNDEF = "undef"
	NONE = "(not measured)"
	# Characters at most in front of the first cell of a table, and of the next one: headings have
	# the names of all series, and a row may have many empty cells.
	HEADING = 600
	MARKUP = 80
	FS = "\n"
}

FNR == 1 {
	begin_file()
}

kind == "csv" {
	csv_line()
}

kind == "text" {
	text_line()
}

kind == "page" {
	page = page " " $0
}

END {
	gsub(/[ \t]+/, " ", page)
	for (n = 1; n <= parts; n++)
		check_part(n)
	for (n = 1; n <= tables; n++)
		check_table(n)
	print expressions + 0 " expressions, " cells + 0 " cells"
	exit bad || !expressions
}

# ---- reading -------------------------------------------------------------------

function begin_file()
{
	part = ""
	if (kind == "text" && whole)
		part = "whole"
}

function csv_line(  n, i, f, x)
{
	n = split($0, f, ",")
	if (FNR == 1) {
		split("", column)
		for (i = 1; i <= n; i++)
			column[i] = f[i]
		columns = n
		return
	}
	if (n != columns)
		return
	x = f[2]
	for (i = 3; i <= n; i++)
		value[name, f[1], x, column[i]] = f[i]
	if (!((name, f[1]) in seen_series)) {
		seen_series[name, f[1]] = 1
		series[name, ++series_of[name]] = f[1]
	}
	if (!((name, x) in seen_x)) {
		seen_x[name, x] = 1
		# Sorted by number.
		for (i = ++xs[name]; i > 1 && xat[name, i - 1] + 0 > x + 0; i--)
			xat[name, i] = xat[name, i - 1]
		xat[name, i] = x
	}
}

function text_line()
{
	if ($0 ~ /^\.\. SPDX/)
		return
	if ($0 ~ /^@/) {
		part = substr($0, 2)
		sub(/ .*/, "", part)
		if (part == "title")
			title = substr($0, 8)
		if (part == "table")
			add_table(substr($0, 8))
		return
	}
	if (part == "whole" && $0 == "") {
		open_part = 0
		return
	}
	if (part != "whole" && part != "ours" && part != "why")
		return
	if (FNR == 1 || !open_part || where != FILENAME part) {
		parts++
		where = FILENAME part
		open_part = 1
		part_data[parts] = data
		part_name[parts] = FILENAME " " part
	}
	text[parts] = text[parts] " " $0
}

function add_table(line,  f)
{
	tables++
	split(line, f, " ")
	table_data[tables] = data
	table_title[tables] = title
	table_metric[tables] = f[1]
	table_scale[tables] = f[2]
	table_digits[tables] = f[3]
	table_caption[tables] = toupper(substr(f[4], 1, 1)) substr(line, index(line, " " f[4]) + 2)
}

# ---- sentences -------------------------------------------------------------------

# Expand one paragraph, sentence by sentence.
function check_part(n,  rest, done, e, i, list)
{
	T = part_data[n]
	rest = text[n]
	done = ""
	list = ""
	while ((i = index(rest, "{{"))) {
		done = done substr(rest, 1, i - 1)
		rest = substr(rest, i + 2)
		i = index(rest, "}}")
		src = substr(rest, 1, i - 1)
		rest = substr(rest, i + 2)
		gsub(/[ \t]+/, " ", src)
		e = shown(parse(1))
		if (next_char() != "")
			die("more than an expression: " src)
		expressions++
		list = list "\n    " e " = " src
		done = done e
	}
	done = done rest
	gsub(/[ \t]+/, " ", done)
	sub(/^ /, "", done)
	sub(/ $/, "", done)
	if (index(page, done))
		return
	bad = 1
	print part_name[n] ": the page does not say: " done list
}

function shown(v)
{
	return v == UNDEF ? NONE : v
}

function die(why)
{
	print part_name[n] ": " why
	bad = 1
	exit 1
}

# ---- expressions: NAME(ARG, ...), 'text', number ------------------------------------

function next_char()
{
	while (substr(src, at, 1) == " ")
		at++
	return substr(src, at, 1)
}

# The value of the expression at @from, or at the place that was reached.
function parse(from,  c, word, args, count)
{
	if (from)
		at = from
	c = next_char()
	if (c == "'") {
		word = substr(src, at + 1)
		word = substr(word, 1, index(word, "'") - 1)
		at += length(word) + 2
		return word
	}
	if (match(substr(src, at), /^[0-9.]+(e[0-9]+)?/)) {
		word = substr(src, at, RLENGTH)
		at += RLENGTH
		return word
	}
	if (!match(substr(src, at), /^[a-z_0-9]+/))
		die("no expression: " src)
	word = substr(src, at, RLENGTH)
	at += RLENGTH
	if (next_char() != "(")
		die("no arguments: " src)
	at++
	count = 0
	while (next_char() != ")") {
		args[++count] = parse(0)
		if (next_char() == ",")
			at++
	}
	at++
	return call(word, args, count)
}

function call(f, a, n)
{
	if (f in printer)
		return print_as(f, a, n)
	if (f == "v")
		return v(a[1], a[2], n > 2 ? a[3] : "goodput")
	if (f == "r")
		return div(v(a[1], a[3], n > 3 ? a[4] : "goodput"),
			   v(a[2], a[3], n > 3 ? a[4] : "goodput"))
	if (f == "div")
		return div(a[1], a[2])
	if (f == "mul")
		return a[1] == UNDEF || a[2] == UNDEF ? UNDEF : a[1] * a[2]
	if (f == "plus")
		return a[1] == UNDEF || a[2] == UNDEF ? UNDEF : a[1] + a[2]
	if (f == "minus")
		return a[1] == UNDEF || a[2] == UNDEF ? UNDEF : a[1] - a[2]
	if (f == "avg" || f == "least" || f == "most")
		return ratio(f, a[1], a[2], n > 2 ? a[3] : "goodput")
	if (f == "top" || f == "topx" || f == "firstx" || f == "lastx")
		return ends(f, a[1], n > 1 ? a[2] : "goodput")
	if (f == "nth" || f == "nthx")
		return ranked(f, a[1], a[2], a[3])
	if (f == "best")
		return best(a, n)
	if (f == "batch")
		return v(a[1], a[2], a[3] "_batch")
	if (f == "writes")
		return call_mul(v(a[1], a[2], "writes_per_message"), 1e6)
	if (f == "looks")
		return div(v(a[1], a[2], "visits"), v(a[1], a[2], "passes"))
	if (f == "posting")
		return posting(a[1], a[2])
	return call_other(f, a, n)
}

# Functions of one page.
function call_other(f, a, n,  keep, got)
{
	if (f == "host_us" || f == "of") {
		keep = T
		T = f == "of" ? a[1] : "host"
		got = f == "of" ? v(a[2], a[3], a[4]) : div(v(a[1], 0, "latency_ns"), 1000)
		T = keep
		return got
	}
	if (f == "write_us")
		return div(64e6, v("64 B raw", 3, "raw_bandwidth"))
	if (f == "now_over_before")
		return div(both("headline", a[1], a[2]), both("headline-before", a[1], a[2]))
	if (f == "over_one") {
		got = n > 2 ? a[3] : "time_us"
		return div(v(a[1], a[2], got), v(a[1], 2, got))
	}
	if (f == "mpi_best" || f == "mpi_best_name")
		return mpi_best(f, a[1])
	if (f == "far_outside")
		return div(v(a[1], a[2], "far_first_us") + v(a[1], a[2], "far_wait_us"),
			   v(a[1], a[2], "time_us"))
	die("no such function: " f)
}

# The goodput of two runs of a row, added up.
function both(name, s, x,  keep, one, two)
{
	keep = T
	T = name
	one = v(s, x, "goodput")
	T = name "-again"
	two = v(s, x, "goodput")
	T = keep
	return one == UNDEF || two == UNDEF ? UNDEF : one + two
}

function v(s, x, metric)
{
	if (!((T, s, x, metric) in value) || value[T, s, x, metric] == "")
		return UNDEF
	return value[T, s, x, metric]
}

function div(a, b)
{
	return a == UNDEF || b == UNDEF || b + 0 <= 0 ? UNDEF : a / b
}

function call_mul(a, b)
{
	return a == UNDEF ? UNDEF : a * b
}

function ratio(f, s1, s2, metric,  i, q, n, sum, low, high)
{
	for (i = 1; i <= xs[T]; i++) {
		q = div(v(s1, xat[T, i], metric), v(s2, xat[T, i], metric))
		if (q == UNDEF)
			continue
		if (!n++ || q < low)
			low = q
		if (n == 1 || q > high)
			high = q
		sum += q
	}
	if (!n)
		return UNDEF
	return f == "avg" ? sum / n : f == "least" ? low : high
}

function ends(f, s, metric,  i, q, first, last, high, where_high)
{
	first = last = high = where_high = UNDEF
	for (i = 1; i <= xs[T]; i++) {
		q = v(s, xat[T, i], metric)
		if (q == UNDEF)
			continue
		if (first == UNDEF)
			first = xat[T, i]
		last = xat[T, i]
		if (high == UNDEF || q + 0 >= high + 0) {
			high = q
			where_high = last
		}
	}
	return f == "firstx" ? first : f == "lastx" ? last : f == "top" ? high : where_high
}

# The value of a series that has so many before it, or where it is. Of equals the first one counts.
function ranked(f, number, s, metric,  i, k, q, other, before)
{
	for (i = 1; i <= xs[T]; i++) {
		q = v(s, xat[T, i], metric)
		if (q == UNDEF)
			continue
		before = 0
		for (k = 1; k <= xs[T]; k++) {
			other = v(s, xat[T, k], metric)
			before += other != UNDEF && (other + 0 < q + 0 || (other == q && k < i))
		}
		if (before + 1 == number)
			return f == "nth" ? q : xat[T, i]
	}
	return UNDEF
}

# The series with the largest mean of a metric, a[1].
function best(a, n,  k, i, q, sum, m, high, name_high)
{
	name_high = UNDEF
	for (k = 2; k <= n; k++) {
		sum = m = 0
		for (i = 1; i <= xs[T]; i++) {
			q = v(a[k], xat[T, i], a[1])
			if (q != UNDEF) {
				sum += q
				m++
			}
		}
		if (m && (name_high == UNDEF || sum / m > high)) {
			high = sum / m
			name_high = a[k]
		}
	}
	return name_high
}

function mpi_best(f, x,  i, q, low, name_low)
{
	low = name_low = UNDEF
	for (i = 1; i <= series_of[T]; i++) {
		if (series[T, i] !~ /^MPI/)
			continue
		q = v(series[T, i], x, "time_us")
		if (q != UNDEF && (low == UNDEF || q + 0 < low + 0)) {
			low = q
			name_low = series[T, i]
		}
	}
	return f == "mpi_best" ? low : name_low
}

# One engine thread: its seconds, times its busy share, times the share of that spent posting.
function posting(s, x,  all)
{
	if (v(s, x, "engine_busy") == UNDEF || v(s, x, "engine_post") == UNDEF)
		return UNDEF
	all = v(s, x, "seconds") * v(s, x, "engine_busy")
	return all * v(s, x, "engine_post") / (v(s, x, "sent") / 1e6)
}

# ---- how numbers are printed ---------------------------------------------------------

BEGIN {
	split("num fold pct mb us rate many word change share", name_of_printer, " ")
	for (i in name_of_printer)
		printer[name_of_printer[i]] = 1
}

function print_as(f, a, n,  q)
{
	if (a[1] == UNDEF)
		return NONE
	if (f == "word")
		return a[1]
	q = a[1] + 0
	if (f == "num")
		return sprintf("%." (n > 1 ? a[2] : 1) "f", q)
	if (f == "fold")
		return q < 10 ? sprintf("%.2f times", q) : sprintf("%.1f times", q)
	if (f == "pct")
		return sprintf("%.0f %%", 100 * q)
	if (f == "share")
		return sprintf("%.2f %%", 100 * q)
	if (f == "mb")
		return q < 1e7 ? sprintf("%.2f MB/s", q / 1e6) : sprintf("%.0f MB/s", q / 1e6)
	if (f == "us")
		return q < 1000 ? sprintf("%.2f us", q) : sprintf("%.2f ms", q / 1000)
	if (f == "rate")
		return q < 1e6 ? sprintf("%.1f k/s", q / 1e3) : sprintf("%.2f M/s", q / 1e6)
	if (f == "many")
		return q < 1e6 ? sprintf("%.0f", q) : sprintf("%.2f M", q / 1e6)
	return sprintf("%.1f %% %s", 100 * (q >= 1 ? q - 1 : 1 - q), q >= 1 ? "more" : "less")
}

# ---- tables ----------------------------------------------------------------------------

# A cell: the median, and the least and the most if they differ.
function cell(n, s, x,  m, form, scale, text, low, high)
{
	m = table_metric[n]
	if (v(s, x, m) == UNDEF)
		return ""
	form = "%." table_digits[n] "f"
	scale = table_scale[n]
	low = v(s, x, m "_min")
	high = v(s, x, m "_max")
	text = sprintf(form, v(s, x, m) / scale)
	if (low != UNDEF && high != UNDEF && low + 0 != high + 0)
		text = text " (" sprintf(form, low / scale) " to " sprintf(form, high / scale) ")"
	return text (v(s, x, "noisy") + 0 ? " \\*" : "")
}

# The place behind the next @word of @rest that is no part of a longer number, 0: none is near
function behind(rest, word, near,  from, i)
{
	from = 1
	while ((i = index(substr(rest, from, near + length(word)), word))) {
		from += i - 1
		if (substr(rest, from - 1, 1) !~ /[0-9.]/ &&
		    substr(rest, from + length(word), 1) !~ /[0-9.]/)
			return from + length(word)
		near -= i
		from++
	}
	return 0
}

# All cells come behind the title and the caption, row by row, with nothing but markup between.
function check_table(n,  rest, i, k, at_x, text, any, first)
{
	T = table_data[n]
	first = 1
	i = index(page, " " table_title[n] " ---")
	rest = substr(page, i)
	k = index(rest, " " table_caption[n])
	rest = substr(rest, k, 40000)
	if (!i || !k) {
		print "no table \"" table_caption[n] "\" below \"" table_title[n] "\""
		bad = 1
		return
	}
	for (i = 1; i <= xs[T]; i++) {
		at_x = xat[T, i]
		for (k = 1; k <= series_of[T]; k++) {
			text = cell(n, series[T, k], at_x)
			if (text == "")
				continue
			any = behind(rest, text, first ? HEADING : MARKUP)
			first = 0
			if (!any) {
				print table_title[n] ", " table_caption[n] ": no cell \"" text \
					"\" for " series[T, k] " at " at_x
				bad = 1
				return
			}
			rest = substr(rest, any)
			cells++
		}
	}
}
