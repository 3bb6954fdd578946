/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records: structs that a table of fields describes. The reader of messages, the JSON object and
 * the cells of a text table follow from the table.
 *
 * Owner: a program has static tables; the records belong to the caller.
 * Context: main thread.
 */
#ifndef SPINDLE_COMMON_RECORD_H
#define SPINDLE_COMMON_RECORD_H

#include "out.h"

struct nlattr;
struct nlmsghdr;

/* What a field is, and its type. */
enum ctl_field_kind {
	CTL_F_END,	/* end of a table */
	CTL_F_NUM,	/* number or one of @names; an unsigned integer */
	CTL_F_VAL,	/* the same, and it may be missing; struct ctl_val */
	CTL_F_FLAG,	/* bool; as text one of @names, or yes or no */
	CTL_F_SWITCH,	/* on or off, and it may be missing; struct ctl_val */
	CTL_F_TEXT,	/* const char * */
	CTL_F_ADDR,	/* struct ctl_addr */
	CTL_F_IDS,	/* struct ctl_ids, and it may be missing; as text "all" then */
	CTL_F_INT,	/* number with a sign; int64_t */
	CTL_F_REAL,	/* double, a measured number; NaN: it is missing */
	CTL_F_SHARE,	/* double, 1 is everything; as text in percent */
	CTL_F_RATE,	/* double, bytes per second; as text MB/s */
	CTL_F_KEYS,	/* values of @keys, which have the names; array of struct ctl_val */
	CTL_F_STATS,	/* counters with words of @names; struct ctl_stats */
	CTL_F_LIST,	/* array of records, and an unsigned int that counts them */
	CTL_F_MADE	/* text that @make makes of the record */
};

/**
 * struct ctl_field - a field of a record
 */
struct ctl_field {
	/** @kind: what the field is */
	enum ctl_field_kind kind;
	/** @name: word in JSON; NULL: JSON does not have the field */
	const char *name;
	/** @head: word of the column; NULL: the same as @name */
	const char *head;
	/** @at: offset of the field */
	size_t at;
	/** @size: bytes of the field; CTL_F_LIST: of an entry */
	size_t size;
	/** @some: JSON and text leave out 0, false, and an empty text or list */
	bool some;
	/** @dash: text leaves out 0 */
	bool dash;
	/** @needs: offset of a bool; if that is false, the field is missing; 0: no such rule */
	size_t needs;
	/**
	 * @attr: netlink attribute; CTL_F_LIST, CTL_F_IDS: each entry is one; 0: messages do not
	 * have it. CTL_F_STATS: nest of the counters; 0: they are among the other attributes
	 */
	uint16_t attr;
	/** @attr6: netlink attribute of an IPv6 address */
	uint16_t attr6;
	/** @names: words for numbers, or of counters */
	const struct ctl_names *names;
	/** @keys: CTL_F_KEYS: keys of the values */
	const struct ctl_key *keys;
	/** @of: CTL_F_LIST: fields of an entry */
	const struct ctl_field *of;
	/** @count: CTL_F_LIST: offset of the number of entries */
	size_t count;
	/** @make: CTL_F_MADE: makes the text */
	const char *(*make)(const void *rec);
};

/* A field of a struct, and a list in one. */
#define CTL_FIELD(_kind, _name, _type, _field, _attr, ...)			\
	{ .kind = CTL_F_##_kind, .name = (_name), .at = offsetof(_type, _field),	\
	  .size = sizeof(((_type *)0)->_field), .attr = (_attr), ##__VA_ARGS__ }
#define CTL_LIST(_name, _type, _field, _count, _of, ...)				\
	{ .kind = CTL_F_LIST, .name = (_name), .at = offsetof(_type, _field),	\
	  .size = sizeof(((_type *)0)->_field[0]), .count = offsetof(_type, _count),	\
	  .of = (_of), ##__VA_ARGS__ }

#define CTL_MADE(_name, _make, ...)	\
	{ .kind = CTL_F_MADE, .name = (_name), .make = (_make), ##__VA_ARGS__ }

void ctl_record_nest(const struct ctl_field *fields, void *rec, struct nlattr *nest);
void ctl_record_msg(const struct ctl_field *fields, void *rec, struct nlmsghdr *nlh);

void ctl_record_add(struct json_object *obj, const char *names, const struct ctl_field *fields,
		    const void *rec);
struct json_object *ctl_record_json(const char *names, const struct ctl_field *fields,
				    const void *rec);
struct json_object *ctl_record_list(const char *names, const struct ctl_field *fields,
				    const void *array, size_t count, size_t size);
const char *ctl_record_text(const struct ctl_field *f, const void *rec);
void ctl_record_csv(FILE *to, const char *columns, const struct ctl_field *fields,
		    const void *rec);
void ctl_record_cells(struct ctl_table *t, const char *columns, const struct ctl_field *fields,
		      const void *rec);
void ctl_record_rows(struct ctl_table *t, const char *columns, const struct ctl_field *fields,
		     const void *array, size_t count, size_t size);

#endif /* SPINDLE_COMMON_RECORD_H */
