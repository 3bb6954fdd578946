// SPDX-License-Identifier: GPL-2.0-only
/*
 * How far a total restart is. See restart.h. The file is of another process, so nothing in it is
 * taken for granted.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <linux/spindle.h>

#include "common/out.h"
#include "common/util.h"
#include "restart.h"

/* Bytes of the longest file that is read: 64 subgroups that wait for 64 nodes each. */
#define BYTES	(128U << 10)
/* Bytes of a number in a list. */
#define NUMBER	24U
/* spindle-logd writes the file every 2 s. It may have to read its logs in between. */
#define AGE_S	60

static struct json_object *member(struct json_object *obj, const char *word, enum json_type type)
{
	struct json_object *val = NULL;

	if (!json_object_is_type(obj, json_type_object) ||
	    !json_object_object_get_ex(obj, word, &val) || !json_object_is_type(val, type))
		return NULL;
	return val;
}

static unsigned long long number(struct json_object *obj, const char *word)
{
	struct json_object *val = member(obj, word, json_type_int);

	return val ? json_object_get_uint64(val) : 0;
}

static const char *text(struct json_object *obj, const char *word)
{
	struct json_object *val = member(obj, word, json_type_string);

	return val ? ctl_clean(json_object_get_string(val)) : "";
}

/* A file that is old is of a process that was killed, although another one has its number now. */
static bool is_new(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && time(NULL) - st.st_mtime <= AGE_S;
}

/* A process that was killed leaves its file. */
static bool is_alive(struct json_object *obj)
{
	unsigned long long pid = number(obj, "pid");

	return pid && pid <= INT32_MAX && (!kill((pid_t)pid, 0) || errno == EPERM);
}

/**
 * ctl_restart_read() - read how far a total restart is
 * @dir: directory of spindle-logd
 * @node: id of the node
 *
 * Return: what spindle-logd says; NULL: there is no restart at this node.
 */
struct json_object *ctl_restart_read(const char *dir, uint64_t node)
{
	const char *path = ctl_asprintf("%s/%llu/restart", dir, (unsigned long long)node);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	char *bytes = ctl_alloc(BYTES);
	struct json_object *obj;
	ssize_t n;

	if (fd < 0)
		return NULL;
	n = is_new(fd) ? read(fd, bytes, BYTES - 1) : -1;
	close(fd);
	bytes[n < 0 ? 0 : n] = '\0';
	obj = json_tokener_parse(bytes);
	if (json_object_is_type(obj, json_type_object) && is_alive(obj))
		return obj;
	json_object_put(obj);
	return NULL;
}

/* The entries of an array that are looked at. */
static size_t entries(struct json_object *array, size_t most)
{
	size_t n = array ? json_object_array_length(array) : 0;

	return n < most ? n : most;
}

/* "2, 3" */
static const char *list(struct json_object *obj, const char *word)
{
	struct json_object *nodes = member(obj, word, json_type_array), *node;
	size_t i, n = entries(nodes, SPINDLE_MAX_MEMBERS), room = n * NUMBER + 1;
	char *all = ctl_alloc(room), *at = all;

	for (i = 0; i < n; i++) {
		node = json_object_array_get_idx(nodes, i);
		at += snprintf(at, room - (size_t)(at - all), "%s%llu", i ? ", " : "",
			       (unsigned long long)json_object_get_uint64(node));
	}
	return all;
}

/* "2 of these nodes have to report: 2, 3, 4" */
static const char *why(struct json_object *need)
{
	unsigned long long more = number(need, "more");
	const char *word = text(need, "why");

	if (!strcmp(word, "nodes"))
		return ctl_asprintf("%llu more of these nodes %s to be there: %s", more,
				    more == 1 ? "has" : "have", list(need, "nodes"));
	if (!strcmp(word, "logs"))
		return ctl_asprintf("%llu more of these nodes %s to have a readable log: %s",
				    more, more == 1 ? "has" : "have", list(need, "nodes"));
	if (!strcmp(word, "no-record"))
		return "no node has a view record";
	if (!strcmp(word, "conflict"))
		return "the records of nodes contradict each other";
	if (!strcmp(word, "unknown-range"))
		return "a member of an earlier view has to be there";
	if (!strcmp(word, "too-long"))
		return "there are too many views that are not established";
	return "nothing is missing";
}

