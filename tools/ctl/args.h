/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command line: words, keys and verbs.
 */
#ifndef SPINDLE_CTL_ARGS_H
#define SPINDLE_CTL_ARGS_H

#include "common/key.h"
#include "common/util.h"

/**
 * struct ctl_args - the remaining command line
 * @argv: next word
 * @argc: words left
 * @noun: object, for messages
 * @verb: verb, for messages
 */
struct ctl_args {
	char **argv;
	int argc;
	const char *noun;
	const char *verb;
};

int ctl_usage(const struct ctl_args *a, const char *fmt, ...) CTL_PRINTF(2, 3);
const char *ctl_args_next(struct ctl_args *a);
int ctl_args_value(struct ctl_args *a, const struct ctl_key *key, struct ctl_val *val,
		   const char *in);
int ctl_args_keys(struct ctl_args *a, const struct ctl_key *keys, struct ctl_val *val,
		  unsigned int need);

/**
 * struct ctl_verb - a verb of an object; a command line without a verb means the first of a list
 * @name: word of the verb; NULL ends the list
 * @run: function that takes the remaining words
 */
struct ctl_verb {
	const char *name;
	int (*run)(struct ctl_args *a);
};

int ctl_verb(struct ctl_args *a, const struct ctl_verb *verbs);

#endif /* SPINDLE_CTL_ARGS_H */
