# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Processes that write and read tables, for loop tests: source it after guest-lib.sh.

# load OPTION...: table-load, see there.
load()
{
	limit 120 table-load -w $((60 * ${PATIENCE:-1})) "$@"
}

# ended NAME STATUS PATTERN: how a job of table-load ended
ended()
{
	job_ended "$1" "$2" && job_said "$1" "$3"
}
