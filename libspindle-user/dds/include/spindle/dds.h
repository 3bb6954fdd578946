/* SPDX-License-Identifier: MIT */
/*
 * Topics over Spindle: participants, writers and readers of samples.
 *
 *	spindle_dds_open(&p, &opts);
 *	spindle_dds_reader_open(&r, p, &topic, &qos);
 *	spindle_dds_writer_open(&w, p, &topic, &qos);
 *	spindle_dds_write(w, "hello", 5, NULL);
 *	while (spindle_dds_wait(r, -1) >= 0)
 *		while ((n = spindle_dds_take(r, samples, 16)) > 0)
 *			samples[0].len bytes at samples[0].data, and so on
 *	spindle_dds_close(p);
 *
 * Documentation/use/topics.rst is an introduction. Documentation/design/topics.rst says how topics,
 * participants and subgroups fit together.
 *
 * Conventions
 * -----------
 * Functions return 0 or more on success and a negative errno on failure. spindle_dds_error() has
 * words for the last failure. They print nothing, and install no signal handler.
 *
 * Threads: a participant and its writers and readers are for one thread at a time. A participant
 * with a lease has a thread of its own, with all signals blocked, that sends heartbeats.
 *
 * Processes: nothing of this is inherited by fork().
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

/** SPINDLE_DDS_WHY - bytes of spindle_dds_status.why */
#define SPINDLE_DDS_WHY		384U

/** SPINDLE_DDS_NO_LEASE - in spindle_dds_opts.lease_ms: no heartbeats */
#define SPINDLE_DDS_NO_LEASE	UINT32_MAX

/**
 * SPINDLE_DDS_BEGIN - in spindle_dds_opts.flags: begin a domain if no participant gives its
 * directory within timeout_ms
 */
#define SPINDLE_DDS_BEGIN	(1U << 0)

/* Private to the library. */
struct spindle_dds;
struct spindle_dds_writer;
struct spindle_dds_reader;

/**
 * struct spindle_dds_opts - a participant
 *
 * Set the whole structure to zero first, then the fields that are needed. Strings are copied.
 */
struct spindle_dds_opts {
	/** @device: path of the device; NULL for SPINDLE_DEVICE */
	const char *device;
	/** @rdmc_device: path of the device of RDMC; NULL for SPINDLE_RDMC_DEVICE */
	const char *rdmc_device;
	/** @control: name of the control subgroup; NULL for "dds" */
	const char *control;
	/** @name: of the participant, for people, without spaces; NULL: none */
	const char *name;
	/** @node: id of a node in the caller's network namespace, which is a sender there */
	uint32_t node;
	/** @flags: SPINDLE_DDS_BEGIN, or 0 */
	uint32_t flags;
	/** @shared: shared subgroups of each level, 1 to 16; 0: as many as the domain has, or 1 */
	uint32_t shared;
	/** @timeout_ms: how long a call waits for others, milliseconds; 0 for 10 s */
	uint32_t timeout_ms;
	/**
	 * @lease_ms: others take the participant for dead when they have heard nothing of it for so
	 * long, milliseconds; 0 for 10 s
	 */
	uint32_t lease_ms;
	/** @late_samples: samples that a reader which comes late keeps, at most; 0 for 4096 */
	uint32_t late_samples;
	/** @resv: 0 */
	uint32_t resv[4];
};

/** SPINDLE_DDS_KEYED - in spindle_dds_sample.flags: the sample has a key hash */
#define SPINDLE_DDS_KEYED	(1U << 0)
/** SPINDLE_DDS_DISPOSE - the key of the sample is disposed of; the sample has no bytes */
#define SPINDLE_DDS_DISPOSE	(1U << 1)
/** SPINDLE_DDS_UNREGISTER - the writer writes this key no more; the sample has no bytes */
#define SPINDLE_DDS_UNREGISTER	(1U << 2)

/**
 * struct spindle_dds_info - what a sample has beside its bytes
 *
 * Set the whole structure to zero first, then the fields that are needed.
 */
struct spindle_dds_info {
	/** @key: key hash of SPINDLE_DDS_HASH bytes, of a topic with keys; else NULL */
	const uint8_t *key;
	/** @time: source time, nanoseconds since 1970; 0: now */
	int64_t time;
	/** @flags: SPINDLE_DDS_DISPOSE or SPINDLE_DDS_UNREGISTER without bytes, else 0 */
	uint32_t flags;
	/** @resv: 0 */
	uint32_t resv;
};

