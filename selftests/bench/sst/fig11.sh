#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Looks in a second by rows that the predicate is about.
# bench: data=looks
