# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The kernel's tools for YAML specifications, with the specification of this project. Source it
# after common.sh.

# ynl_tree DIR [TREE]: put the tools of a kernel tree (default: the sources of Debian's
# linux-source-6.12) into DIR, and spindle.yaml at the place where they look for it.
ynl_tree()
{
	local dir=$1 tree=${2:-}

	mkdir -p "$dir/tools/net" "$dir/Documentation/netlink/specs"
	if [[ ! $tree ]]; then
		tree=$dir/source
		mkdir "$tree"
		tar -C "$tree" --strip-components=1 -xf /usr/src/linux-source-6.12.tar.xz --wildcards \
			'*/tools/net/ynl/*' '*/Documentation/netlink/genetlink*.yaml'
	fi
	cp -r "$tree/tools/net/ynl" "$dir/tools/net"
	cp "$tree"/Documentation/netlink/genetlink*.yaml "$dir/Documentation/netlink"
	cp "$SPN_ROOT/Documentation/netlink/spindle.yaml" "$dir/Documentation/netlink/specs"
	# The generator looks for a file at the top of a kernel tree.
	touch "$dir/MAINTAINERS"
}
