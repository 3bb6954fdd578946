// SPDX-License-Identifier: GPL-2.0-only
/* The group file. See group.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/spindle.h>

#include "common/conf.h"
#include "common/live.h"
#include "format.h"
#include "group.h"
#include "pair.h"

#define NAME		"group"
#define NEW		"group.new"
#define LAST		"# CRC-32C "
/* Bytes of the last line. */
#define LAST_BYTES	(sizeof(LAST) - 1 + 9)

static const char note[] =
	"# Written by spindle-logd at each new view. A restart of the group begins from here.\n";

/* Behind that. No value has a line of its own that looks so. */
static const char due_note[] =
	"# The kernel does not have the tuning yet.\n";

static bool fail(char *why, const char *text)
{
	snprintf(why, LOGD_GROUP_WHY, "the group file %s", text);
	return false;
}

static bool fail_errno(char *why, const char *what, int err)
{
	snprintf(why, LOGD_GROUP_WHY, "cannot %s the group file: %s", what, strerror(err));
	return false;
}

/**
 * logd_group_drop() - give the memory of a group back
 * @group: the group, which is empty then
 */
void logd_group_drop(struct logd_group *group)
{
	if (group->pool)
		ctl_pool_drop(group->pool);
	free(group->pool);
	free(group->text);
	*group = (struct logd_group){ .is = false };
}

/* ---- what a file has to fulfil --------------------------------------------------- */

static bool are_members_good(const struct ctl_view *view)
{
	unsigned int i, k;

	if (!view->members || view->members > SPINDLE_MAX_MEMBERS)
		return false;
	for (i = 0; i < view->members; i++)
		for (k = 0; k < i; k++)
			if (view->member[i].id == view->member[k].id)
				return false;
	return true;
}

static bool are_subgroups_good(const struct ctl_view *view)
{
	unsigned int i, k;

	if (view->subgroups > SPINDLE_MAX_SUBGROUPS)
		return false;
	for (i = 0; i < view->subgroups; i++) {
		const struct ctl_val *id = &view->subgroup[i].val[CTL_SG_ID];

		if (!id->set || id->num > UINT32_MAX)
			return false;
		for (k = 0; k < i; k++)
			if (view->subgroup[k].val[CTL_SG_ID].num == id->num)
				return false;
	}
	return true;
}

static bool take_view(struct logd_group *group, struct ctl_view *view, char *why)
{
	uint8_t lineage[SPINDLE_LINEAGE_LEN];

	static_assert(sizeof(lineage) == sizeof(group->lineage), "a lineage has two words");
	if (!view->is_live || !view->vid.set || !view->vid.num || !view->lineage.set ||
	    ctl_lineage_parse(view->lineage.str, lineage, &group->era))
		return fail(why, "has no live view with a lineage");
	if (!are_members_good(view))
		return fail(why, "has no members, too many, or one twice");
	if (!are_subgroups_good(view))
		return fail(why, "has subgroups without an id, with the same one, or too many");
	memcpy(group->lineage, lineage, sizeof(lineage));
	group->view = *view;
	group->is = true;
	return true;
}

/* Return: whether the text has the note as a line. */
static bool is_due(const char *text, size_t len)
{
	const char *at = memmem(text, len, due_note, sizeof(due_note) - 1);

	return at && (at == text || at[-1] == '\n');
}

/* Return: whether the last line is the CRC of all before it. */
static bool is_whole(const char *text, size_t len)
{
	char last[LAST_BYTES + 1];

	if (len < LAST_BYTES)
		return false;
	snprintf(last, sizeof(last), LAST "%08x", spindle_dlog_crc(0, text, len - LAST_BYTES));
	return !memcmp(text + len - LAST_BYTES, last, LAST_BYTES - 1) && text[len - 1] == '\n';
}

static bool parse_conf(struct logd_group *group, char *why)
{
	FILE *f = fmemopen(group->text, group->len, "r");
	struct ctl_conf conf = { .file = NAME, .quiet = true, .tuned = true };
	int rc;

	if (!f)
		return fail_errno(why, "read", errno);
	rc = ctl_conf_parse(&conf, f);
	fclose(f);
	if (rc != CTL_OK)
		return fail(why, "cannot be read");
	if (conf.errors) {
		snprintf(why, LOGD_GROUP_WHY, "the group file is wrong: %s", conf.first);
		return false;
	}
	if (conf.views != 1 || conf.nodes)
		return fail(why, "has not just one view");
	return take_view(group, &conf.view[0], why);
}

