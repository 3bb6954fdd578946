// SPDX-License-Identifier: GPL-2.0-only
/*
 * spindle-ctl: configure and watch spindle.ko.
 */
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "cmd.h"
#include "common/util.h"
#include "host.h"

/**
 * struct noun - an object of the command line
 */
struct noun {
	/** @name: word of the object */
	const char *name;
	/** @run: function that takes the remaining words */
	int (*run)(struct ctl_args *a);
	/** @help: its part of the help text */
	const char *help;
	/**
	 * @own: letters of options that have another meaning after this object; a colon behind the
	 * letter: the option has a value
	 */
	const char *own;
};

static const struct noun nouns[] = {
	{ "node", ctl_cmd_node,
	  "  node add id N addr A [port P] [cluster C] [visibility auto|poll|imm]\n"
	  "           [idle-us U] [engine E] [cpu C|any] [rack R|none] [key-file PATH]\n"
	  "  node set id N [idle-us U] [timing on|off] [rack R|none]\n"
	  "  node del id N\n"
	  "  node join id N contact ADDR[:PORT]... [lineage HEX[/ERA]] [insecure]\n"
	  "            [timeout SECONDS] [no-wait]\n"
	  "  node leave id N [timeout SECONDS] [no-wait]\n"
	  "  node evict id N node M [timeout SECONDS] [no-wait]\n"
	  "  node show [id N]\n", NULL },
	{ "view", ctl_cmd_view,
	  "  view set node N vid V [live] [timeout-ms MS] [max-nodes M] [quorum yes|no]\n"
	  "           [spares N] [spare-window W] [spare-ring BYTES]\n"
	  "           [witness 3,4] [lineage HEX[/ERA]] [insecure] [contact ADDR[:PORT]]...\n"
	  "           member ID@ADDR[:PORT]...\n"
	  "           [subgroup ID [name S] [mode ordered|unordered] [window W]\n"
	  "            [max-msg BYTES] [ring BYTES] [hold 0|1] [lsn N]\n"
	  "            [log 0|1] [ack all|majority] [deliver stable|durable]\n"
	  "            [min-copies N|default] [range 1,2,3]...\n"
	  "            [members 1,2,3|all] [senders 1,2|none|all]\n"
	  "            [shards S] [min K] [on-exit discard|leave]]...\n"
	  "           [table ID cells N [cell BYTES] [mode write|read] [name S]\n"
	  "            [members 1,2,3|all] [shards S] [min K]]...\n"
	  "  view del node N\n"
	  "  view show [node N]\n", NULL },
	{ "subgroup", ctl_cmd_subgroup,
	  "  subgroup add|replace node N id S [name NAME] [mode ordered|unordered]\n"
	  "           [window W] [max-msg BYTES] [ring BYTES] [hold 0|1]\n"
	  "           [log 0|1] [ack all|majority] [deliver stable|durable]\n"
	  "           [min-copies N|default]\n"
	  "           [members 1,2,3] [senders 1,2|none] [shards S] [min K]\n"
	  "           [on-exit discard|leave] [timeout SECONDS] [no-wait]\n"
	  "  subgroup add|replace node N table S cells N [cell BYTES] [mode write|read]\n"
	  "           [name NAME] [members 1,2,3] [shards S] [min K]\n"
	  "           [timeout SECONDS] [no-wait]\n"
	  "  subgroup del node N id S|name NAME [timeout SECONDS] [no-wait]\n"
	  "  subgroup set node N id S|name NAME\n"
	  "           [send-batch|recv-batch|dlv-batch|nulls|late-post|merged-acks|\n"
	  "            packed|tracking|express|all on|off]...\n"
	  "           [send-budget M] [recv-budget M] [dlv-budget M] [silence ROUNDS]\n"
	  "           [stall-ms MS|never] [large BYTES] [history BYTES|none]\n"
	  "           [history-fill 0|1] [log-stall-ms MS|never]\n"
	  "           [on-log-stall wait|forget|leave]\n"
	  "  subgroup show [node N] [id S|name NAME] [-v]\n", NULL },
	{ "table", ctl_cmd_table,
	  "  table add node N table T cells N [cell BYTES] [mode write|read] [name NAME]\n"
	  "           [members 1,2,3] [shards S] [min K] [timeout SECONDS] [no-wait]\n"
	  "  table del node N id T|name NAME [timeout SECONDS] [no-wait]\n"
	  "  table show [node N] [id T|name NAME] [-v]\n"
	  "  table get node N id T|name NAME [row NODE] [cell C] [fields FIELDS]\n"
	  "  table put node N id T|name NAME cell C\n"
	  "           fields FIELDS FIELD=VALUE... | text STRING | hex BYTES | -\n"
	  "           [timeout SECONDS]\n"
	  "  table watch node N id T|name NAME [row NODE] [cell C] [fields FIELDS]\n"
	  "           [count N]\n"
	  "    FIELDS are like load:u32,free:u64,host:s16 or free:u64@8; the types are\n"
	  "    u8 u16 u32 u64 i8 i16 i32 i64, and sN, a string of N bytes\n", NULL },
	{ "status", ctl_cmd_status,
	  "  status [show] [node N] [logs DIR]\n", NULL },
	{ "stats", ctl_cmd_stats,
	  "  stats [show] [node N]\n", NULL },
	{ "top", ctl_cmd_top,
	  "  top [node N] [id S] [-b] [-d SECONDS] [-n COUNT]\n",
	  "bd:n:" },
	{ "rdmc", ctl_cmd_rdmc,
	  "  rdmc show [node N] [group G] [-v] [-w] [-b] [-d SECONDS] [-n COUNT]\n"
	  "  rdmc stats [node N] [group G]\n",
	  "wbd:n:" },
	{ "log", ctl_cmd_log,
	  "  log show|verify DIR\n"
	  "  log trim DIR below LSN\n"
	  "  log snapshot DIR name NAME at LSN\n"
	  "  log repair DIR [timeout SECONDS]\n"
	  "  log dump DIR [from LSN] [to LSN] [since TIME]\n"
	  "  log restart NODE [logs DIR] [--force [CODE]]\n", NULL },
	{ "monitor", ctl_cmd_monitor,
	  "  monitor [node N]\n", NULL },
	{ "apply", ctl_cmd_apply,
	  "  apply FILE|- [--dry-run] [--replace] [--prune] [--bootstrap | --force-new]\n", NULL },
	{ "showconf", ctl_cmd_showconf,
	  "  showconf [node N]\n", NULL },
};

