// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules of topics, one by one.
 */
#include "inner.h"
#include "make.h"
#include "tap.h"

static struct spindle_dds_directory dir, other;
static uint8_t bytes[SPINDLE_DDS_RECORD_BYTES];
static uint8_t snapshot[SPINDLE_DDS_SNAPSHOT_BYTES];
static uint64_t lsn;

static const struct spindle_dds_limits small = { .topics = 3, .endpoints = 6, .own = 4 };

/* ---- builders ---------------------------------------------------------------------------- */

static void begin(const struct spindle_dds_limits *limits)
{
	spindle_dds_directory_init(&dir, limits);
	lsn = 0;
}

static enum spindle_dds_outcome say(uint32_t node, struct spindle_dds_record r)
{
	size_t len = spindle_dds_put_record(&r, bytes, sizeof(bytes));

	CHECK(len);
	return spindle_dds_apply(&dir, lsn++, node, bytes, len);
}

static uint64_t last(void)
{
	return lsn;
}

static struct spindle_dds_endpoint *end_of(uint64_t id)
{
	const struct spindle_dds_endpoint *e = spindle_dds_find_endpoint(&dir, id);

	return e ? &dir.endpoint[e - dir.endpoint] : NULL;
}

/* ---- records ------------------------------------------------------------------------------ */

static void records_come_back(void)
{
	struct spindle_dds_record r = make_add(5, SPINDLE_DDS_TRANSIENT, true), back;
	size_t len, i;

	r.topic.keyed = 1;
	strcpy(r.topic.subgroup, "own");
	r.qos.partitions = 2;
	strcpy(r.qos.partition[1], "b");
	len = spindle_dds_put_record(&r, bytes, sizeof(bytes));
	CHECK(spindle_dds_get_record(&back, bytes, len));
	CHECK(!memcmp(&r, &back, sizeof(r)));
	for (i = 0; i < len; i++)
		CHECK(!spindle_dds_get_record(&back, bytes, i));
	CHECK(!spindle_dds_get_record(&back, bytes, len + 1));
	CHECK(!spindle_dds_put_record(&r, bytes, len - 1));
	r = make_hello(4, 77);
	len = spindle_dds_put_record(&r, bytes, sizeof(bytes));
	CHECK(spindle_dds_get_record(&back, bytes, len));
	CHECK(!memcmp(&r, &back, sizeof(r)));
	bytes[4]++;
	CHECK(!spindle_dds_get_record(&back, bytes, len));
	bytes[4]--;
	bytes[0]++;
	CHECK(!spindle_dds_get_record(&back, bytes, len));
}

static bool taken(const struct spindle_dds_record *r)
{
	struct spindle_dds_record back;
	size_t len = spindle_dds_put_record(r, bytes, sizeof(bytes));

	return spindle_dds_get_record(&back, bytes, len);
}

static void the_longest_record_has_room(void)
{
	struct spindle_dds_record r = make_add(1, SPINDLE_DDS_PERSISTENT, true);
	uint32_t i;

	memset(r.topic.name, 'n', sizeof(r.topic.name) - 1);
	memset(r.topic.type, 't', sizeof(r.topic.type) - 1);
	memset(r.topic.subgroup, 's', sizeof(r.topic.subgroup) - 1);
	r.qos.partitions = SPINDLE_DDS_PARTITIONS;
	for (i = 0; i < SPINDLE_DDS_PARTITIONS; i++)
		memset(r.qos.partition[i], 'p', SPINDLE_DDS_SHORT - 1);
	CHECK(taken(&r));
}

static void wrong_records_are_refused(void)
{
	struct spindle_dds_record r;

	r = make_add(1, SPINDLE_DDS_LEVELS, true);
	CHECK(!taken(&r));
	r = make_add(1, SPINDLE_DDS_ATOMIC, true);
	r.qos.level = SPINDLE_DDS_TRANSIENT;
	CHECK(!taken(&r));
	r = make_add(1, SPINDLE_DDS_ATOMIC, true);
	r.qos.depth = 1;
	CHECK(!taken(&r));
	r = make_add(1, SPINDLE_DDS_ATOMIC, true);
	r.topic.name[0] = 0;
	CHECK(!taken(&r));
	r = make_add(1, SPINDLE_DDS_ATOMIC, true);
	r.topic.name[1] = '\n';
	CHECK(!taken(&r));
	r = make_add(1, SPINDLE_DDS_ATOMIC, true);
	r.topic.keyed = 2;
	CHECK(!taken(&r));
	r = make_hello(0, 1);
	CHECK(!taken(&r));
	r = make_hello(SPINDLE_DDS_SHARED + 1, 1);
	CHECK(!taken(&r));
	r = make_id(9, 1);
	CHECK(!taken(&r));
}

/* ---- the directory ------------------------------------------------------------------------ */

