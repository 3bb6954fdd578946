/* SPDX-License-Identifier: MIT */
/*
 * Topics over Spindle: participants, writers and readers of samples.
 *
 *	spindle_dds_open(&p, &opts);
 *	spindle_dds_reader_open(&r, p, &topic, &qos);
 *	spindle_dds_writer_open(&w, p, &topic, &qos);
 *	spindle_dds_write(w, "hello", 5, NULL);
 *	n = spindle_dds_take(r, samples, 16);
 *
 * Documentation/design/topics.rst says how topics, participants and subgroups fit together.
 *
 * Conventions
 * -----------
 * Functions return 0 or more on success and a negative errno on failure. spindle_dds_error() has
 * words for the last failure. They print nothing. A participant and its writers and readers are for
 * one thread at a time.
 */
#ifndef SPINDLE_DDS_H
#define SPINDLE_DDS_H

#include <stdint.h>

#include <spindle/queue.h>

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

/* Private to the library. */
struct spindle_dds;
struct spindle_dds_writer;
struct spindle_dds_reader;

/**
 * struct spindle_dds_opts - a participant
 *
 * Set the whole structure to zero first, then the fields that are needed.
 */
struct spindle_dds_opts {
	/** @device: path of the device; NULL for SPINDLE_DEVICE */
	const char *device;
	/** @control: name of the control subgroup; NULL for "dds" */
	const char *control;
	/** @name: of the participant, for people; NULL: none */
	const char *name;
	/** @node: id of a node in the caller's network namespace */
	uint32_t node;
	/** @shared: shared subgroups of each level, 1 to 16, the same in a domain; 0 for 1 */
	uint32_t shared;
	/** @timeout_ms: how long a call waits for a record to come back; 0 for 10 s */
	uint32_t timeout_ms;
	/** @resv: 0 */
	uint32_t resv[5];
};

/**
 * struct spindle_dds_sample - a sample that a reader has taken
 */
struct spindle_dds_sample {
	/** @data: @len bytes in the ring, valid until the next spindle_dds_take() */
	const void *data;
	/** @len: bytes; 0 with SPINDLE_DDS_DISPOSE and SPINDLE_DDS_UNREGISTER */
	uint32_t len;
	/** @flags: SPINDLE_DDS_KEYED, SPINDLE_DDS_DISPOSE, SPINDLE_DDS_UNREGISTER */
	uint32_t flags;
	/** @lsn: position in the subgroup; all readers of an ordered one have the same */
	uint64_t lsn;
	/** @writer: id of the writer */
	uint64_t writer;
	/** @sequence: number of the sample among those of its writer, from 1 on */
	uint64_t sequence;
	/** @time: source time, nanoseconds since 1970 */
	int64_t time;
	/** @node: node of the writer */
	uint32_t node;
	/** @key: key hash; 0 without SPINDLE_DDS_KEYED */
	uint8_t key[SPINDLE_DDS_HASH];
};

/** SPINDLE_DDS_KEYED - the sample has a key hash */
#define SPINDLE_DDS_KEYED	(1U << 0)
/** SPINDLE_DDS_DISPOSE - the key of the sample is disposed of; no bytes follow */
#define SPINDLE_DDS_DISPOSE	(1U << 1)
/** SPINDLE_DDS_UNREGISTER - the writer writes this key no more; no bytes follow */
#define SPINDLE_DDS_UNREGISTER	(1U << 2)

/**
 * spindle_dds_open() - become the participant of a node
 * @out: the participant; also set after an error but -ENOMEM, for spindle_dds_error()
 * @o: how
 *
 * Reads the control subgroup from its first record on. A participant of the same node that has not
 * said that it goes, goes. Process context, may sleep.
 *
 * Return: 0; -ENOMEM; -EINVAL (an option); -ENODATA: the first records are not there any more;
 * -EOPNOTSUPP: the control subgroup has no order; -ETIMEDOUT: the record did not come back;
 * -EPROTO: the record was refused; or the errors of spindle_attach(). After an error the caller
 * calls spindle_dds_close() all the same.
 */
SPINDLE_API int spindle_dds_open(struct spindle_dds **out, const struct spindle_dds_opts *o);

/**
 * spindle_dds_close() - end a participant, with its writers and readers
 * @p: the participant, or NULL
 *
 * Says so, if there is room for the record. Otherwise the next participant of the node does.
 */
SPINDLE_API void spindle_dds_close(struct spindle_dds *p);

/**
 * spindle_dds_error() - say why the last call failed
 * @p: the participant
 *
 * Return: words, valid until the next call.
 */
SPINDLE_API const char *spindle_dds_error(const struct spindle_dds *p);

/**
 * spindle_dds_fd() - for poll(): readable when spindle_dds_work() has something to do
 * @p: the participant
 *
 * Return: the descriptor.
 */
SPINDLE_API int spindle_dds_fd(const struct spindle_dds *p);

/**
 * spindle_dds_work() - look at what others have announced
 * @p: the participant
 *
 * Does not wait. A program that waits for samples also calls this when spindle_dds_fd() is
 * readable, so that a writer that comes is known.
 *
 * Return: records that were applied, or a negative errno of spindle_dispatch().
 */
