/* SPDX-License-Identifier: MIT */
/*
 * The format of the durable log on disk: frames, the records in them, and the meta block. All
 * numbers on disk are little endian.
 *
 *	format.h	structs on disk, and the functions that build and parse them
 *	port.h		what the log needs from its environment
 *	log.h		scan, writer, reader
 *	crc.c		CRC-32C
 *	frame.c		build and parse
 *	window.c	read frames through a buffer
 *	recover.c	what a crash has left
 *	writer.c	append, commit, *persisted*
 *	chores.c	segments made ahead, meta, trim
 *	reader.c	records from a position on, or from a time on
 *	fix.c	a damaged segment is written once more
 *
 * The page log.rst of the documentation says why the format is as it is.
 *
 * Owner: the caller has all buffers. Context: any; the functions keep no state.
 */
#ifndef SPINDLE_DLOG_FORMAT_H
#define SPINDLE_DLOG_FORMAT_H

#include <assert.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

#define SPINDLE_DLOG_FRAME_MAGIC		0x474c5053U	/* "SPLG" on disk */
#define SPINDLE_DLOG_META_MAGIC		0x4d4c5053U	/* "SPLM" on disk */
#define SPINDLE_DLOG_VERSION		1U
/* The smallest block, so that no block is smaller than a sector of a disk. */
#define SPINDLE_DLOG_BLOCK_MIN		512U
/* The meta block of the largest block that disks have fits into the buffers of each caller. */
#define SPINDLE_DLOG_BLOCK_MAX		4096U
/* Records begin at multiples of this, so that their headers are aligned. */
#define SPINDLE_DLOG_ALIGN		8U

/* The frame is the first one of its segment, and its body is a struct spindle_dlog_identity. */
#define SPINDLE_DLOG_HEAD		1U

/**
 * struct spindle_dlog_frame - in front of each frame, on disk
 */
struct spindle_dlog_frame {
	/** @magic: SPINDLE_DLOG_FRAME_MAGIC */
	uint32_t magic;
	/** @version: SPINDLE_DLOG_VERSION */
	uint16_t version;
	/** @flags: SPINDLE_DLOG_HEAD or 0 */
	uint16_t flags;
	/** @bytes: of the frame with its padding, a multiple of the block */
	uint32_t bytes;
	/** @used: bytes without the padding */
	uint32_t used;
	/** @count: records */
	uint32_t count;
	/** @prev: @crc of the frame before in this segment; 0 in the first one */
	uint32_t prev;
	/** @seq: number of the segment, which no other segment of this log ever has */
	uint64_t seq;
	/** @offset: of the frame in its segment */
	uint64_t offset;
	/** @lsn: position of the first record */
	uint64_t lsn;
	/** @base: @lsn of the first frame of the segment; all below was durable before it */
	uint64_t base;
	/** @acked: all below was durable here when the frame was submitted */
	uint64_t acked;
	/** @era: of the view in which the records were delivered */
	uint64_t era;
	/** @vid: id of this view */
	uint64_t vid;
	/** @time: nanoseconds of the wall clock; a frame is never before the one ahead of it */
	uint64_t time;
	/** @body: CRC-32C of all bytes behind this header, padding included */
	uint32_t body;
	/** @crc: CRC-32C of the salt of the log and of this header up to here */
	uint32_t crc;
};

static_assert(sizeof(struct spindle_dlog_frame) == 96, "a frame's header has 96 bytes");
static_assert(offsetof(struct spindle_dlog_frame, crc) == 92, "the CRC is the last word");

/**
 * struct spindle_dlog_record - in front of each message, on disk
 */
struct spindle_dlog_record {
	/** @len: bytes of the message, which follows; zeros pad it to SPINDLE_DLOG_ALIGN */
	uint32_t len;
	/** @flags: of the caller */
	uint32_t flags;
	/** @node: id of the sender's node */
	uint32_t node;
	/** @sender: rank of the sender in the view */
	uint32_t sender;
	/** @slot: index of the message among those of its sender */
	uint64_t slot;
};

static_assert(sizeof(struct spindle_dlog_record) == 24, "a record's header has 24 bytes");

/**
 * struct spindle_dlog_identity - what the first frame of a segment says about the log, on disk
 */
struct spindle_dlog_identity {
	/** @lineage: of the group */
	uint8_t lineage[16];
	/** @subgroup: its id */
	uint32_t subgroup;
	/** @node: id of the node that writes */
	uint32_t node;
	/** @block: bytes */
	uint32_t block;
	/** @segment: bytes */
	uint32_t segment;
};

static_assert(sizeof(struct spindle_dlog_identity) == 32, "an identity has 32 bytes");

/**
 * struct spindle_dlog_meta - the meta block, on disk; there are two, which take turns
 */
struct spindle_dlog_meta {
	/** @magic: SPINDLE_DLOG_META_MAGIC */
	uint32_t magic;
	/** @version: SPINDLE_DLOG_VERSION */
	uint32_t version;
	/** @number: grows by one with each write; its last bit is the number of the file */
	uint64_t number;
	/** @id: what the log is */
	struct spindle_dlog_identity id;
	/** @salt: random; starts the CRC of each frame, so that no message can hold a frame */
	uint64_t salt;
	/** @low: position of the first record that is kept */
	uint64_t low;
	/** @acked: all below was durable when the block was written */
	uint64_t acked;
	/** @seq: no segment had this number or a larger one when the block was written */
	uint64_t seq;
	/** @resv: 0 */
	uint32_t resv;
	/** @crc: CRC-32C of the bytes up to here */
	uint32_t crc;
};

