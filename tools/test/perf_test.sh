#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# spindle-perf without the kernel module: command lines, and what comes with it. TAP.
# Nothing here starts a measurement, whatever is loaded.

# shellcheck source=tools/test/lib.sh
. "$(dirname "$0")/lib.sh"
program=$dir/spindle-perf

says 0 '^usage: ' --help
says 0 '^usage: ' -h
says 0 '^spindle-perf [0-9]' -V
says 2 "there is no option -z" -z
says 2 "there is no option --size-of" --size-of=3
says 2 "--size: the value is missing" --size
says 2 "'x': there are only options" x

says 2 "nodes 65: not a number from 1 to 64" --setup -n 65
says 2 "nodes 0: not a number from 1 to 64" --setup -n 0
says 2 "size 512M: not a number from 1 to 268435456 (K, M and G may follow it)" --setup -S 512M
says 2 "window 65537: not a number from 1 to 65536" --setup -w 65537
says 2 "spin x: not a number from 0 to 1000000, and not auto" --setup --spin x
says 2 "wait 0: not a number of seconds from 1 to 3600" --wait 0
says 2 "there is no option --quiet=3" --quiet=3
says 2 "ring 2G: not a number from 0 to 1073741824" --setup --ring 2G
says 2 "subgroups 65: not a number from 1 to 64" --setup -k 65
says 2 "senders some: .*none of all|half|one" --setup -s some
says 2 "delay x: .*none of long|silent" --setup -d x
says 2 "seconds 1,5: not a number of seconds" --setup -t 1,5
says 2 "mode total: none of ordered|unordered" --setup --mode total
says 2 "visibility none: none of auto|poll|imm" --setup --visibility none
says 2 "repetitions 0: not a number from 1 to 1000" --setup -r 0
says 2 "port 65536: not a number from 1 to 65535" --setup --port 65536
says 2 "port 65535, first-node 1: .*ports end at 65535" --setup --port 65535
says 2 "addr localhost: .*names are not resolved" --setup --addr localhost
says 2 "'nuls' is nothing to tune" --setup --tune nuls=off
says 2 "nulls=of: neither on nor off" --setup --tune nulls=of

says 2 "window: says what --setup makes" -w 3
says 2 "addr: says where --setup makes nodes" --addr 10.0.0.1
says 2 "log: says what --setup makes" --log --log-dir /tmp
says 2 "log: --log-dir is missing" --setup --log
says 2 "log: --log-dir is missing" --setup -x log=0,1
says 2 "log-dir: has no meaning without --log" --setup --log-dir /tmp
says 2 "log and mode unordered" --setup --log --log-dir /tmp --mode unordered
says 2 "only-nodes, .* without --setup" --setup --only-nodes 1

says 2 "count and seconds" --setup -c 1 -t 1
says 2 "latency and rate" --setup -L -R 1
says 2 "delay and rate" --setup -d 1 -R 1
says 2 "delay long of all senders" --setup -d long
says 2 "delay-senders 4: of 4 senders, nobody" --setup -d long --delay-senders 4
says 2 "size 100: more than max-msg, 50" --setup -S 100 --max-msg 50
says 2 "max-msg 8: less than 24" --setup -S 8 --max-msg 8
says 2 "max-msg 8192: more than the ring, 4096" --setup -S 8 --max-msg 8K --ring 4K
says 2 "ring 5000: not a power of two" --setup -S 8 --ring 5000
says 2 "senders 5: more than nodes, 4" --setup -n 4 -s 5
says 2 "active 3: more than subgroups, 2" --setup -k 2 -a 3
says 2 "seconds with nulls=off" --setup -T all=off -t 1
says 2 "delay long with nulls=off" --setup -T nulls=off -d long --delay-senders one
says 2 "64 nodes, 64 subgroups, .* MiB of memory, and [0-9]* MiB are available" \
	--setup -n 64 -k 64 -w 65536 --ring 1G

says 2 "sweep size: not like size=1K,10K" --setup -x size
says 2 "there is no parameter 'sizes'" --setup -x sizes=1
says 2 "sweep size=1,x: x: not a number" --setup -x size=1,x
says 2 "size is swept already" --setup -x size=1 -x size=2
says 2 "size 200: more than max-msg, 100" --setup --max-msg 100 -x size=1,100,200
says 2 "nodes: says what --setup makes" -x nodes=1,2

