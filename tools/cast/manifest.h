/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages of spindle-cast and spindle-recv beside the bytes of files.
 *
 * GROUP is the number of option -g. There are groups of two kinds:
 *
 *	GROUP << 16		all members, the sender first
 *	GROUP << 16 | R the receiver of rank R as the root, and the sender
 *
 *	sender				receiver of rank R
 *	------				------------------
 *	MANIFEST: names, sizes,
 *	  modes, times, CRC32C	---->	looks what it has
 *				<----	REPLY of each file: need, have, or why not
 *	DECISION of each file:
 *	  send, skip, or why not ---->	makes files of no bytes
 *	files, as objects with
 *	  tag = index + 1	---->	writes them, checks CRC32C
 *	close			---->
 *				<----	REPORT of each file: ok, had, or what failed; close
 *
 * MANIFEST is the object with tag 0, DECISION the one with tag CAST_TAG_DECISION. A receiver that
 * does not need a file still receives its object, because the receiver relays blocks to other
 * receivers. It drops the object afterwards.
 *
 * All of these messages begin with a header; numbers have their least significant byte first:
 *
 *	u32 magic, u16 version, u16 kind, u64 batch, u32 files, u32 length, text
 *
 * The text says why the whole batch is refused. In a MANIFEST, an entry for each file follows:
 *
 *	u64 size, s64 seconds, u32 nanoseconds, u32 mode, u32 crc, u32 length, name
 *
 * In the other messages, an entry for each file follows, in the order of the manifest:
 *
 *	u32 verdict, u32 length, text
 *
 * A reader trusts none of this. It is an error if an entry does not have its length to the byte, if
 * a name leads out of a directory, or if a name occurs twice.
 */
#ifndef SPINDLE_CAST_MANIFEST_H
#define SPINDLE_CAST_MANIFEST_H

#include <stddef.h>
#include <stdint.h>

#define CAST_VERSION		1U
#define CAST_TEXT_MAX		(64U << 20)	/* bytes of any of these messages */
#define CAST_NAME_MAX		4095U
#define CAST_WHY_MAX		1024U		/* bytes of a reason */
#define CAST_TAG_MANIFEST	0U
#define CAST_TAG_DECISION	UINT64_MAX

enum cast_kind {
	CAST_MANIFEST = 1,
	CAST_REPLY,
	CAST_DECISION,
	CAST_REPORT
};

/**
 * enum cast_verdict - state of a file
 */
enum cast_verdict {
	/** @CAST_NO: it is refused, or has failed; the text says why */
	CAST_NO,
	/** @CAST_YES: REPLY: it is needed; DECISION: it is sent; REPORT: it is complete */
	CAST_YES,
	/**
	 * @CAST_HAD: REPLY, REPORT: the same file was there before; DECISION: all receivers have it
	 */
	CAST_HAD,
	CAST_VERDICTS
};

/**
 * struct cast_entry - a file
 */
struct cast_entry {
	/** @name: relative to the receiver's directory */
	char *name;
	/** @size: bytes */
	uint64_t size;
	/** @sec: time of the last modification */
	int64_t sec;
	/** @nsec: nanoseconds of that time */
	uint32_t nsec;
	/** @mode: permissions */
	uint32_t mode;
	/** @crc: CRC32C */
	uint32_t crc;
};

/**
 * struct cast_manifest - the files of a batch
 */
struct cast_manifest {
	/** @batch: a random number */
	uint64_t batch;
	/** @entry: files */
	struct cast_entry *entry;
	/** @count: entries of @entry */
	uint32_t count;
};

/**
 * struct cast_say - state of a file in an answer
 */
struct cast_say {
	/** @verdict: enum cast_verdict */
	uint32_t verdict;
	/** @why: a reason, or "" */
	const char *why;
};

/**
 * struct cast_answer - REPLY, DECISION or REPORT
 */
struct cast_answer {
	/** @kind: enum cast_kind */
	uint32_t kind;
	/** @batch: number of the batch, as in the manifest */
	uint64_t batch;
	/** @why: why the whole batch is refused, or "" */
	const char *why;
	/** @say: state of each file */
	struct cast_say *say;
	/** @count: entries of @say */
	uint32_t count;
};

const char *cast_name_check(const char *name, size_t len);

void *cast_manifest_pack(const struct cast_manifest *m, size_t *len);
const char *cast_manifest_parse(struct cast_manifest *m, const void *data, size_t len);
void *cast_answer_pack(const struct cast_answer *a, size_t *len);
const char *cast_answer_parse(struct cast_answer *a, const void *data, size_t len,
			      uint32_t kind, const struct cast_manifest *m);

#endif /* SPINDLE_CAST_MANIFEST_H */