static void endpoints_come_and_go(void)
{
	uint64_t reader, writer;

	begin(NULL);
	CHECK_EQ(say(7, make_add(1, SPINDLE_DDS_ATOMIC, true)), SPINDLE_DDS_NO_PARTICIPANT);
	CHECK_EQ(say(7, make_hello(3, 1)), SPINDLE_DDS_DONE);
	CHECK_EQ(spindle_dds_find_participant(&dir, 7)->id, last());
	CHECK_EQ(say(7, make_add(1, SPINDLE_DDS_ATOMIC, true)), SPINDLE_DDS_DONE);
	writer = last();
	CHECK_EQ(spindle_dds_find_topic(&dir, "t1")->id, writer);
	CHECK_EQ(spindle_dds_find_topic(&dir, "t1")->shared, spindle_dds_name_hash("t1") % 3);
	CHECK_EQ(say(8, make_hello(3, 2)), SPINDLE_DDS_DONE);
	CHECK_EQ(say(8, make_add(1, SPINDLE_DDS_ATOMIC, false)), SPINDLE_DDS_DONE);
	reader = last();
	CHECK_EQ(end_of(reader)->topic_id, writer);
	CHECK_EQ(spindle_dds_count(&dir, reader).matched, 1);
	CHECK_EQ(spindle_dds_count(&dir, writer).matched, 1);
	CHECK_EQ(say(8, make_id(SPINDLE_DDS_REMOVE, writer)), SPINDLE_DDS_NOT_OWN);
	CHECK_EQ(say(7, make_id(SPINDLE_DDS_REMOVE, writer)), SPINDLE_DDS_DONE);
	CHECK_EQ(end_of(writer)->gone, last());
	CHECK_EQ(say(7, make_id(SPINDLE_DDS_REMOVE, writer)), SPINDLE_DDS_NOT_THERE);
	CHECK_EQ(spindle_dds_find_participant(&dir, 7)->endpoints, 0);
	CHECK_EQ(spindle_dds_count(&dir, reader).matched, 0);
	CHECK_EQ(spindle_dds_count(&dir, writer).matched, 0);
	/* The topic stays as long as it has the reader. */
	CHECK(spindle_dds_find_topic(&dir, "t1"));
	CHECK_EQ(say(8, make_id(SPINDLE_DDS_REMOVE, reader)), SPINDLE_DDS_DONE);
	CHECK(!spindle_dds_find_topic(&dir, "t1"));
}

static void the_first_description_counts(void)
{
	struct spindle_dds_record r;

	begin(NULL);
	say(1, make_hello(2, 1));
	CHECK_EQ(say(1, make_add(1, SPINDLE_DDS_ATOMIC, true)), SPINDLE_DDS_DONE);
	r = make_add(1, SPINDLE_DDS_ATOMIC, false);
	strcpy(r.topic.type, "other");
	CHECK_EQ(say(1, r), SPINDLE_DDS_OTHER_TYPE);
	r = make_add(1, SPINDLE_DDS_ATOMIC, false);
	r.topic.type_hash[15]++;
	CHECK_EQ(say(1, r), SPINDLE_DDS_OTHER_HASH);
	CHECK_EQ(say(1, make_add(1, SPINDLE_DDS_TRANSIENT, false)), SPINDLE_DDS_OTHER_LEVEL);
	r = make_add(1, SPINDLE_DDS_ATOMIC, false);
	r.topic.keyed = 1;
	CHECK_EQ(say(1, r), SPINDLE_DDS_OTHER_KEYS);
	r = make_add(1, SPINDLE_DDS_ATOMIC, false);
	strcpy(r.topic.subgroup, "mine");
	CHECK_EQ(say(1, r), SPINDLE_DDS_OTHER_SUBGROUP);
	CHECK_EQ(dir.live.n, 1);
	/* The same answer without a record. */
	CHECK_EQ(spindle_dds_compare(&dir, &r.topic), SPINDLE_DDS_OTHER_SUBGROUP);
	CHECK_EQ(spindle_dds_compare(&dir, &dir.topic[0].topic), SPINDLE_DDS_DONE);
	strcpy(r.topic.name, "t2");
	CHECK_EQ(spindle_dds_compare(&dir, &r.topic), SPINDLE_DDS_DONE);
}

