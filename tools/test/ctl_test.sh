#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# spindle-ctl without the kernel module: command lines, files, and what it says when
# there is nobody to talk to. TAP. Nothing here changes anything, whatever is loaded.

# shellcheck source=tools/test/lib.sh
. "$(dirname "$0")/lib.sh"

# ---- the command line -----------------------------------------------------

says 2 '^usage: '
says 0 '^usage: ' help
says 0 '^usage: ' --help
says 0 'view set node N' help view
says 0 'view set node N' view help
says 0 '^spindle-ctl [0-9]' -V
says 2 "no object 'nodes'" nodes
says 2 "no object 'nodes'" help nodes
says 2 "no verb 'make'" node make
says 2 'there is no option -x' -x node
says 2 'the name is missing' -n

says 2 "node add: 'addr' is missing" node add id 1
says 2 "node add: 'id' is missing" node add addr 10.0.0.1
says 2 'id: the value is missing' node add id
says 2 'id is given twice' node add id 1 id 2
says 2 "'adr' is not known here; there is: id, addr" node add id 1 adr 10.0.0.1
says 2 "id '-1': not a number from 0 to 4294967295" node add id -1 addr 10.0.0.1
says 2 "id '1x': not a number" node add id 1x addr 10.0.0.1
says 2 "id '': not a number" node add id '' addr 10.0.0.1
says 2 "id ' 1': not a number" node add id ' 1' addr 10.0.0.1
says 2 "id '0x': not a number" node add id 0x addr 10.0.0.1
says 2 "id '4294967296': not a number" node add id 4294967296 addr 10.0.0.1
says 2 "id '99999999999999999999': not a number" node add id 99999999999999999999
says 2 "port '65536': not a number from 0 to 65535" node add id 1 port 65536
says 2 "idle-us '1K': not a number" node add id 1 idle-us 1K
says 2 "addr 'localhost': .*names are not resolved" node add id 1 addr localhost
says 2 "addr 'fe80::1%eth0': .*zone" node add id 1 addr fe80::1%eth0
says 2 "visibility 'maybe': none of auto|poll|imm" node add id 1 visibility maybe
says 2 "cpu 'all': not a number" node add id 1 cpu all
says 2 "node del: 'id' is missing" node del

says 0 'table put node N' help table
says 2 "table add: 'node' is missing" table add table 7 cells 4
says 2 "table add: 'table' is missing" table add node 1 cells 4
says 2 'table add: table id is given twice' table add node 1 id 7 table 8 cells 4
says 2 'table add: table 7 mode is given twice' table add node 1 table 7 mode read mode write
says 2 "table add: table 0 mode 'ordered': none of write|read" table add 1 mode ordered table 7
says 2 'table 7 mode: the value is missing' table add node 1 table 7 mode
says 2 "subgroup add: table 7 mode 'table': none of write|read" \
	subgroup add node 1 table 7 mode table
says 2 'subgroup add: the mode is given twice' subgroup add node 1 mode table-read table 7
says 2 "cells '4x': not a number" table add node 1 table 7 cells 4x
says 2 "table 7 has no senders" table add node 1 table 7 cells 4 members 1,2 senders 1
says 2 "table del: 'node' is missing" table del
says 2 'table del: which table? Give its id or its name' table del node 1
says 2 'subgroup del: which subgroup? Give its id or its name' subgroup del node 1
says 2 "table show: 'cell' is not known here; there is: node, id, name" table show cell 1
says 2 "table get: 'node' is missing" table get
says 2 "table watch: 'counts' is not known here" table watch 1 id 2 counts 3
says 2 "field 'load:u33': there is no type 'u33'" table get 1 id 2 fields load:u33
says 2 "load=x: not a number from 0 to 255" \
	table put 1 id 2 cell 0 fields load:u8 load=x

says 0 'log dump DIR' help log
says 2 'log verify: the directory is missing' log verify
says 1 'log show: /nonexistent: there is no such directory' log show /nonexistent

