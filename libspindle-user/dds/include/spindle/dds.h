/* SPDX-License-Identifier: MIT */
/*
 * Topics over Spindle: what writers and readers say about topics.
 *
 * Documentation/design/topics.rst says how topics, participants and subgroups fit together.
 */
#ifndef SPINDLE_DDS_H
#define SPINDLE_DDS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** SPINDLE_DDS_NAME - bytes of a name of a topic or of a type, with its end */
#define SPINDLE_DDS_NAME	128U

/** SPINDLE_DDS_SUBGROUP - bytes of a name of a subgroup, with its end */
#define SPINDLE_DDS_SUBGROUP	65U

/** SPINDLE_DDS_SHORT - bytes of a name of a partition or of a participant, with its end */
#define SPINDLE_DDS_SHORT	32U

/** SPINDLE_DDS_PARTITIONS - partitions of a writer or of a reader, at most */
#define SPINDLE_DDS_PARTITIONS	4U

/** SPINDLE_DDS_HASH - bytes of a key hash and of a type hash */
#define SPINDLE_DDS_HASH	16U

/**
 * enum spindle_dds_level - what a topic promises, the weakest level first
 */
enum spindle_dds_level {
	/** @SPINDLE_DDS_UNORDERED: samples come when they are received, and are kept nowhere */
	SPINDLE_DDS_UNORDERED,
	/** @SPINDLE_DDS_ATOMIC: all readers get the samples of all writers in the same order */
	SPINDLE_DDS_ATOMIC,
	/** @SPINDLE_DDS_TRANSIENT: and a reader that comes late gets what memory keeps */
	SPINDLE_DDS_TRANSIENT,
	/** @SPINDLE_DDS_PERSISTENT: and samples are on disk before readers get them */
	SPINDLE_DDS_PERSISTENT,
	/** @SPINDLE_DDS_LEVELS: not a level, but how many there are */
	SPINDLE_DDS_LEVELS
};

/**
 * struct spindle_dds_topic - a topic, as each of its writers and readers describes it
 *
 * The first writer or reader makes the topic. All others have to describe it in the same way.
 */
struct spindle_dds_topic {
	/** @name: name of the topic: printable characters without spaces, at least one */
	char name[SPINDLE_DDS_NAME];
	/** @type: name of the type of its samples, as @name; empty: bytes without a type */
	char type[SPINDLE_DDS_NAME];
	/** @type_hash: hash of the type; 0: the type has none */
	uint8_t type_hash[SPINDLE_DDS_HASH];
	/** @subgroup: name of a subgroup of its own; empty: a shared subgroup of its level */
	char subgroup[SPINDLE_DDS_SUBGROUP];
	/** @level: enum spindle_dds_level */
	uint32_t level;
	/** @keyed: 1: each sample has a key hash; 0: the topic has one key */
	uint32_t keyed;
};

/**
 * struct spindle_dds_qos - what a writer offers, or what a reader requests
 *
 * Set the whole structure to zero first, then the fields that are needed.
 */
struct spindle_dds_qos {
	/** @level: enum spindle_dds_level; at most that of the topic */
	uint32_t level;
	/**
	 * @depth: of a writer: samples of each key that are kept for readers that come late; of a
	 * reader: how many of these it needs. 0: none
	 */
	uint32_t depth;
	/** @max_bytes: longest sample that the writer writes, or that the reader takes */
	uint32_t max_bytes;
	/** @partitions: entries in @partition; 0: the partition with the empty name */
	uint32_t partitions;
	/** @partition: names; a writer and a reader meet in a partition that both name */
	char partition[SPINDLE_DDS_PARTITIONS][SPINDLE_DDS_SHORT];
};

#ifdef __cplusplus
}
#endif

#endif /* SPINDLE_DDS_H */
