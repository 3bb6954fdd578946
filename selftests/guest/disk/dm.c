// SPDX-License-Identifier: GPL-2.0-only
/* The device mapper, by its own calls, because a process of dmsetup for each cut takes longer. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <linux/dm-ioctl.h>
#include <linux/fs.h>

#include "disk-cuts.h"

#define ROOM		1024U
/* Sectors that a snapshot copies at once. */
#define CHUNK		8U

/* The words of a call, and room for what it needs behind them. */
struct dm_call {
	struct dm_ioctl head;
	char data[ROOM];
};

static int mapper(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = open("/dev/mapper/control", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		fail("no device mapper: %s", strerror(errno));
	return fd;
}

static void dm_call(const char *name, unsigned long request, struct dm_call *c)
{
	c->head.version[0] = DM_VERSION_MAJOR;
	c->head.data_size = sizeof(*c);
	c->head.data_start = offsetof(struct dm_call, data);
	snprintf(c->head.name, sizeof(c->head.name), "%s", name);
	if (ioctl(mapper(), request, c))
		fail("device mapper: call %lu for %s: %s", request & 0xff, name, strerror(errno));
}

/* Put an entry into the log of a device of dm-log-writes. */
void dm_mark(const char *device, const char *text)
{
	struct dm_call c = { 0 };
	struct dm_target_msg *m = (struct dm_target_msg *)c.data;

	snprintf(m->message, ROOM - sizeof(*m), "mark %s", text);
	dm_call(device, DM_TARGET_MSG, &c);
}

static uint64_t sectors_of(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t bytes;

	if (fd < 0 || ioctl(fd, BLKGETSIZE64, &bytes))
		fail("%s: %s", path, strerror(errno));
	close(fd);
	return bytes >> 9;
}

/* A device that begins as @origin, and whose writes go to @store. Its path is in @path. */
void dm_snapshot(const char *name, const char *origin, const char *store, char *path, uint32_t len)
{
	struct dm_call create = { 0 }, load = { 0 }, resume = { 0 };
	struct dm_target_spec *t = (struct dm_target_spec *)load.data;

	dm_call(name, DM_DEV_CREATE, &create);
	load.head.target_count = 1;
	t->length = sectors_of(origin);
	snprintf(t->target_type, sizeof(t->target_type), "snapshot");
	t->next = (uint32_t)(sizeof(*t) + 128);
	snprintf(load.data + sizeof(*t), 128, "%s %s N %u", origin, store, CHUNK);
	dm_call(name, DM_TABLE_LOAD, &load);
	dm_call(name, DM_DEV_SUSPEND, &resume);
	snprintf(path, len, "/dev/dm-%u", minor(create.head.dev));
}

void dm_remove(const char *name)
{
	struct dm_call c = { 0 };

	dm_call(name, DM_DEV_REMOVE, &c);
}