says 2 "node set: 'id' is missing" node set timing on
says 2 'node set: there is nothing to set; there is: idle-us, timing, rack' node set 1
says 2 "rack '65536': not a number from 0 to 65535" node set 1 rack 65536
says 2 "rack 'any': not a number" node add id 1 addr 10.0.0.1 rack any
says 2 "node set: 'port' is not known here; there is: id, idle-us, timing, rack" node set 1 port 5
says 2 "timing 'maybe': neither on nor off" node set 1 timing maybe
says 2 "idle-us '4294967296': not a number" node set 1 idle-us 4294967296

says 2 "'node' is missing" view set
says 2 "'vid' is missing" view set node 1
says 2 "'member' is missing" view set node 1 vid 1
says 2 "member '1': not a member; one looks like" view set node 1 vid 1 member 1
says 2 'the id before the @' view set node 1 vid 1 member a@10.0.0.1
says 2 'the id before the @' view set node 1 vid 1 member @10.0.0.1
says 2 'the port is not a number' view set node 1 vid 1 member 1@10.0.0.1:
says 2 'the port is not a number' view set node 1 vid 1 member 1@10.0.0.1:65536
says 2 'go in brackets' view set node 1 vid 1 member 1@fd00::1:4790
says 2 'not an IPv4 or IPv6' view set node 1 vid 1 member '1@[fd00::x]:4790'
says 2 'not an IPv4 or IPv6' view set node 1 vid 1 member '1@[10.0.0.1]:4790'
says 2 'said of a subgroup' view set node 1 vid 1 member 1@10.0.0.1 window 3
says 2 "subgroup id 'x'" view set node 1 vid 1 member 1@10.0.0.1 subgroup x
says 2 "for the subgroup name, mode" view set node 1 vid 1 subgroup 1 size 3
says 2 "subgroup 1 mode 'total': none of ordered|unordered" view set subgroup 1 mode total
says 2 "subgroup 1 max-msg '1T': .*K, M and G" view set subgroup 1 max-msg 1T
says 2 "ring '4G': not a number" view set subgroup 1 ring 4G
says 2 "hold '2': neither" view set subgroup 1 hold 2
says 2 "members 'none': not a list" view set subgroup 1 members none
says 2 "members '3-1': not a list" view set subgroup 1 members 3-1
says 2 "members '1,,2': not a list" view set subgroup 1 members 1,,2
says 2 'senders is given twice' view set subgroup 1 senders 1 senders 2
says 2 'node 2 is not a member of the view' \
	view set node 1 vid 1 member 1@10.0.0.1 subgroup 0 members 1,2
says 2 'sender 2 is not one of its members (1,3)' view set node 1 vid 1 \
	member 1@10.0.0.1 member 2@10.0.0.2 member 3@10.0.0.3 subgroup 0 members 1,3 senders 2

# ---- live views

says 2 "view set: timeout-ms '19': not a number from 20 to 60000" view set timeout-ms 19
says 2 "view set: timeout-ms '60001': not a number from 20 to 60000" view set timeout-ms 60001
says 2 "timeout-ms 'x': not a number from 20 to 60000" view set timeout-ms x
says 2 "max-nodes '0': not a number from 1 to 64" view set live max-nodes 0
says 2 "max-nodes '65': not a number from 1 to 64" view set live max-nodes 65
says 2 "quorum 'maybe': neither 0 (no) nor 1 (yes)" view set quorum maybe
says 2 'quorum: the value is missing' view set quorum
says 2 'max-nodes is given twice' view set max-nodes 3 max-nodes 3
says 2 'there are 2 members, and max-nodes is 1' \
	view set node 1 vid 1 max-nodes 1 member 1@10.0.0.1 member 2@10.0.0.2
says 2 "subgroup 1 shards '65': not a number from 1 to 64" view set subgroup 1 shards 65
says 2 "subgroup 1 shards '0': not a number from 1 to 64" view set subgroup 1 shards 0
says 2 "subgroup 1 min '65': not a number from 1 to 64" view set subgroup 1 min 65
says 2 "subgroup 1 on-exit 'stay': none of discard|leave" view set subgroup 1 on-exit stay
says 2 "subgroup 1 log '2': neither 0 (no) nor 1 (yes)" view set subgroup 1 log 2
says 2 "subgroup 1 ack 'some': none of all|majority" view set subgroup 1 ack some
says 2 "subgroup 1 deliver 'now': none of stable|durable" view set subgroup 1 deliver now
says 2 "subgroup 1 min-copies '65': not a number from 0 to 64" view set subgroup 1 min-copies 65
says 2 "subgroup add: subgroup 7: 'min-copies' is for subgroups with logs only" \
	subgroup add node 1 id 7 min-copies 2
