// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command lines of spindle-cast and spindle-recv. See opts.h.
 */
#include <getopt.h>
#include <string.h>

#include <linux/spindle_rdmc.h>
#include <spindle/rdmc.h>

#include "common/opts.h"
#include "opts.h"

#define DEF_GROUP	1
#define MAX_GROUP	(UINT64_MAX >> 16)
/* A receiver that writes a large file to a slow disk has no room for the next one until then. */
#define DEF_TIMEOUT	120
#define MAX_SECONDS	(24 * 3600)
#define DEF_MEMORY	(1ULL << 30)

/* The program that an option is for. */
enum {
	BOTH,
	CAST,
	RECV
};

#define AT(field)	CTL_OPT_AT(struct cast_opts, field)

static const char *take_members(void *into, const char *text)
{
	char *copy = ctl_strdup(text), *word, *rest = copy;
	struct cast_opts *o = into;
	unsigned int i;
	uint64_t id;

	o->members = 0;
	while ((word = strsep(&rest, ","))) {
		if (ctl_num_parse(word, UINT32_MAX, false, &id) || !id)
			return "a list of node ids is needed";
		for (i = 0; i < o->members; i++)
			if (o->member[i] == id)
				return "a member is there twice";
		if (o->members == SPINDLE_MAX_MEMBERS)
			return "too many members";
		o->member[o->members++] = (uint32_t)id;
	}
	ctl_free(copy);
	return o->members < 2 ? "a member alone has nobody to talk to" : NULL;
}

static const struct ctl_opt options[] = {
	{ .name = "node", .letter = 'n', .kind = CTL_OPT_NUM, AT(node),
	  .min = 1, .max = UINT32_MAX, .value = "ID",
	  .help = "own node (the only one of this machine)" },
	{ .name = "members", .letter = 'm', .kind = CTL_OPT_TAKE, .take = take_members,
	  .value = "ID,...", .help = "members, the sender first (all of the view)" },
	{ .name = "from", .kind = CTL_OPT_NUM, .group = RECV, AT(from),
	  .min = 1, .max = UINT32_MAX, .value = "ID", .help = "the sender, unless -m says it" },
	{ .name = "group", .letter = 'g', .kind = CTL_OPT_NUM, AT(group),
	  .min = 1, .max = MAX_GROUP, .def = DEF_GROUP, .value = "N",
	  .help = "number that both sides have agreed upon" },
	{ .name = "algorithm", .letter = 'a', .kind = CTL_OPT_WORD, AT(algorithm),
	  .names = &ctl_rdmc_algorithm, .value = "WORD",
	  .help = "pipeline, sequential, chain, tree or hybrid (pipeline)" },
	{ .name = "block", .letter = 'b', .kind = CTL_OPT_BYTES, AT(block),
	  .min = SPINDLE_RDMC_MIN_BLOCK, .max = SPINDLE_RDMC_MAX_BLOCK,
	  .pow2 = SPINDLE_RDMC_MIN_BLOCK, .value = "BYTES",
	  .help = "bytes of a block, a power of two (the kernel's default)" },
	{ .name = "timeout", .letter = 't', .kind = CTL_OPT_NUM, AT(timeout),
	  .min = 1, .max = MAX_SECONDS, .def = DEF_TIMEOUT, .value = "SECONDS",
	  .help = "how long nothing may go on" },
	{ .name = "wait", .kind = CTL_OPT_NUM, AT(wait),
	  .min = 1, .max = MAX_SECONDS, .value = "SECONDS",
	  .help = "how long to wait for the members (for ever)" },
	{ .name = "memory", .kind = CTL_OPT_BYTES, AT(memory),
	  .min = 1, .max = UINT64_MAX, .def = DEF_MEMORY, .value = "BYTES",
	  .help = "files in memory at a time, at least one (1G)" },
	{ .name = "recursive", .letter = 'r', .kind = CTL_OPT_FLAG, .group = CAST, AT(recursive),
	  .help = "directories with all that is in them" },
	{ .name = "keep-going", .letter = 'k', .kind = CTL_OPT_FLAG, .group = CAST, AT(keep_going),
	  .help = "send what one member cannot take to the others" },
	{ .name = "overwrite", .kind = CTL_OPT_FLAG, .group = RECV, AT(overwrite),
	  .help = "replace files that are different" },
	{ .name = "fsync", .kind = CTL_OPT_FLAG, .group = RECV, AT(fsync),
	  .help = "write through to the disk" },
	{ .name = "loop", .kind = CTL_OPT_FLAG, .group = RECV, AT(loop),
	  .help = "receive one batch after the other" },
	{ .name = "no-verify", .kind = CTL_OPT_NOT, AT(verify),
	  .help = "do not compare checksums of what has arrived" },
	{ .name = "quiet", .letter = 'q', .kind = CTL_OPT_FLAG, AT(quiet),
	  .help = "nothing but errors" },
	{ .name = "verbose", .letter = 'v', .kind = CTL_OPT_FLAG, AT(verbose),
	  .help = "say more" },
	{ .name = "json", .letter = 'j', .kind = CTL_OPT_FLAG, AT(json),
	  .help = "a line of JSON for each file and member" },
	{ .name = "device", .letter = 'D', .kind = CTL_OPT_TEXT, AT(device), .value = "PATH",
	  .help = "default " SPINDLE_RDMC_DEVICE },
	{ .name = "help", .letter = 'h', .kind = CTL_OPT_HELP, .help = "this text" },
	{ .name = "version", .letter = 'V', .kind = CTL_OPT_VERSION, .help = "version" },
	{ .name = NULL }
};

