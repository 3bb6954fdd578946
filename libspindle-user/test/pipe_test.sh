#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# spindle-pipe on top of fake.c, a subgroup that plays back what is sent. TAP on stdout.
# Usage: pipe_test.sh PROGRAM
set -u

prog=$1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../selftests/lib/tap.sh"

# result NAME: the last command decides
result()
{
	rc=$?
	if [ $rc -eq 0 ]; then
		ok "$1"
	else
		not_ok "$1"
		sed 's/^/# /' "$dir/err"
	fi
}

# run WANTED-STATUS ARGUMENT...: into $dir/out and $dir/err
run()
{
	want=$1
	shift
	timeout 60 "$prog" -n 7 -g 2 "$@" >"$dir/out" 2>"$dir/err"
	got=$?
	[ $got -eq "$want" ] || { echo "exit status $got, not $want" >>"$dir/err"; return 1; }
}

seq 20000 >"$dir/lines"
export FAKE_IDLE=200

printf 'one\n\nthree' | run 0 -e && awk '{ print $2, $3 }' "$dir/out" >"$dir/got" &&
	printf '7 one\n7 \n7 three\n' | cmp -s - "$dir/got"
result "lines come back in order, also empty and unterminated ones"

run 0 -e -R <"$dir/lines" && cmp -s "$dir/lines" "$dir/out"
result "20000 lines through 16 slots, --raw"

FAKE_RING=65536 FAKE_WINDOW=256 run 0 -e -R -c <"$dir/lines" && cmp -s "$dir/lines" "$dir/out"
result "--copy"

run 0 -e -R -t 7 -t 100 <"$dir/lines" && cmp -s "$dir/lines" "$dir/out"
result "--to names the own node and another one"

run 0 -e -R -c -t 7 <"$dir/lines" && cmp -s "$dir/lines" "$dir/out"
result "--to names the own node, and deliveries are copied"

run 0 -e --stats --to 100 <"$dir/lines" && [ ! -s "$dir/out" ] &&
	grep -q 'sent 20000 messages 88894 bytes, delivered 0 messages' "$dir/err"
result "--to names another node: nothing comes back"

run 1 -e --to 9 <"$dir/lines" &&
	grep -q 'a node of --to is no member of subgroup 2 in view 3' "$dir/err"
result "--to names a node that is no member"

run 2 -r --to 7 </dev/null && grep -q -e '--to needs stdin' "$dir/err"
result "--to excludes --receive-only"

FAKE_SLOW=1 FAKE_WINDOW=4 run 0 -e -R <"$dir/lines" && cmp -s "$dir/lines" "$dir/out"
result "slots that come free late"

(printf 'x\n'; sleep 1; printf 'y\n'; sleep 5) | run 0 -N 2 -R &&
	printf 'x\ny\n' | cmp -s - "$dir/out"
result "--count ends without waiting for stdin"

FAKE_SENDERS=3 FAKE_PEER_MSGS=100 run 0 -r -q --stats -N 200 </dev/null &&
	grep -q 'sent 0 messages 0 bytes, delivered 200 messages' "$dir/err" && [ ! -s "$dir/out" ]
result "receive only, quiet, stats"

run 0 -s --stats <"$dir/lines" && grep -q 'sent 20000 messages 88894 bytes' "$dir/err"
result "send only ends when all is delivered"

printf 'a b\0c\nd\0' | run 0 -e -R -0 && printf 'a b\0c\nd\0' | cmp -s - "$dir/out"
result "NUL as delimiter"

printf '\003\0\0\0a\nb\0\0\0\0' >"$dir/records"
run 0 -e -R -b <"$dir/records" && cmp -s "$dir/records" "$dir/out"
result "binary records there and back"

run 0 -e -b <"$dir/records" &&
	[ "$(od -An -tu1 -j8 -N11 "$dir/out" | tr -s ' ')" = " 7 0 0 0 3 0 0 0 97 10 98" ]
