/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Options of a command line, described by a table: the reader, the help and the defaults follow
 * from the rows.
 *
 * Owner: a program has static tables; the struct that the values go to belongs to the caller.
 * Context: main thread, before anything else is started.
 */
#ifndef SPINDLE_COMMON_OPTS_H
#define SPINDLE_COMMON_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "names.h"
#include "util.h"

/* Groups of options that a program tells apart. */
#define CTL_OPT_GROUPS	4
#define CTL_OPT_ALL	((1U << CTL_OPT_GROUPS) - 1)

/**
 * enum ctl_opt_kind - what the value of an option is, and the type of its field
 */
enum ctl_opt_kind {
	/** @CTL_OPT_NUM: number or one of @words; an unsigned integer */
	CTL_OPT_NUM,
	/** @CTL_OPT_BYTES: the same, and K, M, G or T may follow the number */
	CTL_OPT_BYTES,
	/** @CTL_OPT_MILLIS: seconds with a fraction; uint64_t, milliseconds */
	CTL_OPT_MILLIS,
	/** @CTL_OPT_WORD: one of @names; an unsigned integer */
	CTL_OPT_WORD,
	/** @CTL_OPT_TEXT: text; const char * */
	CTL_OPT_TEXT,
	/** @CTL_OPT_FILE: name of a file, which may be left out; const char * */
	CTL_OPT_FILE,
	/** @CTL_OPT_ADDR: struct ctl_addr */
	CTL_OPT_ADDR,
	/** @CTL_OPT_FLAG: no value; the field becomes 1 */
	CTL_OPT_FLAG,
	/** @CTL_OPT_NOT: no value; the field becomes 0, and is 1 by default */
	CTL_OPT_NOT,
	/** @CTL_OPT_TAKE: @take reads the value */
	CTL_OPT_TAKE,
	/** @CTL_OPT_HELP: print the help */
	CTL_OPT_HELP,
	/** @CTL_OPT_VERSION: print the version */
	CTL_OPT_VERSION
};

/**
 * struct ctl_opt_word - a word that stands for a number
 */
struct ctl_opt_word {
	/** @word: the word; NULL ends a list */
	const char *word;
	/** @num: the number */
	uint64_t num;
};

/**
 * struct ctl_opt - an option
 */
struct ctl_opt {
	/** @name: long option; NULL ends a table */
	const char *name;
	/** @letter: short option, or 0 */
	char letter;
	/** @kind: what the value is */
	enum ctl_opt_kind kind;
	/** @group: which of the CTL_OPT_GROUPS groups the option belongs to */
	unsigned int group;
	/** @at: offset of the field */
	size_t at;
	/** @size: bytes of the field */
	size_t size;
	/** @also: CTL_OPT_FILE: offset of a bool that becomes true; else 0 */
	size_t also;
	/** @min: smallest number */
	uint64_t min;
	/** @max: largest number */
	uint64_t max;
	/** @def: number that the field has without the option */
	uint64_t def;
	/**
	 * @pow2: a number other than 0 has to be a power of two, and at least this one; 0: no such
	 * rule
	 */
	uint64_t pow2;
	/** @words: words that stand for numbers, or NULL */
	const struct ctl_opt_word *words;
	/** @names: CTL_OPT_WORD: the words */
	const struct ctl_names *names;
	/** @take: CTL_OPT_TAKE: reads the text into the struct; returns NULL, or what is wrong */
	const char *(*take)(void *into, const char *text);
	/** @value: name of the value in the help; NULL: the option has none */
	const char *value;
	/** @help: description in the help, which shows @def behind a text without parentheses */
	const char *help;
};

/* The field of an option. */
#define CTL_OPT_AT(type, field)	\
	.at = offsetof(type, field), .size = sizeof(((type *)0)->field)

/**
 * struct ctl_opt_part - options that stand together in the help
 */
struct ctl_opt_part {
	/** @title: line above them, or NULL */
	const char *title;
	/** @opt: table */
	const struct ctl_opt *opt;
	/** @groups: bits of the groups whose options belong to this part */
	unsigned int groups;
	/** @at: offset, in the struct that the values go to, of the struct that @opt describes */
	size_t at;
};

/**
 * struct ctl_command - a command line
 */
struct ctl_command {
	/** @name: the program and its subcommand */
	const char *name;
	/** @head: help above the options */
	const char *head;
	/** @tail: help below the options */
	const char *tail;
	/** @wide: columns of the help for the option */
	int wide;
	/** @words: words may follow the options */
	bool words;
	/** @part: options */
	const struct ctl_opt_part *part;
	/** @parts: entries of @part */
	unsigned int parts;
};

/* What ctl_command_parse() returns after it has printed the help or the version. */
#define CTL_OPT_SHOWN	(-1)

const char *ctl_opt_take(const struct ctl_opt *opt, void *into, const char *text);
const char *ctl_opt_text(const struct ctl_opt *opt, const void *from);
uint64_t ctl_opt_num(const struct ctl_opt *opt, const void *from);
void ctl_opt_default(const struct ctl_opt *opt, void *into);
int ctl_command_usage(const struct ctl_command *c, const char *fmt, ...) CTL_PRINTF(2, 3);
int ctl_command_parse(const struct ctl_command *c, void *into, int argc, char **argv,
		      const char **given);

#endif /* SPINDLE_COMMON_OPTS_H */