static const struct ctl_opt_part of_cast = { .opt = options, .groups = 1U << BOTH | 1U << CAST };
static const struct ctl_opt_part of_recv = { .opt = options, .groups = 1U << BOTH | 1U << RECV };

#define TAIL	"\nExit status: 0 all is there, 1 something is not, 2 usage, 3 a member was lost."

static const struct ctl_command cast = {
	.name = "spindle-cast",
	.head = "usage: spindle-cast [OPTION]... FILE...\n"
		"Send files to all members of a view at once; they run spindle-recv.\n",
	.tail = TAIL, .wide = 28, .words = true, .part = &of_cast, .parts = 1,
};

static const struct ctl_command recv = {
	.name = "spindle-recv",
	.head = "usage: spindle-recv [OPTION]... --from=ID|-m ID,... DIR\n"
		"Receive the files that a spindle-cast sends into a directory.\n",
	.tail = TAIL, .wide = 28, .words = true, .part = &of_recv, .parts = 1,
};

static const char *check_cast(const struct cast_opts *o)
{
	if (!o->argc)
		return "there is no file to send";
	if (o->members && o->node && o->member[0] != o->node)
		return "the first of --members sends: that is not --node";
	return NULL;
}

static const char *check_recv(const struct cast_opts *o)
{
	if (o->argc != 1)
		return o->argc ? "one directory is enough" : "the directory is missing";
	if (!o->members && !o->from)
		return "--from or --members is missing";
	if (o->members && o->from && o->from != o->member[0])
		return "--from is not the first of --members";
	if (o->members && o->member[0] == o->node)
		return "the first of --members sends: that is --node itself";
	return NULL;
}

static const char *check_node(const struct cast_opts *o)
{
	unsigned int i;

	if (o->members && !o->node)
		return "--node is missing";
	for (i = 0; i < o->members; i++)
		if (o->member[i] == o->node)
			return NULL;
	return o->members ? "--node is not among --members" : NULL;
}

/**
 * cast_opts_parse() - read the command line
 * @o: out: options
 * @argc: words
 * @argv: words
 * @sender: whether the program is spindle-cast, not spindle-recv
 *
 * Return: CTL_OK; CTL_USAGE after a message; CTL_OPT_SHOWN: the user wanted help, which was printed
 */
int cast_opts_parse(struct cast_opts *o, int argc, char **argv, bool sender)
{
	const struct ctl_command *c = sender ? &cast : &recv;
	const char *err;
	int rc;

	memset(o, 0, sizeof(*o));
	rc = ctl_command_parse(c, o, argc, argv, NULL);
	if (rc)
		return rc;
	o->argv = argv + optind;
	o->argc = argc - optind;
	err = sender ? check_cast(o) : check_recv(o);
	if (!err)
		err = check_node(o);
	return err ? ctl_command_usage(c, "%s", err) : CTL_OK;
}