says 2 "subgroup 3 has no logs: only an ordered subgroup can have some" \
	view set live node 1 vid 1 member 1@10.0.0.1 subgroup 3 log 1 mode unordered
says 2 "subgroup set: on-log-stall 'stay': none of wait|forget|leave" \
	subgroup set 1 id 0 on-log-stall stay
says 2 "subgroup set: log-stall-ms 'x': not a number" subgroup set 1 id 0 log-stall-ms x
says 2 "subgroup 1 range: the list is missing" view set subgroup 1 range
says 2 "subgroup 1 range 'all': not a list of 64 node ids at most" view set subgroup 1 range all
says 2 "subgroup 1 range '1,x': not a list of 64 node ids at most" view set subgroup 1 range 1,x
says 2 "subgroup 1 range '1-65': not a list of 64 node ids at most" view set subgroup 1 range 1-65
says 2 "subgroup 1: 'range' is for subgroups with logs only" \
	view set live node 1 vid 1 member 1@10.0.0.1 subgroup 1 range 1
says 2 "'range' is not known here; .*said of a subgroup" view set live range 1
says 2 "'range' is not known here" subgroup add node 1 id 7 log 1 range 1
says 0 'range 1,2,3' help view
says 0 'min-copies N|default' help view
says 0 'on-log-stall wait|forget|leave' help subgroup
says 2 "'shards' is not known here; .*said of a subgroup" view set live shards 3
says 2 "table 1 shards '65': not a number from 1 to 64" view set live table 1 cells 4 shards 65
says 2 "table 1 shards '0': not a number from 1 to 64" table add 1 table 1 cells 4 shards 0
says 2 "table 3: 'shards' is for live views only; add 'live'" \
	view set node 1 vid 1 member 1@10.0.0.1 table 3 cells 4 shards 2
for words in 'shards 2' 'min 2' 'on-exit leave' 'log 1'; do
	# shellcheck disable=SC2086 # words are wanted
	says 2 "subgroup 3: '${words% *}' is for live views only; add 'live'" \
		view set node 1 vid 1 member 1@10.0.0.1 subgroup 3 $words
done
says 2 'sender 2 is not one of its members (1)' \
	view set live node 1 vid 1 member 1@10.0.0.1 subgroup 0 senders 1,2

says 2 "'insecure' is for live views only; add 'live'" \
	view set node 1 vid 1 insecure member 1@10.0.0.1 subgroup 0
says 2 "node join: 'id' is missing" node join contact 10.0.0.1
says 2 "node join: 'contact' is missing" node join id 3
says 2 "node join: contact '10.0.0.1:x': the port is not a number" \
	node join id 3 contact 10.0.0.1:x
says 2 "node join: contact 'host1': .*names are not resolved" node join 3 contact host1
says 2 "node join: contact 'fd00::1:4790': .*in brackets" node join 3 contact fd00::1:4790
says 2 "node join: timeout '0': not a number from 1 to 86400" \
	node join 3 contact 10.0.0.1 timeout 0
says 2 "node join: lineage '1234': not 32 hexadecimal digits" \
	node join 3 contact 10.0.0.1 lineage 1234
says 2 "view set: lineage 'x': not 32 hexadecimal digits" \
	view set node 1 vid 1 live lineage x member 1@10.0.0.1
says 2 "node join: 'peer' is not known here; there is: id, timeout, lineage" \
	node join 3 peer 1 contact 10.0.0.1
says 2 "node leave: 'id' is missing" node leave no-wait
says 2 "node leave: 'contact' is not known here; there is: id, timeout" \
	node leave 3 contact 10.0.0.1
