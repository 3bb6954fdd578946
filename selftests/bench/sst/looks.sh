#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Looks at predicates, without any device.
. ./lib-bench.sh
# shellcheck source=selftests/bench/sst/lib-sst.sh
. "./${LIST:+sst/}lib-sst.sh"

sweep()
{
	core_looks
}

bench
