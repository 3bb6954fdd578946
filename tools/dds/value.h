/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The bytes of samples as text, and lines as samples.
 *
 * Owner: texts are memory of ctl_alloc(). Context: any. Only dds_lines_fill() does I/O.
 */
#ifndef SPINDLE_DDS_TOOL_VALUE_H
#define SPINDLE_DDS_TOOL_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

/**
 * struct dds_lines - lines of a descriptor
 */
struct dds_lines {
	/** @data: bytes that were read */
	char *data;
	/** @room: bytes of @data, room for the longest line and its end */
	size_t room;
	/** @longest: bytes of the longest line, without its end */
	size_t longest;
	/** @start: offset of the next line */
	size_t start;
	/** @end: offset behind the last byte */
	size_t end;
	/** @line: number of the next line, from 1 */
	uint64_t line;
	/** @eof: nothing comes behind @end */
	bool eof;
};

/* What dds_lines_next() finds. */
enum dds_found {
	DDS_FOUND,	/* a line */
	DDS_MORE,	/* more has to be read */
	DDS_END,	/* there is no line any more */
	DDS_LONG	/* the line is too long */
};

char *dds_value_text(const unsigned char *bytes, uint32_t len);
char *dds_value_hex(const unsigned char *bytes, uint32_t len);
void dds_value_json(struct json_object *obj, const unsigned char *bytes, uint32_t len, bool hex);

void dds_lines_init(struct dds_lines *l, size_t longest);
int dds_lines_fill(struct dds_lines *l, int fd);
enum dds_found dds_lines_next(struct dds_lines *l, const char **text, uint32_t *len);

#endif /* SPINDLE_DDS_TOOL_VALUE_H */