static void a_hello_ends_the_one_before(void)
{
	uint64_t writer, first;

	begin(NULL);
	say(1, make_hello(2, 1));
	first = last();
	say(2, make_hello(2, 5));
	say(1, make_add(1, SPINDLE_DDS_ATOMIC, true));
	writer = last();
	say(2, make_add(1, SPINDLE_DDS_ATOMIC, false));
	CHECK_EQ(say(1, make_hello(2, 2)), SPINDLE_DDS_DONE);
	CHECK_EQ(end_of(writer)->gone, last());
	CHECK_EQ(dir.participants, 2);
	CHECK_EQ(dir.live.n, 1);
	CHECK_EQ(spindle_dds_find_participant(&dir, 1)->endpoints, 0);
	/* What others say of the first one does not hit the second one. */
	CHECK_EQ(say(2, make_id(SPINDLE_DDS_GONE, first)), SPINDLE_DDS_NOT_THERE);
	CHECK_EQ(say(2, make_id(SPINDLE_DDS_GONE, 0)), SPINDLE_DDS_NOT_THERE);
	CHECK_EQ(say(2, make_id(SPINDLE_DDS_GONE, spindle_dds_find_participant(&dir, 1)->id)),
		 SPINDLE_DDS_DONE);
	CHECK(!spindle_dds_find_participant(&dir, 1));
	CHECK_EQ(say(1, make_add(1, SPINDLE_DDS_ATOMIC, true)), SPINDLE_DDS_NO_PARTICIPANT);
}

static void beats_are_of_the_own_participant(void)
{
	uint64_t digest;

	begin(NULL);
	CHECK_EQ(say(1, make_id(SPINDLE_DDS_BEAT, 1)), SPINDLE_DDS_NOT_THERE);
	CHECK_EQ(say(1, make_hello(2, 1)), SPINDLE_DDS_DONE);
	CHECK_EQ(spindle_dds_find_participant(&dir, 1)->lease_ms, 10002);
	CHECK_EQ(say(2, make_hello(2, 1)), SPINDLE_DDS_DONE);
	digest = spindle_dds_digest(&dir);
	CHECK_EQ(say(2, make_id(SPINDLE_DDS_BEAT, 3)), SPINDLE_DDS_DONE);
	CHECK_EQ(say(1, make_id(SPINDLE_DDS_BEAT, 3)), SPINDLE_DDS_NOT_THERE);
	/* A beat leaves all as it is, but for the position. */
	CHECK_EQ(dir.position, lsn);
	dir.position -= 2;
	CHECK_EQ(spindle_dds_digest(&dir), digest);
}

static void shared_subgroups_are_those_of_the_first(void)
{
	begin(NULL);
	CHECK_EQ(say(1, make_hello(2, 1)), SPINDLE_DDS_DONE);
	CHECK_EQ(say(2, make_hello(3, 1)), SPINDLE_DDS_OTHER_SHARED);
	CHECK_EQ(say(1, make_id(SPINDLE_DDS_GONE, 1)), SPINDLE_DDS_DONE);
	CHECK_EQ(say(2, make_hello(3, 1)), SPINDLE_DDS_DONE);
	CHECK_EQ(say(2, make_add(1, SPINDLE_DDS_TRANSIENT, true)), SPINDLE_DDS_DONE);
	/* A stored topic is where it is, also without a participant. */
	CHECK_EQ(say(2, make_hello(4, 2)), SPINDLE_DDS_OTHER_SHARED);
	CHECK_EQ(dir.participants, 0);
	CHECK_EQ(say(2, make_hello(3, 2)), SPINDLE_DDS_DONE);
}

static void stored_topics_stay(void)
{
	uint64_t topic;

	begin(NULL);
	say(1, make_hello(2, 1));
	say(1, make_add(1, SPINDLE_DDS_PERSISTENT, true));
	topic = last();
	CHECK_EQ(say(1, make_id(SPINDLE_DDS_DROP, topic)), SPINDLE_DDS_IN_USE);
	CHECK_EQ(say(1, make_id(SPINDLE_DDS_REMOVE, topic)), SPINDLE_DDS_DONE);
	CHECK_EQ(spindle_dds_find_topic(&dir, "t1")->id, topic);
	CHECK_EQ(say(2, make_id(SPINDLE_DDS_DROP, 0)), SPINDLE_DDS_NOT_THERE);
	CHECK_EQ(say(2, make_id(SPINDLE_DDS_DROP, topic)), SPINDLE_DDS_DONE);
	CHECK(!spindle_dds_find_topic(&dir, "t1"));
	CHECK_EQ(dir.topics, 0);
}

static void limits_hold(void)
{
	uint32_t i;

	begin(&small);
	say(1, make_hello(2, 1));
	say(2, make_hello(2, 1));
	for (i = 0; i < 3; i++)
		CHECK_EQ(say(1, make_add(i, SPINDLE_DDS_ATOMIC, true)), SPINDLE_DDS_DONE);
	CHECK_EQ(say(2, make_add(3, SPINDLE_DDS_ATOMIC, true)), SPINDLE_DDS_TOO_MANY_TOPICS);
	CHECK_EQ(say(1, make_add(0, SPINDLE_DDS_ATOMIC, true)), SPINDLE_DDS_DONE);
	CHECK_EQ(say(1, make_add(0, SPINDLE_DDS_ATOMIC, true)), SPINDLE_DDS_TOO_MANY_OWN);
	CHECK_EQ(say(2, make_add(0, SPINDLE_DDS_ATOMIC, true)), SPINDLE_DDS_DONE);
	CHECK_EQ(say(2, make_add(0, SPINDLE_DDS_ATOMIC, true)), SPINDLE_DDS_DONE);
	CHECK_EQ(say(2, make_add(0, SPINDLE_DDS_ATOMIC, true)), SPINDLE_DDS_TOO_MANY_ENDPOINTS);
}

