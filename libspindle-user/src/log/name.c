// SPDX-License-Identifier: MIT
/*
 * Names of a log's files. A name is taken for one of the log only if the log would give it: no
 * capital letter, no zero in front, nothing behind.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"

/**
 * spindle_dlog_name - the name of a file
 * @file: the file
 * @buf: for the name; SPINDLE_DLOG_NAME bytes are enough
 * @size: bytes of @buf
 *
 * Return: 0; -EINVAL if there is no such file, or if @buf is too short.
 */
int spindle_dlog_name(struct spindle_dlog_file file, char *buf, size_t size)
{
	unsigned long long id = file.id;
	int n = -1;

	if (file.kind == SPINDLE_DLOG_META && id < 2)
		n = snprintf(buf, size, "meta.%llu", id);
	else if (file.kind == SPINDLE_DLOG_SEGMENT)
		n = snprintf(buf, size, "%016llx.seg", id);
	else if (file.kind == SPINDLE_DLOG_SPARE)
		n = snprintf(buf, size, "spare.%llu", id);
	else if (file.kind == SPINDLE_DLOG_NEW && !id)
		n = snprintf(buf, size, "new");
	else if (file.kind == SPINDLE_DLOG_FIX && !id)
		n = snprintf(buf, size, "fix");
	return n < 0 || (size_t)n >= size ? -EINVAL : 0;
}

static struct spindle_dlog_file guess(const char *text)
{
	struct spindle_dlog_file file = { .kind = SPINDLE_DLOG_SEGMENT };

	if (!strncmp(text, "meta.", 5)) {
		file.kind = SPINDLE_DLOG_META;
		file.id = strtoull(text + 5, NULL, 10);
	} else if (!strncmp(text, "spare.", 6)) {
		file.kind = SPINDLE_DLOG_SPARE;
		file.id = strtoull(text + 6, NULL, 10);
	} else if (!strcmp(text, "new")) {
		file.kind = SPINDLE_DLOG_NEW;
	} else if (!strcmp(text, "fix")) {
		file.kind = SPINDLE_DLOG_FIX;
	} else {
		file.id = strtoull(text, NULL, 16);
	}
	return file;
}

/**
 * spindle_dlog_parse_name - which file has this name?
 * @text: the name
 * @file: filled
 *
 * Return: 0; -EINVAL if no file of a log has this name.
 */
int spindle_dlog_parse_name(const char *text, struct spindle_dlog_file *file)
{
	struct spindle_dlog_file f = guess(text);
	char name[SPINDLE_DLOG_NAME];

	if (spindle_dlog_name(f, name, sizeof(name)) || strcmp(name, text))
		return -EINVAL;
	*file = f;
	return 0;
}

static int by_number(const void *a, const void *b)
{
	const struct spindle_dlog_file *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

/**
 * spindle_dlog_sort - bring files into the order of their numbers
 * @file: the files; may be NULL if there are none
 * @n: how many
 *
 * A port lists a directory in that order, because the scan sorts slowly if the order is a bad one.
 */
void spindle_dlog_sort(struct spindle_dlog_file *file, uint32_t n)
{
	if (n)
		qsort(file, n, sizeof(*file), by_number);
}
