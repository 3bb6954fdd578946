/* SPDX-License-Identifier: MIT */
/*
 * What the files of the core share. Nothing else includes this.
 *
 * Owner: the caller of the functions. Context: any.
 */
#ifndef SPINDLE_DDS_INNER_H
#define SPINDLE_DDS_INNER_H

#include <string.h>

#include "core.h"
#include "list.h"

struct cursor;

void spindle_dds_put_text(struct cursor *c, const char *text);
void spindle_dds_get_text(struct cursor *c, char *text, size_t size);
void spindle_dds_put_topic(struct cursor *c, const struct spindle_dds_topic *topic);
void spindle_dds_get_topic(struct cursor *c, struct spindle_dds_topic *topic);
void spindle_dds_put_qos(struct cursor *c, const struct spindle_dds_qos *qos);
void spindle_dds_get_qos(struct cursor *c, struct spindle_dds_qos *qos);

uint32_t spindle_dds_new_topic(struct spindle_dds_directory *d, uint64_t id,
			       const struct spindle_dds_topic *topic, uint32_t maker);
void spindle_dds_new_endpoint(struct spindle_dds_directory *d,
			      const struct spindle_dds_endpoint *from);

#endif /* SPINDLE_DDS_INNER_H */
