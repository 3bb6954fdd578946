#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The kernel's command line for YAML specifications (tools/net/ynl/cli.py) and spindle.yaml: each
# request of the family, its reply, a notification and refusals. Only a UML guest can run it, with
# the Python of the host.
# vm: timeout=300 uml ynl
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh

host=/run/host
json=/tmp/json

# ynl ARGUMENT...: one run of the command line. Its output is in $json. The command line of
# Linux 6.12 knows padding only as something unknown, but knows all that spindle.yaml lists.
ynl()
{
	limit 60 chroot "$host" /usr/bin/python3 -B "$YNL/tools/net/ynl/cli.py" \
		--spec "$YNL/Documentation/netlink/specs/spindle.yaml" \
		--output-json --process-unknown "$@" >"$json" 2>&1 &&
		! grep -q UnknownAttr "$json"
}

# The command line waits for no notification, so this program uses its library.
events=/tmp/events
listen='
import select, sys
sys.path.insert(0, sys.argv[1] + "/tools/net/ynl")
from lib import YnlFamily
family = YnlFamily(sys.argv[1] + "/Documentation/netlink/specs/spindle.yaml", "", True)
family.ntf_subscribe("events")
print("listens", flush=True)
while True:
    select.select([family.sock], [], [])
    family.check_ntf()
    while family.async_msg_queue:
        print(family.async_msg_queue.pop(0), flush=True)
'

one_line()
{
	echo "$1" | tr -s '\n\t' ' '
}

# tells PATTERN ARGUMENT...: the command line ends well and prints this text.
tells()
{
	local pattern

	pattern=$1
	shift
	if ynl --no-schema "$@" && grep -qe "$pattern" "$json"; then
		ok "$(one_line "$*") -> $pattern"
	else
		not_ok "$(one_line "$*") -> $pattern"
		sed 's/^/# /' "$json"
	fi
}

# refused PATTERN ARGUMENT...: the module refuses the request, and this text is part of the reason.
refused()
{
	local pattern

	pattern=$1
	shift
	if ! ynl --no-schema "$@" && grep -q '^Netlink error' "$json" &&
		grep -qe "$pattern" "$json"; then
		ok "refused: $(one_line "$*") -> $pattern"
	else
		not_ok "refused: $(one_line "$*") -> $pattern"
		sed 's/^/# /' "$json"
	fi
}

# member I: node I as a member of a view; 167772161 is 10.0.0.1.
member()
{
	printf '{"id": %d, "addr4": 167772161, "port": %d}' "$1" $((5000 + $1))
}

# node I: arguments that create node I.
node()
{
	printf '{"node-id": %d, "addr4": 167772161, "port": %d}' "$1" $((5000 + $1))
}

if [ -z "$YNL" ] || ! mkdir -p "$host" || ! mount -t hostfs -o ro,/ none "$host"; then
	ok "the command line # SKIP no Python in this guest"
	finish
fi
check "module loads" loop_start
check "the specification is valid against the kernel's schema" ynl --list-ops

chroot "$host" /usr/bin/python3 -B -c "$listen" "$YNL" >"$events" 2>&1 &
listener=$!
check "a program listens to events" wait_until 60 grep -q listens "$events"
tells null --do node-add --json "$(node 1)"
check "the event of the new node" wait_until 60 \
	grep -q "'event': 'node-add', 'node-id': 1" "$events"
kill "$listener"
wait "$listener" 2>/dev/null
tells null --do node-add --json "$(node 2)"
tells '"addr4": "10.0.0.1", "port": 5001, .*"node-state": "idle"' \
	--do node-get --json '{"node-id": 1}'
tells '"node-id": 1.*"node-id": 2' --dump node-get
tells null --do node-set --json '{"node-id": 1, "idle-us": 20, "rack": 7}'
tells '"idle-us": 20.*"rack": 7' --do node-get --json '{"node-id": 1}'

