#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# Runs in the guest: SCRIPT ARG... with KCSAN on. Any report makes init say
# "exit 97", so the script's own status stays distinct; the host decides to which
# module the reports belong (reports.awk).
kcsan=/sys/kernel/debug/kcsan

script=$1
shift
if ! echo on >$kcsan; then
	echo "# no KCSAN in this kernel"
	exit 1
fi
/bin/sh "/tests/$script" "$@"
rc=$?
echo off >$kcsan
# How often it watched: a run in which it never did proves nothing.
echo "# kcsan: watched $(sed -n 's/^setup_watchpoints: //p' $kcsan) times," \
	"saw $(sed -n 's/^data_races: //p' $kcsan) races"
echo "# script: $rc"
exit "$rc"
