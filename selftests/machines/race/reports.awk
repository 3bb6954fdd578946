# SPDX-License-Identifier: GPL-2.0-only
#
# Reports of KCSAN: to which module does each one belong?
#
#	awk -v module=spindle -v known=FILE -v ours=FILE -v others=FILE -v rest=FILE \
#		-f reports.awk KERNEL.LOG
#
# A report is ours if a frame of either stack is the module's, or has no name: the module is the
# only one that is ever unloaded. Frames below an interrupt belong to the interrupted code, and do
# not count. A report about other code's own memory, in a call of ours, is exempt if KNOWN has it.
# Each line of KNOWN is "FUNCTION FUNCTION", as shell patterns, for the places of the two accesses.
# Neither of these functions is ours.
#
# Each report goes to its file after a line "== KIND: first line"; in OTHERS, one that
# passes through us, but is known, has "(known)" in that line. What belongs to no
# report goes to REST. Printed are the numbers of ours, known and others.

function pattern(glob)
{
	gsub(/[.+()\[\]]/, "\\\\&", glob)
	gsub(/\*/, ".*", glob)
	return "^" glob "$"
}

BEGIN {
	n_ours = n_known = n_others = 0
	while (known != "" && (getline line < known) > 0) {
		sub(/#.*/, "", line)
		if (split(line, word, " ") < 2)
			continue
		nk++
		left[nk] = pattern(word[1])
		right[nk] = pattern(word[2])
	}
	printf "" >ours
	printf "" >others
	printf "" >rest
}

# The function and the module of a frame: "name [module]" without offsets.
function place(frame)
{
	sub(/^ */, "", frame)
	sub(/\+0x[0-9a-f]+\/0x[0-9a-f]+/, "", frame)
	sub(/\.(constprop|isra|part|cold)[.0-9a-z]*/, "", frame)
	return frame
}

function is_mine(frame)
{
	return index(frame, "[" module "]") || frame ~ /^ *0x[0-9a-f]+ *$/
}

function is_known(   i, a, b)
{
	if (is_mine(top[1]) || is_mine(top[2]))
		return 0
	a = place(top[1])
	b = stacks > 1 ? place(top[2]) : "-"
	sub(/ .*/, "", a)
	sub(/ .*/, "", b)
	for (i = 1; i <= nk; i++)
		if ((a ~ left[i] && b ~ right[i]) || (a ~ right[i] && b ~ left[i]))
			return 1
	return 0
}

function finish()
{
	if (!open)
		return
	open = 0
	sub(/^BUG: /, "", head)
	if (mine && is_known()) {
		n_known++
		printf "== %s (known)\n%s", head, text >others
	} else if (mine) {
		n_ours++
		printf "== %s\n%s", head, text >ours
	} else {
		n_others++
		printf "== %s\n%s", head, text >others
	}
}

{
	sub(/\r$/, "")
	# Time stamps, if there are any; frames begin with a space of their own.
	sub(/^\[ *[0-9]+\.[0-9]+\](\[ *[TC][0-9]+\])? /, "")
}

/^BUG: KCSAN: / {
	finish()
	open = 1
	head = $0
	text = ""
	mine = stacks = 0
	top[1] = top[2] = ""
	fresh = tail = lines = 0
	next
}

!open {
	print >rest
	next
}

# "write to 0x... of 8 bytes by task 12 on cpu 0:", "race at unknown origin, with
# read to ...", "assert no writes to ...": a stack follows.
/ (to|at) 0x[0-9a-f]+ of [0-9]+ bytes by / {
	stacks++
	fresh = 1
}

/^ +(0x[0-9a-f]+|[A-Za-z_0-9.]+\+0x[0-9a-f]+\/0x)/ && !tail {
	if (fresh && stacks <= 2)
		top[stacks] = $0
	if (fresh)
		below = 0
	fresh = 0
	# The interrupted code has nothing to do with the report.
	if (/^ *asm_(sysvec|common_interrupt|exc)_?/)
		below = 1
	if (!below && is_mine($0))
		mine = 1
}

/^Reported by Kernel Concurrency Sanitizer/ { tail = 1 }

# The bar behind a report. The bar before a report belongs to none.
/^=====/ {
	finish()
	next
}

{
	text = text $0 "\n"
	# If the bar never comes, the lines behind it must not be hidden.
	if (++lines > 200)
		finish()
}

END {
	finish()
	print n_ours, n_known, n_others
}