/* Take a text, which belongs to the group from now on. */
static bool parse(struct logd_group *group, char *text, size_t len, char *why)
{
	struct ctl_pool *before;
	bool good;

	*group = (struct logd_group){ .text = text, .len = len, .due = is_due(text, len) };
	group->pool = calloc(1, sizeof(*group->pool));
	if (!group->pool) {
		good = fail_errno(why, "read", ENOMEM);
	} else if (!is_whole(text, len)) {
		good = fail(why, "is torn or was changed by hand: its last line is no CRC of it");
	} else {
		before = ctl_pool_use(group->pool);
		good = parse_conf(group, why);
		ctl_pool_use(before);
	}
	if (!good)
		logd_group_drop(group);
	return good;
}

/* ---- files ----------------------------------------------------------------------- */

/* Return: bytes of the file, at most one more than it may have; or -errno. */
static ssize_t read_text(int fd, char *text)
{
	size_t at = 0;
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	do {
		n = read(fd, text + at, LOGD_GROUP_BYTES + 1 - at);
		if (n < 0 && errno != EINTR)
			return -errno;
		at += n > 0 ? (size_t)n : 0;
	} while (n && at <= LOGD_GROUP_BYTES);
	return (ssize_t)at;
}

/**
 * logd_group_read() - read the group file
 * @group: out; logd_group_drop() gives its memory back
 * @dir: directory of the node
 * @why: out, LOGD_GROUP_WHY bytes: what is wrong
 *
 * Return: true, also if there is none; then @is is false.
 */
bool logd_group_read(struct logd_group *group, int dir, char *why)
{
	int fd = openat(dir, NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t n;
	char *text;

	*group = (struct logd_group){ .is = false };
	if (fd < 0)
		return errno == ENOENT || fail_errno(why, "open", errno);
	text = malloc(LOGD_GROUP_BYTES + 1);
	n = text ? read_text(fd, text) : -ENOMEM;
	close(fd);
	if (n >= 0 && n <= (ssize_t)LOGD_GROUP_BYTES)
		return parse(group, text, (size_t)n, why);
	free(text);
	return n < 0 ? fail_errno(why, "read", (int)-n) : fail(why, "is too long");
}

/* Return: the text of a view, which is allocated; NULL: no memory. */
static char *print(const struct ctl_view *view, bool due, size_t *len)
{
	const char *notes = ctl_asprintf("%s%s", note, due ? due_note : "");
	char *text = NULL;
	FILE *f = open_memstream(&text, len);

	if (!f)
		return NULL;
	ctl_conf_print_view(f, view, notes, true);
	fflush(f);
	fprintf(f, LAST "%08x\n", spindle_dlog_crc(0, text, *len));
	return fclose(f) ? NULL : text;
}

/**
 * logd_group_write() - have a view in the group file, on disk
 * @group: the present contents; out: the new ones
 * @dir: directory of the node
 * @view: the view, live, with its lineage; as "view set" takes it
 * @due: the kernel has to get its tuning
 * @why: out, LOGD_GROUP_WHY bytes: what is wrong
 *
 * Return: whether the file is on disk. If not, @group is as before, and so may be the file.
 */
bool logd_group_write(struct logd_group *group, int dir, const struct ctl_view *view, bool due,
		      char *why)
{
	struct logd_group now;
	size_t len = 0;
	char *text;
	int err;

	text = print(view, due, &len);
	if (!text)
		return fail_errno(why, "write", ENOMEM);
	if (group->is && group->len == len && !memcmp(group->text, text, len)) {
		free(text);
		return true;
	}
	if (!parse(&now, text, len, why))
		return false;
	err = len > LOGD_GROUP_BYTES ? -EFBIG :
	      logd_pair_replace(dir, NEW, NAME, (const uint8_t *)text, len);
	if (err) {
		logd_group_drop(&now);
		return fail_errno(why, "write", -err);
	}
	logd_group_drop(group);
	*group = now;
	return true;
}
