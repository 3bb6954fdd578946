#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# spindle-perf on several hosts: they begin together, in any order of starting, and each counts its
# own messages.
# shellcheck disable=SC2154 # node and nodes come from lib-wire.sh
. ./lib-wire.sh

OUT=/tmp/perf.json

# perf NAME OPTION...: on all hosts; results are in $OUT, the order is the same.
perf()
{
	local name

	name=$1
	shift
	# Not all at once.
	usleep $((node * 400000))
	check "$name" limit 120 spindle-perf -q --wait 100 --raw-count 100 --json="$OUT" "$@"
	agree "$name" "$(json-get "$OUT" /runs/0/order)"
}

metric()
{
	json-get "$OUT" "/runs/0/metrics/$1/median"
}

wire_start
wire_conf 1 >/tmp/conf <<EOT

[Subgroup]
Id = 1
MaxMsg = 2K

[Subgroup]
Id = 2
MaxMsg = 2K
Senders = 2
EOT
check "one file serves all hosts" spindle-ctl apply /tmp/conf
check "the subgroups become active" wait_until 100 subgroup_is 2 active

perf "all send" --only-subgroups 1 -S 1000 -c 200 -r 2 --verify
is "messages of this host" "$(metric sent)" 200
is "deliveries on this host" "$(metric delivered)" 600
is "times of this host's messages" "$(metric own_count) $(metric slowest_count)" "200 200"
is "this host has one of three members" \
	"$(json-get "$OUT" /runs/0/members /runs/0/local | tr '\n' ' ')" "3 1 "
check "the device was measured" test "$(metric raw_bandwidth)" != null
is "the latency of the device is not measured" "$(metric raw_latency)" null

perf "for a while" --only-subgroups 1 -S 1000 -t 1 -r 1 --no-raw
agree "how much it was" "$(metric delivered)"
perf "one sends, the others may" --only-subgroups 1 -S 1000 -c 200 -s one -r 1 --no-raw
is "all hosts deliver the messages" "$(metric delivered)" 200
perf "only one may send" --only-subgroups 2 -S 2000 -c 100 -r 1
is "all hosts deliver the messages" "$(metric delivered)" 100
is "only node 2 sends" "$(metric sent)" "$([ "$node" = 2 ] && echo 100 || echo 0)"
wire_end
finish
