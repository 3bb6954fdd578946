// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parameters of a measurement. See conf.h.
 */
#include <stdio.h>
#include <stdlib.h>
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

#define AT(field)	.at = offsetof(struct perf_conf, field)

const struct perf_param perf_params[] = {
	{ .name = "nodes", .letter = 'n', .kind = PERF_NUM, AT(nodes), .setup = true,
	  .min = 1, .max = SPINDLE_MAX_MEMBERS, .def = 4, .arg = "N",
	  .help = "members of the view" },
	{ .name = "senders", .letter = 's', .kind = PERF_SOME, AT(senders),
	  .min = 1, .max = SPINDLE_MAX_MEMBERS, .def = PERF_ALL, .arg = "N",
	  .help = "those that send: all, half, one or a number" },
	{ .name = "subgroups", .letter = 'k', .kind = PERF_NUM, AT(subgroups), .setup = true,
	  .min = 1, .max = SPINDLE_MAX_SUBGROUPS, .def = 1, .arg = "K",
	  .help = "subgroups of the view" },
	{ .name = "active", .letter = 'a', .kind = PERF_SOME, AT(active),
	  .min = 1, .max = SPINDLE_MAX_SUBGROUPS, .def = PERF_ALL, .arg = "M",
	  .help = "those that are used: all, half, one or a number" },
	{ .name = "window", .letter = 'w', .kind = PERF_NUM, AT(window), .setup = true,
	  .min = 1, .max = SPINDLE_MAX_WINDOW, .def = SPINDLE_DEF_WINDOW, .arg = "W",
	  .help = "slots of a sender" },
	{ .name = "max-msg", .kind = PERF_BYTES, AT(max_msg), .setup = true,
	  .max = SPINDLE_MAX_MSG, .arg = "BYTES",
	  .help = "largest message; 0: as large as they are" },
	{ .name = "ring", .kind = PERF_BYTES, AT(ring), .setup = true,
	  .max = SPINDLE_MAX_RING, .arg = "BYTES",
	  .help = "ring of a sender; 0: what the kernel takes" },
	{ .name = "mode", .kind = PERF_MODE, AT(mode), .setup = true,
	  .def = SPINDLE_MODE_ORDERED, .arg = "MODE", .help = "ordered or unordered" },
	{ .name = "visibility", .kind = PERF_VISIBILITY, AT(visibility), .setup = true,
	  .def = SPINDLE_VISIBILITY_AUTO, .arg = "HOW", .help = "auto, poll or imm" },
	{ .name = "idle-us", .kind = PERF_NUM, AT(idle_us), .setup = true,
	  .max = SPINDLE_MAX_IDLE_US, .def = SPINDLE_DEF_IDLE_US, .arg = "US",
	  .help = "an engine polls so long without work" },
	{ .name = "size", .letter = 'S', .kind = PERF_BYTES, AT(size),
	  .min = 1, .max = SPINDLE_MAX_MSG, .def = SPINDLE_DEF_MAX_MSG, .arg = "BYTES",
	  .help = "bytes of a message" },
	{ .name = "count", .letter = 'c', .kind = PERF_NUM, AT(count),
	  .max = MAX_COUNT, .arg = "N", .help = "messages of a sender (10000)" },
	{ .name = "seconds", .letter = 't', .kind = PERF_MILLIS, AT(millis),
	  .max = MAX_MILLIS, .arg = "T", .help = "or send for so long" },
	{ .name = "warmup", .letter = 'W', .kind = PERF_NUM, AT(warmup),
	  .max = 1000, .def = 10, .arg = "PERCENT",
	  .help = "run before, in percent of a repetition" },
	{ .name = "rate", .letter = 'R', .kind = PERF_NUM, AT(rate),
	  .max = 100000000, .arg = "R", .help = "messages per second and sender; 0: no limit" },
	{ .name = "latency", .letter = 'L', .kind = PERF_FLAG, AT(closed),
	  .max = 1, .help = "one message of a sender at a time" },
	{ .name = "delay", .letter = 'd', .kind = PERF_DELAY, AT(delay),
	  .max = MAX_DELAY, .arg = "US",
	  .help = "a sender rests after each message; long: it sends none; silent: and says so" },
	{ .name = "delay-senders", .kind = PERF_SOME, AT(delay_senders),
	  .min = 1, .max = SPINDLE_MAX_MEMBERS, .def = PERF_ALL, .arg = "N",
	  .help = "so many senders do, the last ones" },
	{ .name = "upcall", .letter = 'u', .kind = PERF_NUM, AT(upcall),
	  .max = MAX_DELAY, .arg = "US", .help = "a reader takes so long for a message" },
	{ .name = "upcall-nodes", .kind = PERF_SOME, AT(upcall_nodes),
	  .min = 1, .max = SPINDLE_MAX_MEMBERS, .def = PERF_ALL, .arg = "N",
	  .help = "so many nodes have such readers, the last ones" },
	{ .name = "copy-in", .kind = PERF_FLAG, AT(copy_in),
	  .max = 1, .help = "copy messages into the ring" },
	{ .name = "copy-out", .kind = PERF_FLAG, AT(copy_out),
	  .max = 1, .help = "read from copy rings" },
	{ .name = "batch", .kind = PERF_NUM, AT(batch),
	  .min = 1, .max = SPINDLE_MAX_WINDOW, .def = 64, .arg = "N",
	  .help = "messages that a sender sends at a time" },
	{ .name = "spin", .kind = PERF_AUTO, AT(spin),
	  .max = 1000000, .def = PERF_ALL, .arg = "US",
	  .help = "look so long for work before sleeping" },
	{ .name = "threads", .kind = PERF_FLAG, AT(threads),
	  .max = 1, .help = "a thread for each node" },
	{ .name = "verify", .letter = 'v', .kind = PERF_FLAG, AT(verify),
	  .max = 1, .help = "check every byte" },
	{ .name = "tune", .letter = 'T', .kind = PERF_TUNE, .at = 0, .arg = "KEY=VALUE,...",
	  .help = "as spindle-ctl subgroup set; all=off: the baseline" },
};

