/* SPDX-License-Identifier: MIT */
/*
 * The core of topics: the directory of a domain, the match of writers and readers, the head of a
 * sample, and the cache of a reader. Documentation/design/topics.rst says how they fit together.
 *
 *	core.h		structs and functions
 *	inner.h		what the files share
 *	list.h		lists in arrays
 *	bytes.c		records of the control subgroup
 *	directory.c	a record at a position changes the directory
 *	snapshot.c	a directory as bytes, and its digest
 *	match.c		does a writer match a reader, and if not, why?
 *	sample.c	the head of a sample, and for which reader the sample is
 *	cache.c		samples that a reader has not taken
 *
 * Owner: the caller has all memory. Nothing here allocates any. Context: any; one thread at a time
 * for one directory or cache.
 */
#ifndef SPINDLE_DDS_CORE_H
#define SPINDLE_DDS_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <spindle/dds.h>

/* Participants of a domain: one for each node, so as many as a view has members. */
#define SPINDLE_DDS_PARTICIPANTS 64U
/* Topics of a domain: twice the thousand that a domain is designed for. */
#define SPINDLE_DDS_TOPICS	2048U
/* Writers and readers of a domain, with those that have gone and are remembered. */
#define SPINDLE_DDS_ENDPOINTS	16384U
/* Writers and readers of a participant, so that one participant cannot use up all entries. */
#define SPINDLE_DDS_OWN		1024U
/* Shared subgroups of a level. */
#define SPINDLE_DDS_SHARED	16U
/* The largest position: ids are one more, and a sum of ids does not overflow. */
#define SPINDLE_DDS_LSN_MAX	(1ULL << 62)
/* An index that is none. */
#define SPINDLE_DDS_NONE	UINT32_MAX

/* ---- records of the control subgroup --------------------------------------------------- */

/**
 * enum spindle_dds_kind - a record
 */
enum spindle_dds_kind {
	/** @SPINDLE_DDS_HELLO: the participant of a node begins */
	SPINDLE_DDS_HELLO = 1,
	/** @SPINDLE_DDS_ADD: a participant has a new writer or reader */
	SPINDLE_DDS_ADD,
	/** @SPINDLE_DDS_REMOVE: a participant removes a writer or reader of its own */
	SPINDLE_DDS_REMOVE,
	/** @SPINDLE_DDS_GONE: a participant has ended, as it says itself or as another one says */
	SPINDLE_DDS_GONE,
	/** @SPINDLE_DDS_DROP: a topic without writers and readers is forgotten */
	SPINDLE_DDS_DROP,
	/** @SPINDLE_DDS_BEAT: a participant with a lease is still there */
	SPINDLE_DDS_BEAT,
};

/**
 * struct spindle_dds_record - a message of the control subgroup
 */
struct spindle_dds_record {
	/** @kind: enum spindle_dds_kind */
	uint32_t kind;
	/** @shared: of HELLO: shared subgroups of each level, 1 to SPINDLE_DDS_SHARED */
	uint32_t shared;
	/** @name: of HELLO: name of the participant, for people */
	char name[SPINDLE_DDS_SHORT];
	/** @incarnation: of HELLO: a random number of the process */
	uint64_t incarnation;
	/** @lease_ms: of HELLO: the participant sends a record so often at least; 0: no promise */
	uint32_t lease_ms;
	/** @id: of all others but ADD: the writer or reader, the participant, the topic */
	uint64_t id;
	/** @number: of ADD: a number that the participant knows its record by */
	uint32_t number;
	/** @writer: of ADD: a writer, else a reader */
	bool writer;
	/** @topic: of ADD */
	struct spindle_dds_topic topic;
	/** @qos: of ADD */
	struct spindle_dds_qos qos;
};

/* Room for any record. */
#define SPINDLE_DDS_RECORD_BYTES 640U

size_t spindle_dds_put_record(const struct spindle_dds_record *record, uint8_t *to, size_t size);
bool spindle_dds_get_record(struct spindle_dds_record *record, const uint8_t *from, size_t len);
bool spindle_dds_good_qos(const struct spindle_dds_qos *qos);
bool spindle_dds_good_topic(const struct spindle_dds_topic *topic);
bool spindle_dds_good_hello(const struct spindle_dds_record *hello);

/* ---- the directory --------------------------------------------------------------------- */

/**
 * struct spindle_dds_link - place of an entry in a list
 */