says 0 '^usage: spindle-perf failover' failover --help
says 2 "there is no option -z" failover -z
says 2 "there is no option --setup" failover --setup
says 2 "--kind: the value is missing" failover --kind
says 2 "'x': there are only options" failover x
says 2 "kind join,die: 'die' is none of join, leave, evict, crash, del, subgroup-add, subgroup-replace, subgroup-del, all" failover --kind join,die
says 2 "nodes 2: not a number from 3 to 64" failover -n 2
says 2 "repetitions 0: not a number from 1 to 1000" failover -r 0
says 2 "timeout-ms 19: not a number from 20 to 60000" failover --timeout-ms 19
says 2 "size 0: not a number from 1 to 268435456" failover -S 0
says 2 "addr localhost: .*names are not resolved" failover --addr localhost
says 2 "port 65535, first-node 1: .*ports end at 65535" failover --port 65535
says 2 "rate 0: .*only with --wait" failover -R 0
says 2 "wait: --node is missing" failover --wait 1
says 2 "nodes: has no meaning with --wait" failover --wait 1 --node 1 -n 4
says 2 "node: says what --wait watches" failover --node 1

says 0 '^usage: spindle-perf rdmc' rdmc --help
says 2 "there is no option -z" rdmc -z
says 2 "there is no option --setup" rdmc --setup
says 2 "--size: the value is missing" rdmc --size
says 2 "'x': there are only options" rdmc x
says 2 "members 1: not a number from 2 to 64" rdmc -n 1
says 2 "algorithm star: none of pipeline|sequential|chain|tree|hybrid" rdmc -a star
says 2 "size 0: not a number" rdmc -S 0
says 2 "block 5000: not a power of two from 4096 to 1048576" rdmc -b 5000
says 2 "block 2K: not a power of two from 4096 to 1048576" rdmc -b 2K
says 2 "block 2M: not a number from 0 to 1048576" rdmc -b 2M
says 2 "senders 0: not a number from 1 to 64" rdmc -s 0
says 2 "queue 17: not a number from 1 to 16" rdmc -q 17
says 2 "nodes: says what --mix makes" rdmc --nodes 8
says 2 "members 9: there are 8 nodes" rdmc --mix 4 --nodes 8 -n 9
says 2 "senders: has no meaning with --mix" rdmc --mix 4 -s all
says 2 "spread: --addr is missing" rdmc --spread
says 2 "port 65535, first-node 1: .*ports end at 65535" rdmc --port 65535

if "$program" 2>&1 | grep -qF "spindle.ko is not loaded"; then
	says 1 "spindle.ko is not loaded (modprobe spindle)" --setup -n 2 -c 1
	says 1 "spindle.ko is not loaded" -c 1 --csv "$tmp/x"
	says 1 "spindle.ko is not loaded" failover --json="$tmp/x"
	says 1 "spindle.ko is not loaded" failover --wait 1 --node 1
	says 1 "spindle.ko is not loaded" rdmc --csv "$tmp/x"
	[ ! -e "$tmp/x" ]
	verdict $? "nothing is written then"
else
	skip "without the module" "it is loaded, or can be"
fi

# ---- what comes with it ---------------------------------------------------

bash -n "$dir/completion/spindle-perf" >"$tmp/out" 2>&1
verdict $? "the completion is a script"

# offers WORDS WORD...: what TAB offers for the last word.
offers()
{
	want=$1
	shift
	bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
		_spindle_perf; echo "${COMPREPLY[*]}"' - "$dir/completion/spindle-perf" "$@" \
		>"$tmp/out" 2>&1
	[ "$(cat "$tmp/out")" = "$want" ]
	verdict $? "TAB after '$*' offers $want"
}

offers '--subgroups --sweep --setup --senders --size --seconds --spin' spindle-perf --s
offers 'ordered unordered' spindle-perf --mode ''
offers 'all half one' spindle-perf -n 4 -s ''
offers 'all=off' spindle-perf --tune all=of
offers 'window= warmup=' spindle-perf --sweep w
offers 'failover rdmc' spindle-perf ''
offers '--window --wait' spindle-perf failover --w
offers 'join,leave' spindle-perf failover --kind join,l
offers '--members --mix' spindle-perf rdmc --m
offers 'chain' spindle-perf rdmc -a c

