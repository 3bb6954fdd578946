# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Damage of the logs of spindle-logd.

# segments LOG: those segments in the directory LOG that have frames, the oldest one first
segments()
{
	grep -l SPLG "$1"/*.seg 2>/dev/null
}

# frames FILE: the blocks of a segment in which a frame with messages begins
frames()
{
	od -An -v -tu4 -w4096 "$1" | awk '$1 == 1196183635 && $5 { print NR - 1 }'
}

# damage LOG N: a sector of the oldest segment has other bytes. N chooses the frame. Status 1: the
# log stays as it is, because it has no second segment, which says that all of the first one was
# acknowledged.
damage()
{
	local file blocks

	[ "$(segments "$1" | wc -l)" -gt 1 ] || return 1
	file=$(segments "$1" | head -n 1)
	blocks=$(frames "$file")
	# shellcheck disable=SC2086 # numbers
	set -- "$2" $blocks
	[ $# -gt 1 ] || return 1
	shift $((1 + $1 % ($# - 1)))
	dd if=/dev/urandom of="$file" bs=512 count=1 conv=notrunc seek=$((8 * $1)) 2>/dev/null
}

# is_damaged LOG: does a scan name what is missing?
is_damaged()
{
	! spindle-ctl log verify "$1" >/tmp/verify 2>&1 && grep -q '^damaged' /tmp/verify && return 0
	cat /tmp/verify
	return 1
}

# mended NODE SUBGROUP LOG ERRORS: has the process of the node found its log damaged, and is nothing
# missing in it any more? ERRORS is what the process has said.
mended()
{
	grep -q "subgroup $2 of node $1: positions .* of the log are damaged" "$4" &&
		spindle-ctl log verify "$3"
}