static void stored_topics_are_charged_to_the_maker(void)
{
	const struct spindle_dds_limits limits = { .topics = 9, .endpoints = 9, .own = 2 };
	uint32_t i;

	begin(&limits);
	say(1, make_hello(2, 1));
	say(2, make_hello(2, 1));
	for (i = 0; i < 2; i++) {
		CHECK_EQ(say(1, make_add(i, SPINDLE_DDS_TRANSIENT, true)), SPINDLE_DDS_DONE);
		CHECK_EQ(say(1, make_id(SPINDLE_DDS_REMOVE, last())), SPINDLE_DDS_DONE);
	}
	CHECK_EQ(say(1, make_add(2, SPINDLE_DDS_TRANSIENT, true)), SPINDLE_DDS_TOO_MANY_OWN);
	CHECK_EQ(say(1, make_add(2, SPINDLE_DDS_ATOMIC, true)), SPINDLE_DDS_DONE);
	CHECK_EQ(say(2, make_add(3, SPINDLE_DDS_TRANSIENT, true)), SPINDLE_DDS_DONE);
}

static void the_oldest_that_has_gone_is_forgotten(void)
{
	uint64_t id[8];
	uint32_t i;

	begin(&small);
	say(1, make_hello(2, 1));
	for (i = 0; i < 7; i++) {
		CHECK_EQ(say(1, make_add(0, SPINDLE_DDS_ATOMIC, true)), SPINDLE_DDS_DONE);
		id[i] = last();
		CHECK_EQ(say(1, make_id(SPINDLE_DDS_REMOVE, id[i])), SPINDLE_DDS_DONE);
		/* All ids have the same hash. */
		lsn += SPINDLE_DDS_ID_HEADS - 2;
	}
	CHECK(!spindle_dds_find_endpoint(&dir, id[0]));
	for (i = 1; i < 7; i++)
		CHECK(spindle_dds_find_endpoint(&dir, id[i]));
	CHECK_EQ(dir.used, 6);
}

static void too_many_participants_are_refused(void)
{
	uint32_t i;

	begin(NULL);
	for (i = 0; i < SPINDLE_DDS_PARTICIPANTS; i++)
		CHECK_EQ(say(i, make_hello(1, 1)), SPINDLE_DDS_DONE);
	CHECK_EQ(say(i, make_hello(1, 1)), SPINDLE_DDS_TOO_MANY_PARTICIPANTS);
	CHECK_EQ(say(0, make_hello(1, 2)), SPINDLE_DDS_DONE);
}

static void old_positions_change_nothing(void)
{
	uint64_t digest;

	begin(NULL);
	lsn = 10;
	CHECK_EQ(say(1, make_hello(2, 1)), SPINDLE_DDS_DONE);
	digest = spindle_dds_digest(&dir);
	lsn = 10;
	CHECK_EQ(say(2, make_hello(2, 1)), SPINDLE_DDS_OLD);
	lsn = SPINDLE_DDS_LSN_MAX + 1;
	CHECK_EQ(say(2, make_hello(2, 1)), SPINDLE_DDS_OLD);
	CHECK_EQ(spindle_dds_digest(&dir), digest);
	CHECK_EQ(spindle_dds_apply(&dir, 20, 1, bytes, 3), SPINDLE_DDS_NO_RECORD);
	CHECK_EQ(dir.position, 21);
	CHECK(spindle_dds_digest(&dir) != digest);
}

static void outcomes_have_words(void)
{
	uint32_t i, k;

	for (i = 0; i < SPINDLE_DDS_OUTCOMES; i++)
		for (k = 0; k < i; k++)
			CHECK(strcmp(spindle_dds_outcome_words(i), spindle_dds_outcome_words(k)));
	CHECK(!strcmp(spindle_dds_outcome_words(SPINDLE_DDS_OUTCOMES), "unknown"));
}

/* ---- snapshots ---------------------------------------------------------------------------- */

static void make_some(void)
{
	begin(&small);
	say(1, make_hello(2, 1));
	say(2, make_hello(2, 9));
	say(1, make_add(1, SPINDLE_DDS_ATOMIC, true));
	say(2, make_add(1, SPINDLE_DDS_ATOMIC, false));
	say(2, make_add(2, SPINDLE_DDS_TRANSIENT, true));
	say(2, make_id(SPINDLE_DDS_REMOVE, 4));
	say(2, make_id(SPINDLE_DDS_REMOVE, 5));
}

