// SPDX-License-Identifier: GPL-2.0-only
/* Repeated looks. See looks.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "args.h"
#include "common/clock.h"
#include "common/out.h"
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
 * ctl_looks_take() - take all words of the remaining command line, and open netlink
 * @a: arguments
 * @keys: keys of the node and of the object
 * @looks: in: the defaults; out: what the words say
 *
 * Return: CTL_OK, CTL_USAGE, or CTL_FAILED after a message
 */
int ctl_looks_take(struct ctl_args *a, const struct ctl_key *keys, struct ctl_looks *looks)
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
	rc = ctl_args_keys(a, keys, looks->val, 0);
	if (rc)
		return rc;
	return ctl_net_open(&looks->net, CTL_SAY) ? CTL_FAILED : CTL_OK;
}

/**
 * struct watch - looks that repeat
 */
struct watch {
	/** @looks: what the user wants to see, and how */
	struct ctl_looks *looks;
	/** @ops: what is looked at */
	const struct ctl_look_ops *ops;
	/** @screen: the looks are drawn on a terminal */
	bool screen;
	/** @n: number of the look, from 0 */
	uint64_t n;
	/** @span: the time since the look before */
	struct ctl_span span;
};

static void write_look(const struct watch *w, FILE *to)
{
	fprintf(to, "%s  %s\n", ctl_now(true), w->n ?
		ctl_asprintf("the last %.2f s", w->span.seconds) : "wait ...");
	w->ops->write(&w->span, to);
}

static void draw_look(const struct watch *w)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return;
	write_look(w, to);
	if (!fclose(to))
		ctl_screen_draw(text);
	free(text);
}

/* Show a look. The last one stays on the terminal, behind the screen. */
static void show_look(const struct watch *w, bool last)
{
	if (w->screen && !last) {
		draw_look(w);
		return;
	}
	if (w->screen)
		ctl_screen_close();
	else if (!w->n)
		return;
	if (ctl_opts.json) {
		w->ops->json(&w->span);
		return;
	}
	write_look(w, stdout);
	if (!last)
		putchar('\n');
}

/* Wait until @ns on the monotonic clock. Return: whether there is to be another look. */
static bool wait_until(uint64_t ns, bool screen)
{
	struct timespec until = { .tv_sec = ns / CTL_NS_PER_S, .tv_nsec = ns % CTL_NS_PER_S };

	if (screen)
		return ctl_screen_wait(ns);
	fflush(stdout);
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	return !ferror(stdout);
}

static int look_on(struct watch *w)
{
	uint64_t delay = w->looks->delay, next = 0, before = 0, now;
	struct ctl_pool pool[2] = { 0 };
	bool last = false;

	for (; !last; w->n++, before = now) {
		ctl_pool_drop(&pool[w->n % 2]);
		ctl_pool_use(&pool[w->n % 2]);
		now = perf_monotonic();
		w->span.before = w->span.now;
		w->span.now = ctl_alloc(w->ops->sample);
		w->span.seconds = w->n ? (double)(now - before) / CTL_NS_PER_S : 0;
		if (w->ops->take(w->looks, &w->span))
			return CTL_FAILED;
		last = w->looks->count && w->n == w->looks->count;
		show_look(w, last);
		/*
		 * If this machine cannot keep up, the next look still comes a full delay after this
		 * one.
		 */
		next = (next && next + delay > now ? next : now) + delay;
		if (!last && !wait_until(next, w->screen))
			break;
	}
	return CTL_OK;
}

/**
 * ctl_looks_run() - look repeatedly, and show each look
 * @looks: what the user wants to see, and how
 * @ops: what is looked at
 *
 * Return: CTL_OK, also if the user has ended it, or CTL_FAILED
 */
int ctl_looks_run(struct ctl_looks *looks, const struct ctl_look_ops *ops)
{
	struct watch w = {
		.looks = looks,
		.ops = ops,
		.screen = !looks->batch && !ctl_opts.json && ctl_screen_there(),
	};
	int rc;

	if (w.screen)
		ctl_screen_prepare();
	rc = look_on(&w);
	ctl_pool_use(NULL);
	ctl_screen_close();
	return rc;
}
