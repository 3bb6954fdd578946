/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command lines of spindle-cast and spindle-recv.
 */
#ifndef SPINDLE_CAST_OPTS_H
#define SPINDLE_CAST_OPTS_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/spindle.h>

/* Exit codes beyond those of common/util.h. */
#define CAST_LOST	3

/**
 * struct cast_opts - options
 * @node: own node id; 0: the only one there is
 * @from: spindle-recv: the sender; 0: the first of @member
 * @member: members, the sender first
 * @members: entries of @member; 0: all of the view
 * @group: number of the group
 * @algorithm: enum spindle_rdmc_algorithm
 * @block: bytes of a block; 0: the kernel's default
 * @timeout: seconds that a group may make no progress
 * @wait: seconds to wait until all members have created the groups; 0: without end
 * @memory: bytes of files in memory at a time, but always one file
 * @verify: compare CRC32C
 * @quiet: print errors only
 * @verbose: print more
 * @json: a line of JSON for each file and member
 * @device: device, or NULL
 * @recursive: spindle-cast: also send directories
 * @keep_going: spindle-cast: a file that some receivers refuse still goes to the others
 * @overwrite: spindle-recv: replace files that are different
 * @fsync: spindle-recv: a file is on the disk before it gets its name
 * @loop: spindle-recv: receive one batch after the other
 * @argv: files, or the directory
 * @argc: entries of @argv
 */
struct cast_opts {
	uint32_t node;
	uint32_t from;
	uint32_t member[SPINDLE_MAX_MEMBERS];
	uint32_t members;
	uint64_t group;
	uint32_t algorithm;
	uint32_t block;
	uint32_t timeout;
	uint32_t wait;
	uint64_t memory;
	bool verify;
	bool quiet;
	bool verbose;
	bool json;
	const char *device;
	bool recursive;
	bool keep_going;
	bool overwrite;
	bool fsync;
	bool loop;
	char **argv;
	int argc;
};

int cast_opts_parse(struct cast_opts *o, int argc, char **argv, bool sender);

/* members.c: find the members if the command line does not name them */
int cast_members_find(struct cast_opts *o, bool sender);

#endif /* SPINDLE_CAST_OPTS_H */
