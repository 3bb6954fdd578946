#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# spindle-dds without the kernel module: command lines, manual page and completion. TAP.
# Nothing here becomes a participant, whatever is loaded.

# shellcheck source=tools/test/lib.sh
. "$(dirname "$0")/lib.sh"
program=$dir/spindle-dds

says 0 '^usage: spindle-dds topic list|info|echo|pub|hz|bw' --help
says 0 '^usage: spindle-dds topic list|info' topic --help
says 0 '^spindle-dds [0-9]' -V
for verb in list info echo pub hz bw; do
	says 0 "^usage: spindle-dds topic $verb \\[OPTION\\]" topic "$verb" --help
	says 2 "there is no option -z; see spindle-dds topic $verb --help" topic "$verb" -z
	says 2 "node 0: not a number from 1 to 4294967295" topic "$verb" -n 0 t
	says 2 "timeout 0.01: not a number of seconds" topic "$verb" -t 0.01 t
	says 2 "device: the value is missing" topic "$verb" t --device
done
says 2 "the command is missing"
says 2 "the command is missing" topic
says 2 "there is no command 'list'" list
says 2 "there is no command 'topic lst'" topic lst
says 2 "there is no option --jsn" topic list --jsn

says 2 "'t': there are only options" topic list t
for verb in info echo pub hz bw; do
	says 2 "the topic is missing" topic $verb -n 1
	says 2 "the name of a topic has 1 to 127 printable characters, and no blanks" topic $verb ''
	says 2 "the name of a topic has 1 to 127" topic $verb 'a b'
	says 2 "the name of a topic has 1 to 127" topic $verb "$(printf '%0128d' 0)"
done
says 2 "'u': there are only options and a topic" topic echo t u
says 2 "'u': there are only a topic and a text" topic pub t u u
says 2 "json and --csv exclude each other" topic list -j --csv
for verb in info echo hz bw; do
	says 2 "json and --csv exclude each other" topic $verb -j --csv t
done

for verb in echo pub hz bw; do
	says 2 "count 0: not a number from 1" topic $verb -N 0 t
	says 2 "there are 4 partitions at most" topic $verb -P a -P b -P c -P d -P e t
	says 2 "a name of a partition has 31 characters at most" topic $verb \
		-P 12345678901234567890123456789012 t
	says 2 "the name of a partition has printable characters" topic $verb -P 'a b' t
done
for verb in echo pub; do
	says 2 "once and --count exclude each other" topic $verb -1 -N 2 t
	says 2 "form x: neither text, hex nor raw" topic $verb -f x t
done
says 2 "depth 0: not a number from 1" topic echo -d 0 t
for option in -j --csv -k -v; do
	says 2 "form=raw prints the bytes alone" topic echo -f raw $option t
done
says 2 "there is no option --rate" topic echo --rate 1 t
says 2 "window 1: not a number from 2 to 1000000" topic hz -W 1 t
says 2 "window 1000001: not a number" topic bw -W 1000001 t
says 2 "wait x: not a number of seconds" topic info -w x t

for rate in -1 x 1e3 1000001 0.0009 '' inf ' 1' 0x1 1.2.3 .; do
	says 2 "rate $rate: not a number of samples per second" topic pub "--rate=$rate" t x
done
for key in '' 1 xx 0102030405060708090a0b0c0d0e0f1011; do
	says 2 "key $key: not 1 to 16 bytes in hexadecimal" topic pub "--key=$key" t x
done
says 2 "level x: not a level: unordered, atomic, transient or persistent" topic pub -l x t x
says 2 "type and --subgroup are of a new topic, which needs --level" topic pub --type T t x
says 2 "type and --subgroup are of a new topic, which needs --level" topic pub -g s t x
says 2 "the name of a type has up to 127" topic pub -l atomic --type 'a b' t x
says 2 "the name of a subgroup has 1 to 64" topic pub -l atomic -g '' t x
says 2 "form is text or hex" topic pub -f raw t x
says 2 "there is no option -j" topic pub -j t x
says 2 "'6x': two digits from 0 to f for each byte" topic pub -f hex t 6x
says 2 "the text has 5 bytes, and --size is 4" topic pub -s 4 t hello
says 2 "the text has 2 bytes, and --size is 1" topic pub -f hex -s 1 t 6162
says 2 "size 0: not a number from 1" topic pub -s 0 t

says 1 "control subgroup 'x'" topic list -n 77 -c x -D /nonexistent -t 0.1

# ---- manual page and completion ----------------------------------------------------------

bash -n "$dir/completion/spindle-dds" >"$tmp/out" 2>&1
verdict $? "the completion is a script"

# offers WORDS WORD...: the completion of these words is this
offers()
{
	want=$1
	shift
	# shellcheck disable=SC2016 # it is bash that expands it
	bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
		_spindle_dds; echo "${COMPREPLY[*]}"' - "$dir/completion/spindle-dds" "$@" \
		>"$tmp/out" 2>&1
	[ "$(cat "$tmp/out")" = "$want" ]
	verdict $? "completion: $* -> $want"
}
offers 'topic' spindle-dds to
offers 'info' spindle-dds topic i
offers '--rdmc-device --rate' spindle-dds topic pub --r
offers '--once' spindle-dds topic echo --o
offers '' spindle-dds topic info --o
offers 'transient' spindle-dds topic pub -l t
offers 'text hex' spindle-dds topic pub --form = ''
offers 'text hex raw' spindle-dds topic echo -f ''
offers '--keys' spindle-dds topic echo -k --k
offers '' spindle-dds topic pub -k --k

if command -v mandoc >/dev/null; then
	mandoc -Tlint -Wwarning "$dir/man/spindle-dds.1" >"$tmp/out" 2>&1
	verdict $? "the manual page has no faults"
else
	skip "the manual page has no faults" "no mandoc"
fi
: >"$tmp/out"
for verb in list info echo pub hz bw; do
	"$program" topic $verb --help | grep -o '  *--[a-z-]*' | tr -d ' ' | while read -r word; do
		grep -qe "Fl Fl ${word#--}\\( \\|\$\\)" "$dir/man/spindle-dds.1" ||
			echo "manual: no $word" >>"$tmp/out"
		# shellcheck disable=SC2016
		bash -c '. "$1"; COMP_WORDS=(spindle-dds topic "$2" "$3"); COMP_CWORD=3; _spindle_dds
			[[ " ${COMPREPLY[*]} " == *" $3 "* ]]' - "$dir/completion/spindle-dds" \
			$verb "$word" || echo "completion: no $word of $verb" >>"$tmp/out"
	done
done
[ ! -s "$tmp/out" ]
verdict $? "manual page and completion have all options"

tap_end