/**
 * struct spindle_dds_sample - a sample that a reader has taken
 */
struct spindle_dds_sample {
	/**
	 * @data: @len bytes, valid until the next spindle_dds_take(). They lie in the ring, where
	 * a writer that lies can still change them. So copy what has to stay as it was checked
	 */
	const void *data;
	/** @len: bytes; 0 with SPINDLE_DDS_DISPOSE and SPINDLE_DDS_UNREGISTER */
	uint32_t len;
	/** @flags: SPINDLE_DDS_KEYED, SPINDLE_DDS_DISPOSE, SPINDLE_DDS_UNREGISTER */
	uint32_t flags;
	/** @lsn: position in the subgroup; all readers of an ordered one have the same */
	uint64_t lsn;
	/** @writer: id of the writer */
	uint64_t writer;
	/** @sequence: number of the sample among those of its writer, as the writer says */
	uint64_t sequence;
	/** @time: source time, nanoseconds since 1970, as the writer says */
	int64_t time;
	/** @node: node of the writer */
	uint32_t node;
	/** @key: key hash; 0 without SPINDLE_DDS_KEYED */
	uint8_t key[SPINDLE_DDS_HASH];
	/** @resv: 0 */
	uint32_t resv;
};

/**
 * struct spindle_dds_topic_info - a topic of the domain
 */
struct spindle_dds_topic_info {
	/** @id: id of the topic, larger than that of all topics before it */
	uint64_t id;
	/** @writers: writers that are there */
	uint32_t writers;
	/** @readers: readers that are there */
	uint32_t readers;
	/** @topic: its description */
	struct spindle_dds_topic topic;
};

/**
 * struct spindle_dds_status - what a writer or a reader meets
 */
struct spindle_dds_status {
	/** @matched: readers that match the writer, or writers that match the reader */
	uint32_t matched;
	/** @mismatched: readers or writers of the topic that do not match */
	uint32_t mismatched;
	/** @other: id of the oldest one that does not match; 0: there is none */
	uint64_t other;
	/** @wrong: of a reader: messages of its subgroup that no honest participant has sent */
	uint64_t wrong;
	/**
	 * @oldest: of a reader of a topic that keeps samples: position of the oldest message in the
	 * history of its node when it was opened. What was sent before is not known to the reader
	 */
	uint64_t oldest;
	/** @why: why @other does not match, in words; empty: there is none */
	char why[SPINDLE_DDS_WHY];
};

/* ---- participants ---------------------------------------------------------------------- */

/**
 * spindle_dds_open() - become the participant of a node
 * @out: the participant; also set after an error but -ENOMEM, for spindle_dds_error()
 * @o: how
 *
 * Gets the directory of the domain: from the control subgroup, if the history of the node has that
 * from its first message on, or from another participant. An earlier participant of the node that
 * is still in the directory goes. May sleep.
 *
 * Return: 0; -ENOMEM; -EINVAL (an option); -ENODATA: no other participant has the directory, see
 * SPINDLE_DDS_BEGIN; -EMSGSIZE: the control subgroup has short messages; -ETIMEDOUT: the record did
 * not come back; -EPROTO: the record was refused; or the errors of spindle_replica_open(). After an
 * error the caller calls spindle_dds_close() all the same.
 */
SPINDLE_API int spindle_dds_open(struct spindle_dds **out, const struct spindle_dds_opts *o);

/**
 * spindle_dds_close() - end a participant, with its writers and readers
 * @p: the participant, or NULL
 *
 * Says so to the others, and waits until they know, at most for the time of the options. Without an
 * answer the others find out when the lease is over.
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
 * Return: the descriptor, which belongs to the participant.
 */
SPINDLE_API int spindle_dds_fd(const struct spindle_dds *p);

/**
 * spindle_dds_work() - look at what others have announced, and at what has become of them
 * @p: the participant
 *
 * Does not wait. A program calls this when spindle_dds_fd() is readable, because otherwise the
 * control subgroup stands still when its window is full. spindle_dds_wait() does so.
 *
 * Return: records that were applied; -ENOTCONN: others have taken this participant for dead, and
 * its writers and readers are gone; or the errors of spindle_replica_dispatch(). After an error
 * close the participant.
 */
