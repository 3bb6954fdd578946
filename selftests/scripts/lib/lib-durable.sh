# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Loads at nodes of one guest, which note what was acknowledged, and the comparison with the logs.
# Source it after lib-live.sh and lib-restart.sh.

# Ids of the processes are in a file, because a check has a shell of its own. The load of the next
# life has the next number.
life=0

# established NODE...: may messages become durable at these nodes?
established()
{
	local i g

	for i in "$@"; do
		for g in $SGS; do
			spindle-ctl -j subgroup show node "$i" id "$g" |
				grep -q '"established":true' || return 1
		done
	done
}

# acks NODE SUBGROUP: how many acknowledgements has its load?
acks()
{
	wc -l <"/tmp/acks-$2.$1.$life"
}

# each_has N NODE...: has each load of these nodes so many acknowledgements?
each_has()
{
	local n i g

	n=$1
	shift
	for i in "$@"; do
		for g in $SGS; do
			[ "$(acks "$i" "$g")" -ge "$n" ] || return 1
		done
	done
}

# load NODE...: each of these nodes sends to all subgroups, and has acknowledgements. The loads
# leave some of the processor to the others, because it is the only one.
load()
{
	local i g options

	wait_until 60 established "$@" || return 1
	for i in "$@"; do
		for g in $SGS; do
			options=
			[ $(((life + g) % 2)) = 0 ] || options=-w
			# shellcheck disable=SC2086
			durable-load -n "$i" -g "$g" -l "$life" -p 50000 \
				-o "/tmp/acks-$g.$i.$life" $options >/dev/null 2>>/tmp/loads.err &
			echo $! >>/tmp/loads.pid
		done
	done
	wait_until 60 each_has 20 "$@" && return 0
	wc -l "/tmp/acks"*".$life"
	cat /tmp/loads.err
	return 1
}

loads_dead()
{
	local p

	while read -r p; do
		dead "$p" || return 1
	done </tmp/loads.pid
}

# load_ends: its processes are killed, and none of them has found a fault
load_ends()
{
	local p

	[ -e /tmp/loads.pid ] || return 0
	while read -r p; do
		kill -KILL "$p" 2>/dev/null
	done </tmp/loads.pid
	wait_until 30 loads_dead || return 1
	rm /tmp/loads.pid
	[ ! -s /tmp/loads.err ] && return 0
	cat /tmp/loads.err
	return 1
}

# is_whole NODE SUBGROUP: has its log all that was delivered?
is_whole()
{
	spindle-ctl log dump "$DIR/$1/$2" >"/tmp/dump-$2.$1" 2>/tmp/dump.err &&
		[ "$(wc -l <"/tmp/dump-$2.$1")" = "$(number_of "$1" "$2" lsn)" ]
}

# logs_are_right NODE...: is all durable, and each acknowledged message in the logs of these nodes?
logs_are_right()
{
	local i g dumps

	wait_until 60 all_durable "$@" || {
		spindle-ctl status node "$1"
		return 1
	}
	for g in $SGS; do
		dumps=
		for i in "$@"; do
			wait_until 60 is_whole "$i" "$g" || {
				head -n 2 /tmp/dump.err
				tail -n 8 "/tmp/logd$i.err"
				return 1
			}
			dumps="$dumps /tmp/dump-$g.$i"
		done
		# shellcheck disable=SC2086
		durable-check $dumps -- /tmp/acks-"$g".* >"/tmp/checked.$g" || return 1
	done
}

# check_logs WHAT NODE...: a check of that, which shows the numbers
check_logs()
{
	local what g

	what=$1
	shift
	check "$what" logs_are_right "$@"
	for g in $SGS; do
		sed "s/^/# subgroup $g: /" "/tmp/checked.$g"
	done
}
