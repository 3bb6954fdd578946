// SPDX-License-Identifier: GPL-2.0-only
/*
 * json-get: print values of a JSON file, for scripts.
 *
 *	json-get FILE POINTER...
 *
 * A pointer is like /runs/0/metrics/sent/median (RFC 6901). Strings are printed without
 * quotes. Status 1: this is no JSON, or there is no such value.
 */
#include <stdio.h>
#include <json-c/json.h>
#include <json-c/json_pointer.h>

int main(int argc, char **argv)
{
	struct json_object *doc, *val;
	int i;

	doc = argc > 1 ? json_object_from_file(argv[1]) : NULL;
	if (!doc) {
		fprintf(stderr, "json-get: %s\n", json_util_get_last_err());
		return 1;
	}
	for (i = 2; i < argc; i++) {
		if (json_pointer_get(doc, argv[i], &val)) {
			fprintf(stderr, "json-get: %s: there is no %s\n", argv[1], argv[i]);
			return 1;
		}
		puts(val ? json_object_get_string(val) : "null");
	}
	json_object_put(doc);
	return 0;
}
