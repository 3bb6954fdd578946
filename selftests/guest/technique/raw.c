// SPDX-License-Identifier: GPL-2.0-only
/*
 * technique raw: SPINDLE_CMD_RAW_RUN as in spindle-perf, repeated until all writes are done. But
 * kind, size and count may have any value, and every answer is printed.
 *
 * The program prints "writes N", or "error NAME: TEXT" with the kernel's text. The exit status is 0
 * in both cases, because the script decides which one is right.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "technique.h"
#include "loop.h"

/* The sums of all answers. */
struct answers {
	uint64_t writes;
	uint64_t done;
};

static int take(void *ctx, const struct nlmsghdr *nlh)
{
	const struct nlattr *nest = nl_find(nl_attrs(nlh), nl_attrs_len(nlh), SPINDLE_A_RAW);
	struct answers *a = ctx;

	if (nest) {
		a->writes += nl_num(nl_find(nl_data(nest), nl_len(nest), SPINDLE_RAW_A_WRITES));
		a->done += nl_num(nl_find(nl_data(nest), nl_len(nest), SPINDLE_RAW_A_COUNT));
	}
	return 0;
}

static const char *name_of(int err)
{
	static const struct {
		int err;
		const char *name;
	} names[] = {
		{ EPERM, "EPERM" }, { ENOENT, "ENOENT" }, { ENODEV, "ENODEV" },
		{ EBUSY, "EBUSY" }, { EINVAL, "EINVAL" }, { ERANGE, "ERANGE" },
		{ EOPNOTSUPP, "EOPNOTSUPP" }, { ENOTCONN, "ENOTCONN" },
		{ ETIMEDOUT, "ETIMEDOUT" }, { ECANCELED, "ECANCELED" }, { EAGAIN, "EAGAIN" },
	};
	static char other[32];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].err == err)
			return names[i].name;
	snprintf(other, sizeof(other), "%d", err);
	return other;
}

int raw_main(int argc, char **argv)
{
	uint32_t node = 0, group = 0, size = 64, count = 100;
	uint8_t kind = SPINDLE_RAW_WRITE;
	struct answers all = { 0, 0 };
	static struct nl_req r;
	uint64_t before;
	struct nl_ack ack;
	struct nl nl;
	int c, err;

	while ((c = getopt(argc, argv, "n:g:k:s:c:")) != -1) {
		uint32_t v = optarg ? strtoul(optarg, NULL, 10) : 0;

		switch (c) {
		case 'n':
			node = v;
			break;
		case 'g':
			group = v;
			break;
		case 'k':
			kind = v;
			break;
		case 's':
			size = v;
			break;
		case 'c':
			count = v;
			break;
		default:
			return 2;
		}
	}
	err = nl_open(&nl);
	if (err)
		goto out;
	do {
		before = all.done;
		nl_begin(&nl, &r, SPINDLE_CMD_RAW_RUN, 0);
		nl_put_u32(&r, SPINDLE_A_NODE_ID, node);
		nl_put_u32(&r, SPINDLE_A_SUBGROUP_ID, group);
		nl_nest(&r, SPINDLE_A_RAW | NLA_F_NESTED);
		nl_put(&r, SPINDLE_RAW_A_KIND, &kind, sizeof(kind));
		nl_put_u32(&r, SPINDLE_RAW_A_SIZE, size);
		nl_put_u32(&r, SPINDLE_RAW_A_COUNT, count - before);
		nl_nest_end(&r);
		err = nl_talk(&nl, &r, &ack, take, &all);
	} while (!err && !ack.err && all.done > before && all.done < count);
out:
	if (err) {
		fprintf(stderr, "technique raw: %s\n", strerror(-err));
		return 1;
	}
	if (ack.err)
		printf("error %s: %s\n", name_of(-ack.err), ack.text);
	else
		printf("writes %llu\n", (unsigned long long)all.writes);
	return 0;
}
