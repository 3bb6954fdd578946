// SPDX-License-Identifier: GPL-2.0-only
/* Changes of the view, and statistics over all changes of a kind. See change.h. */
#include <math.h>
#include <string.h>

#include "change.h"
#include "common/clock.h"
#include "common/util.h"

const char *const perf_move_name[PERF_MOVES] = {
	[PERF_MOVE_JOIN] = "join",
	[PERF_MOVE_LEAVE] = "leave",
	[PERF_MOVE_EVICT] = "evict",
	[PERF_MOVE_CRASH] = "crash",
	[PERF_MOVE_DEL] = "del",
	[PERF_MOVE_SUBGROUP_ADD] = "subgroup-add",
	[PERF_MOVE_SUBGROUP_REPLACE] = "subgroup-replace",
	[PERF_MOVE_SUBGROUP_DEL] = "subgroup-del",
};

const char *const perf_figure_name[PERF_FIGURES] = {
	[PERF_F_GAP] = "longest_gap_us",
	[PERF_F_FIXED] = "fixed_longest_gap_us",
	[PERF_F_DETECT] = "detect_us",
	[PERF_F_WEDGE] = "wedge_us",
	[PERF_F_AGREE] = "agree_us",
	[PERF_F_INSTALL] = "install_us",
	[PERF_F_JOIN_VIEW] = "join_view_us",
	[PERF_F_JOIN_ATTACH] = "join_attach_us",
	[PERF_F_JOIN_FIRST] = "join_first_us",
};

static const char *kinds_word(const char *word, unsigned int *kinds)
{
	unsigned int k;

	if (!strcmp(word, "all")) {
		*kinds |= PERF_MOVE_ALL;
		return NULL;
	}
	for (k = 0; k < PERF_MOVES; k++) {
		if (!strcmp(word, perf_move_name[k])) {
			*kinds |= 1U << k;
			return NULL;
		}
	}
	return ctl_asprintf("'%s' is none of " PERF_MOVE_WORDS ", all", word);
}

/**
 * perf_moves_parse() - read a list of kinds
 * @text: like "join,leave"
 * @kinds: out: a bit for each
 *
 * Return: NULL, or what is wrong
 */
const char *perf_moves_parse(const char *text, unsigned int *kinds)
{
	char *copy = ctl_strdup(text), *word;
	const char *err = NULL;

	*kinds = 0;
	while (!err && (word = strsep(&copy, ",")))
		err = kinds_word(word, kinds);
	return err;
}

/* Add a change without results. The pointer is valid until the next call. */
struct perf_change *perf_change_new(struct perf_changes *all, unsigned int stayers)
{
	struct perf_change *c;

	all->change = ctl_grow(all->change, all->changes, sizeof(*all->change));
	c = &all->change[all->changes++];
	c->kind = PERF_MOVES;
	c->join_view = NAN;
	c->join_attach = NAN;
	c->join_first = NAN;
	c->stayer = ctl_alloc(stayers * sizeof(*c->stayer));
	c->stayers = stayers;
	return c;
}

/* Store how long the phases took at a node. If no member was suspected, there was no detection. */
void perf_change_phases(struct perf_stayer *s, const struct ctl_status *status)
{
	unsigned int i;

	for (i = 0; i < CTL_PHASES; i++)
		s->phase[i] = status->phase[i].set ? status->phase[i].num : NAN;
	if (s->phase[CTL_DETECT] == 0)
		s->phase[CTL_DETECT] = NAN;
}

/* Store the view that a change led to, and its phases, as a node that stays says. */
void perf_change_view(struct perf_change *c, unsigned int stayer,
		      const struct ctl_status *status)
{
	unsigned int i;

	c->vid = status->vid;
	c->members = 0;
	for (i = 0; i < status->members; i++)
		c->members += status->member[i].rank.set;
	perf_change_phases(&c->stayer[stayer], status);
}

/* The longest gap in microseconds; NaN: there was none. */
double perf_gap_us(const struct perf_gap *gap)
{
	return gap->count ? perf_us(gap->longest) : NAN;
}

static double value(const struct perf_change *c, const struct perf_stayer *s,
		    enum perf_figure figure)
{
	switch (figure) {
	case PERF_F_GAP:
		return perf_gap_us(&s->gap);
	case PERF_F_FIXED:
		return perf_gap_us(&s->fixed);
	case PERF_F_JOIN_VIEW:
		return c->join_view;
	case PERF_F_JOIN_ATTACH:
		return c->join_attach;
	case PERF_F_JOIN_FIRST:
		return c->join_first;
	default:
		return s->phase[CTL_DETECT + figure - PERF_F_DETECT];
	}
}

/* The number of changes of a kind. */
unsigned int perf_change_count(const struct perf_changes *all, enum perf_move kind)
{
	unsigned int i, n = 0;

	for (i = 0; i < all->changes; i++)
		n += all->change[i].kind == kind;
	return n;
}

/**
 * perf_change_stat() - summarise a figure over all changes of a kind
 * @all: changes
 * @kind: the kind
 * @figure: the figure
 * @node: node that stays, for its figure only; 0: all nodes that stay
 *
 * Return: summary of the known values
 */
struct perf_stat perf_change_stat(const struct perf_changes *all, enum perf_move kind,
				  enum perf_figure figure, uint32_t node)
{
	double *v = NULL;
	struct perf_stat s;
	unsigned int n = 0, i, j;

	for (i = 0; i < all->changes; i++) {
		const struct perf_change *c = &all->change[i];
		/* The figures of a join are those of the joining node, so there is one of each. */
		unsigned int values = figure < PERF_F_JOIN_VIEW ? c->stayers : 1;

		for (j = 0; c->kind == kind && j < values; j++) {
			if (node && c->stayer[j].node != node)
				continue;
			v = ctl_grow(v, n, sizeof(*v));
			v[n++] = value(c, &c->stayer[j], figure);
		}
	}
	s = perf_stat(v, n);
	ctl_free(v);
	return s;
}