struct spindle_dds_link {
	/** @prev: index of the entry before it, or SPINDLE_DDS_NONE */
	uint32_t prev;
	/** @next: index of the entry behind it, or SPINDLE_DDS_NONE */
	uint32_t next;
};

/**
 * struct spindle_dds_list - a list of entries of an array
 */
struct spindle_dds_list {
	/** @first: index of the first entry, or SPINDLE_DDS_NONE */
	uint32_t first;
	/** @last: index of the last entry, or SPINDLE_DDS_NONE */
	uint32_t last;
	/** @n: entries */
	uint32_t n;
};

/**
 * struct spindle_dds_participant - the participant of a node
 */
struct spindle_dds_participant {
	/** @id: one more than the position of its HELLO; 0: the entry is free */
	uint64_t id;
	/** @incarnation: the random number of its process */
	uint64_t incarnation;
	/** @node: node that has sent the HELLO */
	uint32_t node;
	/** @endpoints: writers and readers that it has */
	uint32_t endpoints;
	/** @lease_ms: it sends a record so often at least; 0: no promise */
	uint32_t lease_ms;
	/** @name: for people */
	char name[SPINDLE_DDS_SHORT];
};

/**
 * struct spindle_dds_entry - a topic of the directory
 */
struct spindle_dds_entry {
	/** @id: one more than the position of the record that made it; 0: the entry is free */
	uint64_t id;
	/** @topic: its description */
	struct spindle_dds_topic topic;
	/** @shared: number of its shared subgroup; of no meaning with a subgroup of its own */
	uint32_t shared;
	/** @maker: node that has made it */
	uint32_t maker;
	/** @endpoints: its writers and readers, linked by @of_topic, in order of their ids */
	struct spindle_dds_list endpoints;
	/** @chain: the next topic with the same hash of the name, or SPINDLE_DDS_NONE */
	uint32_t chain;
	/** @mark: number of the topic in a snapshot that is being written */
	uint32_t mark;
};

/**
 * struct spindle_dds_endpoint - a writer or a reader
 */
struct spindle_dds_endpoint {
	/** @id: one more than the position of its ADD; 0: the entry was never used */
	uint64_t id;
	/** @gone: one more than the position of the record that has removed it; 0: it is there */
	uint64_t gone;
	/** @topic_id: id of its topic, also when the topic is gone */
	uint64_t topic_id;
	/** @topic: index of its topic; of no meaning when it is gone */
	uint32_t topic;
	/** @node: node of its participant */
	uint32_t node;
	/** @number: the number that its participant knows it by */
	uint32_t number;
	/** @writer: a writer, else a reader */
	bool writer;
	/** @qos: what it offers or requests */
	struct spindle_dds_qos qos;
	/** @all: in @live or @left of the directory */
	struct spindle_dds_link all;
	/** @of_topic: in the list of its topic */
	struct spindle_dds_link of_topic;
	/** @chain: the next one with the same hash of the id, or SPINDLE_DDS_NONE */
	uint32_t chain;
};

/**
 * struct spindle_dds_limits - how much a directory holds
 *
 * All participants have to have the same limits, because these decide which records are refused.
 */
struct spindle_dds_limits {
	/** @topics: at most SPINDLE_DDS_TOPICS */
	uint32_t topics;
	/** @endpoints: at most SPINDLE_DDS_ENDPOINTS */
	uint32_t endpoints;
	/** @own: endpoints of a participant, and stored topics that a node has made */
	uint32_t own;
};

/* Heads of the chains of topics and of endpoints. */
#define SPINDLE_DDS_TOPIC_HEADS	1024U
#define SPINDLE_DDS_ID_HEADS	8192U

/**
 * struct spindle_dds_directory - participants, topics, writers and readers of a domain
 *
 * The records of the control subgroup up to a position decide what is in it, and nothing else.
 */
struct spindle_dds_directory {
	/** @position: one more than the position of the last record */
	uint64_t position;
	/** @shared: shared subgroups of each level, of the first HELLO; 0: there was none */
	uint32_t shared;
	/** @limits: how much it holds */
	struct spindle_dds_limits limits;
	/** @participants: participants that are there */
	uint32_t participants;
	/** @topics: topics that are there */
	uint32_t topics;
	/** @used: entries of @endpoint that were ever used, the first ones */
	uint32_t used;
	/** @live: endpoints that are there, in order of their ids */
	struct spindle_dds_list live;
	/** @left: endpoints that have gone, those that went first at the front */
	struct spindle_dds_list left;
	/** @participant: in no order */
	struct spindle_dds_participant participant[SPINDLE_DDS_PARTICIPANTS];
	/** @topic: in no order */
	struct spindle_dds_entry topic[SPINDLE_DDS_TOPICS];
	/** @endpoint: in no order */
	struct spindle_dds_endpoint endpoint[SPINDLE_DDS_ENDPOINTS];
	/** @topic_head: topics by the hash of the name */
	uint32_t topic_head[SPINDLE_DDS_TOPIC_HEADS];
	/** @id_head: endpoints by the hash of the id */
	uint32_t id_head[SPINDLE_DDS_ID_HEADS];
};

