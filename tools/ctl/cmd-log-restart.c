// SPDX-License-Identifier: GPL-2.0-only
/*
 * spindle-ctl log restart: what a node that looks for its group waits for, and the consent of the
 * administrator to begin without the nodes that are away.
 *
 * The consent is the file DIR/NODE/consent, with the code of what was shown. spindle-logd of the
 * node finds it there.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <linux/spindle.h>

#include "args.h"
#include "cmd.h"
#include "common/live.h"
#include "common/out.h"
#include "common/util.h"
#include "restart.h"

#define CONSENT		"consent"
#define CONSENT_NEW	"consent.new"

/**
 * struct asked - what the command line asks for
 */
struct asked {
	/** @node: id of the node */
	struct ctl_val node;
	/** @logs: directory of spindle-logd */
	struct ctl_val logs;
	/** @force: the restart shall be forced */
	bool force;
	/** @code: the code that was given; NULL: none was */
	const char *code;
};

/* ---- the command line ------------------------------------------------------------------ */

static bool is_force(const char *word)
{
	return !strcmp(word, "force") || !strcmp(word, "--force");
}

/* A code is 32 digits, so a lineage, and no era follows it. */
static int take_code(struct ctl_args *a, struct asked *asked)
{
	uint8_t lineage[SPINDLE_LINEAGE_LEN];
	const char *err;
	uint64_t era;
	size_t i;
	char *code;

	if (!a->argc || !strcmp(a->argv[0], "logs"))
		return CTL_OK;
	code = ctl_strdup(ctl_args_next(a));
	err = strchr(code, '/') ? "not a code" : ctl_lineage_parse(code, lineage, &era);
	if (err)
		return ctl_usage(a, "force '%s': %s", code, err);
	for (i = 0; code[i]; i++)
		if (code[i] >= 'A' && code[i] <= 'F')
			code[i] += 'a' - 'A';
	asked->code = code;
	return CTL_OK;
}

static int parse(struct ctl_args *a, struct asked *asked)
{
	static const struct ctl_key node_key = CTL_KEY("node", NULL, U32, 0);
	static const struct ctl_key logs_key = CTL_KEY("logs", NULL, STR, 0);
	const char *word;
	int rc;

	if (!a->argc)
		return ctl_usage(a, "the node is missing");
	if (!strcmp(a->argv[0], "node"))
		ctl_args_next(a);
	rc = ctl_args_value(a, &node_key, &asked->node, "");
	while (!rc && (word = ctl_args_next(a))) {
		if (is_force(word) && !asked->force) {
			asked->force = true;
			rc = take_code(a, asked);
		} else if (!strcmp(word, "logs")) {
			rc = ctl_args_value(a, &logs_key, &asked->logs, "");
		} else {
			rc = ctl_usage(a, "'%s' is not known here; there is: logs force", word);
		}
	}
	return rc;
}

/* ---- consent --------------------------------------------------------------------------- */

static int write_line(int fd, const char *code)
{
	char line[2 * SPINDLE_LINEAGE_LEN + 2];
	int len = snprintf(line, sizeof(line), "%s\n", code);
	ssize_t n = write(fd, line, (size_t)len);

	if (n != len)
		return n < 0 ? errno : ENOSPC;
	return fsync(fd) ? errno : 0;
}

/* The name is given when the bytes are on disk. Return: an errno. */
static int put_consent(int dir, const char *code)
{
	int fd, err;

	if (unlinkat(dir, CONSENT_NEW, 0) && errno != ENOENT)
		return errno;
	fd = openat(dir, CONSENT_NEW, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return errno;
	err = write_line(fd, code);
	if (close(fd) && !err)
		err = errno;
	if (!err && renameat(dir, CONSENT_NEW, dir, CONSENT))
		err = errno;
	return !err && fsync(dir) ? errno : err;
}

static int consent(const struct asked *asked, const char *path)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	err = dir < 0 ? errno : put_consent(dir, asked->code);
	if (dir >= 0)
		close(dir);
	if (err) {
		ctl_err("log restart: cannot write %s/%s: %s", path, CONSENT, strerror(err));
		return CTL_FAILED;
	}
	return CTL_OK;
}

static int force(const struct asked *asked, const char *path, struct json_object *restart)
{
	const char *code = ctl_restart_code(restart);

	if (asked->code && (!*code || !strcmp(code, asked->code)))
		return consent(asked, path);
	if (asked->code)
		ctl_err("log restart: node %llu shows another code: %s",
			(unsigned long long)asked->node.num, code);
	else if (*code)
		ctl_err("log restart: nothing has changed; to consent: spindle-ctl log restart %llu "
			"--force %s", (unsigned long long)asked->node.num, code);
	else
		ctl_err("log restart: node %llu shows no restart that could be forced",
			(unsigned long long)asked->node.num);
	return CTL_FAILED;
}

/* spindle-ctl log restart NODE [logs DIR] [--force [CODE]] */
int ctl_log_restart(struct ctl_args *a)
{
	struct asked asked = { .force = false };
	struct json_object *restart;
	const char *dir, *path;
	int rc = parse(a, &asked);

	if (rc)
		return rc;
	dir = asked.logs.set ? asked.logs.str : CTL_LOGS_DIR;
	path = ctl_asprintf("%s/%llu", dir, (unsigned long long)asked.node.num);
	restart = ctl_restart_read(dir, asked.node.num);
	if (!restart) {
		ctl_err("log restart: spindle-logd of node %llu looks for no group",
			(unsigned long long)asked.node.num);
		return CTL_FAILED;
	}
	if (!asked.code && ctl_opts.json)
		ctl_json_print(restart);
	else if (!asked.code)
		ctl_restart_print_all(restart);
	return asked.force ? force(&asked, path, restart) : CTL_OK;
}
