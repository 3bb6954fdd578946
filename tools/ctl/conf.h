/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Configuration files.
 */
#ifndef SPINDLE_CTL_CONF_H
#define SPINDLE_CTL_CONF_H

#include "common/model.h"

/**
 * struct ctl_conf - a whole configuration
 */
struct ctl_conf {
	/** @file: name of the file, for messages */
	const char *file;
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

/* file.c */
int ctl_conf_read(struct ctl_conf *conf, const char *path);
void ctl_conf_complain(struct ctl_conf *conf, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* check.c, limits.c: is the configuration consistent? */
void ctl_conf_check(struct ctl_conf *conf);
void ctl_conf_check_live(struct ctl_conf *conf, const struct ctl_node *node, bool keyed);
unsigned int ctl_conf_limits(struct ctl_conf *conf);
const struct ctl_view *ctl_conf_view(const struct ctl_conf *conf, const struct ctl_node *node);

#endif /* SPINDLE_CTL_CONF_H */