/**
 * enum spindle_dds_outcome - what became of a record, the same at all participants
 */
enum spindle_dds_outcome {
	/** @SPINDLE_DDS_DONE: the directory has changed */
	SPINDLE_DDS_DONE,
	/** @SPINDLE_DDS_NO_RECORD: the bytes are no record */
	SPINDLE_DDS_NO_RECORD,
	/** @SPINDLE_DDS_OLD: the directory has a position behind that of the record */
	SPINDLE_DDS_OLD,
	/** @SPINDLE_DDS_OTHER_SHARED: the domain has another number of shared subgroups */
	SPINDLE_DDS_OTHER_SHARED,
	/** @SPINDLE_DDS_TOO_MANY_PARTICIPANTS: SPINDLE_DDS_PARTICIPANTS are there */
	SPINDLE_DDS_TOO_MANY_PARTICIPANTS,
	/** @SPINDLE_DDS_NO_PARTICIPANT: the node has not said HELLO, or its participant is gone */
	SPINDLE_DDS_NO_PARTICIPANT,
	/** @SPINDLE_DDS_TOO_MANY_OWN: the participant has too many endpoints or stored topics */
	SPINDLE_DDS_TOO_MANY_OWN,
	/** @SPINDLE_DDS_TOO_MANY_TOPICS: the directory has no room for another topic */
	SPINDLE_DDS_TOO_MANY_TOPICS,
	/** @SPINDLE_DDS_TOO_MANY_ENDPOINTS: the directory has no room for another endpoint */
	SPINDLE_DDS_TOO_MANY_ENDPOINTS,
	/** @SPINDLE_DDS_OTHER_TYPE: the topic has another type */
	SPINDLE_DDS_OTHER_TYPE,
	/** @SPINDLE_DDS_OTHER_HASH: the type of the topic has another hash */
	SPINDLE_DDS_OTHER_HASH,
	/** @SPINDLE_DDS_OTHER_LEVEL: the topic has another level */
	SPINDLE_DDS_OTHER_LEVEL,
	/** @SPINDLE_DDS_OTHER_KEYS: the topic has keys, or it has none */
	SPINDLE_DDS_OTHER_KEYS,
	/** @SPINDLE_DDS_OTHER_SUBGROUP: the topic is in another subgroup */
	SPINDLE_DDS_OTHER_SUBGROUP,
	/** @SPINDLE_DDS_NOT_THERE: there is no endpoint, participant or topic with this id */
	SPINDLE_DDS_NOT_THERE,
	/** @SPINDLE_DDS_NOT_OWN: the endpoint belongs to another participant */
	SPINDLE_DDS_NOT_OWN,
	/** @SPINDLE_DDS_IN_USE: the topic has writers or readers */
	SPINDLE_DDS_IN_USE,
	/** @SPINDLE_DDS_OUTCOMES: not an outcome, but how many there are */
	SPINDLE_DDS_OUTCOMES
};

void spindle_dds_directory_init(struct spindle_dds_directory *d,
				const struct spindle_dds_limits *limits);
enum spindle_dds_outcome spindle_dds_apply(struct spindle_dds_directory *d, uint64_t lsn,
					   uint32_t node, const uint8_t *from, size_t len);
const char *spindle_dds_outcome_words(enum spindle_dds_outcome outcome);
enum spindle_dds_outcome spindle_dds_compare(const struct spindle_dds_directory *d,
					     const struct spindle_dds_topic *topic);
const struct spindle_dds_participant *
spindle_dds_find_participant(const struct spindle_dds_directory *d, uint32_t node);
const struct spindle_dds_entry *spindle_dds_find_topic(const struct spindle_dds_directory *d,
						       const char *name);
const struct spindle_dds_endpoint *
spindle_dds_find_endpoint(const struct spindle_dds_directory *d, uint64_t id);
uint64_t spindle_dds_name_hash(const char *name);