sg='{"id": 3, "name": "three", "window": 16, "max-msg": 1024, "ring": 65536,
	"node": [{"id": 1}, {"id": 2, "sender": 0}]}, {"id": 4, "mode": "table", "cells": 2, "fields": "a:u32"}'
for i in 1 2; do
	tells null --do view-set --json "{\"node-id\": $i, \"view-id\": 7,
		\"member\": [$(member 1), $(member 2)], \"subgroup\": [$sg]}"
done
check "the subgroup and the table become active" wait_until 60 all_active 4
says 0 'three' subgroup show node 1 id 3
tells '"view-id": 7, "member": .*"port": 5002.*"name": "three"' \
	--do view-get --json '{"node-id": 1}'
tells '"node-id": 1.*"node-id": 2' --dump view-get
tells null --do subgroup-set --json '{"node-id": 1, "subgroup-id": 3, "tune":
	{"switches": {"value": [], "selector": ["tracking"]}, "send-budget": 9}}'
says 0 '"send_budget": *9' -j subgroup show node 1 id 3
says 0 '"tracking": *false' -j subgroup show node 1 id 3
tells '"state": "active", "error": "none".*"send-budget": 9.*"send-hist": \[0, ' \
	--dump subgroup-get --json '{"node-id": 1, "subgroup-id": 3}'
tells '"mode": "table".*"sender": 0, "table-stats": {.*"taken": 0, .*"cells": 0, "writes": 0, ' \
	--dump subgroup-get --json '{"node-id": 1, "subgroup-id": 4}'
tells '"stats": {.*"passes": [1-9].*"state": "up"' --dump stats-get
tells '"ns": [1-9]' --do raw-run --json '{"node-id": 1, "subgroup-id": 3, "raw":
	{"kind": "write", "size": 64, "count": 10}}'
tells null --do view-del --json '{"node-id": 1}'
tells null --do view-del --json '{"node-id": 2}'

tells null --do view-set --json "{\"node-id\": 1, \"view-id\": 1, \"insecure\": true,
	\"member\": [$(member 1)],
	\"live\": {\"timeout-ms\": 5000, \"spares\": 2, \"spare-window\": 16},
	\"subgroup\":
	[{\"id\": 0, \"rule\": {\"min\": 1, \"on-exit\": \"discard\"}}]}"
tells null --do node-join --json "$(node 2 | sed 's/}/, "insecure": true}/;s/5002/5001/')"
both()
{
	ynl --no-schema --dump status-get && grep -q '"state": "active".*"state": "active"' "$json"
}
check "the node is a member" wait_until 60 both
tells '"insecure": true, "live": {"state": "active".*"rank": 1' --dump status-get
tells null --do subgroup-change --json '{"node-id": 1, "remove": [0],
	"subgroup": [{"id": 5, "window": 8, "max-msg": 64}, {"id": 6, "window": 8, "max-msg": 64}]}'
changed()
{
	ynl --no-schema --do view-get --json '{"node-id": 2}' && grep -q '"id": 5' "$json" &&
		grep -q '"id": 6' "$json"
}
check "three changes of subgroups are made" wait_until 60 changed
refused 'No such file' --do subgroup-change --json '{"node-id": 1, "remove": [6, 0]}'
tells null --do node-leave --json '{"node-id": 2}'
refused 'Invalid argument' --do node-evict --json '{"node-id": 1, "peer-id": 1}'
tells '^\[\]$' --dump rdmc-get

refused '.port' --do node-add --json '{"node-id": 3, "addr4": 167772161, "port": 0}'
refused 'File exists' --do node-add --json "$(node 1)"
refused '.device' --do node-add --json '{"node-id": 3, "addr4": 167772161, "device": "rxe0"}'
for i in 1 2; do
	tells null --do node-del --json "{\"node-id\": $i}"
done
umount "$host"
check "module goes" rmmod spindle
finish