const unsigned int perf_param_count = CTL_ARRAY_SIZE(perf_params);

const struct perf_param *perf_param_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < perf_param_count; i++)
		if (!strcmp(perf_params[i].name, name))
			return &perf_params[i];
	return NULL;
}

void perf_conf_default(struct perf_conf *conf)
{
	unsigned int i;

	memset(conf, 0, sizeof(*conf));
	for (i = 0; i < perf_param_count; i++)
		if (perf_params[i].kind != PERF_TUNE)
			*(uint64_t *)((char *)conf + perf_params[i].at) = perf_params[i].def;
	conf->tune_text = "default";
}

/* Seconds as milliseconds: "1.5" is 1500. */
static const char *parse_millis(const char *text, uint64_t *num)
{
	uint64_t whole, part = 0, unit = 100;
	const char *dot = strchr(text, '.');
	char *head = ctl_strdup(text);
	const char *err;

	if (dot)
		head[dot - text] = '\0';
	err = ctl_num_parse(head, MAX_MILLIS / 1000, false, &whole);
	ctl_free(head);
	if (err || (dot && !dot[1]))
		return "not a number of seconds, like 2 or 0.5";
	for (dot = dot ? dot + 1 : ""; *dot; dot++) {
		if (*dot < '0' || *dot > '9')
			return "not a number of seconds, like 2 or 0.5";
		part += (*dot - '0') * unit;
		unit /= 10;
	}
	*num = whole * 1000 + part;
	return NULL;
}

