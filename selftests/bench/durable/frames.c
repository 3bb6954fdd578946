// SPDX-License-Identifier: GPL-2.0-only
/*
 * The frames of a log: bench-frames DIR FROM TO. CSV of those whose first position is from FROM on
 * and below TO. It reads headers only, and believes them: spindle-ctl log verify looks at the rest.
 */
#define _GNU_SOURCE
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format.h"

struct sum {
	unsigned long long frames;
	unsigned long long bytes;
	unsigned long long messages;
};

static int read_segment(const char *path, uint64_t from, uint64_t to, struct sum *s)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct spindle_dlog_frame f;
	uint64_t at = 0, lsn;

	if (fd < 0)
		return -errno;
	while (pread(fd, &f, sizeof(f), at) == (ssize_t)sizeof(f) &&
	       le32toh(f.magic) == SPINDLE_DLOG_FRAME_MAGIC &&
	       le32toh(f.bytes) >= SPINDLE_DLOG_BLOCK_MIN) {
		lsn = le64toh(f.lsn);
		if (le32toh(f.count) && lsn >= from && lsn < to) {
			s->frames++;
			s->bytes += le32toh(f.bytes);
			s->messages += le32toh(f.count);
		}
		at += le32toh(f.bytes);
	}
	close(fd);
	return 0;
}

int main(int argc, char **argv)
{
	struct sum s = { 0 };
	char path[4096];
	uint64_t from, to;
	glob_t g;
	size_t i;
	int err;

	if (argc != 4) {
		fprintf(stderr, "usage: bench-frames DIR FROM TO\n");
		return 2;
	}
	from = strtoull(argv[2], NULL, 10);
	to = strtoull(argv[3], NULL, 10);
	snprintf(path, sizeof(path), "%s/*.seg", argv[1]);
	if (glob(path, 0, NULL, &g)) {
		fprintf(stderr, "bench-frames: there is no segment in %s\n", argv[1]);
		return 1;
	}
	for (i = 0; i < g.gl_pathc; i++) {
		err = read_segment(g.gl_pathv[i], from, to, &s);
		if (err) {
			fprintf(stderr, "bench-frames: %s: %s\n", g.gl_pathv[i], strerror(-err));
			return 1;
		}
	}
	globfree(&g);
	printf("frames,bytes,messages\n%llu,%llu,%llu\n", s.frames, s.bytes, s.messages);
	return 0;
}
