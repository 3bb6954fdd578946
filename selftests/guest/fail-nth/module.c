// SPDX-License-Identifier: GPL-2.0-only
/*
 * Load and remove the module.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fail-nth.h"
#include "hand.h"
#include "nth.h"
#include "path.h"
#include "shown.h"
#include "tap.h"

struct image {
	void *data;
	size_t len;
};

static int load(void *ctx)
{
	const struct image *im = ctx;
	int err;

	arm();
	err = syscall(SYS_init_module, im->data, im->len, "") ? -errno : 0;
	disarm();
	if (!err)
		open_eye();
	return err;
}

static void unload(void *ctx)
{
	(void)ctx;
	close(eye.fd);
	if (syscall(SYS_delete_module, "spindle", O_NONBLOCK))
		die("the module cannot be removed: %s", strerror(errno));
}

/* A node can be added: the module knows the device. */
static bool serves(void *ctx)
{
	struct hand h = { .node = 9 };
	unsigned int n = nth;
	int err;

	(void)ctx;
	nth = 0;
	err = node_add(&h);
	if (err)
		printf("# node add: %s\n", strerror(-err));
	else
		node_del(&h);
	nth = n;
	return !err;
}

void test_load(const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	struct stat st;
	struct image im;
	struct op op = { .name = "module load", .run = load, .undo = unload, .ctx = &im,
			 .errs = errs_mem, .after = serves };

	if (fd < 0 || fstat(fd, &st))
		die("%s: %s", file, strerror(errno));
	im.len = st.st_size;
	im.data = malloc(im.len);
	if (!im.data || read(fd, im.data, im.len) != (ssize_t)im.len)
		die("%s cannot be read", file);
	close(fd);
	path(&op);
}
