// SPDX-License-Identifier: GPL-2.0-only
/* Parsing of the command line: [KEY VALUE]... */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "common/util.h"

/**
 * ctl_usage() - complain about the command line
 * @a: arguments, with the object and the verb for the message
 * @fmt: what is wrong
 *
 * Return: CTL_USAGE
 */
int ctl_usage(const struct ctl_args *a, const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fputs("spindle-ctl: ", stderr);
	if (a->noun)
		fprintf(stderr, "%s%s%s: ", a->noun, a->verb ? " " : "",
			a->verb ? a->verb : "");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\nTry 'spindle-ctl help%s%s'.\n", a->noun ? " " : "",
		a->noun ? a->noun : "");
	return CTL_USAGE;
}

/* The next word, or NULL. */
const char *ctl_args_next(struct ctl_args *a)
{
	if (!a->argc)
		return NULL;
	a->argc--;
	return *a->argv++;
}

/* Skip the verb of an object that has only this one, so that the verb may be left out. */
void ctl_args_skip_show(struct ctl_args *a)
{
	if (a->argc && (!strcmp(a->argv[0], "show") || !strcmp(a->argv[0], "list")))
		ctl_args_next(a);
}

/**
 * ctl_args_value() - take the value of a key
 * @a: the next word is the value
 * @key: the key
 * @val: out: the value
 * @in: what the key belongs to, with a space at the end, or ""; for messages
 *
 * Return: CTL_OK or CTL_USAGE
 */
int ctl_args_value(struct ctl_args *a, const struct ctl_key *key, struct ctl_val *val,
		   const char *in)
{
	const char *text = ctl_args_next(a);
	const char *err;

	if (!text)
		return ctl_usage(a, "%s%s: the value is missing", in, key->name);
	if (val->set)
		return ctl_usage(a, "%s%s is given twice", in, key->name);
	err = ctl_val_parse(key, val, text);
	if (err)
		return ctl_usage(a, "%s%s '%s': %s", in, key->name, text, err);
	return CTL_OK;
}

/**
 * ctl_args_keys() - take all remaining words as keys and values
 * @a: arguments
 * @keys: keys that are allowed. If the first word is a number, it is the value of the first key
 * @val: out: values, as many as keys
 * @need: bit mask of the keys that must be there
 *
 * Return: CTL_OK or CTL_USAGE
 */
int ctl_args_keys(struct ctl_args *a, const struct ctl_key *keys, struct ctl_val *val,
		  unsigned int need)
{
	const struct ctl_key *key;
	const char *word;
	unsigned int i;
	int rc;

	if (a->argc && isdigit((unsigned char)a->argv[0][0])) {
		rc = ctl_args_value(a, keys, val, "");
		if (rc)
			return rc;
	}
	while ((word = ctl_args_next(a))) {
		key = ctl_key_find(keys, word);
		if (!key)
			return ctl_usage(a, "'%s' is not known here; there is: %s", word,
					 ctl_key_list(keys, false));
		rc = ctl_args_value(a, key, &val[key - keys], "");
		if (rc)
			return rc;
	}
	for (i = 0; keys[i].name; i++)
		if ((need & (1U << i)) && !val[i].set)
			return ctl_usage(a, "'%s' is missing", keys[i].name);
	return CTL_OK;
}

/**
 * ctl_args_word() - remove a word without a value from any place of the command line
 * @a: arguments
 * @word: the word
 *
 * Return: whether it was there
 */
bool ctl_args_word(struct ctl_args *a, const char *word)
{
	bool found = false;
	int i, left = 0;

	for (i = 0; i < a->argc; i++) {
		if (!strcmp(a->argv[i], word))
			found = true;
		else
			a->argv[left++] = a->argv[i];
	}
	a->argc = left;
	return found;
}

/* Is the command to wait for the result of its request? */
bool ctl_args_wait(struct ctl_args *a)
{
	bool word = ctl_args_word(a, "no-wait");

	return !ctl_args_word(a, "--no-wait") && !word;
}

/**
 * ctl_verb() - run the verb that the next word names
 * @a: arguments
 * @verbs: verbs of the object
 *
 * Return: exit code
 */
int ctl_verb(struct ctl_args *a, const struct ctl_verb *verbs)
{
	const char *word = ctl_args_next(a);
	const struct ctl_verb *v;

	if (!word) {
		a->verb = verbs->name;
		return verbs->run(a);
	}
	for (v = verbs; v->name; v++) {
		if (!strcmp(v->name, word)) {
			a->verb = v->name;
			return v->run(a);
		}
	}
	return ctl_usage(a, "there is no verb '%s'", word);
}
