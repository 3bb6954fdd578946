/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command lines of spindle-cast and spindle-recv.
 */
#ifndef SPINDLE_CAST_OPTS_H
#define SPINDLE_CAST_OPTS_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/spindle.h>

/* Exit codes beyond those of ctl.h. */
#define CAST_LOST	3

/**
 * struct cast_opts - what was asked for
 * @node: own node id; 0: the only one there is
 * @from: spindle-recv: the sender; 0: the first of @member
 * @member: members, the sender first
 * @members: entries of @member; 0: all of the view
 * @group: number of the group
 * @algorithm: enum spindle_rdmc_algorithm
 * @block: bytes of a block; 0: the kernel's default
 * @timeout_ms: how long nothing may go on
 * @wait_ms: how long to wait until all members are there; 0: for ever
 * @memory: bytes of files in memory at a time, but always one file
 * @verify: compare CRC32C
 * @quiet: say nothing but errors
 * @verbose: say more
 * @json: a line of JSON for each file and member
 * @device: device, or NULL
 * @recursive: spindle-cast: directories, too
 * @keep_going: spindle-cast: files that somebody cannot take go to the others
 * @overwrite: spindle-recv: replace files that are different
 * @fsync: spindle-recv: files are on the disk before they have their names
 * @loop: spindle-recv: one batch after the other
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
	uint32_t timeout_ms;
	uint32_t wait_ms;
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

/* cast-members.c: who is there, where the command line does not say it */
int cast_members_find(struct cast_opts *o, bool sender);

#endif /* SPINDLE_CAST_OPTS_H */