says 2 "node leave: '--now' is not known here" node leave 3 --now
says 2 "node evict: 'node' is missing" node evict 3
says 2 "node evict: node 'x': not a number" node evict 3 node x
says 2 "status: 'id' is not known here; there is: node" status id 3
says 2 "status: node 'x': not a number" status show node x
says 0 'node join id N contact' help node
says 0 'status .show. .node N.' help status

# ---- groups for large objects

says 2 "rdmc show: 'id' is not known here; there is: node, group" rdmc show id 3
says 2 "rdmc show: group 'x': not a number from 0 to 18446744073709551615" rdmc show group x
says 2 "rdmc stats: node '-1': not a number" rdmc stats node -1
says 2 "rdmc show: -d '0': not a number of seconds from 0.1 to 86400" rdmc show -d 0
says 2 "rdmc show: -n '0': not a number from 1 to" rdmc show -w -n 0
says 2 'rdmc show: -n: the value is missing' rdmc show -n
says 2 'rdmc show: there is no option --foo' rdmc show --foo
says 2 "rdmc stats: '-w' is not known here" rdmc stats -w
says 2 "rdmc: there is no verb 'close'" rdmc close
says 2 'there is no option -w' top -w
says 0 'rdmc show .node N. .group G.' help rdmc

# ---- keys of a group

# key BYTES: a file with so many.
key()
{
	head -c "$1" /dev/zero | tr '\0' k >"$tmp/key"
	chmod 600 "$tmp/key"
}

# with_key PATTERN: what node add says of the key file.
with_key()
{
	says 1 "$1" node add id 1 addr 10.0.0.1 key-file "$tmp/key"
	! grep -q kkkk "$tmp/out"
	verdict $? "the key is not shown"
}

says 2 'node add: key-file: the value is missing' node add 1 key-file
says 1 "key-file '$tmp/no': No such file" node add 1 addr 10.0.0.1 key-file "$tmp/no"
says 1 "key-file '$tmp': Is a directory" node add 1 addr 10.0.0.1 key-file "$tmp"
key 0
with_key 'it has 0 bytes; a key has 16 to 64'
key 15
with_key 'it has 15 bytes; a key has 16 to 64'
echo >>"$tmp/key"
with_key 'it has 15 bytes; a key has 16 to 64'
key 65
with_key 'it is longer than 64 bytes; a key has 16 to 64'
key 3000
with_key 'it is longer than 64 bytes; a key has 16 to 64'
key 15
chmod 644 "$tmp/key"
with_key 'warning: everybody on this machine can read it'
chmod 602 "$tmp/key"
with_key 'warning: everybody on this machine can write it'

says 2 "subgroup set: 'node' is missing" subgroup set id 0 nulls off
says 2 "subgroup set: which subgroup? Give its id or its name" subgroup set node 1 nulls off
says 2 "subgroup set: which subgroup? Give its id or its name" \
	subgroup set node 1 id 1 name prices nulls off
says 2 'subgroup set: there is nothing to set; there is: all, send-batch' subgroup set 1 id 0
says 2 "'windows' is not known here; there is: .*packed, tracking, express, send-budget.*stall-ms, large" \
	subgroup set 1 id 0 windows off
says 2 "nulls '2': neither on nor off" subgroup set 1 id 0 nulls 2
says 2 "all 'none': neither on nor off" subgroup set 1 id 0 all none
says 2 'nulls: the value is missing' subgroup set 1 id 0 nulls
says 2 'nulls is given twice' subgroup set 1 id 0 nulls on nulls off
says 2 'all is given twice' subgroup set 1 id 0 all on all off
says 2 "send-budget 'x': not a number" subgroup set 1 id 0 send-budget x
says 2 "send-budget '4294967296': not a number from 0 to 4294967295" \
	subgroup set 1 id 0 send-budget 4294967296
says 2 "silence 'never': not a number" subgroup set 1 id 0 silence never
says 2 "stall-ms 'always': not a number" subgroup set 1 id 0 stall-ms always
says 2 "large '4G': not a number from 0 to 4294967295 (K, M and G may follow it)" \
	subgroup set 1 id 0 large 4G
says 2 "large 'never': not a number" subgroup set 1 id 0 large never
says 2 'large is given twice' subgroup set 1 id 0 large 4K large 8K
says 2 "subgroup set: '-1' is not known here" subgroup set -1 id 0 nulls off