static void snapshots_come_back(void)
{
	size_t len, i;

	make_some();
	len = spindle_dds_save(&dir, snapshot, sizeof(snapshot));
	CHECK(len);
	CHECK(spindle_dds_load(&other, &small, snapshot, len));
	CHECK_EQ(spindle_dds_digest(&other), spindle_dds_digest(&dir));
	CHECK_EQ(spindle_dds_find_participant(&other, 2)->lease_ms, 10002);
	CHECK_EQ(spindle_dds_find_participant(&other, 1)->endpoints, 1);
	CHECK_EQ(other.left.n, 2);
	CHECK(spindle_dds_find_topic(&other, "t2"));
	CHECK(!spindle_dds_save(&dir, snapshot, len - 1));
	for (i = 0; i < len; i++) {
		CHECK(!spindle_dds_load(&other, &small, snapshot, i));
		CHECK_EQ(other.participants + other.topics + other.live.n, 0);
	}
}

static void snapshots_of_nonsense_are_refused(void)
{
	/* Id, end and topic of the writer that is there. */
	static const struct {
		uint64_t id, gone, topic_id;
	} writer = { .id = 3, .topic_id = 3 };
	static uint8_t copy[4096];
	uint8_t *at;
	size_t len;

	make_some();
	len = spindle_dds_save(&dir, snapshot, sizeof(copy));
	/* A topic that is not in the snapshot, and a byte too much. */
	memcpy(copy, snapshot, len);
	at = memmem(copy, len, &writer, sizeof(writer));
	CHECK(at);
	memset(at + sizeof(writer), 0x70, 4);
	CHECK(!spindle_dds_load(&other, &small, copy, len));
	CHECK(!spindle_dds_load(&other, &small, snapshot, len + 1));
	/* The domain without shared subgroups. */
	memcpy(copy, snapshot, len);
	memset(copy + 16, 0, 4);
	CHECK(!spindle_dds_load(&other, &small, copy, len));
	/* A participant of the future. */
	memcpy(copy, snapshot, len);
	copy[24] = 8;
	CHECK(!spindle_dds_load(&other, &small, copy, len));
	/* Two participants of one node. */
	memcpy(copy, snapshot, len);
	copy[24 + 32 + 16] = 1;
	CHECK(!spindle_dds_load(&other, &small, copy, len));
	/* A name of a participant that has no end, and the longest one. */
	memcpy(copy, snapshot, 48);
	memset(copy + 48, 0, 4);
	copy[48] = SPINDLE_DDS_SHORT;
	memset(copy + 52, 'x', SPINDLE_DDS_SHORT);
	memcpy(copy + 52 + SPINDLE_DDS_SHORT, snapshot + 56, len - 56);
	CHECK(!spindle_dds_load(&other, &small, copy, len - 4 + SPINDLE_DDS_SHORT));
	copy[48]--;
	memcpy(copy + 51 + SPINDLE_DDS_SHORT, snapshot + 56, len - 56);
	CHECK(spindle_dds_load(&other, &small, copy, len - 5 + SPINDLE_DDS_SHORT));
	/* Two participants of one record. */
	memcpy(copy, snapshot, len);
	copy[24 + 32] = 1;
	CHECK(!spindle_dds_load(&other, &small, copy, len));
	/* The writer that is there, at a node without participant. */
	memcpy(copy, snapshot, len);
	CHECK_EQ(dir.live.n, 1);
	dir.endpoint[dir.live.first].node = 3;
	len = spindle_dds_save(&dir, copy, sizeof(copy));
	CHECK(!spindle_dds_load(&other, &small, copy, len));
	/* Of another topic. */
	make_some();
	dir.endpoint[dir.live.first].topic_id = 5;
	len = spindle_dds_save(&dir, copy, sizeof(copy));
	CHECK(!spindle_dds_load(&other, &small, copy, len));
	/* Those that have gone, in another order. */
	make_some();
	dir.endpoint[dir.left.first].gone = dir.position;
	dir.endpoint[dir.left.last].gone = dir.position - 1;
	len = spindle_dds_save(&dir, copy, sizeof(copy));
	CHECK(!spindle_dds_load(&other, &small, copy, len));
	/* A topic that keeps nothing, without endpoints. */
	make_some();
	dir.topic[1].topic.level = SPINDLE_DDS_ATOMIC;
	len = spindle_dds_save(&dir, copy, sizeof(copy));
	CHECK(!spindle_dds_load(&other, &small, copy, len));
}

static void a_snapshot_keeps_to_the_limits(void)
{
	uint32_t i;
	size_t len;

	begin(NULL);
	say(1, make_hello(2, 1));
	say(2, make_hello(2, 1));
	for (i = 0; i < 7; i++)
		CHECK_EQ(say(1 + i % 2, make_add(1, SPINDLE_DDS_ATOMIC, true)), SPINDLE_DDS_DONE);
	len = spindle_dds_save(&dir, snapshot, sizeof(snapshot));
	CHECK(!spindle_dds_load(&other, &small, snapshot, len));
	CHECK(spindle_dds_load(&other, NULL, snapshot, len));
}

/* ---- matches ------------------------------------------------------------------------------ */