if command -v mandoc >/dev/null; then
	mandoc -Tlint -Wwarning "$dir/man/spindle-perf.1" >"$tmp/out" 2>&1
	verdict $? "the manual page has no faults"
else
	skip "the manual page has no faults" "no mandoc"
fi
: >"$tmp/out"
"$program" --help | grep -o '  *--[a-z-]*' | tr -d ' ' | while read -r word; do
	grep -qe "Fl Fl ${word#--}\\( \\|\$\\)" "$dir/man/spindle-perf.1" ||
		echo "manual: no $word" >>"$tmp/out"
	bash -c '. "$1"; COMP_WORDS=(spindle-perf "$2"); COMP_CWORD=1; _spindle_perf
		[[ " ${COMPREPLY[*]} " == *" $2 "* ]]' - "$dir/completion/spindle-perf" "$word" ||
		echo "completion: no $word" >>"$tmp/out"
done
[ ! -s "$tmp/out" ]
verdict $? "the manual page and the completion have all options"

: >"$tmp/out"
"$program" failover --help | grep -o '  *--[a-z-]*' | tr -d ' ' | sort -u | while read -r word; do
	sed -n '/^.Sh FAILOVER/,/^.Sh FIGURES/p' "$dir/man/spindle-perf.1" |
		grep -qe "Fl Fl ${word#--}\\( \\|\$\\)" || echo "manual: no $word" >>"$tmp/out"
	bash -c '. "$1"; COMP_WORDS=(spindle-perf failover "$2"); COMP_CWORD=2; _spindle_perf
		[[ " ${COMPREPLY[*]} " == *" $2 "* ]]' - "$dir/completion/spindle-perf" "$word" ||
		echo "completion: no $word" >>"$tmp/out"
done
[ ! -s "$tmp/out" ]
verdict $? "the manual page and the completion have all options of failover"
: >"$tmp/out"
"$program" rdmc --help | grep -o '  *--[a-z-]*' | tr -d ' ' | sort -u | while read -r word; do
	sed -n '/^.Sh LARGE OBJECTS/,/^.Sh FIGURES/p' "$dir/man/spindle-perf.1" |
		grep -qe "Fl Fl ${word#--}\\( \\|\$\\)" || echo "manual: no $word" >>"$tmp/out"
	bash -c '. "$1"; COMP_WORDS=(spindle-perf rdmc "$2"); COMP_CWORD=2; _spindle_perf
		[[ " ${COMPREPLY[*]} " == *" $2 "* ]]' - "$dir/completion/spindle-perf" "$word" ||
		echo "completion: no $word" >>"$tmp/out"
done
sed -n 's/.*\[PERF_R_[A-Z0-9_]*\] = "\([a-z0-9_]*\)".*/\1/p' "$dir/perf/rdmc/count.c" >"$tmp/words"
while read -r word; do
	grep -qe "^\.It .*$word" "$dir/man/spindle-perf.1" || echo "no $word" >>"$tmp/out"
done <"$tmp/words"
[ -s "$tmp/words" ] && [ ! -s "$tmp/out" ]
verdict $? "manual page and completion have all options of rdmc, and the page all figures"
: >"$tmp/out"
sed -n 's/.*\[PERF_F_[A-Z_]*\] = "\([a-z_]*_us\)".*/\1/p' "$dir/perf/failover/change.c" >"$tmp/words"
while read -r word; do
	grep -qe "^\.It .*$word" "$dir/man/spindle-perf.1" || echo "no $word" >>"$tmp/out"
done <"$tmp/words"
[ -s "$tmp/words" ] && [ ! -s "$tmp/out" ]
verdict $? "the manual page explains all figures of failover"

# The figures, as the table in the program has them.
: >"$tmp/out"
sed -n 's/.*\[PERF_M_[A-Z0-9_]*\] = { "\([a-z0-9_]*\)".*/\1/p' "$dir/perf/metric.c" >"$tmp/words"
while read -r word; do
	case $word in
	*_mean | *_p50 | *_p90 | *_p99 | *_p999 | *_max | *_count) continue ;;
	esac
	grep -qe "^\.It .*$word" "$dir/man/spindle-perf.1" || echo "no $word" >>"$tmp/out"
done <"$tmp/words"
[ ! -s "$tmp/out" ]
verdict $? "the manual page explains all figures"

tap_end
