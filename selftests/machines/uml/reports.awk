# SPDX-License-Identifier: GPL-2.0-only
#
# Reports of a debug kernel's checkers: to which module does each one belong?
#
#	awk -v module=spindle -v mem=MB -v ours=FILE -v others=FILE \
#		-f reports.awk KERNEL.LOG
#
# A report is ours if a frame of any of its stacks is: "[spindle]", a file in
# kmod/, or a nameless address above the memory, where modules are loaded: no
# other module is ever unloaded in these guests. Frames with a question mark are what UML finds lying on the
# stack; a report with nothing but such frames of ours counts as ours, too.
# Each report goes to its file after a line "== KIND: first line"; the number of
# both kinds is printed.

# Without a name, in the area of modules? Numbers of one length compare as text.
function unloaded(line)
{
	if (line !~ /^ *(\[<[0-9a-f]+>\])? *(\? )?0x[0-9a-f]+ *$/)
		return 0
	sub(/.*0x0*/, "", line)
	sub(/ *$/, "", line)
	return length(line) <= 9 && (length(line) > length(floor) ||
		length(line) == length(floor) && line >= floor "")
}

function start(k, how)
{
	# The second line of a warning names its subject.
	if (kind == "warning" && count <= 1) {
		kind = k
		head = $0
		return
	}
	finish()
	kind = k
	ends = how
	head = $0
	sub(/^ +/, "", head)
	text = ""
	mine = 0
	frames = 0
	count = 0
	last_stack = 0
}

function finish()
{
	if (kind == "")
		return
	if (mine) {
		n_ours++
		printf "== %s: %s\n%s", kind, head, text >ours
	} else {
		n_others++
		printf "== %s: %s\n%s", kind, head, text >others
	}
	kind = ""
}

BEGIN {
	n_ours = n_others = 0
	# UML has its memory from here on, its modules behind it.
	floor = sprintf("%x", 1610612736 + mem * 1048576)
	printf "" >ours
	printf "" >others
}

{
	sub(/\r$/, "")
	# Time stamps and levels, if there are any.
	sub(/^(<[0-9]+>)?(\[ *[0-9]+\.[0-9]+\])?(\[ *[TC][0-9]+\])? ?/, "")
}

# Lines that "limit" made the kernel print are no report.
/vm: dump start/ { finish(); dump = 1 }
/vm: dump end/ { dump = 0 }
dump { next }

# The heads. A bar, a "cut here" or a colon comes before and belongs to no report.
/BUG: KASAN: / { start("KASAN", "bar") }
/UBSAN: / && kind != "UBSAN" { start("UBSAN", "trace") }
/^unreferenced object 0x/ { start("leak", "indent") }
/WARNING: (possible|inconsistent|suspicious|bad unlock|held lock|Nested|lock held|.* lock)/ \
	{ start("lockdep", "stack") }
/INFO: (trying to register|possible|inconsistent)/ { start("lockdep", "stack") }
/BUG: (sleeping function|scheduling while atomic|Invalid wait)/ { start("atomic", "stack") }
/^ODEBUG: / { start("object", "trace") }
/(list_add|list_del) (corruption|double)/ { start("list", "trace") }
/^refcount_t: / { start("refcount", "trace") }
/WARNING: CPU: / && kind != "warning" { start("warning", "trace") }
/BUG: / && !/BUG: (KASAN|sleeping|scheduling|Invalid wait)/ && kind == "" \
	{ start("bug", "trace") }
/kernel BUG at|Oops|general protection|[Uu]nable to handle|Kernel panic|INFO: task |detected stall/ \
	&& kind == "" { start("bug", "trace") }

kind == "" { next }

{
	count++
	frame = /^ *(\[<[0-9a-f]+>\])? *(\? )?[A-Za-z_0-9.]+\+0x[0-9a-f]+\/0x/ || \
		/^ *(\[<[0-9a-f]+>\])? *(\? )?0x[0-9a-f]+ *$/
	if (index($0, "[" module "]") || $0 ~ "(^|[ /])" module "_[a-z_0-9]+[+]0x" ||
	    (module == "spindle" && /(^|[ \/])kmod\/[a-z]/) || unloaded($0))
		mine = 1

	if (ends == "bar" && count > 2 && /^=====/) {
		finish()
		next
	}
	if (ends == "indent" && count > 1 && !/^ /) {
		finish()
		next
	}
	if (ends == "stack" && frames && !frame) {
		finish()
		next
	}
	text = text $0 "\n"
	if (ends == "stack" && last_stack && frame)
		frames++
	if (/Call Trace:/)
		last_stack = 1
	if (ends == "trace" && /---\[ end trace/)
		finish()
	else if (count > 300)
		finish()
}

END {
	finish()
	print n_ours, n_others
}
