#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# memcpy() by size.
. ./lib-bench.sh

sweep()
{
	table bench-memcpy ${QUICK:+quick}
}

bench