static enum spindle_dds_mismatch match(const struct spindle_dds_qos *w,
				       const struct spindle_dds_qos *r, const char *words)
{
	char buf[384];

	CHECK(!strcmp(spindle_dds_match_words(w, r, buf, sizeof(buf)), words));
	return spindle_dds_match(w, r);
}

static void mismatches_have_words(void)
{
	struct spindle_dds_qos w = { .level = SPINDLE_DDS_TRANSIENT, .depth = 4, .max_bytes = 100 };
	struct spindle_dds_qos r = w;

	CHECK_EQ(match(&w, &r, "they match"), SPINDLE_DDS_MATCH);
	r = (struct spindle_dds_qos){ .level = SPINDLE_DDS_UNORDERED, .max_bytes = 101 };
	CHECK_EQ(match(&w, &r, "they match"), SPINDLE_DDS_MATCH);
	r.level = SPINDLE_DDS_PERSISTENT;
	CHECK_EQ(match(&w, &r,
		       "the writer offers level transient, and the reader requests persistent"),
		 SPINDLE_DDS_LOW_LEVEL);
	r.level = SPINDLE_DDS_TRANSIENT;
	r.depth = 5;
	CHECK_EQ(match(&w, &r, "the last 4 samples of a key are kept, and the reader needs 5"),
		 SPINDLE_DDS_SHALLOW);
	r.depth = 4;
	r.max_bytes = 99;
	CHECK_EQ(match(&w, &r, "samples have up to 100 bytes, and the reader takes up to 99"),
		 SPINDLE_DDS_TOO_LONG);
}

static void partitions_meet(void)
{
	struct spindle_dds_qos w = { .partitions = 2, .partition = { "a", "b" } }, r = { 0 };

	CHECK_EQ(match(&w, &r, "the writer is in partition 'a', 'b', and the reader in ''"),
		 SPINDLE_DDS_NO_PARTITION);
	CHECK_EQ(match(&r, &w, "the writer is in partition '', and the reader in 'a', 'b'"),
		 SPINDLE_DDS_NO_PARTITION);
	r = (struct spindle_dds_qos){ .partitions = 2, .partition = { "c", "b" } };
	CHECK_EQ(match(&w, &r, "they match"), SPINDLE_DDS_MATCH);
	r.partition[1][0] = 'd';
	CHECK_EQ(match(&w, &r, "the writer is in partition 'a', 'b', and the reader in 'c', 'd'"),
		 SPINDLE_DDS_NO_PARTITION);
	w.partitions = 0;
	r.partition[1][0] = 0;
	CHECK_EQ(match(&w, &r, "they match"), SPINDLE_DDS_MATCH);
	CHECK_EQ(match(&r, &w, "they match"), SPINDLE_DDS_MATCH);
}

/* ---- samples ------------------------------------------------------------------------------ */

static void heads_come_back(void)
{
	struct spindle_dds_head h = { 3, 4, 5, -6, SPINDLE_DDS_KEYED, 2, { 1, 2 } }, back;
	uint8_t message[64] = { 0 };

	CHECK_EQ(spindle_dds_head_bytes(true), 56);
	spindle_dds_put_head(&h, message);
	CHECK(spindle_dds_get_head(&back, message, 58));
	CHECK(!memcmp(&h, &back, sizeof(h)));
	CHECK(!spindle_dds_get_head(&back, message, 57));
	CHECK(!spindle_dds_get_head(&back, message, 59));
	h.flags = 0;
	memset(h.key, 0, sizeof(h.key));
	spindle_dds_put_head(&h, message);
	CHECK(spindle_dds_get_head(&back, message, 42));
	CHECK(!memcmp(&h, &back, sizeof(h)));
	message[0]++;
	CHECK(!spindle_dds_get_head(&back, message, 42));
}

static bool head_taken(const struct spindle_dds_head *h)
{
	struct spindle_dds_head back;
	uint8_t message[64] = { 0 };

	spindle_dds_put_head(h, message);
	return spindle_dds_get_head(&back, message, SPINDLE_DDS_HEAD + h->bytes);
}

static void wrong_heads_are_refused(void)
{
	const struct spindle_dds_head good = { .topic = 1, .writer = 1, .sequence = 1 };
	struct spindle_dds_head h = good;

	CHECK(head_taken(&h));
	h.flags = 8;
	CHECK(!head_taken(&h));
	h.flags = SPINDLE_DDS_DISPOSE;
	CHECK(head_taken(&h));
	h.bytes = 1;
	CHECK(!head_taken(&h));
	h.bytes = 0;
	h.flags |= SPINDLE_DDS_UNREGISTER;
	CHECK(!head_taken(&h));
	h = good;
	h.topic = 0;
	CHECK(!head_taken(&h));
	h = good;
	h.writer = 0;
	CHECK(!head_taken(&h));
	h = good;
	h.sequence = 0;
	CHECK(!head_taken(&h));
}

