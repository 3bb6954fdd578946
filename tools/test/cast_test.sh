#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# spindle-cast and spindle-recv, each a process of its own, at a device that is a process.
# TAP. One batch goes from node 1 to nodes 2 and 3.

# shellcheck source=tools/test/lib.sh
. "$(dirname "$0")/lib.sh"
test=$dir/test
daemon=$dir/../libspindle-user/test/fake_rdmcd.asan
export ASAN_OPTIONS=detect_leaks=0 FAKE_RDMC=$tmp/sock
device=
trap 'kill $device 2>/dev/null; rm -rf "$tmp"' EXIT

# device WORD...: another one, that behaves so
device()
{
	[[ -z $device ]] || kill "$device"
	rm -f "$tmp/sock"
	"$daemon" "$tmp/sock" "$@" 2>"$tmp/device" &
	device=$!
	# bash would tell that it was killed.
	disown
	until [[ -S $tmp/sock ]]; do sleep 0.02; done
}

# fresh: two empty directories, 2 and 3, and one to send from, with some files in it
fresh()
{
	rm -rf "$tmp"/{2,3,from}
	mkdir "$tmp"/{2,3,from}
	head -c 3000000 /dev/urandom >"$tmp/from/big"
	seq 1000 >"$tmp/from/small"
	: >"$tmp/from/empty"
	chmod 640 "$tmp/from/small"
	touch -d '2001-02-03 04:05:06.789' "$tmp/from/small"
}

# recv NODE WORD...: start a receiver, whose words go to $tmp/NODE.out
recv()
{
	local node=$1

	shift
	timeout --foreground 60 "$test/recv.asan" -n "$node" -m 1,2,3 "$@" "$tmp/$node" \
		>"$tmp/$node.out" 2>&1 &
}

# cast WANTED WORD...: send to both, what is said goes to $tmp/out, the exit codes of all to $codes
cast()
{
	local want=$1 have

	shift
	timeout 60 "$test/cast.asan" -n 1 -m 1,2,3 "$@" >"$tmp/out" 2>"$tmp/err"
	have=$?
	cat "$tmp/err" >>"$tmp/out"
	echo "status $have, wanted $want" >>"$tmp/out"
	[[ $have = "$want" ]]
}

# ended CODE CODE: so end the receivers 2 and 3
ended()
{
	local code2 code3

	wait "$r2"
	code2=$?
	wait "$r3"
	code3=$?
	{
		sed 's/^/2: /' "$tmp/2.out"
		sed 's/^/3: /' "$tmp/3.out"
		echo "receivers: $code2 $code3, wanted $1 $2"
	} >>"$tmp/out"
	[[ "$code2 $code3" = "$1 $2" ]]
}

# both WORD...: start two receivers
both()
{
	recv 2 "$@"
	r2=$!
	recv 3 "$@"
	r3=$!
}

same()
{
	diff -r "$tmp/from" "$tmp/2" >>"$tmp/out" && diff -r "$tmp/from" "$tmp/3" >>"$tmp/out"
}

no_parts()
{
	[[ -z $(find "$tmp/2" "$tmp/3" -name '*.part') ]]
}

say()
{
	grep -q -e "$1" "$tmp/out" || { echo "no '$1'" >>"$tmp/out" && return 1; }
}

# ---- what is as it should be ----------------------------------------------