/* ---- snapshots ------------------------------------------------------------------------- */

/* Room for the snapshot of any directory. */
#define SPINDLE_DDS_SNAPSHOT_BYTES (1024U + 64U * SPINDLE_DDS_PARTICIPANTS + \
				    384U * SPINDLE_DDS_TOPICS + 208U * SPINDLE_DDS_ENDPOINTS)

size_t spindle_dds_save(struct spindle_dds_directory *d, uint8_t *to, size_t size);
bool spindle_dds_load(struct spindle_dds_directory *d, const struct spindle_dds_limits *limits,
		      const uint8_t *from, size_t len);
uint64_t spindle_dds_digest(const struct spindle_dds_directory *d);

/* ---- matches --------------------------------------------------------------------------- */

/**
 * enum spindle_dds_mismatch - why a writer and a reader of a topic do not match
 */
enum spindle_dds_mismatch {
	/** @SPINDLE_DDS_MATCH: they match */
	SPINDLE_DDS_MATCH,
	/** @SPINDLE_DDS_LOW_LEVEL: the reader requests a higher level than the writer offers */
	SPINDLE_DDS_LOW_LEVEL,
	/** @SPINDLE_DDS_SHALLOW: the reader needs more samples of a key than are kept */
	SPINDLE_DDS_SHALLOW,
	/** @SPINDLE_DDS_TOO_LONG: the writer may write longer samples than the reader takes */
	SPINDLE_DDS_TOO_LONG,
	/** @SPINDLE_DDS_NO_PARTITION: they have no partition in common */
	SPINDLE_DDS_NO_PARTITION,
	/** @SPINDLE_DDS_MISMATCHES: not a reason, but how many there are */
	SPINDLE_DDS_MISMATCHES
};

enum spindle_dds_mismatch spindle_dds_match(const struct spindle_dds_qos *writer,
					    const struct spindle_dds_qos *reader);
const char *spindle_dds_match_words(const struct spindle_dds_qos *writer,
				    const struct spindle_dds_qos *reader, char *buf, size_t len);

/**
 * struct spindle_dds_counts - endpoints on the other side of the topic of an endpoint
 */
struct spindle_dds_counts {
	/** @matched: those that match the endpoint */
	uint32_t matched;
	/** @mismatched: those that do not */
	uint32_t mismatched;
	/** @first: the oldest one that does not match, or NULL */
	const struct spindle_dds_endpoint *first;
};

struct spindle_dds_counts spindle_dds_count(const struct spindle_dds_directory *d, uint64_t id);

/* ---- samples --------------------------------------------------------------------------- */

/* Bytes in front of a sample: without and with a key hash. Both are multiples of 8. */
#define SPINDLE_DDS_HEAD	40U
#define SPINDLE_DDS_KEYED_HEAD	(SPINDLE_DDS_HEAD + SPINDLE_DDS_HASH)

/**
 * struct spindle_dds_head - what a message of a topic's subgroup has in front of the sample
 */
struct spindle_dds_head {
	/** @topic: id of the topic */
	uint64_t topic;
	/** @writer: id of the writer */
	uint64_t writer;
	/** @sequence: number of the sample among those of the writer, from 1 on */
	uint64_t sequence;
	/** @time: source time, nanoseconds since 1970 */
	int64_t time;
	/** @flags: SPINDLE_DDS_KEYED, SPINDLE_DDS_DISPOSE, SPINDLE_DDS_UNREGISTER */
	uint32_t flags;
	/** @bytes: length of the sample */
	uint32_t bytes;
	/** @key: key hash; 0 without SPINDLE_DDS_KEYED */
	uint8_t key[SPINDLE_DDS_HASH];
};

/**
 * enum spindle_dds_verdict - is a sample for a reader?
 */
enum spindle_dds_verdict {
	/** @SPINDLE_DDS_TAKE: yes */
	SPINDLE_DDS_TAKE,
	/** @SPINDLE_DDS_OTHER: no: it is of another topic, or its writer does not match */
	SPINDLE_DDS_OTHER,
	/** @SPINDLE_DDS_AHEAD: the directory has to get to the record of the writer first */
	SPINDLE_DDS_AHEAD,
	/** @SPINDLE_DDS_FALSE: no honest participant has written this */
	SPINDLE_DDS_FALSE,
};