static const char intro[] =
	"usage: spindle-ctl [OPTION]... OBJECT VERB [KEY VALUE]...\n"
	"\n";

static const char outro[] =
	"\n"
	"  -j, --json        print JSON (show, get, watch, status, stats, top, rdmc, log,\n"
	"                    monitor, apply)\n"
	"  -p, --pretty      print it indented (implies -j)\n"
	"  -n, --netns NAME  work in another network namespace, as ip -n does\n"
	"  -v, --verbose     show more (subgroup show, table show, rdmc show, log dump)\n"
	"  -V, --version     print the version\n"
	"  -h, --help        print this\n"
	"\n"
	"  A first cluster of one node:\n"
	"    spindle-ctl node add id 1 addr 10.0.0.1\n"
	"    spindle-ctl view set node 1 vid 1 member 1@10.0.0.1 subgroup 0\n"
	"    spindle-ctl subgroup show\n"
	"\n"
	"  See spindle-ctl(8).\n";

static const struct noun *find_noun(const char *name)
{
	unsigned int i;

	for (i = 0; i < CTL_ARRAY_SIZE(nouns); i++)
		if (!strcmp(nouns[i].name, name))
			return &nouns[i];
	return NULL;
}

static int help(const char *name, FILE *out)
{
	const struct noun *noun = name ? find_noun(name) : NULL;
	unsigned int i;

	if (name && !noun) {
		ctl_err("there is no object '%s'", name);
		help(NULL, stderr);
		return CTL_USAGE;
	}
	fputs(intro, out);
	for (i = 0; i < CTL_ARRAY_SIZE(nouns); i++)
		if (!noun || noun == &nouns[i])
			fputs(nouns[i].help, out);
	if (!noun)
		fputs(outro, out);
	return CTL_OK;
}

/* The options for all objects, apart from ctl_opts. */
static const char *netns;
static bool want_help, want_version;