static void samples_are_judged(void)
{
	struct spindle_dds_head h = { .sequence = 1, .bytes = 100 };
	struct spindle_dds_endpoint *reader;
	struct spindle_dds_record r;

	begin(NULL);
	say(1, make_hello(2, 1));
	say(2, make_hello(2, 1));
	say(2, make_add(1, SPINDLE_DDS_ATOMIC, false));
	reader = end_of(last());
	h.topic = last();
	h.writer = last() + 1;
	CHECK_EQ(spindle_dds_judge(&dir, reader, 1, &h), SPINDLE_DDS_AHEAD);
	say(1, make_add(1, SPINDLE_DDS_ATOMIC, true));
	CHECK_EQ(spindle_dds_judge(&dir, reader, 1, &h), SPINDLE_DDS_TAKE);
	/* Another node poses as the writer. */
	CHECK_EQ(spindle_dds_judge(&dir, reader, 2, &h), SPINDLE_DDS_FALSE);
	h.bytes = 101;
	CHECK_EQ(spindle_dds_judge(&dir, reader, 1, &h), SPINDLE_DDS_FALSE);
	h.bytes = 100;
	h.flags = SPINDLE_DDS_KEYED;
	CHECK_EQ(spindle_dds_judge(&dir, reader, 1, &h), SPINDLE_DDS_FALSE);
	h.flags = 0;
	/* The reader is no writer, and a participant is none either. */
	h.writer = reader->id;
	CHECK_EQ(spindle_dds_judge(&dir, reader, 2, &h), SPINDLE_DDS_FALSE);
	h.writer = 1;
	CHECK_EQ(spindle_dds_judge(&dir, reader, 1, &h), SPINDLE_DDS_FALSE);
	h.topic = 1;
	CHECK_EQ(spindle_dds_judge(&dir, reader, 1, &h), SPINDLE_DDS_OTHER);
	/* A writer of another topic. */
	say(1, make_add(2, SPINDLE_DDS_ATOMIC, true));
	h.writer = last();
	h.topic = reader->topic_id;
	CHECK_EQ(spindle_dds_judge(&dir, reader, 1, &h), SPINDLE_DDS_FALSE);
	/* A writer that does not match, and one that has gone. */
	r = make_add(1, SPINDLE_DDS_ATOMIC, true);
	r.qos.max_bytes = 1000;
	say(1, r);
	h.writer = last();
	CHECK_EQ(spindle_dds_judge(&dir, reader, 1, &h), SPINDLE_DDS_OTHER);
	h.writer = 4;
	say(1, make_id(SPINDLE_DDS_REMOVE, 4));
	CHECK_EQ(spindle_dds_judge(&dir, reader, 1, &h), SPINDLE_DDS_TAKE);
}

/* ---- the cache ---------------------------------------------------------------------------- */

static struct spindle_dds_cached room[4];
static struct spindle_dds_key keys[2];
static uint32_t heads[2];
static struct spindle_dds_cache cache;
static void *out;

static void cache_begin(uint32_t depth)
{
	cache = (struct spindle_dds_cache){ .depth = depth, .max_samples = 4, .max_keys = 2 };
	cache.heads = 2;
	cache.sample = room;
	cache.key = keys;
	cache.head = heads;
	spindle_dds_cache_init(&cache);
}

static enum spindle_dds_kept put(uint8_t key, uint64_t writer, uint64_t n, uint32_t flags)
{
	struct spindle_dds_cached s = { .head.writer = writer, .head.flags = flags };

	s.head.key[0] = key;
	s.head.sequence = n;
	s.data = &room[n % 4];
	return spindle_dds_cache_put(&cache, &s, &out);
}

static void take(uint64_t n, uint32_t state)
{
	struct spindle_dds_cached s;
	uint32_t have = 99;

	CHECK(spindle_dds_cache_take(&cache, &s, &have));
	CHECK_EQ(s.head.sequence, n);
	CHECK_EQ(have, state);
}

static void the_last_of_a_key_are_kept(void)
{
	struct spindle_dds_cached s;
	uint32_t state;

	cache_begin(2);
	CHECK_EQ(put(1, 1, 1, 0), SPINDLE_DDS_KEPT);
	CHECK_EQ(put(2, 1, 2, 0), SPINDLE_DDS_KEPT);
	CHECK_EQ(put(1, 1, 3, 0), SPINDLE_DDS_KEPT);
	CHECK_EQ(put(1, 1, 4, 0), SPINDLE_DDS_REPLACED);
	CHECK(out == &room[1]);
	CHECK_EQ(cache.replaced, 1);
	take(2, SPINDLE_DDS_ALIVE);
	take(3, SPINDLE_DDS_ALIVE);
	take(4, SPINDLE_DDS_ALIVE);
	CHECK(!spindle_dds_cache_take(&cache, &s, &state));
}