/* What is gone of a subgroup, and what may be. */
static void print_loss(struct json_object *part)
{
	unsigned long long base = number(part, "base"), to = number(part, "to");

	if (to > base)
		printf("; %llu to %llu are not", base, to - 1);
	if (json_object_get_boolean(member(part, "open", json_type_boolean)))
		printf("; nodes that are away may know of more");
	putchar('\n');
}

static void print_need(struct json_object *need)
{
	printf("restart: subgroup %llu: %s (view %llu of era %llu)\n", number(need, "id"),
	       why(need), number(need, "vid"), number(need, "era"));
	if (!strcmp(text(need, "why"), "ready"))
		return;
	printf("restart: subgroup %llu: all below position %llu is there", number(need, "id"),
	       number(need, "base"));
	print_loss(need);
}

/**
 * ctl_restart_code() - the code of the restart that could be forced, or was
 * @restart: of ctl_restart_read()
 *
 * Return: the code; "": nothing is on show.
 */
const char *ctl_restart_code(struct json_object *restart)
{
	return text(member(restart, "forced", json_type_object), "code");
}

static bool has_begun(struct json_object *forced)
{
	return json_object_get_boolean(member(forced, "begun", json_type_boolean));
}

static void print_forced(struct json_object *restart)
{
	struct json_object *forced = member(restart, "forced", json_type_object);

	if (has_begun(forced))
		printf("restart: a group goes on without this node, because nodes %s were forced: "
		       "code %s\n", list(forced, "nodes"), text(forced, "code"));
	else if (forced)
		printf("restart: nodes %s could be forced to go on: code %s\n",
		       list(forced, "nodes"), text(forced, "code"));
	if (*text(restart, "consent"))
		printf("restart: the code %s has a consent, and no node that answers shows it\n",
		       text(restart, "consent"));
}

/**
 * ctl_restart_print() - print how far a total restart is, for people
 * @restart: of ctl_restart_read(); NULL: print nothing
 */
void ctl_restart_print(struct json_object *restart)
{
	struct json_object *needs = member(restart, "subgroups", json_type_array);
	size_t i, n = entries(needs, SPINDLE_MAX_SUBGROUPS);

	if (!restart)
		return;
	printf("restart: %s", text(restart, "state"));
	if (*list(restart, "answer"))
		printf("; nodes that answer: %s", list(restart, "answer"));
	if (*list(restart, "silent"))
		printf("; nodes that do not: %s", list(restart, "silent"));
	putchar('\n');
	if (number(restart, "bound"))
		printf("restart: the group runs in era %llu, and this node has promised era %llu\n",
		       number(restart, "runs"), number(restart, "bound"));
	if (json_object_get_boolean(member(restart, "spent", json_type_boolean)))
		puts("restart: no era is left, so this node can only join its group");
	if (*list(restart, "lists"))
		printf("restart: these nodes do not have the same subgroups with logs as this node: "
		       "%s\n", list(restart, "lists"));
	for (i = 0; i < n; i++)
		print_need(json_object_array_get_idx(needs, i));
	print_forced(restart);
}

/* What becomes of a subgroup if the administrator consents. */
static void print_part(struct json_object *part, bool begun)
{
	printf("forced: subgroup %llu: it %s at position %llu", number(part, "id"),
	       begun ? "has gone on" : "goes on", number(part, "base"));
	print_loss(part);
}

/**
 * ctl_restart_print_all() - print how far a total restart is, and what could be forced
 * @restart: of ctl_restart_read()
 */
void ctl_restart_print_all(struct json_object *restart)
{
	struct json_object *forced = member(restart, "forced", json_type_object);
	struct json_object *parts = member(forced, "subgroups", json_type_array);
	size_t i, n = entries(parts, SPINDLE_MAX_SUBGROUPS);

	ctl_restart_print(restart);
	for (i = 0; i < n; i++)
		print_part(json_object_array_get_idx(parts, i), has_begun(forced));
	if (has_begun(forced))
		puts("forced: with a consent, this node joins that group; what its logs have "
		     "behind these positions is kept beside them");
	else if (forced)
		puts("forced: each of these nodes needs the consent; the others are left behind, "
		     "and need it to come back");
}
