// SPDX-License-Identifier: MIT
/*
 * A participant that writes its numbers to a topic and prints those of all.
 *
 *	topics NODE
 */
#include <stdio.h>
#include <stdlib.h>
#include <spindle/dds.h>

static struct spindle_dds *p;

static void check(int err)
{
	if (err >= 0)
		return;
	fprintf(stderr, "%s\n", spindle_dds_error(p));
	exit(1);
}

/* Print what has come. */
static void take(struct spindle_dds_reader *r)
{
	struct spindle_dds_sample s[16];
	int n, i;

	while ((n = spindle_dds_take(r, s, 16)) > 0)
		for (i = 0; i < n; i++)
			printf("%u: %.*s\n", s[i].node, (int)s[i].len, (const char *)s[i].data);
	check(n);
}

int main(int argc, char **argv)
{
	struct spindle_dds_opts o = { .node = argc > 1 ? (unsigned int)atoi(argv[1]) : 1 };
	struct spindle_dds_topic topic = {
		.name = "numbers", .type = "text", .level = SPINDLE_DDS_ATOMIC,
	};
	struct spindle_dds_qos qos = { .level = SPINDLE_DDS_ATOMIC, .max_bytes = 20 };
	struct spindle_dds_reader *r;
	struct spindle_dds_writer *w;
	char text[20];
	int i, len;

	check(spindle_dds_open(&p, &o));
	check(spindle_dds_reader_open(&r, p, &topic, &qos));
	check(spindle_dds_writer_open(&w, p, &topic, &qos));
	for (i = 0; i < 10; i++) {
		len = snprintf(text, sizeof(text), "number %d", i);
		check(spindle_dds_write(w, text, (unsigned int)len, NULL));
		check(spindle_dds_wait(r, 1000));
		take(r);
	}
	spindle_dds_close(p);
	return 0;
}
