/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records for the tests of topics.
 *
 * Owner: the test. Context: one thread.
 */
#ifndef SPINDLE_SELFTESTS_DDS_MAKE_H
#define SPINDLE_SELFTESTS_DDS_MAKE_H

#include <stdio.h>
#include <string.h>

#include "core.h"

/* HELLO of a domain with this number of shared subgroups. */
static inline struct spindle_dds_record make_hello(uint32_t shared, uint64_t incarnation)
{
	struct spindle_dds_record r = { .kind = SPINDLE_DDS_HELLO, .shared = shared };

	r.incarnation = incarnation;
	r.lease_ms = 10000 + shared;
	strcpy(r.name, "test");
	return r;
}

/* A writer or a reader of the topic "t<n>", with the QoS of its level. */
static inline struct spindle_dds_record make_add(uint32_t n, uint32_t level, bool writer)
{
	struct spindle_dds_record r = { .kind = SPINDLE_DDS_ADD, .number = n, .writer = writer };

	snprintf(r.topic.name, sizeof(r.topic.name), "t%u", n);
	strcpy(r.topic.type, "pkg::T");
	r.topic.type_hash[3] = 7;
	r.topic.level = level;
	r.qos.level = level;
	r.qos.max_bytes = 100;
	r.qos.depth = level >= SPINDLE_DDS_TRANSIENT ? 4 : 0;
	return r;
}

/* A record that names an id. */
static inline struct spindle_dds_record make_id(uint32_t kind, uint64_t id)
{
	struct spindle_dds_record r = { .kind = kind, .id = id };

	return r;
}

#endif /* SPINDLE_SELFTESTS_DDS_MAKE_H */