says 2 "top: -d '0': not a number of seconds from 0.1 to 86400" top -d 0
says 2 "top: -d '1e3': not a number of seconds" top -d 1e3
says 2 "top: --delay '-1': not a number of seconds" top --delay -1
says 2 "top: -d '': not a number of seconds" top -d ''
says 2 "top: -d 'nan': not a number of seconds" top -b -d nan
says 2 "top: -n '0': not a number from 1 to" top -n 0
says 2 "top: -n 'x': not a number from 1 to" top -bnx
says 2 'top: -n: the value is missing' top -n
says 2 'top: there is no option --foo' top --foo
says 2 'there is no option -x' top -x
says 2 "top: 'peer' is not known here; there is: node, id" top peer 3
says 1 "network namespace 'no-such-ns'" -n no-such-ns top -n 3
says 1 "network namespace 'no-such-ns'" top --netns no-such-ns -n 3

says 2 'the file is missing' apply
says 2 'one file, not' apply a b
says 2 'no option --dry' apply a --dry
says 2 "JSON comes from" -j showconf
says 1 'No such file' apply "$tmp/none"
says 1 'Is a directory' apply "$tmp"
says 1 "network namespace 'no-such-ns'" -n no-such-ns node show

# ---- files ----------------------------------------------------------------

file 1 't.conf:1: there is no \[Node\]' </dev/null
file 1 't.conf:1: Id comes before any' <<X
Id = 1
X
file 1 't.conf:1: no such section: \[Nodes\]; there is \[Node\], \[View\]' <<X
[Nodes]
Anything = 1
X
file 1 't.conf:1: .*closing \]' <<X
[Node
X
file 1 "t.conf:2: 'Id' is neither" 't.conf:3: .Node. has no key .Adress.; there is: Id, Address' \
	't.conf:4: Port = 65536: not a number from 0 to 65535' \
	't.conf:5: visibility = x: none of auto|poll|imm' 'nothing was changed' <<X
[Node]
Id
Adress = 10.0.0.1
Port = 65536
visibility = x
X
file 1 't.conf:1: this .Node. has no Id' 't.conf:1: this .Node. has no Address' <<X
[Node]
Port = 1
X
file 1 't.conf:3: Id is given twice; it is in line 2 too' <<X
[Node]
Id = 1
Id = 2
X
file 1 't.conf:6: node 1 is there already, in line 1' <<X
[Node]
Id = 1
Address = 10.0.0.1

[Node]
Id = 1
Address = 10.0.0.2
X
file 1 't.conf:6: 10.0.0.1:4790 is taken already, by the node in line 1' <<X
[Node]
Id = 1
Address = 10.0.0.1
[Node]
Id = 2
Address = 10.0.0.1
Port = 4790
X
file 1 't.conf:1: .Subgroup. comes before any .View.' <<X
[Subgroup]
Id = 1
X
file 1 't.conf:4: this .View. has no Vid' 't.conf:4: this .View. has no Member' <<X
[Node]
Id = 1
Address = 10.0.0.1
[View]
X
file 1 't.conf:6: Member = 1@10.0.0.1:x: the port is not a number' \
	't.conf:8: Name = "a: the closing quote is missing' \
	't.conf:9: Senders = 1;2: not a list' \
	't.conf:10: MaxMsg = 10 KB: not a number .*K, M and G' <<X
[Node]
Id = 1
Address = 10.0.0.1
[View]
Vid = 1
Member = 1@10.0.0.1:x
[Subgroup]
Name = "a
Senders = 1;2
MaxMsg = 10 KB
X
file 1 't.conf:6: member 1@10.0.0.1:4791 is not where node 1 is (line 1: 10.0.0.1:4790)' <<X
[Node]
Id = 1
Address = 10.0.0.1
[View]
Vid = 1
Member = 1@10.0.0.1:4791
X
file 1 't.conf:8: member 1 is there already, in line 6' \
	't.conf:9: 10.0.0.2:4790 is taken already, by the member in line 7' \
	't.conf:10: this .Subgroup. has no Id' \
	't.conf:11: subgroup 0: node 9 is not a member of the view' \
	't.conf:15: subgroup 5 "five": sender 2 is not one of its members (1)' \
	't.conf:19: subgroup 5 is there already, in line 12' <<X
[Node]
Id = 1
Address = 10.0.0.1
[View]
Vid = 1
Member = 1@10.0.0.1
Member = 2@10.0.0.2
Member = 1@10.0.0.3
Member = 3@10.0.0.2
[Subgroup]
Members = 1,9
[Subgroup]
Id = 5
Members = 1
Senders = 1-2
Name = five

[Subgroup]
Id = 5
X
file 1 't.conf:7: node 1 is in the view in line 4 already; Nodes = says' <<X
[Node]
Id = 1
Address = 10.0.0.1
[View]
Vid = 1
Member = 1@10.0.0.1
[View]
Vid = 2
Member = 1@10.0.0.1
X
printf '[Node]\nId = 1\0\n' >"$tmp/nul"
file 1 't.conf:2: a zero byte' <"$tmp/nul"
head -c 4000 /dev/urandom | tr '\0' x >"$tmp/random"
file 1 'nothing was changed' <"$tmp/random"

# ---- without the module ---------------------------------------------------

absent="spindle.ko is not loaded (modprobe spindle)"
if "$ctl" node show 2>&1 | grep -qF "$absent"; then
	for words in 'node show' 'view show' 'subgroup show' stats monitor showconf \
		     '-j stats' 'node add id 1 addr ::1' 'node del 1' 'view del 1' \
		     'node set 1 timing on idle-us 0' 'subgroup show -v' \
		     'subgroup set 1 id 2 all off nulls on send-budget 1 stall-ms never large 64K' \
		     'status' 'status show node 3' '-j status' 'node leave 3 --no-wait' \
		     'node join id 3 contact [fd00::1]:4790 timeout 5' \
		     'node join insecure id 3 contact [fd00::1]:4790' \
		     'node evict no-wait 3 node 4' \
		     'rdmc' 'rdmc show 1 group 2' '-j rdmc stats group 3' 'node set 1 rack none' \
		     'rdmc show -w -d .1 -n 1' 'rdmc show -vbn3' \
		     'top' 'top -b -n 2' '-j top node 1 id 2 -d .5 -n 1' 'top 1 -jbd2.5 -n3'; do
		# shellcheck disable=SC2086 # words are wanted
		says 1 "$absent" $words
	done
	says 1 "$absent" view set node 1 vid 1 live insecure timeout-ms 20 max-nodes 64 quorum no \
		member 1@10.0.0.1 subgroup 0 shards 64 min 64 on-exit leave \
		subgroup 70 members 1,2 senders 2 on-exit discard subgroup 71 senders none
	# Limits that are known without the module.
	file 1 "$absent" 't.conf:4: IdleUs = 1000001; allowed: from 0 to 1000000' \
		't.conf:12: Window = 70000; allowed: from 1 to 65536' \
		't.conf:13: MaxMsg is at most Ring' 't.conf:14: Ring is a power of two' \
		't.conf:15: Name = 12345678901234567890123456789012345678901234567890123456789012345; allowed: at most 64' \
		't.conf:1: node 1 is to be in a live view, and has no key' <<X
[Node]
Id = 1
Address = 10.0.0.1
IdleUs = 1000001
[View]
Vid = 1
Live = yes
MaxNodes = 64
Member = 1@10.0.0.1
[Subgroup]
Id = 1
Window = 70000
MaxMsg = 6000
Ring = 5000
Name = 12345678901234567890123456789012345678901234567890123456789012345
X
	for bytes in 16 64; do
		key "$bytes"
		with_key "$absent"
		echo >>"$tmp/key"
		with_key "$absent"
	done
	says 1 "$absent" view set node 1 vid 1 member '1@[fd00::1]:4790' member 2@10.0.0.2 \
		subgroup 0x10 name x mode unordered window 1 max-msg 1M ring 0x1000 hold no \
		members 1-2 senders none subgroup 2 members all senders all
	file 1 "$absent" 'no mistakes .* (nodes: 2, views: 1)' <<X
# all that a file may have
[node]
ID=1
address = 10.0.0.1   # the first
Port = 4790
Cluster = "my # cluster"
Visibility = imm
idle-us = 10
ENGINE = 1
Cpu = any
Rack = 7

[ Node ]
Id = 2
Address = [fd00::1]

[View]
Vid = 18446744073709551615
Member = 1@10.0.0.1
Member = 2@[fd00::1]
Nodes = 1,2

; a comment, too
[Subgroup]
Id = 0
Name = "a \"name\" \\\\ \x41"
Mode = unordered
Window = 1
Max_Msg = 64K
Ring = 1M
Hold = no
Members = 1, 2
Senders = none
X
	printf '\357\273\277[Node]\r\nId = 1\r\nAddress = 10.0.0.1\r\n' >"$tmp/crlf"
	file 1 'no mistakes' <"$tmp/crlf"
else
	skip "without the module" "it is loaded, or can be"
fi

# ---- what comes with it ---------------------------------------------------

bash -n "$dir/completion/spindle-ctl" >"$tmp/out" 2>&1
verdict $? "the completion is a script"

# tab WORD...: what TAB offers for the last word.
tab()
{
	bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
		_spindle_ctl; echo "${COMPREPLY[*]}"' - "$dir/completion/spindle-ctl" "$@" \
		>"$tmp/out" 2>&1
}

offers()
{
	want=$1
	shift
	tab "$@"
	[ "$(cat "$tmp/out")" = "$want" ]
	verdict $? "TAB after '$*' offers $want"
}

offers 'node view subgroup table status stats top rdmc log monitor apply showconf help' spindle-ctl ''
offers 'add set del show join leave evict help' spindle-ctl -j node ''
offers 'addr port cluster visibility idle-us engine cpu rack key-file' spindle-ctl node add id 1 ''
offers 'show stats help' spindle-ctl rdmc ''
offers 'add del show get put watch help' spindle-ctl table ''
offers 'table cells cell mode fields name members shards min timeout no-wait' spindle-ctl table add node 1 ''
offers 'row cell fields' spindle-ctl table get node 1 id 2 name x ''
offers 'cell fields text hex - timeout' spindle-ctl table put node 1 name x id 2 ''
offers 'count' spindle-ctl table watch node 1 id 2 name x row 3 cell 4 fields a:u8 ''
offers '' spindle-ctl table watch count ''
offers 'node group' spindle-ctl rdmc show ''
offers 'group' spindle-ctl rdmc stats node 1 ''
offers '-w --watch -b --batch -d --delay -n --count -v --verbose' spindle-ctl rdmc show -
offers '' spindle-ctl rdmc show -n ''
offers 'show verify dump repair trim snapshot restart help' spindle-ctl log ''
offers "$dir/completion" spindle-ctl log verify "$dir/comp"
offers 'from to since' spindle-ctl log dump DIR ''
offers 'from since' spindle-ctl log dump DIR to 5 ''
offers '' spindle-ctl log dump DIR from ''
offers 'none' spindle-ctl node set 1 rack ''
offers 'auto poll imm' spindle-ctl node add visibility ''
offers 'vid live timeout-ms max-nodes quorum spares spare-window spare-ring witness lineage insecure contact member subgroup table' \
	spindle-ctl view set node 1 ''
offers 'contact lineage insecure timeout no-wait' spindle-ctl node join id 3 ''
offers 'node timeout no-wait' spindle-ctl node evict id 1 ''
offers 'timeout' spindle-ctl node leave id 1 no-wait ''
offers 'node' spindle-ctl status ''
offers 'yes no' spindle-ctl view set quorum ''
offers 'ordered unordered table table-read' spindle-ctl view set table 2 subgroup 1 mode ''
offers 'write read' spindle-ctl view set subgroup 1 table 2 mode ''
offers 'write read' spindle-ctl subgroup add 1 table 2 mode ''
offers 'write read' spindle-ctl table add 1 table 2 mode ''
offers 'discard leave' spindle-ctl view set subgroup 1 on-exit ''
offers 'discard leave' spindle-ctl subgroup add 1 id 2 on-exit ''
offers '0 1' spindle-ctl subgroup add 1 id 2 hold ''
for verb in 'view set live subgroup 1' 'subgroup add 1 id 2' 'subgroup replace 1 id 2'; do
	# shellcheck disable=SC2086 # words are wanted
	{
		offers '0 1' spindle-ctl $verb log ''
		offers 'all majority' spindle-ctl $verb log 1 ack ''
		offers 'stable durable' spindle-ctl $verb log 1 deliver ''
		offers 'default' spindle-ctl $verb log 1 min-copies ''
		offers 'min-copies' spindle-ctl $verb log 1 min-c
	}
done
offers '' spindle-ctl view set live subgroup 1 range ''
offers 'range' spindle-ctl view set live subgroup 1 log 1 ra
offers 'shards' spindle-ctl view set live subgroup 1 sh
offers 'shards' spindle-ctl table add 1 table 2 cells 4 sh
offers '' spindle-ctl table add 1 table 2 shards ''
offers 'all none' spindle-ctl view set subgroup 1 senders ''
offers 'on off' spindle-ctl node set 1 timing ''
offers 'on off' spindle-ctl subgroup set node 1 id 0 packed ''
offers 'never' spindle-ctl subgroup set 1 id 0 stall-ms ''
offers '' spindle-ctl subgroup set 1 id 0 large ''
offers 'large' spindle-ctl subgroup set 1 id 0 stall-ms never lar
offers 'never' spindle-ctl subgroup set 1 id 0 log-stall-ms ''
offers 'wait forget leave' spindle-ctl subgroup set 1 id 0 on-log-stall ''
offers 'log-stall-ms' spindle-ctl subgroup set 1 id 0 on-log-stall leave lo
offers 'merged-acks' spindle-ctl subgroup set 1 id 0 nulls off m
offers 'node id' spindle-ctl top -n 3 ''
offers '-b --batch -d --delay -n --count' spindle-ctl top -
offers '--dry-run --replace --prune --bootstrap --force-new' spindle-ctl apply --

if command -v mandoc >/dev/null; then
	mandoc -Tlint -Wwarning "$dir/man/spindle-ctl.8" >"$tmp/out" 2>&1
	verdict $? "the manual page has no faults"
else
	skip "the manual page has no faults" "no mandoc"
fi
# Whatever renders it: a command is at the beginning of a line of its own.
synopsis()
{
	MANWIDTH=78 "$@" "$dir/man/spindle-ctl.8" 2>"$tmp/out" | sed 's/.\x08//g; s/\x1b\[[0-9;]*m//g' |
		sed '1,/^SYNOPSIS/d; /^DESCRIPTION/,$d' >"$tmp/synopsis"
	"$ctl" help | sed -n 's/^  \([a-z][a-z]* *[a-z]*\).*/\1/p' | sed 's/ *$//' | while read -r words; do
		grep -q "^ *spindle-ctl $words\( \|\$\)" "$tmp/synopsis" || echo "no line: $words"
	done >>"$tmp/out"
	[ "$(grep -c spindle-ctl "$tmp/synopsis")" = "$(grep -c '^ *spindle-ctl' "$tmp/synopsis")" ] ||
		echo "two commands in a line" >>"$tmp/out"
	[ -s "$tmp/synopsis" ] && [ ! -s "$tmp/out" ]
	verdict $? "a command per line in the synopsis: $*"
}
for tool in 'groff -mandoc -Tascii' 'mandoc -Tascii'; do
	if command -v "${tool%% *}" >/dev/null; then
		# shellcheck disable=SC2086 # words are wanted
		synopsis $tool
	else
		skip "a command per line in the synopsis" "no ${tool%% *}"
	fi
done
for word in $("$ctl" help | sed -n 's/^  \([a-z]* *[a-z]*\) .*/\1/p' | tr ' ' '\n' | sort -u) \
	    dry-run replace prune; do
	grep -q -e "$word" "$dir/man/spindle-ctl.8" || echo "no $word" >>"$tmp/missing"
done
cp "$tmp/missing" "$tmp/out" 2>/dev/null || : >"$tmp/out"
[ ! -s "$tmp/out" ]
verdict $? "the manual page has all that help has"

tap_end