static_assert(sizeof(struct spindle_dlog_meta) == 88, "a meta block has 88 bytes and zeros");

/**
 * struct spindle_dlog_ident - what a log is, and its sizes
 */
struct spindle_dlog_ident {
	/** @lineage: of the group */
	uint8_t lineage[16];
	/** @subgroup: its id */
	uint32_t subgroup;
	/** @node: id of the node that writes */
	uint32_t node;
	/** @block: bytes that frames are aligned to, a power of two */
	uint32_t block;
	/** @segment: bytes of a segment, a multiple of @block */
	uint32_t segment;
	/** @frame: bytes of the longest frame; limits what a parser accepts; not on disk */
	uint32_t frame;
	/** @salt: random number of the log */
	uint64_t salt;
};

/**
 * struct spindle_dlog_info - the header of a frame that was parsed
 */
struct spindle_dlog_info {
	/** @bytes: as on disk */
	uint32_t bytes;
	/** @used: as on disk */
	uint32_t used;
	/** @count: as on disk */
	uint32_t count;
	/** @flags: as on disk */
	uint32_t flags;
	/** @prev: as on disk */
	uint32_t prev;
	/** @crc: as on disk */
	uint32_t crc;
	/** @seq: as on disk */
	uint64_t seq;
	/** @offset: as on disk */
	uint64_t offset;
	/** @lsn: as on disk */
	uint64_t lsn;
	/** @end: position behind the last record */
	uint64_t end;
	/** @base: as on disk */
	uint64_t base;
	/** @acked: as on disk */
	uint64_t acked;
	/** @era: as on disk */
	uint64_t era;
	/** @vid: as on disk */
	uint64_t vid;
	/** @time: as on disk */
	uint64_t time;
};

/**
 * struct spindle_dlog_msg - a message, to append or as it was read
 */
struct spindle_dlog_msg {
	/** @lsn: its position */
	uint64_t lsn;
	/** @era: of the view that it was delivered in */
	uint64_t era;
	/** @vid: id of this view */
	uint64_t vid;
	/** @time: of the frame; unused by append */
	uint64_t time;
	/** @slot: index among the messages of its sender */
	uint64_t slot;
	/** @node: id of the sender's node */
	uint32_t node;
	/** @sender: rank of the sender */
	uint32_t sender;
	/** @flags: of the caller */
	uint32_t flags;
	/** @len: bytes at @data */
	uint32_t len;
	/** @data: the message; of one that was read, valid until the next call */
	const void *data;
};

/**
 * struct spindle_dlog_meta_state - what a meta block says, beside what the log is
 */
struct spindle_dlog_meta_state {
	/** @number: of the write */
	uint64_t number;
	/** @low: position of the first record that is kept */
	uint64_t low;
	/** @acked: all below was durable */
	uint64_t acked;
	/** @seq: no segment had this number or a larger one */
	uint64_t seq;
};

/**
 * struct spindle_dlog_build - a frame that is being filled
 */
struct spindle_dlog_build {
	/** @buf: the frame, aligned to the block */
	unsigned char *buf;
	/** @room: bytes at @buf, a multiple of the block */
	uint32_t room;
	/** @used: bytes that are filled, the header among them */
	uint32_t used;
	/** @count: records */
	uint32_t count;
};

/* CRC-32C of @len bytes behind those that gave @crc; 0 at first. */
uint32_t spindle_dlog_crc(uint32_t crc, const void *buf, size_t len);
uint32_t spindle_dlog_crc_table(uint32_t crc, const void *buf, size_t len);

bool spindle_dlog_ident_check(const struct spindle_dlog_ident *id);
void spindle_dlog_build_begin(struct spindle_dlog_build *b, void *buf, uint32_t room);
bool spindle_dlog_build_fits(const struct spindle_dlog_build *b, uint32_t len);
void spindle_dlog_build_add(struct spindle_dlog_build *b, const struct spindle_dlog_msg *m);
uint32_t spindle_dlog_build_seal(struct spindle_dlog_build *b, const struct spindle_dlog_ident *id,
				 struct spindle_dlog_info *info);
void spindle_dlog_head_build(void *buf, const struct spindle_dlog_ident *id,
			     struct spindle_dlog_info *info);
int spindle_dlog_header_parse(const void *buf, const struct spindle_dlog_ident *id, uint64_t seq,
			      uint64_t offset, struct spindle_dlog_info *info);
int spindle_dlog_body_check(const void *buf, const struct spindle_dlog_ident *id,
			    const struct spindle_dlog_info *info);
uint32_t spindle_dlog_record_parse(const void *buf, const struct spindle_dlog_info *info,
				   uint32_t at, struct spindle_dlog_msg *m);

void spindle_dlog_meta_build(void *buf, const struct spindle_dlog_ident *id,
			     const struct spindle_dlog_meta_state *state);
int spindle_dlog_meta_parse(const void *buf, struct spindle_dlog_ident *id,
			    struct spindle_dlog_meta_state *state);

#endif /* SPINDLE_DLOG_FORMAT_H */
