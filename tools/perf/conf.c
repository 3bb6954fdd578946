// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parameters of a measurement. See conf.h.
 */
#include <string.h>

#include <linux/spindle.h>
#include <linux/spindle_genl.h>

#include "common/names.h"
#include "common/util.h"
#include "conf.h"
#include "msg.h"

#define DEF_COUNT	10000
#define MAX_COUNT	(1ULL << 40)
#define MAX_MILLIS	86400000ULL
#define MAX_DELAY	10000000ULL

#define AT(field)	CTL_OPT_AT(struct perf_conf, field)

const struct ctl_opt_word perf_some_words[] = {
	{ "all", PERF_ALL }, { "half", PERF_HALF }, { "one", 1 }, { NULL, 0 }
};

static const struct ctl_opt_word delay_words[] = {
	{ "long", PERF_LONG }, { "silent", PERF_SILENT }, { NULL, 0 }
};

static const struct ctl_opt_word auto_words[] = { { "auto", PERF_ALL }, { NULL, 0 } };

static const char *take_tune(void *into, const char *text)
{
	struct perf_conf *conf = into;

	conf->tune_text = *text ? ctl_strdup(text) : "default";
	return perf_tune_parse(text, &conf->tune);
}

const struct ctl_opt perf_params[] = {
	{ .name = "nodes", .letter = 'n', .kind = CTL_OPT_NUM, AT(nodes), .group = PERF_MAKE,
	  .min = 1, .max = SPINDLE_MAX_MEMBERS, .def = 4, .value = "N",
	  .help = "members of the view" },
	{ .name = "senders", .letter = 's', .kind = CTL_OPT_NUM, AT(senders),
	  .words = perf_some_words, .min = 1, .max = SPINDLE_MAX_MEMBERS, .def = PERF_ALL, .value = "N",
	  .help = "those that send: all, half, one or a number" },
	{ .name = "subgroups", .letter = 'k', .kind = CTL_OPT_NUM, AT(subgroups),
	  .group = PERF_MAKE, .min = 1, .max = SPINDLE_MAX_SUBGROUPS, .def = 1, .value = "K",
	  .help = "subgroups of the view" },
	{ .name = "active", .letter = 'a', .kind = CTL_OPT_NUM, AT(active),
	  .words = perf_some_words, .min = 1, .max = SPINDLE_MAX_SUBGROUPS, .def = PERF_ALL,
	  .value = "M", .help = "those that are used: all, half, one or a number" },
	{ .name = "window", .letter = 'w', .kind = CTL_OPT_NUM, AT(window), .group = PERF_MAKE,
	  .min = 1, .max = SPINDLE_MAX_WINDOW, .def = SPINDLE_DEF_WINDOW, .value = "W",
	  .help = "slots of a sender" },
	{ .name = "max-msg", .kind = CTL_OPT_BYTES, AT(max_msg), .group = PERF_MAKE,
	  .max = SPINDLE_MAX_MSG, .value = "BYTES",
	  .help = "largest message; 0: as large as they are" },
	{ .name = "ring", .kind = CTL_OPT_BYTES, AT(ring), .group = PERF_MAKE,
	  .max = SPINDLE_MAX_RING, .value = "BYTES",
	  .help = "ring of a sender; 0: what the kernel takes" },
	{ .name = "mode", .kind = CTL_OPT_WORD, .names = &ctl_mode, AT(mode), .group = PERF_MAKE,
	  .def = SPINDLE_MODE_ORDERED, .value = "MODE", .help = "ordered or unordered" },
	{ .name = "visibility", .kind = CTL_OPT_WORD, .names = &ctl_visibility,
	  AT(visibility), .group = PERF_MAKE,
	  .def = SPINDLE_VISIBILITY_AUTO, .value = "HOW", .help = "auto, poll or imm" },
	{ .name = "log", .kind = CTL_OPT_FLAG, AT(log), .group = PERF_MAKE, .max = 1,
	  .help = "each node has a log, see --log-dir" },
	{ .name = "idle-us", .kind = CTL_OPT_NUM, AT(idle_us), .group = PERF_MAKE,
	  .max = SPINDLE_MAX_IDLE_US, .def = SPINDLE_DEF_IDLE_US, .value = "US",
	  .help = "an engine polls so long without work" },
	{ .name = "size", .letter = 'S', .kind = CTL_OPT_BYTES, AT(size),
	  .min = 1, .max = SPINDLE_MAX_MSG, .def = SPINDLE_DEF_MAX_MSG, .value = "BYTES",
	  .help = "bytes of a message" },
	{ .name = "count", .letter = 'c', .kind = CTL_OPT_NUM, AT(count),
	  .max = MAX_COUNT, .value = "N", .help = "messages of a sender (10000)" },
	{ .name = "seconds", .letter = 't', .kind = CTL_OPT_MILLIS, AT(millis),
	  .max = MAX_MILLIS, .value = "T", .help = "or send for so long" },
	{ .name = "warmup", .letter = 'W', .kind = CTL_OPT_NUM, AT(warmup),
	  .max = 1000, .def = 10, .value = "PERCENT",
	  .help = "run before, in percent of a repetition" },
	{ .name = "rate", .letter = 'R', .kind = CTL_OPT_NUM, AT(rate),
	  .max = 100000000, .value = "R", .help = "messages per second and sender; 0: no limit" },
	{ .name = "latency", .letter = 'L', .kind = CTL_OPT_FLAG, AT(closed),
	  .max = 1, .help = "one message of a sender at a time" },
	{ .name = "delay", .letter = 'd', .kind = CTL_OPT_NUM, AT(delay), .words = delay_words,
	  .max = MAX_DELAY, .value = "US",
	  .help = "a sender rests after each message; long: it sends none; silent: and says so" },
	{ .name = "delay-senders", .kind = CTL_OPT_NUM, .words = perf_some_words, AT(delay_senders),
	  .min = 1, .max = SPINDLE_MAX_MEMBERS, .def = PERF_ALL, .value = "N",
	  .help = "so many senders do, the last ones" },
	{ .name = "upcall", .letter = 'u', .kind = CTL_OPT_NUM, AT(upcall),
	  .max = MAX_DELAY, .value = "US", .help = "a reader takes so long for a message" },
	{ .name = "upcall-nodes", .kind = CTL_OPT_NUM, .words = perf_some_words, AT(upcall_nodes),
	  .min = 1, .max = SPINDLE_MAX_MEMBERS, .def = PERF_ALL, .value = "N",
	  .help = "so many nodes have such readers, the last ones" },
	{ .name = "copy-in", .kind = CTL_OPT_FLAG, AT(copy_in),
	  .max = 1, .help = "copy messages into the ring" },
	{ .name = "copy-out", .kind = CTL_OPT_FLAG, AT(copy_out),
	  .max = 1, .help = "read from copy rings" },
	{ .name = "batch", .kind = CTL_OPT_NUM, AT(batch),
	  .min = 1, .max = SPINDLE_MAX_WINDOW, .def = 64, .value = "N",
	  .help = "messages that a sender sends at a time" },
	{ .name = "spin", .kind = CTL_OPT_NUM, .words = auto_words, AT(spin),
	  .max = 1000000, .def = PERF_ALL, .value = "US",
	  .help = "look so long for work before sleeping" },
	{ .name = "threads", .kind = CTL_OPT_FLAG, AT(threads),
	  .max = 1, .help = "a thread for each node" },
	{ .name = "verify", .letter = 'v', .kind = CTL_OPT_FLAG, AT(verify),
	  .max = 1, .help = "check every byte" },
	{ .name = "tune", .letter = 'T', .kind = CTL_OPT_TAKE, .take = take_tune,
	  .value = "KEY=VALUE,...",
	  .help = "as spindle-ctl subgroup set; all=off: the baseline" },
	{ .name = NULL }
};

