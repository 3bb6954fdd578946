#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# planted.sh BUG: one bug on purpose, see planted/planted.c. The host judges.
# shellcheck source=selftests/scripts/lib/guest-lib.sh
. ./guest-lib.sh

check "planted: $1" modprobe planted "bug=$1"
# A checker that stops the module from coming back is fine, too.
rmmod planted
finish