static const struct {
	char letter;
	const char *word;
	bool *on;
} switches[] = {
	{ 'j', "--json", &ctl_opts.json },
	{ 'p', "--pretty", &ctl_opts.pretty },
	{ 'v', "--verbose", &ctl_opts.verbose },
	{ 'V', "--version", &want_version },
	{ 'h', "--help", &want_help },
};

/* Take the option for all objects that has this letter or word. Return: whether there is one. */
static bool take_switch(char letter, const char *word)
{
	unsigned int i;

	for (i = 0; i < CTL_ARRAY_SIZE(switches); i++) {
		if (switches[i].letter == letter || !strcmp(switches[i].word, word)) {
			*switches[i].on = true;
			return true;
		}
	}
	return false;
}

static void add_word(struct ctl_args *a, const char *word)
{
	*CTL_ADD(a->argv, a->argc) = (char *)word;
}

/**
 * short_options() - take a group of letters like -jv
 * @s: letters
 * @rest: words that follow
 * @noun: the object, if it came before the letters
 * @out: gets the options that belong to the object, each as a word
 *
 * Return: CTL_OK or CTL_USAGE
 */
static int short_options(const char *s, struct ctl_args *rest, const struct noun *noun,
			 struct ctl_args *out)
{
	for (; *s; s++) {
		const char *own = noun && noun->own && *s != ':' ? strchr(noun->own, *s) : NULL;

		if (own) {
			add_word(out, ctl_asprintf("-%c", *s));
			if (own[1] == ':' && s[1]) {
				add_word(out, s + 1);
				return CTL_OK;
			}
		} else if (*s == 'n') {
			netns = s[1] ? s + 1 : ctl_args_next(rest);
			return netns ? CTL_OK : ctl_usage(rest, "-n: the name is missing");
		} else if (!take_switch(*s, "")) {
			return ctl_usage(rest, "there is no option -%c", *s);
		}
	}
	return CTL_OK;
}

/**
 * options() - take the options out of the command line, wherever they are
 * @a: all words
 *
 * A negative number is no option but a bad number, and "-" is a file. Options of the object stay in
 * the command line.
 *
 * Return: CTL_OK or CTL_USAGE
 */
static int options(struct ctl_args *a)
{
	struct ctl_args out = { 0 };
	const struct noun *noun = NULL;
	bool end = false;
	const char *word;
	int rc;

	while ((word = ctl_args_next(a))) {
		if (end || word[0] != '-' || !word[1] || (word[1] >= '0' && word[1] <= '9')) {
			noun = noun ? noun : find_noun(word);
			add_word(&out, word);
		} else if (!strcmp(word, "--")) {
			end = true;
		} else if (!strcmp(word, "--netns")) {
			netns = ctl_args_next(a);
			if (!netns)
				return ctl_usage(a, "--netns: the name is missing");
		} else if (word[1] == '-') {
			if (!take_switch(0, word))
				add_word(&out, word);	/* perhaps an option of the object */
		} else {
			rc = short_options(word + 1, a, noun, &out);
			if (rc)
				return rc;
		}
	}
	ctl_opts.json |= ctl_opts.pretty;
	a->argc = out.argc;
	a->argv = out.argv;
	return CTL_OK;
}

int main(int argc, char **argv)
{
	struct ctl_args a = { .argv = argv + 1, .argc = argc - 1 };
	const struct noun *noun;
	const char *word;
	int rc;

	rc = options(&a);
	if (rc)
		return rc;
	if (want_version) {
		puts("spindle-ctl " SPINDLE_VERSION);
		return ctl_flush(CTL_OK);
	}
	word = ctl_args_next(&a);
	if (!word && !want_help) {
		help(NULL, stderr);
		return CTL_USAGE;
	}
	if (want_help || !strcmp(word, "help"))
		return ctl_flush(help(want_help ? word : ctl_args_next(&a), stdout));
	noun = find_noun(word);
	if (!noun) {
		a.noun = NULL;
		return ctl_usage(&a, "there is no object '%s'", word);
	}
	if (a.argc && !strcmp(a.argv[0], "help"))
		return ctl_flush(help(noun->name, stdout));
	a.noun = noun->name;
	if (netns) {
		rc = ctl_netns_enter(netns);
		if (rc)
			return rc;
	}
	return ctl_flush(noun->run(&a));
}
