#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Files with live views that are wrong: file and line are said, without the kernel module. TAP.
# Nothing here changes anything, whatever is loaded.

# shellcheck source=tools/test/lib.sh
. "$(dirname "$0")/lib.sh"

file 1 't.conf:4: .Node. has no key .Jion.; there is: .*, Cpu, Rack, KeyFile, Insecure, Join' \
	't.conf:6: KeyFile is given twice' \
	't.conf:9: .View. has no key .Timeout.; there is: Vid, Member, Nodes, Live, TimeoutMs' \
	't.conf:10: TimeoutMs = 19: not a number from 20 to 60000' \
	't.conf:11: Live = maybe: neither' \
	't.conf:14: .Subgroup. has no key .Shard.; there is: .*, Shards, Min, OnExit' \
	't.conf:15: OnExit = stay: none of discard|leave' 'nothing was changed' <<X
[Node]
KeyFile = a
Join = 10.0.0.1
Jion = 10.0.0.1
Join = 10.0.0.2
KeyFile = b
[View]
Vid = 1
Timeout = 3
TimeoutMs = 19
Live = maybe
[Subgroup]
Id = 0
Shard = 2
OnExit = stay
X
file 1 't.conf:9: .Table. has no key .Window.; there is: Id, Name, Mode, Cells, Cell, Fields, Members, Shards, Min' \
	't.conf:10: Mode = ordered: none of write|read' 't.conf:11: .Table. has no key .Senders.' \
	't.conf:12: Cells is given twice; it is in line 8 too' <<X
[Node]
Id = 1
Address = 10.0.0.1
[View]
Vid = 1
Member = 1@10.0.0.1
[Table]
Cells = 16
Window = 4
Mode = ordered
Senders = 1
Cells = 3
Id = 1
X
file 1 't.conf:9: Mode is given twice; it is in line 8 too' <<X
[Node]
Id = 1
Address = 10.0.0.1
[View]
Vid = 1
Member = 1@10.0.0.1
[Table]
Mode = read
Mode = write
Id = 1
Cells = 1
X
file 1 "t.conf:9: table 1: field 'a:u7': there is no type 'u7'" <<X
[Node]
Id = 1
Address = 10.0.0.1
[View]
Vid = 1
Member = 1@10.0.0.1
[Table]
Id = 1
Fields = a:u7
Cells = 1
X
file 1 't.conf:9: subgroup 1 has no Fields' <<X
[Node]
Id = 1
Address = 10.0.0.1
[View]
Vid = 1
Member = 1@10.0.0.1
[Subgroup]
Id = 1
Fields = a:u8
X
file 1 't.conf:1: .Table. comes before any .View.' <<X
[Table]
Id = 1
X
file 1 't.conf:4: Join = 10.0.0.1:4790: this is the node itself' \
	't.conf:8: Join = \[fd00::1\]:4790: the address of the node is of another family' <<X
[Node]
Id = 1
Address = 10.0.0.1
Join = 10.0.0.1:4790
[Node]
Id = 2
Address = 10.0.0.2
Join = [fd00::1]
X
file 1 't.conf:4: node 1 is in the view in line 5, which is not live' 'nothing was changed' <<X
[Node]
Id = 1
Address = 10.0.0.1
Join = 10.0.0.2
[View]
Vid = 1
Member = 1@10.0.0.1
X
file 1 't.conf:6: Join = 10.0.0.2:4790 is given twice; it is in line 4 too' <<X
[Node]
Id = 1
Address = 10.0.0.1
Join = 10.0.0.2
Join = 10.0.0.3
Join = 10.0.0.2:4790
X
file 1 't.conf:6: TimeoutMs is for live views only, and line 7 says Live = no' \
	't.conf:11: Shards is for live views only; the one in line 4 has no Live = yes' <<X
[Node]
Id = 1
Address = 10.0.0.1
[View]
Vid = 1
TimeoutMs = 500
Live = no
Member = 1@10.0.0.1
[Subgroup]
Id = 0
Shards = 2
X
file 1 't.conf:12: Min is for live views only; the one in line 8 has no Live = yes' <<X
[Node]
Id = 1
Address = 10.0.0.1
[View]
Vid = 1
Live = yes
Member = 1@10.0.0.1
[View]
Vid = 1
Member = 2@10.0.0.2
[Subgroup]
Min = 1
Id = 0
X
file 1 't.conf:7: MaxNodes = 1, and there are 2 members' <<X
[Node]
Id = 1
Address = 10.0.0.1
[View]
Vid = 1
Member = 1@10.0.0.1
MaxNodes = 1
Member = 2@10.0.0.2
X
file 1 't.conf:7: node 1 is in the view in line 4 already' <<X
[Node]
Id = 1
Address = 10.0.0.1
[View]
Vid = 1
Member = 1@10.0.0.1
[View]
Vid = 1
Live = yes
Member = 1@10.0.0.1
X
file 1 't.conf:4: KeyFile = keys/none: No such file' 'nothing was changed' <<X
[Node]
Id = 1
Address = 127.0.0.1
KeyFile = keys/none
X
mkdir "$tmp/keys"
echo 0123456789abcdef >"$tmp/keys/open"
echo 0123456789 >"$tmp/keys/short"
chmod 604 "$tmp/keys/open"
chmod 600 "$tmp/keys/short"
file 1 't.conf:4: KeyFile = keys/open: everybody on this machine can read it' \
	't.conf:9: KeyFile = keys/short: it has 10 bytes; a key has 16 to 64' \
	'nothing was changed' <<X
[Node]
Id = 1
Address = 127.0.0.1
KeyFile = keys/open
[Node]
Id = 2
Port = 4791
Address = 127.0.0.1
KeyFile = keys/short
X

tap_end