SPINDLE_API int spindle_dds_work(struct spindle_dds *p);

/**
 * spindle_dds_writer_open() - announce a writer
 * @out: the writer; NULL after an error
 * @p: the participant
 * @topic: its topic, which is made if it is not there
 * @qos: what the writer offers
 *
 * Return: 0; -EINVAL (topic or QoS); -ENOMEM; -EMSGSIZE: the subgroup has shorter messages than
 * @qos allows; -EOPNOTSUPP: the subgroup cannot carry the level; -EPROTO: the record was refused;
 * -ETIMEDOUT: it did not come back; or the errors of spindle_attach().
 */
SPINDLE_API int spindle_dds_writer_open(struct spindle_dds_writer **out, struct spindle_dds *p,
					const struct spindle_dds_topic *topic,
					const struct spindle_dds_qos *qos);

/**
 * spindle_dds_writer_close() - end a writer
 * @w: the writer, or NULL
 */
SPINDLE_API void spindle_dds_writer_close(struct spindle_dds_writer *w);

/**
 * spindle_dds_loan() - begin a sample in place
 * @w: the writer, which has no other sample that was begun
 * @len: its bytes
 * @data: set to room for them in the ring, aligned to 8
 *
 * Return: 0; -EAGAIN: there is no room now; -EMSGSIZE: @len is above max_bytes of the writer; -EBUSY:
 * a sample was begun; or the errors of spindle_reserve().
 */
SPINDLE_API int spindle_dds_loan(struct spindle_dds_writer *w, uint32_t len, void **data);

/**
 * spindle_dds_publish() - send the sample that was begun
 * @w: the writer
 * @key: key hash of SPINDLE_DDS_HASH bytes, of a topic with keys; else NULL
 *
 * Return: 0; -EINVAL: nothing was begun, or the topic needs a key hash, or has no keys.
 */
SPINDLE_API int spindle_dds_publish(struct spindle_dds_writer *w, const uint8_t *key);

/**
 * spindle_dds_write() - send a copy of a sample
 * @w: the writer
 * @data: its bytes
 * @len: how many
 * @key: as of spindle_dds_publish()
 *
 * Does not wait. Return: 0, or the errors of spindle_dds_loan() and spindle_dds_publish().
 */
SPINDLE_API int spindle_dds_write(struct spindle_dds_writer *w, const void *data, uint32_t len,
				  const uint8_t *key);

/**
 * spindle_dds_end_key() - say that a key has no value, or that the writer writes it no more
 * @w: the writer
 * @flag: SPINDLE_DDS_DISPOSE or SPINDLE_DDS_UNREGISTER
 * @key: as of spindle_dds_publish()
 *
 * Return: as spindle_dds_write(); -EINVAL for another flag.
 */
SPINDLE_API int spindle_dds_end_key(struct spindle_dds_writer *w, uint32_t flag,
				    const uint8_t *key);

/**
 * spindle_dds_reader_open() - announce a reader
 * @out: the reader; NULL after an error
 * @p: the participant
 * @topic: its topic, which is made if it is not there
 * @qos: what the reader requests
 *
 * Return: as spindle_dds_writer_open().
 */
SPINDLE_API int spindle_dds_reader_open(struct spindle_dds_reader **out, struct spindle_dds *p,
					const struct spindle_dds_topic *topic,
					const struct spindle_dds_qos *qos);

/**
 * spindle_dds_reader_close() - end a reader
 * @r: the reader, or NULL
 */
SPINDLE_API void spindle_dds_reader_close(struct spindle_dds_reader *r);

/**
 * spindle_dds_reader_fd() - for poll(): readable when there may be samples
 * @r: the reader
 *
 * Return: the descriptor.
 */
SPINDLE_API int spindle_dds_reader_fd(const struct spindle_dds_reader *r);

/**
 * spindle_dds_take() - take the next samples, and give back those of the call before
 * @r: the reader
 * @s: filled
 * @most: entries of @s
 *
 * Does not wait. Samples of writers that do not match are left out.
 *
 * Return: how many; 0 also when the next sample is of a writer that this node does not know yet; or
 * the errors of spindle_next_batch().
 */
SPINDLE_API int spindle_dds_take(struct spindle_dds_reader *r, struct spindle_dds_sample *s,
				 unsigned int most);

/**
 * spindle_dds_writer_matched() - how many readers match a writer?
 * @w: the writer
 *
 * Return: their number, as of the last spindle_dds_work().
 */
SPINDLE_API uint32_t spindle_dds_writer_matched(const struct spindle_dds_writer *w);

/**
 * spindle_dds_reader_matched() - how many writers match a reader?
 * @r: the reader
 *
 * Return: their number, as of the last spindle_dds_work().
 */
SPINDLE_API uint32_t spindle_dds_reader_matched(const struct spindle_dds_reader *r);

#ifdef __cplusplus
}
#endif

#endif /* SPINDLE_DDS_H */
