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
 */
struct ctl_args {
	/** @argv: next word */
	char **argv;
	/** @argc: words left */
	int argc;
	/** @noun: object, for messages */
	const char *noun;
	/** @verb: verb, for messages */
	const char *verb;
};

int ctl_usage(const struct ctl_args *a, const char *fmt, ...) CTL_PRINTF(2, 3);
const char *ctl_args_next(struct ctl_args *a);
void ctl_args_skip_show(struct ctl_args *a);
bool ctl_args_word(struct ctl_args *a, const char *word);
bool ctl_args_wait(struct ctl_args *a);
int ctl_args_value(struct ctl_args *a, const struct ctl_key *key, struct ctl_val *val,
		   const char *in);
int ctl_args_keys(struct ctl_args *a, const struct ctl_key *keys, struct ctl_val *val,
		  unsigned int need);

/**
 * struct ctl_verb - a verb of an object; a command line without a verb means the first of a list
 */
struct ctl_verb {
	/** @name: word of the verb; NULL ends the list */
	const char *name;
	/** @run: function that takes the remaining words */
	int (*run)(struct ctl_args *a);
};

int ctl_verb(struct ctl_args *a, const struct ctl_verb *verbs);

#endif /* SPINDLE_CTL_ARGS_H */
