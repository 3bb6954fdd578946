/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spindle-ctl: what all of its files share.
 *
 * Memory of the model is not freed: a command lives for an instant, and of those that
 * do not, monitor keeps nothing, and top has pools.
 */
#ifndef SPINDLE_CTL_H
#define SPINDLE_CTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ctl-key.h"

/* Exit codes. */
enum {
	CTL_OK,		/* done */
	CTL_FAILED,	/* refused, failed, or not there */
	CTL_USAGE	/* the command line makes no sense */
};

/**
 * struct ctl_opts - options before the object
 * @json: -j, print JSON
 * @pretty: -p, print it indented
 * @verbose: -v, show more
 */
struct ctl_opts {
	bool json;
	bool pretty;
	bool verbose;
};

extern struct ctl_opts ctl_opts;

/**
 * struct ctl_args - what is left of the command line
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

#define CTL_PRINTF(f, a)	__attribute__((format(printf, f, a)))
#define CTL_ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/**
 * struct ctl_chunk - what comes before an allocation
 * @prev: another one of its pool, or the pool
 * @next: another one of its pool, or the pool
 */
struct ctl_chunk {
	struct ctl_chunk *prev;
	struct ctl_chunk *next;
};

/**
 * struct ctl_pool - allocations that go together
 * @list: head of their list; zeroed: there are none yet
 */
struct ctl_pool {
	struct ctl_chunk list;
};

/* ctl-util.c */
void ctl_pool_use(struct ctl_pool *pool);
void ctl_pool_drop(struct ctl_pool *pool);
extern const char *ctl_program;
void *ctl_alloc(size_t size);
void *ctl_grow(void *array, size_t entries, size_t size);
void ctl_free(void *p);
char *ctl_strdup(const char *s);
char *ctl_asprintf(const char *fmt, ...) CTL_PRINTF(1, 2);
char *ctl_clean(const char *s);
void ctl_err(const char *fmt, ...) CTL_PRINTF(1, 2);
int ctl_flush(int rc);
extern void (*ctl_before_err)(void);

/* ctl-args.c */
int ctl_usage(const struct ctl_args *a, const char *fmt, ...) CTL_PRINTF(2, 3);
const char *ctl_args_next(struct ctl_args *a);
int ctl_args_value(struct ctl_args *a, const struct ctl_key *key, struct ctl_val *val,
		   const char *in);
int ctl_args_keys(struct ctl_args *a, const struct ctl_key *keys, struct ctl_val *val,
		  unsigned int need);

/**
 * struct ctl_verb - a verb of an object; the first of a list is what is done without one
 * @name: its word; NULL ends the list
 * @run: function that takes the rest
 */
struct ctl_verb {
	const char *name;
	int (*run)(struct ctl_args *a);
};

int ctl_verb(struct ctl_args *a, const struct ctl_verb *verbs);

/* ctl-host.c */
int ctl_netns_enter(const char *name);
int ctl_host_has(const struct ctl_addr *addr);

/* One file for each object; verbs of a node as a member have their own. */
int ctl_cmd_node(struct ctl_args *a);
int ctl_node_join(struct ctl_args *a);
int ctl_node_leave(struct ctl_args *a);
int ctl_node_evict(struct ctl_args *a);
int ctl_cmd_view(struct ctl_args *a);
int ctl_cmd_subgroup(struct ctl_args *a);
int ctl_cmd_status(struct ctl_args *a);
int ctl_cmd_stats(struct ctl_args *a);
int ctl_cmd_top(struct ctl_args *a);
int ctl_cmd_rdmc(struct ctl_args *a);
int ctl_cmd_monitor(struct ctl_args *a);
int ctl_cmd_apply(struct ctl_args *a);
int ctl_cmd_showconf(struct ctl_args *a);

#endif /* SPINDLE_CTL_H */
