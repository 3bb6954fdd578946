// SPDX-License-Identifier: GPL-2.0-only
/* Bytes as text, and lines as samples. See value.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/out.h"
#include "common/util.h"
#include "value.h"

/* Bytes of the longest text that stands for a byte: \x1b */
#define ESCAPED		4

/* Bytes of lines that are read at once, if there are so many. */
#define READ_BYTES	65536U

/* ---- bytes --------------------------------------------------------------------------- */

/* A copy with a zero byte behind it. */
static unsigned char *copy(const unsigned char *bytes, uint32_t len)
{
	unsigned char *c = ctl_alloc((size_t)len + 1);

	if (len)
		memcpy(c, bytes, len);
	return c;
}

/* Bytes of a character that can be printed; 0: there is none. */
static unsigned int printable(const unsigned char *c)
{
	unsigned int len = ctl_utf8_len(c);

	if (*c < ' ' || *c == 127)
		return 0;
	/* U+0080 to U+009F are control characters, too. */
	return *c == 0xc2 && c[1] < 0xa0 ? 0 : len;
}

/**
 * dds_value_text() - bytes as a text of one line
 * @bytes: bytes
 * @len: how many
 *
 * Return: characters of UTF-8 as they are, a backslash twice, and all other bytes as \xNN
 */
char *dds_value_text(const unsigned char *bytes, uint32_t len)
{
	const unsigned char *c = copy(bytes, len), *end = c + len;
	char *text = ctl_alloc((size_t)len * ESCAPED + 1), *to = text;
	unsigned int n;

	while (c < end) {
		n = printable(c);
		if (!n) {
			to += sprintf(to, "\\x%02x", *c++);
			continue;
		}
		if (*c == '\\')
			*to++ = '\\';
		memcpy(to, c, n);
		to += n;
		c += n;
	}
	return text;
}

/**
 * dds_value_hex() - bytes in hexadecimal
 * @bytes: bytes
 * @len: how many
 *
 * Return: two digits for each byte
 */
char *dds_value_hex(const unsigned char *bytes, uint32_t len)
{
	char *text = ctl_alloc(2 * (size_t)len + 1);
	uint32_t i;

	for (i = 0; i < len; i++)
		sprintf(text + 2 * (size_t)i, "%02x", bytes[i]);
	return text;
}

/* Are the bytes UTF-8, so that a string of JSON can have them? */
static bool is_utf8(const unsigned char *bytes, uint32_t len)
{
	const unsigned char *c = copy(bytes, len), *end = c + len;
	unsigned int n;

	for (; c < end; c += n) {
		n = ctl_utf8_len(c);
		if (!n)
			return false;
	}
	return true;
}

/**
 * dds_value_json() - add bytes to a JSON object
 * @obj: object; gets "text", or "hex" if the bytes are not UTF-8
 * @bytes: bytes
 * @len: how many
 * @hex: always in hexadecimal
 */
void dds_value_json(struct json_object *obj, const unsigned char *bytes, uint32_t len, bool hex)
{
	if (hex || len > INT32_MAX || !is_utf8(bytes, len))
		ctl_json_str(obj, "hex", dds_value_hex(bytes, len));
	else
		ctl_json_add(obj, "text",
			     json_object_new_string_len((const char *)bytes, (int)len));
}

/* ---- lines --------------------------------------------------------------------------- */

/**
 * dds_lines_init() - begin with no line
 * @l: out: lines
 * @longest: bytes of the longest line, without its end
 */
void dds_lines_init(struct dds_lines *l, size_t longest)
{
	*l = (struct dds_lines){ .longest = longest, .line = 1 };
	l->room = longest < READ_BYTES ? READ_BYTES : longest + 1;
	l->data = ctl_alloc(l->room);
}

/**
 * dds_lines_fill() - read what there is, after dds_lines_next() has returned DDS_MORE
 * @l: lines
 * @fd: descriptor that can be read
 *
 * Return: 0, or -errno
 */
int dds_lines_fill(struct dds_lines *l, int fd)
{
	ssize_t n;

	memmove(l->data, l->data + l->start, l->end - l->start);
	l->end -= l->start;
	l->start = 0;
	n = read(fd, l->data + l->end, l->room - l->end);
	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : -errno;
	l->end += (size_t)n;
	l->eof = !n;
	return 0;
}

/**
 * dds_lines_next() - take the next line
 * @l: lines
 * @text: out: the line, without its end; valid until dds_lines_fill()
 * @len: out: its bytes
 *
 * The last line need not have an end.
 *
 * Return: what was found; @text and @len are set if that is DDS_FOUND
 */
enum dds_found dds_lines_next(struct dds_lines *l, const char **text, uint32_t *len)
{
	size_t have = l->end - l->start;
	size_t look = have > l->longest ? l->longest + 1 : have;
	char *end = have ? memchr(l->data + l->start, '\n', look) : NULL;

	if (!end && look > l->longest)
		return DDS_LONG;
	if (!end && !l->eof)
		return DDS_MORE;
	if (!have)
		return DDS_END;
	*text = l->data + l->start;
	*len = (uint32_t)(end ? (size_t)(end - *text) : have);
	l->start += *len + !!end;
	l->line++;
	return DDS_FOUND;
}
