// SPDX-License-Identifier: GPL-2.0-only
/* Options and waiting of repeated looks. See looks.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "args.h"
#include "looks.h"
#include "screen.h"

/* Bounds of the time between two looks, in seconds. */
#define DELAY_MIN	0.1
#define DELAY_MAX	86400

static bool is_word(const char *word, const char *letter, const char *name)
{
	return !strcmp(word, letter) || !strcmp(word, name);
}

/* Take an option of this object, in the form that main() leaves. */
static int take_option(struct ctl_args *a, struct ctl_looks *looks, bool may_watch,
		       const char *word)
{
	const char *text, *err;
	double seconds;
	char *end;

	looks->watch = true;
	if (may_watch && is_word(word, "-w", "--watch"))
		return CTL_OK;
	if (is_word(word, "-b", "--batch")) {
		looks->batch = true;
		return CTL_OK;
	}
	if (!is_word(word, "-d", "--delay") && !is_word(word, "-n", "--count"))
		return ctl_usage(a, "there is no option %s", word);
	text = ctl_args_next(a);
	if (!text)
		return ctl_usage(a, "%s: the value is missing", word);
	if (is_word(word, "-n", "--count")) {
		err = ctl_num_parse(text, UINT32_MAX, false, &looks->count);
		if (err || !looks->count)
			return ctl_usage(a, "%s '%s': not a number from 1 to %u", word, text,
					 UINT32_MAX);
		return CTL_OK;
	}
	seconds = strtod(text, &end);
	if (*end || !(seconds >= DELAY_MIN && seconds <= DELAY_MAX) ||
	    text[strspn(text, "0123456789.")])
		return ctl_usage(a, "%s '%s': not a number of seconds from %.1f to %d", word, text,
				 DELAY_MIN, DELAY_MAX);
	looks->delay = seconds * CTL_NS_PER_S;
	return CTL_OK;
}

/**
 * ctl_looks_take() - take the options out of the remaining command line
 * @a: arguments; keys and values stay
 * @looks: in: the defaults; out: what the options say
 *
 * Return: CTL_OK or CTL_USAGE
 */
int ctl_looks_take(struct ctl_args *a, struct ctl_looks *looks)
{
	bool may_watch = !looks->watch;
	struct ctl_args rest = *a;
	const char *word;
	int rc;

	/* Options may stand anywhere among the words. */
	rest.argc = 0;
	rest.argv = ctl_alloc((a->argc + 1) * sizeof(*rest.argv));
	while ((word = ctl_args_next(a))) {
		if (word[0] != '-' || !word[1] || (word[1] >= '0' && word[1] <= '9')) {
			rest.argv[rest.argc++] = (char *)word;
			continue;
		}
		rc = take_option(a, looks, may_watch, word);
		if (rc)
			return rc;
	}
	*a = rest;
	return CTL_OK;
}

/**
 * ctl_looks_wait() - wait for the next look
 * @ns: time of the look, on the monotonic clock
 * @screen: the look is drawn on a terminal
 *
 * Return: whether there is to be another look
 */
bool ctl_looks_wait(uint64_t ns, bool screen)
{
	struct timespec until = { .tv_sec = ns / CTL_NS_PER_S, .tv_nsec = ns % CTL_NS_PER_S };

	if (screen)
		return ctl_screen_wait(ns);
	fflush(stdout);
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	return !ferror(stdout);
}
