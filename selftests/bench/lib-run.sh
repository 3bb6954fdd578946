# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The display of "run" while it measures. Source it after lib/common.sh.

tty=
[[ ! -t 1 ]] || tty=1
live=

# A line that the next one replaces, if this is a terminal.
live()
{
	[[ $tty ]] || return 0
	printf '\r\e[K%s' "${1:0:$(($(tput cols 2>/dev/null || echo 80) - 1))}"
	live=1
}

line()
{
	[[ ! $live ]] || printf '\r\e[K'
	live=
	printf '%s\n' "$*"
}

failed()
{
	[[ ! $live ]] || printf '\r\e[K' >&2
	live=
	die "$*"
}

wrong()
{
	say "bench: $*"
	exit 2
}

clock()
{
	printf '%d:%02d' $(($1 / 60)) $(($1 % 60))
}

# The progress: the number of finished points of all. The rest takes as long per point.
points_done=0
points_all=0
begin=$SECONDS
progress()
{
	local width=24 full bar left="" spent=$((SECONDS - begin))

	((points_all)) || return 0
	full=$((width * points_done / points_all))
	printf -v bar '%*s' "$full" ""
	printf -v bar '%-*s' "$width" "${bar// /#}"
	if ((points_done > 2)); then
		left=", $(clock $((spent * (points_all - points_done) / points_done))) left"
	fi
	live "[$bar] $points_done/$points_all, $(clock "$spent")$left: $1"
}