SPINDLE_API int spindle_dds_work(struct spindle_dds *p);

/**
 * spindle_dds_topics() - list the topics of the domain
 * @p: the participant
 * @info: room for @n topics, filled in the order of their ids
 * @n: how many; 0 to count only
 *
 * As of the last spindle_dds_work().
 *
 * Return: topics that are there, which may be more than @n.
 */
SPINDLE_API uint32_t spindle_dds_topics(struct spindle_dds *p, struct spindle_dds_topic_info *info,
					uint32_t n);

/**
 * spindle_dds_find() - look for a topic
 * @p: the participant
 * @name: its name
 * @info: filled
 *
 * A program that knows the name of a topic alone opens its writer or reader with @info->topic.
 *
 * Return: 0; -ENOENT: there is no such topic, as of the last spindle_dds_work().
 */
SPINDLE_API int spindle_dds_find(struct spindle_dds *p, const char *name,
				 struct spindle_dds_topic_info *info);

/**
 * spindle_dds_level_string() - name a level
 * @which: enum spindle_dds_level
 *
 * Return: a constant lower-case word, also for unknown values.
 */
SPINDLE_API const char *spindle_dds_level_string(uint32_t which);

/* ---- writers --------------------------------------------------------------------------- */

/**
 * spindle_dds_writer_open() - announce a writer
 * @out: the writer; NULL after an error
 * @p: the participant
 * @topic: its topic, which is made if it is not there
 * @qos: what the writer offers
 *
 * May sleep.
 *
 * Return: 0; -EINVAL (topic or QoS); -ENOMEM; -EMSGSIZE: the subgroup has shorter messages than
 * @qos allows; -EOPNOTSUPP: the subgroup cannot carry the level; -EPROTO: the topic is another one,
 * or a limit was reached; -ETIMEDOUT: the record did not come back; -ENOTCONN as
 * spindle_dds_work(); or the errors of spindle_attach().
 */
SPINDLE_API int spindle_dds_writer_open(struct spindle_dds_writer **out, struct spindle_dds *p,
					const struct spindle_dds_topic *topic,
					const struct spindle_dds_qos *qos);

/**
 * spindle_dds_writer_close() - end a writer
 * @w: the writer, or NULL
 *
 * The last writer of a subgroup waits until its samples are sent, at most for the time of the
 * options.
 */
SPINDLE_API void spindle_dds_writer_close(struct spindle_dds_writer *w);

/**
 * spindle_dds_loan() - begin a sample in place
 * @w: the writer, which has no other sample that was begun
 * @len: room for its bytes
 * @data: set to @len bytes in the ring, aligned to 8
 *
 * Samples that other writers of this participant begin later, in the same subgroup, wait for this
 * one. So publish or abandon it soon. Does not wait.
 *
 * Return: 0; -EAGAIN: there is no room now; -EMSGSIZE: @len is above max_bytes of the writer;
 * -EBUSY: a sample was begun; -ENOTCONN as spindle_dds_work(); or the errors of spindle_reserve().
 */
SPINDLE_API int spindle_dds_loan(struct spindle_dds_writer *w, uint32_t len, void **data);

/**
 * spindle_dds_publish() - send the sample that was begun
 * @w: the writer
 * @len: its bytes, at most those of spindle_dds_loan()
 * @info: key, time and flags; NULL: all 0
 *
 * Return: 0; -EINVAL: nothing was begun, or @info does not fit to the topic; -EMSGSIZE: @len is too
 * large. After an error but the first the sample is still begun.
 */
SPINDLE_API int spindle_dds_publish(struct spindle_dds_writer *w, uint32_t len,
				    const struct spindle_dds_info *info);

/**
 * spindle_dds_abandon() - give up the sample that was begun, if there is one
 * @w: the writer
 */
SPINDLE_API void spindle_dds_abandon(struct spindle_dds_writer *w);

/**
 * spindle_dds_write() - send a copy of a sample
 * @w: the writer
 * @data: its bytes; may be NULL if @len is 0
 * @len: how many
 * @info: as spindle_dds_publish()
 *
 * Does not wait.
 *
 * Return: 0, or the errors of spindle_dds_loan() and spindle_dds_publish(), with nothing sent.
 */
