/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Configuration files: read, and write a view.
 */
#ifndef SPINDLE_COMMON_CONF_H
#define SPINDLE_COMMON_CONF_H

#include <stdio.h>

#include "model.h"

/**
 * struct ctl_conf - a whole configuration
 */
struct ctl_conf {
	/** @file: name of the file, for messages */
	const char *file;
	/** @quiet: mistakes are not printed, but @first has the first one */
	bool quiet;
	/** @tuned: the file may have the tuning of subgroups, as that of spindle-logd has */
	bool tuned;
	/** @first: with @quiet, the first mistake */
	const char *first;
	/** @node: nodes */
	struct ctl_node *node;
	/** @nodes: entries of @node */
	unsigned int nodes;
	/** @view: views */
	struct ctl_view *view;
	/** @views: entries of @view */
	unsigned int views;
	/** @errors: number of mistakes that were found */
	unsigned int errors;
};

/* conf-file.c */
int ctl_conf_read(struct ctl_conf *conf, const char *path);
int ctl_conf_parse(struct ctl_conf *conf, FILE *f);
void ctl_conf_complain(struct ctl_conf *conf, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* conf-print.c */
void ctl_conf_print_vals(FILE *to, const struct ctl_key *keys, const struct ctl_val *val);
void ctl_conf_print_view(FILE *to, const struct ctl_view *view, const char *note, bool tuned);

#endif /* SPINDLE_COMMON_CONF_H */
