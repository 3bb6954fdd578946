/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Refusals: requests, and the expected answers of the family.
 */
#ifndef SPINDLE_GENL_BAD_REFUSAL_H
#define SPINDLE_GENL_BAD_REFUSAL_H

#include <stddef.h>
#include <errno.h>

#include "state.h"
#include "words.h"

/* Texts of the kernel's own checks. */
#define RANGE	"integer out of range"
#define LENGTH	"invalid attribute length"
#define POLICY	"failed policy validation"
#define UNKNOWN	"Unknown attribute type"
#define UNSUPP	"Unsupported attribute"
#define NOFLAG	"NLA_F_NESTED is missing"
#define STRAY	"leftover"

/* One character more than SPINDLE_NAME_LEN. */
#define NAME65 "abcdefghijklmnopqrstuvwxyz012345abcdefghijklmnopqrstuvwxyz0123456"

/**
 * struct refusal - a request that is refused
 * @cmd: the command
 * @what: description of the error; NULL: end of the table
 * @words: the request, see words.h
 * @err: errno
 * @text: part of the text; NULL: generic netlink refuses it, without a text
 * @miss: top-level attribute that is reported as missing, or 0
 */
struct refusal {
	int cmd;
	const char *what;
	const char *words;
	int err;
	const char *text;
	int miss;
};

/* In the order of the tests: node.c, view.c, subgroup.c, tune.c, raw.c, live.c, rdmc.c */
extern const struct refusal node_refusals[], view_refusals[], subgroup_refusals[];
extern const struct refusal tune_refusals[], raw_refusals[], live_refusals[];
extern const struct refusal rdmc_refusals[];

/* Try one refusal. The state must stay as it was @before. */
void try_refusal(const struct refusal *c, const struct state *before);

#endif /* SPINDLE_GENL_BAD_REFUSAL_H */