SPINDLE_API int spindle_dds_write(struct spindle_dds_writer *w, const void *data, uint32_t len,
				  const struct spindle_dds_info *info);

/**
 * spindle_dds_writer_fd() - for poll(): writable when there is room for a sample
 * @w: the writer
 *
 * Return: the descriptor, which belongs to the participant.
 */
SPINDLE_API int spindle_dds_writer_fd(const struct spindle_dds_writer *w);

/**
 * spindle_dds_flush() - wait until all members have the samples that were published
 * @w: the writer
 * @timeout_ms: milliseconds, 0 only to ask, -1 without limit
 *
 * Waits for the samples of all writers of this participant in the subgroup. Readers of this
 * participant that have not taken their samples are waited for as well, unless the subgroup has a
 * history.
 *
 * Return: 0; -EBUSY: a sample was begun; or the errors of spindle_drain().
 */
SPINDLE_API int spindle_dds_flush(struct spindle_dds_writer *w, int timeout_ms);

/**
 * spindle_dds_writer_status() - which readers match a writer?
 * @w: the writer
 * @st: filled, as of the last spindle_dds_work()
 */
SPINDLE_API void spindle_dds_writer_status(const struct spindle_dds_writer *w,
					   struct spindle_dds_status *st);

/* ---- readers --------------------------------------------------------------------------- */

/**
 * spindle_dds_reader_open() - announce a reader
 * @out: the reader; NULL after an error
 * @p: the participant
 * @topic: its topic, which is made if it is not there
 * @qos: what the reader requests
 *
 * With a depth the reader first gets the last samples of each key that the history of its node has,
 * @qos->depth of each at most, and then all samples behind these. May sleep.
 *
 * Return: as spindle_dds_writer_open().
 */
SPINDLE_API int spindle_dds_reader_open(struct spindle_dds_reader **out, struct spindle_dds *p,
					const struct spindle_dds_topic *topic,
					const struct spindle_dds_qos *qos);

/**
 * spindle_dds_reader_close() - end a reader
 * @r: the reader, or NULL
 *
 * The samples that it has taken are not valid any more.
 */
SPINDLE_API void spindle_dds_reader_close(struct spindle_dds_reader *r);

/**
 * spindle_dds_reader_fd() - for poll(): readable when there may be samples
 * @r: the reader
 *
 * Call spindle_dds_take() until it returns 0 before poll(), because samples that are held keep the
 * descriptor readable.
 *
 * Return: the descriptor, which belongs to the reader.
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
 * Return: how many; 0 also when the next sample is of a writer that this node does not know yet.
 * -ESTALE: the history has overtaken the reader; -ENOBUFS: late_samples are too few; -ENOTCONN as
 * spindle_dds_work(); or the errors of spindle_next_batch(). After an error close the reader.
 */
SPINDLE_API int spindle_dds_take(struct spindle_dds_reader *r, struct spindle_dds_sample *s,
				 unsigned int most);

/**
 * spindle_dds_intact() - are the bytes of the samples that were taken still whole?
 * @r: the reader
 *
 * A history waits for no reader (spindle_intact()). A program whose subgroup has a history calls
 * this when it has read the bytes, and before it acts on them.
 *
 * Return: 1: they are; 0: none of them may be believed.
 */
SPINDLE_API int spindle_dds_intact(const struct spindle_dds_reader *r);

/**
 * spindle_dds_wait() - wait until there may be samples, and work in the meantime
 * @r: the reader, whose samples were taken: the last spindle_dds_take() has returned 0
 * @timeout_ms: milliseconds, 0 not to wait, -1 without limit
 *
 * Return: 1: call spindle_dds_take(); 0 when the time is up, or others have announced something;
 * -EINTR on a signal; or the errors of spindle_dds_work().
 */
SPINDLE_API int spindle_dds_wait(struct spindle_dds_reader *r, int timeout_ms);

/**
 * spindle_dds_reader_status() - which writers match a reader?
 * @r: the reader
 * @st: filled, as of the last spindle_dds_work()
 */
SPINDLE_API void spindle_dds_reader_status(const struct spindle_dds_reader *r,
					   struct spindle_dds_status *st);

#ifdef __cplusplus
}
#endif

#endif /* SPINDLE_DDS_H */
