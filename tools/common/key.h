/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keys and values. Each kind of object has one table of keys. A key has the word for the command
 * line and JSON, the word for files, and the attribute, so that all of them agree.
 */
#ifndef SPINDLE_COMMON_KEY_H
#define SPINDLE_COMMON_KEY_H

#include <stdbool.h>
#include <stdint.h>

struct ctl_names;

/**
 * struct ctl_addr - an IP address
 */
struct ctl_addr {
	/** @family: AF_INET, AF_INET6, or AF_UNSPEC if there is none */
	int family;
	/** @ip: network byte order, as many bytes as the family has */
	uint8_t ip[16];
};

/**
 * enum ctl_kind - what a value is, and its size on the wire
 */
enum ctl_kind {
	/** @CTL_U16: number */
	CTL_U16,
	/** @CTL_U32: number */
	CTL_U32,
	/** @CTL_U64: number */
	CTL_U64,
	/** @CTL_BYTES: u32, with an optional K, M or G (powers of 1024) */
	CTL_BYTES,
	/** @CTL_ENUM: u8, a word of an enum */
	CTL_ENUM,
	/** @CTL_BOOL: u8, 0 or 1 */
	CTL_BOOL,
	/** @CTL_SWITCH: u8, off or on */
	CTL_SWITCH,
	/** @CTL_STR: string */
	CTL_STR,
	/** @CTL_ADDR: address, in one of two attributes */
	CTL_ADDR
};

/**
 * struct ctl_key - a property of an object
 */
struct ctl_key {
	/** @name: word on the command line */
	const char *name;
	/** @conf: word in a file; NULL: files do not have this key */
	const char *conf;
	/** @kind: kind of value */
	enum ctl_kind kind;
	/** @attr: netlink attribute; 0: none */
	uint16_t attr;
	/** @attr6: netlink attribute of an IPv6 address */
	uint16_t attr6;
	/** @names: words of a CTL_ENUM */
	const struct ctl_names *names;
	/** @any: the word "any" leaves the value out */
	bool any;
	/** @zero: a word for 0; NULL: there is none */
	const char *zero;
	/** @none: a word for @def, where @def means "no value"; NULL: there is none */
	const char *none;
	/** @min: smallest number of a CTL_U32, if there is a @max */
	uint32_t min;
	/**
	 * @max: largest one; 0: the largest that the attribute can carry, because the kernel has
	 * the limit
	 */
	uint32_t max;
	/** @def: value that the kernel uses if the request has none */
	uint64_t def;
	/** @def_str: the same for strings */
	const char *def_str;
};

/* A key in one row of a table. Its other members follow. */
#define CTL_KEY(_name, _conf, _kind, _attr, ...)	\
	{ .name = (_name), .conf = (_conf), .kind = CTL_##_kind, .attr = (_attr), ##__VA_ARGS__ }

/**
 * struct ctl_val - the value of a key
 */
struct ctl_val {
	/** @set: there is a value */
	bool set;
	/** @line: line of the file that has the value; 0: none */
	int line;
	/** @num: numbers, enums, booleans */
	uint64_t num;
	/** @str: strings */
	const char *str;
	/** @addr: addresses */
	struct ctl_addr addr;
};

/* A value that is a number. */
static inline struct ctl_val ctl_val_num(uint64_t num)
{
	return (struct ctl_val){ .set = true, .num = num };
}

const char *ctl_num_suffixes(uint64_t max);
const char *ctl_num_parse(const char *text, uint64_t max, bool suffix, uint64_t *num);
const char *ctl_addr_parse(const char *text, struct ctl_addr *addr);
const char *ctl_endpoint_parse(const char *text, struct ctl_addr *addr, bool *has_port,
			       uint16_t *port);
const char *ctl_addr_text(const struct ctl_addr *addr);
const char *ctl_endpoint_text(const struct ctl_addr *addr, uint16_t port);
bool ctl_addr_equal(const struct ctl_addr *a, const struct ctl_addr *b);

const struct ctl_key *ctl_key_find(const struct ctl_key *keys, const char *word);
const struct ctl_key *ctl_key_find_conf(const struct ctl_key *keys, const char *word);
const char *ctl_key_list(const struct ctl_key *keys, bool conf);
bool ctl_conf_word(const char *word, const char *conf);

const char *ctl_val_parse(const struct ctl_key *key, struct ctl_val *val, const char *text);
bool ctl_val_none(const struct ctl_key *key, const struct ctl_val *val);
const char *ctl_val_text(const struct ctl_key *key, const struct ctl_val *val);
void ctl_val_default(const struct ctl_key *key, struct ctl_val *val);
bool ctl_val_equal(const struct ctl_key *key, const struct ctl_val *a,
		   const struct ctl_val *b);

#endif /* SPINDLE_COMMON_KEY_H */