/* Read a word that stands for a number, if the kind has one. */
static bool parse_word(enum perf_param_kind kind, const char *text, uint64_t *num)
{
	static const struct {
		enum perf_param_kind kind;
		const char *word;
		uint64_t num;
	} words[] = {
		{ PERF_SOME, "all", PERF_ALL },
		{ PERF_SOME, "half", PERF_HALF },
		{ PERF_SOME, "one", 1 },
		{ PERF_DELAY, "long", PERF_LONG },
		{ PERF_DELAY, "silent", PERF_SILENT },
		{ PERF_AUTO, "auto", PERF_ALL },
	};
	unsigned int i;

	for (i = 0; i < CTL_ARRAY_SIZE(words); i++) {
		if (words[i].kind == kind && !strcmp(words[i].word, text)) {
			*num = words[i].num;
			return true;
		}
	}
	return false;
}

static const char *parse_name(const struct ctl_names *names, const char *text, uint64_t *num)
{
	if (ctl_name_find(names, text, num))
		return NULL;
	return ctl_asprintf("none of %s", ctl_name_list(names, '|'));
}

static const char *parse_range(const struct perf_param *p, const char *text, uint64_t *num)
{
	bool bytes = p->kind == PERF_BYTES;
	const char *words = p->kind == PERF_SOME ? ", and none of all|half|one" :
			    p->kind == PERF_DELAY ? ", and none of long|silent" :
			    p->kind == PERF_AUTO ? ", and not auto" : "";

	if (!ctl_num_parse(text, UINT64_MAX >> 1, bytes, num) && *num >= p->min &&
	    *num <= p->max)
		return NULL;
	return ctl_asprintf("not a number from %llu to %llu%s%s", (unsigned long long)p->min,
			    (unsigned long long)p->max, bytes ? " (K and M may follow it)" : "",
			    words);
}

/**
 * perf_conf_set() - set a parameter
 * @conf: configuration
 * @p: parameter
 * @text: value as the user wrote it
 *
 * Return: NULL, or what is wrong, as a message has it behind the name and the text
 */
const char *perf_conf_set(struct perf_conf *conf, const struct perf_param *p, const char *text)
{
	uint64_t *num = (uint64_t *)((char *)conf + p->at);

	if (parse_word(p->kind, text, num))
		return NULL;
	switch (p->kind) {
	case PERF_TUNE:
		conf->tune_text = *text ? ctl_strdup(text) : "default";
		return perf_tune_parse(text, &conf->tune);
	case PERF_MILLIS:
		return parse_millis(text, num);
	case PERF_MODE:
		return parse_name(&ctl_mode, text, num);
	case PERF_VISIBILITY:
		return parse_name(&ctl_visibility, text, num);
	default:
		return parse_range(p, text, num);
	}
}

/* The value as text that perf_conf_set() accepts, in one of a few static buffers. */
const char *perf_conf_text(const struct perf_conf *conf, const struct perf_param *p)
{
	static char buf[4][32];
	static unsigned int turn;
	uint64_t num = p->kind == PERF_TUNE ? 0 : perf_conf_num(conf, p);

	switch (p->kind) {
	case PERF_TUNE:
		return conf->tune_text;
	case PERF_MODE:
		return ctl_name(&ctl_mode, num);
	case PERF_VISIBILITY:
		return ctl_name(&ctl_visibility, num);
	case PERF_SOME:
		if (num == PERF_ALL)
			return "all";
		if (num == PERF_HALF)
			return "half";
		break;
	case PERF_DELAY:
		if (num == PERF_LONG)
			return "long";
		if (num == PERF_SILENT)
			return "silent";
		break;
	case PERF_AUTO:
		if (num == PERF_ALL)
			return "auto";
		break;
	default:
		break;
	}
	turn = (turn + 1) % CTL_ARRAY_SIZE(buf);
	if (p->kind == PERF_MILLIS)
		snprintf(buf[turn], sizeof(buf[turn]), "%g", num / 1000.0);
	else
		snprintf(buf[turn], sizeof(buf[turn]), "%llu", (unsigned long long)num);
	return buf[turn];
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