uint32_t spindle_dds_head_bytes(bool keyed);
void spindle_dds_put_head(const struct spindle_dds_head *head, uint8_t *to);
bool spindle_dds_get_head(struct spindle_dds_head *head, const uint8_t *from, size_t len);
enum spindle_dds_verdict spindle_dds_judge(const struct spindle_dds_directory *d,
					   const struct spindle_dds_endpoint *reader,
					   uint32_t node, const struct spindle_dds_head *head);

/* ---- the cache of a reader ------------------------------------------------------------- */

/**
 * enum spindle_dds_key_state - what the last sample of a key says
 */
enum spindle_dds_key_state {
	/** @SPINDLE_DDS_ALIVE: it has a value */
	SPINDLE_DDS_ALIVE,
	/** @SPINDLE_DDS_DISPOSED: a writer has disposed of it */
	SPINDLE_DDS_DISPOSED,
	/** @SPINDLE_DDS_UNREGISTERED: the writer of the last sample writes it no more */
	SPINDLE_DDS_UNREGISTERED,
};

/**
 * struct spindle_dds_cached - a sample in a cache
 */
struct spindle_dds_cached {
	/** @head: its head */
	struct spindle_dds_head head;
	/** @lsn: its position in the subgroup of the topic */
	uint64_t lsn;
	/** @node: node of the writer */
	uint32_t node;
	/** @key: index of its key */
	uint32_t key;
	/** @data: the bytes, of the caller */
	void *data;
	/** @order: in the order of arrival */
	struct spindle_dds_link order;
	/** @of_key: among the samples of its key */
	struct spindle_dds_link of_key;
};

/**
 * struct spindle_dds_key - a key in a cache
 */
struct spindle_dds_key {
	/** @hash: its hash */
	uint8_t hash[SPINDLE_DDS_HASH];
	/** @state: enum spindle_dds_key_state, of the last sample that arrived */
	uint32_t state;
	/** @used: the entry has a key */
	bool used;
	/** @writer: writer of the last sample that arrived */
	uint64_t writer;
	/** @samples: samples that were not taken, linked by @of_key */
	struct spindle_dds_list samples;
	/** @chain: the next key with the same hash, or SPINDLE_DDS_NONE */
	uint32_t chain;
	/** @idle: in the list of keys that may be forgotten */
	struct spindle_dds_link idle;
};

/**
 * struct spindle_dds_cache - samples that a reader has not taken
 *
 * The caller sets all fields up to @head, and then calls spindle_dds_cache_init().
 */
struct spindle_dds_cache {
	/** @depth: keep the last so many samples of each key; 0: keep all */
	uint32_t depth;
	/** @max_samples: entries in @sample */
	uint32_t max_samples;
	/** @max_keys: entries in @key */
	uint32_t max_keys;
	/** @heads: entries in @head, a power of two */
	uint32_t heads;
	/** @sample: room for samples */
	struct spindle_dds_cached *sample;
	/** @key: room for keys */
	struct spindle_dds_key *key;
	/** @head: first keys of the chains */
	uint32_t *head;
	/** @order: samples in the order of arrival */
	struct spindle_dds_list order;
	/** @spare: entries of @sample that are free, linked by @order of the sample */
	struct spindle_dds_list spare;
	/** @idle: keys without samples that are not alive, and entries of @key that are free */
	struct spindle_dds_list idle;
	/** @replaced: samples that a later one of their key has replaced */
	uint64_t replaced;
};

/**
 * enum spindle_dds_kept - what became of a sample
 */
enum spindle_dds_kept {
	/** @SPINDLE_DDS_KEPT: the cache has it */
	SPINDLE_DDS_KEPT,
	/** @SPINDLE_DDS_REPLACED: the cache has it, and has given back the oldest one of the key */
	SPINDLE_DDS_REPLACED,
	/** @SPINDLE_DDS_NO_NEWS: an unregister that changes nothing: the cache does not keep it */
	SPINDLE_DDS_NO_NEWS,
	/** @SPINDLE_DDS_SAMPLES_FULL: max_samples are there */
	SPINDLE_DDS_SAMPLES_FULL,
	/** @SPINDLE_DDS_KEYS_FULL: max_keys are there */
	SPINDLE_DDS_KEYS_FULL,
};

void spindle_dds_cache_init(struct spindle_dds_cache *c);
enum spindle_dds_kept spindle_dds_cache_put(struct spindle_dds_cache *c,
					    const struct spindle_dds_cached *sample, void **out);
bool spindle_dds_cache_take(struct spindle_dds_cache *c, struct spindle_dds_cached *sample,
			    uint32_t *state);

#endif /* SPINDLE_DDS_CORE_H */
