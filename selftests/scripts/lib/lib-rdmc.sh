# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# RDMC over several guests: source it after lib-wire.sh, or, for tests of faults, after
# lib-wire-live.sh. Guest N has node N, each runs rdmc-load for its own node, and all run the same
# line.
# shellcheck disable=SC2154 # node and nodes come from lib-wire.sh

rdmc_out=/tmp/rdmc.out
rdmc_flag=/tmp/rdmc.flag
rdmc_pid=/tmp/rdmc.pid
rdmc_rc=/tmp/rdmc.rc
# Each transfer has another group, because a member must not meet the rest of the last one.
rdmc_group=100

# among LIST: is this node one of "1,3"?
among()
{
	case ,$1, in
	*,"$node",*) return 0 ;;
	esac
	return 1
}

# rdmc_whole NAME MEMBERS OPTION...: one test on each member: all comes whole.
rdmc_whole()
{
	local name members

	name=$1
	members=$2
	shift 2
	rdmc_group=$((rdmc_group + 100))
	! among "$members" || check "$name" limit 400 rdmc-load -m "$members" -n "$node" \
		-G $rdmc_group -t $((300000 * ${PATIENCE:-1})) -w $((300 * ${PATIENCE:-1})) "$@"
}

# rdmc_begin MEMBERS OPTION...: start a long transfer in the background. $rdmc_flag exists when an
# object has arrived. "check" runs its command in another shell, which cannot wait for processes of
# this one. So results are in files.
rdmc_begin()
{
	local members

	members=$1
	shift
	rm -f $rdmc_flag $rdmc_rc $rdmc_pid
	rdmc_group=$((rdmc_group + 100))
	{
		rdmc-load -m "$members" -n "$node" -G $rdmc_group -c 100000 -l 1-300000 -b 16384 \
			-t "${RDMC_TIMEOUT:-5000}" -w $((300 * ${PATIENCE:-1})) -f $rdmc_flag "$@" >$rdmc_out 2>&1 &
		echo $! >$rdmc_pid
		rc=0
		wait $! || rc=$?
		echo $rc >$rdmc_rc
	} &
	# The caller may kill the process at once.
	wait_until 60 test -s $rdmc_pid
}

# rdmc_ends STATUS
rdmc_ends()
{
	wait_until 200 test -s $rdmc_rc || { echo "it does not end"; cat $rdmc_out; return 1; }
	[ "$(cat $rdmc_rc)" = "$1" ] && return 0
	echo "status $(cat $rdmc_rc)"
	tail -n 20 $rdmc_out
	return 1
}

rdmc_moves()
{
	wait_until 60 test -e $rdmc_flag
}

# rdmc_reported MILLISECONDS ERRORS CULPRITS: the transfer ends and reports missing objects, with
# one of these errors (as "4 5") and one of these nodes as the culprit. Complete objects were right.
# It ends within this time from now on, and the function prints the time.
rdmc_reported()
{
	local from line ms most

	most=$1
	shift
	from=$(hundredths)
	# Before the process gives up: for what does it wait?
	wait_until 40 test -s $rdmc_rc || spindle-ctl -j -p rdmc show node "$node" | sed 's/^/# /' >&3
	rdmc_ends 3 || return 1
	ms=$((($(hundredths) - from) * 10))
	line=$(grep "^node $node group 0: error" $rdmc_out)
	echo "# '$line', $(tail -n 1 $rdmc_out | tr -d '#'), $ms ms" >&3
	[ $ms -le "$most" ] || { echo "it heard after $ms ms, not $most: '$line'"; return 1; }
	case $line in
	"node $node group 0: error "[0-9]*" node "[0-9]*)
		# shellcheck disable=SC2086
		set -- "$1" "$2" $line
		has_word "$1" "$8" && has_word "$2" "${10}" && return 0
		;;
	esac
	tail -n 20 $rdmc_out
	return 1
}

# has_word LIST WORD
has_word()
{
	case " $1 " in
	*" $2 "*) return 0 ;;
	esac
	return 1
}

# rdmc_kill: the process, with no chance to say anything
rdmc_kill()
{
	kill -9 "$(cat $rdmc_pid)" && rdmc_ends 137 && return 0
	cat $rdmc_out
	return 1
}

# The files that spindle-cast sends. They are the same on all guests, because they follow from their
# sizes.
cast_files()
{
	local size

	mkdir -p /tmp/from /tmp/to
	for size in 0 1 262143 262144 262145 "$@"; do
		yes "a file of $size bytes" | head -c "$size" >"/tmp/from/$size"
	done
}

cast_whole()
{
	local f

	for f in /tmp/from/*; do
		cmp "$f" "/tmp/to/${f##*/}" || return 1
	done
	[ "$(ls -A /tmp/to | wc -l)" = "$(ls /tmp/from | wc -l)" ]
}

# cast_all NAME MEMBERS OPTION...: the first one casts to the others, and all have all.
cast_all()
{
	local name members

	name=$1
	members=$2
	shift 2
	if [ "$node" = "${members%%,*}" ]; then
		check "$name: is sent" limit 400 spindle-cast -n "$node" -m "$members" "$@" \
			/tmp/from/*
	elif among "$members"; then
		check "$name: is received" limit 400 spindle-recv -n "$node" -m "$members" "$@" \
			/tmp/to
		check "$name: is what was sent" cast_whole
	fi
}