const unsigned int perf_param_count = CTL_ARRAY_SIZE(perf_params) - 1;

/* The parameter with this name, or NULL. */
const struct ctl_opt *perf_param_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < perf_param_count; i++)
		if (!strcmp(perf_params[i].name, name))
			return &perf_params[i];
	return NULL;
}

void perf_conf_default(struct perf_conf *conf)
{
	memset(conf, 0, sizeof(*conf));
	ctl_opt_default(perf_params, conf);
	conf->tune_text = "default";
}

/* The value as text that ctl_opt_take() accepts, in one of a few static buffers. */
const char *perf_conf_text(const struct perf_conf *conf, const struct ctl_opt *p)
{
	return p->kind == CTL_OPT_TAKE ? conf->tune_text : ctl_opt_text(p, conf);
}

/**
 * perf_conf_settle() - fill in the values that depend on others
 * @conf: configuration
 *
 * Return: NULL, or what is wrong
 */
const char *perf_conf_settle(struct perf_conf *conf)
{
	if (conf->count && conf->millis)
		return "count and seconds: a repetition has one end";
	if (!conf->count && !conf->millis)
		conf->count = DEF_COUNT;
	if (!conf->max_msg)
		conf->max_msg = conf->size < PERF_HEAD ? PERF_HEAD : conf->size;
	return NULL;
}

/* How many messages a sender sends in a repetition; 0: as many as the time allows. */
uint64_t perf_conf_quota(const struct perf_conf *conf)
{
	uint64_t quota;

	if (!conf->millis)
		return conf->count;
	quota = conf->rate * conf->millis / 1000;
	return conf->rate && !quota ? 1 : quota;
}