static void all_are_kept_within_limits(void)
{
	uint32_t i;

	cache_begin(0);
	for (i = 0; i < 4; i++)
		CHECK_EQ(put(1, 1, i, 0), SPINDLE_DDS_KEPT);
	CHECK_EQ(put(1, 1, 4, 0), SPINDLE_DDS_SAMPLES_FULL);
	CHECK_EQ(put(2, 1, 4, 0), SPINDLE_DDS_SAMPLES_FULL);
	/* A key for which there was no sample is no key. */
	take(0, SPINDLE_DDS_ALIVE);
	CHECK_EQ(put(3, 1, 5, 0), SPINDLE_DDS_KEPT);
	CHECK_EQ(put(4, 1, 6, 0), SPINDLE_DDS_KEYS_FULL);
	CHECK_EQ(put(1, 1, 7, 0), SPINDLE_DDS_SAMPLES_FULL);
	for (i = 1; i < 4; i++)
		take(i, SPINDLE_DDS_ALIVE);
	take(5, SPINDLE_DDS_ALIVE);
	/* Keys with a value are not forgotten. */
	CHECK_EQ(put(4, 1, 8, 0), SPINDLE_DDS_KEYS_FULL);
}

static void keys_that_end_are_forgotten(void)
{
	cache_begin(1);
	put(1, 1, 1, 0);
	put(2, 1, 2, 0);
	CHECK_EQ(put(1, 2, 3, SPINDLE_DDS_UNREGISTER), SPINDLE_DDS_NO_NEWS);
	CHECK_EQ(put(9, 2, 3, SPINDLE_DDS_UNREGISTER), SPINDLE_DDS_NO_NEWS);
	CHECK_EQ(put(1, 1, 4, SPINDLE_DDS_UNREGISTER), SPINDLE_DDS_REPLACED);
	CHECK_EQ(put(1, 1, 5, SPINDLE_DDS_UNREGISTER), SPINDLE_DDS_NO_NEWS);
	CHECK_EQ(put(2, 2, 6, SPINDLE_DDS_DISPOSE), SPINDLE_DDS_REPLACED);
	/* Not before their samples are taken. */
	CHECK_EQ(put(3, 1, 7, 0), SPINDLE_DDS_KEYS_FULL);
	take(4, SPINDLE_DDS_UNREGISTERED);
	CHECK_EQ(put(3, 1, 7, 0), SPINDLE_DDS_KEPT);
	take(6, SPINDLE_DDS_DISPOSED);
	/* A key comes back to life. */
	CHECK_EQ(put(2, 1, 8, 0), SPINDLE_DDS_KEPT);
	CHECK_EQ(put(4, 1, 9, 0), SPINDLE_DDS_KEYS_FULL);
	take(7, SPINDLE_DDS_ALIVE);
	take(8, SPINDLE_DDS_ALIVE);
	/* A dispose of a key that nobody has seen is a sample, too. */
	cache_begin(1);
	CHECK_EQ(put(5, 1, 1, SPINDLE_DDS_DISPOSE), SPINDLE_DDS_KEPT);
	take(1, SPINDLE_DDS_DISPOSED);
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "records come back", records_come_back },
		{ "the longest record has room", the_longest_record_has_room },
		{ "wrong records are refused", wrong_records_are_refused },
		{ "endpoints come and go", endpoints_come_and_go },
		{ "the first description of a topic counts", the_first_description_counts },
		{ "a HELLO ends the participant before it", a_hello_ends_the_one_before },
		{ "a participant beats for its own life", beats_are_of_the_own_participant },
		{ "the first HELLO decides about shared subgroups",
		  shared_subgroups_are_those_of_the_first },
		{ "stored topics stay until they are dropped", stored_topics_stay },
		{ "limits hold", limits_hold },
		{ "stored topics are charged to their maker",
		  stored_topics_are_charged_to_the_maker },
		{ "the endpoint that went first is forgotten",
		  the_oldest_that_has_gone_is_forgotten },
		{ "a participant too many is refused", too_many_participants_are_refused },
		{ "old positions change nothing", old_positions_change_nothing },
		{ "each outcome has words of its own", outcomes_have_words },
		{ "snapshots come back", snapshots_come_back },
		{ "snapshots of nonsense are refused", snapshots_of_nonsense_are_refused },
		{ "a snapshot keeps to the limits", a_snapshot_keeps_to_the_limits },
		{ "each mismatch has words", mismatches_have_words },
		{ "writers and readers meet in partitions", partitions_meet },
		{ "heads come back", heads_come_back },
		{ "wrong heads are refused", wrong_heads_are_refused },
		{ "samples are judged by the directory", samples_are_judged },
		{ "the last samples of a key are kept", the_last_of_a_key_are_kept },
		{ "all samples are kept within limits", all_are_kept_within_limits },
		{ "keys that have ended are forgotten", keys_that_end_are_forgotten },
	};

	return tap_run(cases, ARRAY_SIZE(cases));
}
