// SPDX-License-Identifier: GPL-2.0-only
/*
 * The running kernel: its files, its time, and its use of memory.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "machine.h"
#include "tap.h"

bool put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return good;
}

int get(const char *path, char *buf, int size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int n = fd < 0 ? -1 : read(fd, buf, size - 1);

	if (fd >= 0)
		close(fd);
	buf[n > 0 ? n : 0] = 0;
	return n;
}

void nap(int ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000L }, NULL);
}

long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000L + ts.tv_nsec / 1000000;
}

int engine_threads(void)
{
	char path[300], comm[64];
	const struct dirent *e;
	DIR *d = opendir("/proc");
	int n = 0;

	while (d && (e = readdir(d))) {
		snprintf(path, sizeof(path), "/proc/%s/comm", e->d_name);
		if (isdigit(e->d_name[0]) && get(path, comm, sizeof(comm)) > 0)
			n += !strncmp(comm, "spindle/", 8);
	}
	if (d)
		closedir(d);
	return n;
}

static long meminfo(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? atol(at + strlen(name)) / 4 : 0;
}

/*
 * The exact number of the module's mappings. The number of pages that are neither free nor counted
 * by the kernel for another use. KASAN keeps freed objects for a while, and these are pages of
 * slabs.
 */
struct usage usage(void)
{
	static const char * const others[] = {
		"MemFree:", "Buffers:", "Cached:", "Slab:", "AnonPages:", "PageTables:",
		"KernelStack:", "VmallocUsed:", "Percpu:",
	};
	static char text[1 << 20];
	struct usage u = { 0 };
	int fd = open("/proc/vmallocinfo", O_RDONLY | O_CLOEXEC), n = 0, got;
	const char *at;
	size_t i;

	while ((got = read(fd, text + n, sizeof(text) - 1 - n)) > 0)
		n += got;
	close(fd);
	text[n] = 0;
	for (at = text; (at = strstr(at, " [spindle]")); at++)
		u.maps++;
	put("/proc/sys/vm/drop_caches", "3");
	get("/proc/meminfo", text, 8192);
	u.pages = meminfo(text, "MemTotal:");
	for (i = 0; i < ARRAY_SIZE(others); i++)
		u.pages -= meminfo(text, others[i]);
	fd = get("/proc/zoneinfo", text, sizeof(text));
	for (at = text; (at = strstr(at, " count:")); at++)
		u.pages -= atol(at + 7);
	return u;
}
