// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keys and values. See key.h.
 *
 * This file checks only the form of a value. The kernel checks whether the value is in range, so
 * that limits stand in one place. A limit that is part of the contract may stand in a key as well.
 * Then the user hears of it before the program sends a request.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "names.h"
#include "util.h"

/**
 * ctl_num_suffixes() - say which letters may follow a number of bytes, for messages
 * @max: largest number
 *
 * Return: the text, to stand behind the number
 */
const char *ctl_num_suffixes(uint64_t max)
{
	return max >> 40 ? " (K, M, G and T may follow it)" : " (K, M and G may follow it)";
}

static const char *not_a_number(uint64_t max, bool suffix)
{
	return ctl_asprintf("not a number from 0 to %llu%s", (unsigned long long)max,
			    suffix ? ctl_num_suffixes(max) : "");
}

/* The bits that a suffix shifts a number by; 0: the character is no suffix. */
static unsigned int suffix_shift(char c)
{
	static const char letters[] = "KMGT";
	const char *at = strchr(letters, toupper((unsigned char)c));

	return at ? 10 * (at - letters + 1) : 0;
}

/**
 * ctl_num_parse() - read a number
 * @text: decimal, or hexadecimal with 0x
 * @max: largest value that the attribute can carry
 * @suffix: allow K, M, G or T
 * @num: out: the number
 *
 * strtoull() alone would accept " 1", "-1" and "1x", and would read 010 as 8.
 *
 * Return: NULL, or what is wrong
 */
const char *ctl_num_parse(const char *text, uint64_t max, bool suffix, uint64_t *num)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	const char *digits = hex ? text + 2 : text;
	unsigned int shift = 0;
	uint64_t v;
	char *end;

	if (hex ? !isxdigit((unsigned char)*digits) : !isdigit((unsigned char)*digits))
		return not_a_number(max, suffix);
	errno = 0;
	v = strtoull(digits, &end, hex ? 16 : 10);
	if (suffix && !hex && *end) {
		shift = suffix_shift(*end);
		end += !!shift;
	}
	if (errno || *end || v > max >> shift)
		return not_a_number(max, suffix);
	*num = v << shift;
	return NULL;
}

/**
 * ctl_addr_parse() - read an IP address
 * @text: IPv4, or IPv6 with or without brackets
 * @addr: out: the address
 *
 * Names are not resolved, because all members must get the same address, and a name can mean
 * another address on each host.
 *
 * Return: NULL, or what is wrong
 */
const char *ctl_addr_parse(const char *text, struct ctl_addr *addr)
{
	size_t len = strlen(text);
	const char *bare = text;

	memset(addr, 0, sizeof(*addr));
	if (inet_pton(AF_INET, text, addr->ip) == 1) {
		addr->family = AF_INET;
		return NULL;
	}
	if (len > 2 && text[0] == '[' && text[len - 1] == ']')
		bare = ctl_asprintf("%.*s", (int)(len - 2), text + 1);
	if (inet_pton(AF_INET6, bare, addr->ip) == 1) {
		addr->family = AF_INET6;
		return NULL;
	}
	if (strchr(text, '%'))
		return "an address with a zone; give the address alone";
	return "not an IPv4 or IPv6 address (names are not resolved)";
}

/**
 * ctl_endpoint_parse() - read ADDR or ADDR:PORT
 * @text: IPv6 in brackets
 * @addr: out: the address
 * @has_port: out: whether a port follows
 * @port: out: the port
 *
 * Return: NULL, or what is wrong
 */
const char *ctl_endpoint_parse(const char *text, struct ctl_addr *addr, bool *has_port,
			       uint16_t *port)
{
	const char *colon = strrchr(text, ':');
	const char *close = strrchr(text, ']');
	const char *err;
	uint64_t num;

	/*
	 * 2001:db8::1:4790 is an address without a port, too, so only brackets make the text
	 * unambiguous.
	 */
	if (*text != '[' && colon && strchr(text, ':') != colon)
		return "IPv6 addresses go in brackets, like [fd00::1] or [fd00::1]:4790";
	*has_port = colon && colon > close;
	if (!*has_port)
		return ctl_addr_parse(text, addr);
	err = ctl_addr_parse(ctl_asprintf("%.*s", (int)(colon - text), text), addr);
	if (err)
		return err;
	if (ctl_num_parse(colon + 1, UINT16_MAX, false, &num))
		return "the port is not a number from 0 to 65535";
	*port = num;
	return NULL;
}

/* The address as a text of ctl_brief(). */
const char *ctl_addr_text(const struct ctl_addr *addr)
{
	char buf[INET6_ADDRSTRLEN];

	if (addr->family == AF_UNSPEC || !inet_ntop(addr->family, addr->ip, buf, sizeof(buf)))
		return "?";
	return ctl_brief("%s", buf);
}

/* Address and port as a text of ctl_brief(). */
const char *ctl_endpoint_text(const struct ctl_addr *addr, uint16_t port)
{
	return ctl_brief(addr->family == AF_INET6 ? "[%s]:%u" : "%s:%u", ctl_addr_text(addr), port);
}

bool ctl_addr_equal(const struct ctl_addr *a, const struct ctl_addr *b)
{
	return a->family == b->family && !memcmp(a->ip, b->ip, sizeof(a->ip));
}