device
fresh
both
cast 0 "$tmp"/from/* && ended 0 0 && same && no_parts && say "3 files are at all 2 receivers" &&
	say "big: 3000000 bytes in .* to each of 2" && say "2: all 3 files are there"
verdict $? "three files to two receivers"

[[ $(stat -c '%a %.3Y' "$tmp/2/small") = "640 $(stat -c %.3Y "$tmp/from/small")" ]]
verdict $? "modes and times"

both -v
cast 0 -v "$tmp"/from/* && ended 0 0 && same && say "big: everybody has it" &&
	say "2: big: is there already" && ! grep -q 'bytes in' "$tmp/out"
verdict $? "nothing is sent twice"

rm "$tmp/3/big"
both
cast 0 "$tmp"/from/* && ended 0 0 && same && say "3: big: 3000000" && ! grep -q "2: big" "$tmp/out"
verdict $? "a member that has a file passes it on"

fresh
mkdir -p "$tmp/from/a/b" "$tmp/from/a-c" "$tmp/from/.hidden"
echo 1 >"$tmp/from/a/b/one"
echo 2 >"$tmp/from/a-c/two words"
echo 3 >"$tmp/from/-n"
echo 4 >"$tmp/from/new"$'\n'"line"
echo 5 >"$tmp/from/grüße"
echo 6 >"$tmp/from/bad"$'\377'"byte"
echo 7 >"$tmp/from/.hidden/x"
echo 8 >"$tmp/from/$(printf 'x%.0s' {1..255})"
both
cast 0 -r "$tmp/from/." && ended 0 0 && same && no_parts && say '^new?line: 2 bytes'
verdict $? "a directory, and odd names"

rm -rf "$tmp/2" "$tmp/3"
mkdir "$tmp/2" "$tmp/3"
both
(cd "$tmp/from" && cast 0 -- -n ./small ../from/big) && ended 0 0 &&
	[[ $(cd "$tmp/2" && printf '%s ' *) = "-n big small " ]]
verdict $? "files are called by the last part of their names"

fresh
both
cast 0 -r "$tmp/from/" && ended 0 0 && diff -r "$tmp/from" "$tmp/2/from"
verdict $? "a directory with its name"

fresh
: >"$tmp/from/bad"$'\377'
both --json
cast 0 --json "$tmp"/from/* && ended 0 0 && [[ ! -s $tmp/err ]] && head -n 8 "$tmp/out" |
	perl -MJSON::PP -ne 'my $o = decode_json($_); my $h = $o->{"file-hex"} // "";
		print "$o->{node} $o->{size} $o->{result} $h\n" if $o->{crc32c} =~ /^[0-9a-f]{8}$/' |
	sort >"$tmp/got" && printf '%s\n' '2 0 ok ' '2 0 ok 626164ff' '2 3000000 ok ' '2 3893 ok ' \
	'3 0 ok ' '3 0 ok 626164ff' '3 3000000 ok ' '3 3893 ok ' | diff - "$tmp/got" >>"$tmp/out" &&
	[[ $(grep -c '"node":3' "$tmp/3.out") = 4 ]]
verdict $? "--json"

fresh
both -q
cast 0 -q "$tmp"/from/* && ended 0 0 && same && [[ ! -s $tmp/err && ! -s $tmp/2.out ]] &&
	[[ $(head -n 1 "$tmp/out") = status* ]]
verdict $? "--quiet"

fresh
both --memory 1 -a chain -b 4K -t 9 --fsync --no-verify -g 77
cast 0 --memory 1 -a chain -b 4K -t 9 -g 77 "$tmp"/from/* && ended 0 0 && same
verdict $? "one file in memory at a time, and other options"

fresh
for i in {1..60}; do echo "$i" >"$tmp/from/f$i"; done
both
cast 0 "$tmp"/from/* && ended 0 0 && same
verdict $? "more files than can be queued"

fresh
both --loop
cast 0 "$tmp"/from/big && cast 0 "$tmp"/from/small && cast 0 "$tmp"/from/* && kill -INT "$r2" "$r3"
rc=$?
ended 130 130 && [[ $rc = 0 ]] && same
verdict $? "--loop: one batch after the other"

# ---- devices that do not everything ---------------------------------------

device no-files
fresh
both
cast 0 "$tmp"/from/* && ended 0 0 && same
verdict $? "mappings of files that cannot be pinned"

device memlock=4000000
fresh
cp "$tmp/from/big" "$tmp/from/big2"
both
cast 0 "$tmp"/from/* && ended 0 0 && same
verdict $? "not enough memory for two files at a time"

device memlock-in=4000000
for word in 1 1G; do
	rm -f "$tmp"/[23]/*
	both --memory "$word"
	cast 0 "$tmp"/from/* && ended 0 0 && same
	verdict $? "the same of the receivers alone, --memory $word"
done

device memlock=2000000
fresh
both
cast 1 "$tmp"/from/* && ended 1 1 && cmp "$tmp/from/small" "$tmp/3/small" && no_parts &&
	say "big: no memory, or RLIMIT_MEMLOCK is too low" && say "node 2 has 2 of 3 files"
verdict $? "not enough memory for a file"

device corrupt=1
fresh
both
cast 1 "$tmp"/from/* && ended 0 1 && say "node 3: big: checksum .* was sent" && no_parts &&
	[[ ! -e $tmp/3/big ]] && cmp "$tmp/from/big" "$tmp/2/big" && cmp "$tmp/from/small" "$tmp/3/small"
verdict $? "bytes that are spoilt on the way"

both --overwrite --no-verify
rm "$tmp/3/small"
cast 0 "$tmp"/from/* && ended 0 0 && ! cmp -s "$tmp/from/big" "$tmp/3/big"
verdict $? "--no-verify takes them"
device

# ---- what cannot be taken -------------------------------------------------

fresh
echo different >"$tmp/3/big"
both
cast 1 "$tmp"/from/* && ended 1 1 && say "node 3: big: a different file has this name; --overwrite" &&
	say "2: .*big: not sent, because of node 3: a different" &&
	[[ ! -e $tmp/2/big && $(cat "$tmp/3/big") = different ]] && cmp "$tmp/from/small" "$tmp/3/small"
verdict $? "a different file is there"

both
cast 1 -k "$tmp"/from/* && ended 0 1 && cmp "$tmp/from/big" "$tmp/2/big" &&
	[[ $(cat "$tmp/3/big") = different ]]
verdict $? "--keep-going: the others get it"

both --overwrite
cast 0 "$tmp"/from/* && ended 0 0 && same
verdict $? "--overwrite"

fresh
mkdir "$tmp/2/big" "$tmp/outside"
ln -s "$tmp/outside" "$tmp/3/from"
: >"$tmp/2/small"
both
cast 1 -r "$tmp/from/big" "$tmp/from" && ended 1 1 && [[ -z $(ls "$tmp/outside") ]] &&
	say "node 2: big: something that is no regular file" &&
	say "node 3: from/big and 2 more: something that is no directory has the name"
verdict $? "directories and links in the way"

fresh
recv 2
r2=$!
(ulimit -f 1000 && exec timeout 60 "$test/recv.asan" -n 3 -m 1,2,3 "$tmp/3") >"$tmp/3.out" 2>&1 &
r3=$!
cast 1 "$tmp"/from/* && ended 1 1 && say "node 3: big: longer than RLIMIT_FSIZE" && no_parts &&
	cmp "$tmp/from/small" "$tmp/3/small"
verdict $? "a file that is longer than is allowed"

# As root nothing is forbidden by modes, and as somebody else nothing can be mounted.
fresh
as=()
if [[ $(id -u) = 0 ]]; then
	as=(setpriv --reuid 65534 --clear-groups)
	chmod 755 "$tmp"
	chmod 777 "$tmp/sock"
fi
recv 2
r2=$!
chmod 555 "$tmp/3"
timeout 60 "${as[@]}" "$test/recv.asan" -n 3 -m 1,2,3 "$tmp/3" >"$tmp/3.out" 2>&1 &
r3=$!
cast 1 "$tmp"/from/* && ended 1 1 && say "node 3: big and 2 more: its directory: Permission denied"
verdict $? "a directory that cannot be written"
chmod 755 "$tmp/3"

fresh
if mount -t tmpfs -o size=1M none "$tmp/3" 2>/dev/null; then
	both
	cast 1 "$tmp"/from/* && ended 1 1 && no_parts &&
		say "node 3: big: no space: the batch needs 3003893 bytes, and 10"
	rc=$?
	# Somebody else takes the room between the reply and the file.
	head -c 500000 /dev/urandom >"$tmp/from/big"
	device rate=100
	both
	(sleep 2; head -c 900000 /dev/zero >"$tmp/3/other") &
	cast 1 "$tmp"/from/* && ended 0 1 && say "node 3: big: No space left" && no_parts
	rc=$((rc + $?))
	device
	umount "$tmp/3"
	verdict $rc "no space"
else
	verdict 0 "no space # SKIP nothing can be mounted"
fi

fresh
(cd "$tmp" && echo x >x)
cast 1 "$tmp/from/big" "$tmp/nothing" "$tmp/from" && say "nothing: No such file" &&
	say "from: is a directory; -r" && mkfifo "$tmp/fifo" && cast 1 "$tmp/fifo" &&
	say "fifo: not a regular file" && cast 1 "$tmp/x" "$tmp/from/../x" &&
	say "a name that comes twice" && cast 1 -r "$tmp/3" && say "there is no file to send"
verdict $? "files that cannot be sent"

# ---- members that do not stay ----------------------------------------------

# Some seconds for a batch.
device rate=1000
fresh
cp "$tmp/from/small" "$tmp/from/a-small"
both
cast 3 "$tmp"/from/* &
c=$!
sleep 2
pkill -KILL -P "$r3" -x recv.asan
wait "$c"
rc=$?
{ wait "$r3"; } 2>/dev/null
wait "$r2"
[[ $? = 3 && $rc = 0 ]] && cmp "$tmp/from/a-small" "$tmp/2/a-small" && [[ ! -e $tmp/2/big ]] &&
	[[ -z $(find "$tmp/2" -name '*.part') ]] && say "node 3: a member has left" &&
	say "node 2 has 2 of 4 files" && grep -q "2 of 4 files are there" "$tmp/2.out"
verdict $? "a member that is killed"

device
both
cast 0 "$tmp"/from/* && ended 0 0 && same && ! grep -q "2: a-small" "$tmp/out" && say "2: big: 3000000"
verdict $? "the same command again sends the rest"

device rate=1000
fresh
both
timeout --foreground -s INT 2 "$test/cast.asan" -n 1 -m 1,2,3 "$tmp"/from/{empty,small,big} >"$tmp/out" 2>&1
rc=$?
ended 1 1 && [[ $rc = 124 ]] && no_parts && [[ ! -e $tmp/3/big ]] &&
	cmp "$tmp/from/small" "$tmp/3/small" && say "node 2 has 2 of 3 files" &&
	say "3: .*big: node 1: a member has cancelled"
verdict $? "SIGINT of the sender"

fresh
both
cast 3 "$tmp"/from/* &
c=$!
sleep 2
pkill -TERM -P "$r3" -x recv.asan
wait "$c"
rc=$?
ended 3 143 && [[ $rc = 0 ]] && no_parts && say "3: .*1 of 3 files are there"
verdict $? "SIGTERM of a receiver"

timeout --foreground -s TERM 1 "$test/cast.asan" -n 1 -m 1,2,3 "$tmp"/from/* >"$tmp/out" 2>&1
[[ $? = 124 ]] && say "nothing was sent"
verdict $? "SIGTERM before anybody is there"

cast 1 --wait 1 "$tmp/from/small" && say "not all members have come within 1 seconds"
verdict $? "--wait"

fresh
both -t 1
sleep 2.5
cast 0 -t 1 "$tmp"/from/small && ended 0 0
verdict $? "receivers that have waited longer than the timeout"

recv 2 -b 8K
r2=$!
recv 3 --wait 3
r3=$!
# Which members hear of that depends on the order in which they come; none waits without end.
cast 1 --wait 3 "$tmp"/from/* && ended 1 1 && say "created the group with other arguments"
verdict $? "members that do not agree"

# ---- words -------------------------------------------------------------------

missing=0
for who in cast recv; do
	bash -n "$dir/completion/spindle-$who" >"$tmp/out" 2>&1 || missing=1
	for word in $("$test/$who.asan" --help | grep -o -e '--[a-z-]*' | sort -u); do
		sed 's/Fl Fl /--/g' "$dir/man/spindle-cast.1" "$dir/man/spindle-recv.1" |
			grep -q -e "$word\b" || { missing=1 && echo "man: no $word" >>"$tmp/out"; }
		bash -c '. "$1"; COMP_WORDS=(x "$2"); COMP_CWORD=1; _spindle_cast "$3"
			[[ " ${COMPREPLY[*]} " == *" $2 "* ]]' - "$dir/completion/spindle-$who" "$word" \
			"spindle-$who" 2>/dev/null ||
			{ missing=1 && echo "completion: no $word" >>"$tmp/out"; }
	done
done
verdict $missing "the manual pages and the completion have all options"

# ---- the command line -----------------------------------------------------

program=$test/cast.asan
says 0 '^usage: ' --help
says 0 '^spindle-cast [0-9]' -V
says 2 "there is no file to send" -n 1
says 2 "a member is there twice" -m 1,2,2 x
says 2 "a list of node ids is needed" -m 1,,2 x
says 2 "has nobody to talk to" -m 1 x
says 2 "the first of --members sends" -n 2 -m 1,2 x
says 2 "none of pipeline" -a star x
says 2 "a power of two" -b 5K x
says 2 "group 0: not a number from 1 to 281474976710655" -g 0 x
says 2 "group 281474976710656: not a number" -g 281474976710656 x
says 2 "timeout 0: not a number of seconds from 1 to 86400" -t 0 x
says 2 "memory 1Q: .*K, M, G and T may follow" --memory 1Q x
says 2 "node 0: not a number from 1" -n 0 x
says 2 "there is no option --overwrite" --overwrite x
says 2 "-m: the value is missing" -m
program=$test/recv.asan
says 0 '^usage: ' --help
says 2 "the directory is missing" --from 1
says 2 "there is no option -r" -r x
says 2 "one directory is enough" --from 1 x y
says 2 "from or --members is missing" x
says 2 "is not the first of --members" -n 2 -m 1,2 --from 2 x
says 2 "that is --node itself" -n 1 -m 1,2 x
says 2 "node is not among" -n 3 -m 1,2 x
says 2 "node is missing" -m 1,2 x
says 1 "nowhere: No such file" -n 2 -m 1,2 /nowhere
FAKE_RDMC='' says 1 "no such device; load the module" -n 2 -m 1,2 "$tmp"

tap_end
