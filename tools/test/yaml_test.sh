#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Does Documentation/netlink/spindle.yaml say the same as the headers? Names, values
# and types of all commands, attributes and enums are compared, and the lengths. TAP.
#
# Both sides are turned into lines "NAME value type" and sorted.

dir=$(cd "$(dirname "$0")/../.." && pwd)
yaml=$dir/Documentation/netlink/spindle.yaml
genl=$dir/uapi/linux/spindle_genl.h
uapi=$dir/uapi/linux/spindle.h
rdmc=$dir/uapi/linux/spindle_rdmc.h
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

export LC_ALL=C
n=0
bad=0

result()
{
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		bad=1
	fi
}

# The type stands at the start of an attribute's kernel-doc.
header()
{
	awk -v want="$1" '
	function type_of(doc, name)
	{
		if (name !~ /^SPINDLE(_[A-Z_]*)?_A_/ &&
		    name !~ /^SPINDLE_(ENGINE|SUBGROUP|RDMC_GROUP)_S_/)
			return "-"
		if (name ~ /_PAD$/)
			return "pad"
		if (name ~ /_S_/)
			return "u64"
		if (doc ~ /^nest /)
			return "nest"
		if (doc ~ /^16 bytes/)
			return "binary"
		sub(/[^a-z0-9].*/, "", doc)
		return doc
	}
	/^ \* @[A-Z]/ {
		name = $2
		gsub(/[@:]/, "", name)
		text = $0
		sub(/^ \* @[A-Z0-9_]*: */, "", text)
		doc[name] = text
	}
	/^enum / { on = !want || $2 ~ want; value = 0; next }
	/^}/ { on = 0 }
	on && /^\t[A-Z]/ {
		name = $1
		sub(/,.*/, "", name)
		# A flag is written as 1 << BIT.
		if ($4 == "<<")
			value = 2 ^ $5
		if (name !~ /_UNSPEC$/)
			print name, value, type_of(doc[name], name)
		value++
	}' "$2"
}

# The file is written in one style, so indentation tells where a line belongs.
spec()
{
	awk '
	function upper(s)
	{
		gsub(/-/, "_", s)
		return toupper(s)
	}
	function flush_attr()
	{
		if (attr != "")
			print prefix upper(attr), value++, type
		attr = ""
	}
	/^[a-z]/ { flush_attr(); part = $1; prefix = ""; value = 0; next }
	part == "definitions:" && /^    type:/ { flags = $2 == "flags" }
	part == "definitions:" && /^    name:/ {
		prefix = "SPINDLE_" upper($2) "_"
		value = 0
	}
	part == "definitions:" && /^    name-prefix:/ { prefix = upper($2) }
	part == "definitions:" && /^        name:/ {
		print prefix upper($2), flags ? 2 ^ value : value, "-"
		value++
	}
	part == "attribute-sets:" && /^    name-prefix:/ {
		flush_attr()
		prefix = upper($2)
		value = 1
	}
	part == "attribute-sets:" && /^        name:/ { flush_attr(); attr = $2 }
	part == "attribute-sets:" && /^        type:/ { type = $2 }
	part == "operations:" && /^      name:/ { op = $2; if (!value) value = 1
		print "SPINDLE_CMD_" upper(op), value++, "-" }
	' "$yaml"
}

compare()
{
	{
		header "" "$genl"
		header "^spindle_(state|error)$" "$uapi"
		header "^spindle_rdmc_(algorithm|error)$" "$rdmc"
	} | sort >"$tmp/header"
	spec | sort >"$tmp/spec"
	diff -u "$tmp/header" "$tmp/spec" >"$tmp/diff"
	result $? "names, values and types are those of the headers"
	sed 's/^/# /' "$tmp/diff"
	# Something must have been compared.
	[ "$(wc -l <"$tmp/header")" -gt 100 ]
	result $? "$(wc -l <"$tmp/header") names were found"
}

# const NAME MACRO: a length or limit of the header is in the spec.
const()
{
	have=$(awk -v name="$1" '/^    name:/ { on = $2 == name }
		on && /^    value:/ { print $2 }' "$yaml")
	want=$(awk -v name="$2" '$1 == "#define" && $2 == name {
		$1 = $2 = ""; sub(/\/\*.*/, ""); gsub(/U/, ""); print }' "$genl")
	# shellcheck disable=SC2004 # an expression, which dash takes only as text
	[ -n "$want" ] && want=$(($want)) && [ "$have" = "$want" ]
	result $? "$1 is $want"
}

documented()
{
	awk '
	/^(definitions|attribute-sets|operations):/ { part = 1 }
	/^ *-$/ { if (name != "" && !doc) print name; name = ""; doc = 0 }
	/^(    |      |        )name:/ { name = $2 }
	/^ *doc:/ { doc = 1 }
	/^mcast-groups:/ { if (name != "" && !doc) print name; exit }
	' "$yaml" >"$tmp/undocumented"
	[ ! -s "$tmp/undocumented" ]
	result $? "everything has a doc"
	sed 's/^/# no doc: /' "$tmp/undocumented"
}

well_formed()
{
	if ! python3 -c 'import yaml' 2>/dev/null; then
		n=$((n + 1))
		echo "ok $n - the file is YAML # SKIP no python3-yaml"
		return
	fi
	python3 -c 'import sys, yaml; yaml.safe_load(open(sys.argv[1]))' "$yaml" 2>"$tmp/err"
	result $? "the file is YAML"
	sed 's/^/# /' "$tmp/err"
}

compare
const cluster-len SPINDLE_CLUSTER_LEN
const name-len SPINDLE_NAME_LEN
const hist-buckets SPINDLE_HIST_BUCKETS
const max-budget SPINDLE_MAX_BUDGET
const max-silence SPINDLE_MAX_SILENCE
const max-stall-ms SPINDLE_MAX_STALL_MS
const min-large SPINDLE_MIN_LARGE
const max-large SPINDLE_MAX_LARGE
const raw-max-count SPINDLE_RAW_MAX_COUNT
const min-timeout-ms SPINDLE_MIN_TIMEOUT_MS
const max-timeout-ms SPINDLE_MAX_TIMEOUT_MS
const max-witnesses SPINDLE_MAX_WITNESSES
const min-key SPINDLE_MIN_KEY
const max-key SPINDLE_MAX_KEY
const no-rack SPINDLE_NO_RACK
documented
well_formed
echo "1..$n"
exit "$bad"