/* In files, the words MaxMsg, max-msg and MAX_MSG are equal. */
bool ctl_conf_word(const char *a, const char *b)
{
	for (;;) {
		while (*a == '-' || *a == '_')
			a++;
		while (*b == '-' || *b == '_')
			b++;
		if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
			return false;
		if (!*a)
			return true;
		a++;
		b++;
	}
}

/* The key with this word on the command line, or NULL. */
const struct ctl_key *ctl_key_find(const struct ctl_key *keys, const char *word)
{
	for (; keys->name; keys++)
		if (!strcmp(keys->name, word))
			return keys;
	return NULL;
}

/* The key with this word in a file, or NULL. */
const struct ctl_key *ctl_key_find_conf(const struct ctl_key *keys, const char *word)
{
	for (; keys->name; keys++)
		if (keys->conf &&
		    (ctl_conf_word(keys->conf, word) || ctl_conf_word(keys->name, word)))
			return keys;
	return NULL;
}

/**
 * ctl_key_list() - list the words of all keys, for messages
 * @keys: keys
 * @conf: list the words for files instead of those for the command line
 *
 * Return: for example "id, addr, port"
 */
const char *ctl_key_list(const struct ctl_key *keys, bool conf)
{
	char *list = NULL;

	for (; keys->name; keys++) {
		const char *word = conf ? keys->conf : keys->name;

		if (!word)
			continue;
		list = list ? ctl_asprintf("%s, %s", list, word) : ctl_strdup(word);
	}
	return list ? list : "";
}

static const char *bool_parse(const char *text, uint64_t *num, const char *neither)
{
	static const char *const words[][2] = {
		{ "0", "1" }, { "no", "yes" }, { "off", "on" }, { "false", "true" },
	};
	unsigned int i, b;

	for (i = 0; i < CTL_ARRAY_SIZE(words); i++) {
		for (b = 0; b < 2; b++) {
			if (!strcasecmp(text, words[i][b])) {
				*num = b;
				return NULL;
			}
		}
	}
	return neither;
}

static const char *u32_parse(const struct ctl_key *key, const char *text, uint64_t *num)
{
	const char *err = ctl_num_parse(text, key->max ? key->max : UINT32_MAX, false, num);

	if (!key->max || (!err && *num >= key->min))
		return err;
	return ctl_asprintf("not a number from %u to %u", key->min, key->max);
}

/**
 * ctl_val_parse() - read a value
 * @key: key of the value
 * @val: out: the value
 * @text: text of the user
 *
 * Return: NULL, or what is wrong, as a message has it behind the key and the text
 */
const char *ctl_val_parse(const struct ctl_key *key, struct ctl_val *val, const char *text)
{
	val->set = true;
	if (key->any && !strcmp(text, "any")) {
		val->set = false;
		return NULL;
	}
	if (key->zero && !strcmp(text, key->zero)) {
		val->num = 0;
		return NULL;
	}
	if (key->none && !strcmp(text, key->none)) {
		val->num = key->def;
		return NULL;
	}
	switch (key->kind) {
	case CTL_U16:
		return ctl_num_parse(text, UINT16_MAX, false, &val->num);
	case CTL_U32:
		return u32_parse(key, text, &val->num);
	case CTL_U64:
		return ctl_num_parse(text, UINT64_MAX, false, &val->num);
	case CTL_BYTES:
		return ctl_num_parse(text, UINT32_MAX, true, &val->num);
	case CTL_ENUM:
		return ctl_name_parse(key->names, text, &val->num);
	case CTL_BOOL:
		return bool_parse(text, &val->num, "neither 0 (no) nor 1 (yes)");
	case CTL_SWITCH:
		return bool_parse(text, &val->num, "neither on nor off");
	case CTL_STR:
		val->str = ctl_strdup(text);
		return NULL;
	case CTL_ADDR:
		return ctl_addr_parse(text, &val->addr);
	}
	return NULL;
}

/* Does the value stand for "no value"? */
bool ctl_val_none(const struct ctl_key *key, const struct ctl_val *val)
{
	return key->none && val->num == key->def;
}

/* The value as text; the text of a number comes from ctl_brief(). */
const char *ctl_val_text(const struct ctl_key *key, const struct ctl_val *val)
{
	if (!val->set)
		return key->any ? "any" : "";
	if (key->zero && !val->num)
		return key->zero;
	if (ctl_val_none(key, val))
		return key->none;
	switch (key->kind) {
	case CTL_SWITCH:
		return val->num ? "on" : "off";
	case CTL_ENUM:
		return ctl_name(key->names, val->num);
	case CTL_STR:
		return val->str;
	case CTL_ADDR:
		return ctl_addr_text(&val->addr);
	default:
		return ctl_brief("%llu", (unsigned long long)val->num);
	}
}

/* Replace a value that was left out by the kernel's default. */
void ctl_val_default(const struct ctl_key *key, struct ctl_val *val)
{
	if (val->set || key->any || key->kind == CTL_ADDR)
		return;
	val->set = true;
	val->num = key->def;
	val->str = key->def_str ? key->def_str : "";
}

bool ctl_val_equal(const struct ctl_key *key, const struct ctl_val *a,
		   const struct ctl_val *b)
{
	if (a->set != b->set)
		return false;
	if (!a->set)
		return true;
	switch (key->kind) {
	case CTL_STR:
		return !strcmp(a->str, b->str);
	case CTL_ADDR:
		return ctl_addr_equal(&a->addr, &b->addr);
	default:
		return a->num == b->num;
	}
}
