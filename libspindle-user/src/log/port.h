/* SPDX-License-Identifier: MIT */
/*
 * What the log needs from its environment: files in one directory. The log makes no system call
 * and allocates nothing, so that the simulator runs the same code as a program.
 *
 * Owner: the embedder, which keeps the struct as long as the log. Context: that of the log.
 */
#ifndef SPINDLE_DLOG_PORT_H
#define SPINDLE_DLOG_PORT_H

#include <stdbool.h>
#include <stdint.h>

/**
 * enum spindle_dlog_kind - what a file is
 */
enum spindle_dlog_kind {
	/** @SPINDLE_DLOG_META: meta block; the id is 0 or 1 */
	SPINDLE_DLOG_META,
	/** @SPINDLE_DLOG_SEGMENT: segment; the id is its number */
	SPINDLE_DLOG_SEGMENT,
	/**
	 * @SPINDLE_DLOG_SPARE: a file of a segment's length without a number; the id is its place
	 */
	SPINDLE_DLOG_SPARE,
	/** @SPINDLE_DLOG_NEW: a file that is being made; the id is 0 */
	SPINDLE_DLOG_NEW,
	/** @SPINDLE_DLOG_FIX: a segment that is being repaired; the id is 0 */
	SPINDLE_DLOG_FIX,
};

/**
 * struct spindle_dlog_file - the name of a file
 */
struct spindle_dlog_file {
	/** @id: its number among the files of its kind */
	uint64_t id;
	/** @kind: enum spindle_dlog_kind */
	uint32_t kind;
};

/**
 * enum spindle_dlog_what - what an operation does
 */
enum spindle_dlog_what {
	/** @SPINDLE_DLOG_WRITE: write @len bytes of @buf at @offset of @file */
	SPINDLE_DLOG_WRITE,
	/** @SPINDLE_DLOG_SYNC: make durable what was written to @file before */
	SPINDLE_DLOG_SYNC,
	/**
	 * @SPINDLE_DLOG_CREATE: make @file of @len zeros, which are written and durable; its name
	 * is not. A file that has the name is replaced, and one that could not be made is removed
	 */
	SPINDLE_DLOG_CREATE,
	/** @SPINDLE_DLOG_RENAME: give @file the name @to, which no file has */
	SPINDLE_DLOG_RENAME,
	/**
	 * @SPINDLE_DLOG_REPLACE: give @file the name @to. A file that has the name loses it in the
	 * same moment, also if a crash comes
	 */
	SPINDLE_DLOG_REPLACE,
	/** @SPINDLE_DLOG_REMOVE: remove @file */
	SPINDLE_DLOG_REMOVE,
	/** @SPINDLE_DLOG_SYNC_DIR: make all names durable */
	SPINDLE_DLOG_SYNC_DIR,
};

/**
 * struct spindle_dlog_op - an operation
 */
struct spindle_dlog_op {
	/** @what: enum spindle_dlog_what */
	uint32_t what;
	/** @token: for spindle_dlog_done() */
	uint32_t token;
	/** @file: the file */
	struct spindle_dlog_file file;
	/** @to: its next name */
	struct spindle_dlog_file to;
	/** @offset: a multiple of the block */
	uint64_t offset;
	/** @len: bytes, a multiple of the block */
	uint32_t len;
	/** @buf: stays as it is until the operation ends */
	const void *buf;
};

/**
 * struct spindle_dlog_port - the environment
 */
struct spindle_dlog_port {
	/** @env: first argument of the calls */
	void *env;
	/**
	 * @through: a write that has ended is durable (O_DIRECT and O_DSYNC). Without it, the log
	 * asks for a sync behind its writes.
	 */
	bool through;
	/**
	 * @submit: begin an operation. The embedder calls spindle_dlog_done() when it has ended,
	 * never inside of this call. Operations end in any order.
	 */
	void (*submit)(void *env, const struct spindle_dlog_op *op);
	/**
	 * @read: read what the disk has, and not what a page cache believes (O_DIRECT). After a
	 * sync has failed, a page may be clean and not be on the disk. Return: bytes, fewer behind
	 * the end of the file; or a negative errno.
	 */
	int (*read)(void *env, struct spindle_dlog_file file, uint64_t offset, void *buf,
		    uint32_t len);
	/** @size: bytes of the file. Return: 0 or a negative errno. */
	int (*size)(void *env, struct spindle_dlog_file file, uint64_t *bytes);
	/**
	 * @list: all files in the directory. Return: how many, or -E2BIG if there are more than
	 * @max.
	 */
	int (*list)(void *env, struct spindle_dlog_file *files, uint32_t max);
};

#endif /* SPINDLE_DLOG_PORT_H */