result "binary records with seq and sender"

printf '\003\0\0\0ab' | run 1 -e -b && grep -q 'record 1 is cut off after 6 bytes' "$dir/err"
result "a record that is cut off"

(echo fine; head -c 1001 /dev/zero | tr '\0' x; echo; echo late) | run 1 -R &&
	grep -Eq 'line 2 has (at least )?1001 bytes, a message of subgroup 2 at most 1000' "$dir/err" &&
	[ "$(cat "$dir/out")" = fine ]
result "a line that is too long stops the input"

head -c 2000000 /dev/zero | run 1 -R && grep -q 'line 1 has at least' "$dir/err"
result "a line that is longer than any buffer"

FAKE_FAIL_AFTER=5 run 1 -R <"$dir/lines" && grep -q 'is failed: the connection' "$dir/err" &&
	head -5 "$dir/lines" | cmp -s - "$dir/out"
result "what was delivered before a failure is printed"

FAKE_FAIL_AFTER=5 run 1 -s <"$dir/lines" && grep -q 'is failed: the connection' "$dir/err"
result "failure of a sender"

FAKE_VIEW_AFTER=2000 run 0 -e -R -w <"$dir/lines" && cmp -s "$dir/lines" "$dir/out" &&
	printf 'view 3: 100 7\nview 4: 100 7 200 (joined 200)\n' | cmp -s - "$dir/err"
result "--views"

seq 3 | FAKE_VIEW_AFTER=2 timeout 60 "$prog" -n 7 -g 2 -e -R -w >"$dir/out" 2>&1 &&
	printf 'view 3: 100 7\n1\n2\nview 4: 100 7 200 (joined 200)\n3\n' | cmp -s - "$dir/out"
result "a view in the midst of the lines"

FAKE_VIEW_AFTER=2 run 0 -e -R <"$dir/lines" && cmp -s "$dir/lines" "$dir/out" && [ ! -s "$dir/err" ]
result "views without --views go unnoticed"

FAKE_VIEW_AFTER=2 FAKE_FORGET=1 run 1 -R <"$dir/lines" && grep -q 'too far behind' "$dir/err" &&
	head -2 "$dir/lines" | cmp -s - "$dir/out"
result "a view that the kernel has forgotten"

FAKE_ATTACH_ERR=12 FAKE_MEMLOCK=70000 run 1 -r && grep -q '70000 bytes.*ulimit -l 69' "$dir/err"
result "RLIMIT_MEMLOCK is explained"

FAKE_ATTACH_ERR=1 run 1 && grep -q 'subgroup 2 of node 7: the node may not send.*-r' "$dir/err"
result "the refusal of a node that does not send names -r"

timeout 20 "$prog" -n 7 -g 2 -R <"$dir/lines" 2>"$dir/err" | head -3 >"$dir/out"
[ "$(wc -l <"$dir/out")" = 3 ] && [ ! -s "$dir/err" ]
result "a reader that leaves ends it quietly"

run 2 -s -r && run 2 -n x && run 2 -N 0 && run 2 -d ab && run 2 extra && run 2 --nonsense && run 2 -s -w &&
	run 0 --help && grep -q '^Usage' "$dir/out"
result "usage"

# Ours is stdin of the one whose stdout is our stdin: neither may block the other.
mkfifo "$dir/a" "$dir/b"
(cat "$dir/lines" >"$dir/a") &
timeout 60 "$prog" -n 7 -g 2 -e -R <"$dir/a" 2>"$dir/err" >"$dir/b" &
sleep 1
cmp -s - "$dir/lines" <"$dir/b"
result "stdout that is read late"
wait

timeout -s INT 1 "$prog" -n 7 -g 2 -R --stats <"$dir/lines" >"$dir/out" 2>"$dir/err"
[ $? -eq 124 ] && cmp -s "$dir/lines" "$dir/out" && grep -q 'delivered 20000' "$dir/err"
result "SIGINT ends it with everything printed"

tap_end
