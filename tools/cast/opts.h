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
 */
struct cast_opts {
	/** @node: own node id; 0: the only one there is */
	uint32_t node;
	/** @from: spindle-recv: the sender; 0: the first of @member */
	uint32_t from;
	/** @member: members, the sender first */
	uint32_t member[SPINDLE_MAX_MEMBERS];
	/** @members: entries of @member; 0: all of the view */
	uint32_t members;
	/** @group: number of the group */
	uint64_t group;
	/** @algorithm: enum spindle_rdmc_algorithm */
	uint32_t algorithm;
	/** @block: bytes of a block; 0: the kernel's default */
	uint32_t block;
	/** @timeout: seconds that a group may make no progress */
	uint32_t timeout;
	/** @wait: seconds to wait until all members have created the groups; 0: without end */
	uint32_t wait;
	/** @memory: bytes of files in memory at a time, but always one file */
	uint64_t memory;
	/** @verify: compare CRC32C */
	bool verify;
	/** @quiet: print errors only */
	bool quiet;
	/** @verbose: print more */
	bool verbose;
	/** @json: a line of JSON for each file and member */
	bool json;
	/** @device: device, or NULL */
	const char *device;
	/** @recursive: spindle-cast: also send directories */
	bool recursive;
	/** @keep_going: spindle-cast: a file that some receivers refuse still goes to the others */
	bool keep_going;
	/** @overwrite: spindle-recv: replace files that are different */
	bool overwrite;
	/** @fsync: spindle-recv: a file is on the disk before it gets its name */
	bool fsync;
	/** @loop: spindle-recv: receive one batch after the other */
	bool loop;
	/** @argv: files, or the directory */
	char **argv;
	/** @argc: entries of @argv */
	int argc;
};

int cast_opts_parse(struct cast_opts *o, int argc, char **argv, bool sender);

/* members.c: find the members if the command line does not name them */
int cast_members_find(struct cast_opts *o, bool sender);

#endif /* SPINDLE_CAST_OPTS_H */
