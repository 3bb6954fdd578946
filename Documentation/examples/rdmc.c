// SPDX-License-Identifier: MIT
/*
 * Copy standard input of one node to standard output of others, as one large object.
 *
 *	cc rdmc.c $(pkg-config --cflags --libs spindle) -o rdmc
 *	./rdmc 1 1 2 3 < file			on the host of node 1
 *	./rdmc 2 1 2 3 > file			on the host of node 2
 *	./rdmc 3 1 2 3 > file			on the host of node 3
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/rdmc.h>

#define GROUP 1

static char *read_all(size_t *len)
{
	size_t room = 1 << 20, n;
	char *mem = malloc(room);

	*len = 0;
	while (mem && (n = fread(mem + *len, 1, room - *len, stdin))) {
		*len += n;
		if (*len == room)
			mem = realloc(mem, room *= 2);
	}
	return mem;
}

/* What this member does when something has happened; 0, or the error of a call. */
static int handle(struct spindle_rdmc_group *g, const struct spindle_rdmc_event *ev, char **mem)
{
	bool root = !spindle_rdmc_rank(g);
	size_t len;
	int err;

	switch (ev->kind) {
	case SPINDLE_RDMC_OPENED:
		if (!root)
			return 0;
		*mem = read_all(&len);
		err = *mem ? spindle_rdmc_send(g, *mem, len, 0, NULL) : -1;
		return err ? err : spindle_rdmc_close(g);
	case SPINDLE_RDMC_INCOMING:
		*mem = malloc(ev->len);
		return *mem ? spindle_rdmc_accept(g, ev->object, *mem, ev->len) :
			      spindle_rdmc_refuse(g, ev->object, 1);
	case SPINDLE_RDMC_DONE:
		if (!root && !ev->error)
			fwrite(*mem, 1, ev->len, stdout);
		free(*mem);
		*mem = NULL;
		return 0;
	default:
		return 0;
	}
}

int main(int argc, char **argv)
{
	struct spindle_rdmc_options o = { .flags = SPINDLE_RDMC_AUTO_CLOSE };
	uint32_t member[SPINDLE_MAX_MEMBERS], node = argc > 1 ? atoi(argv[1]) : 0;
	struct spindle_rdmc_event ev = { 0 };
	struct spindle_rdmc_group *g;
	char why[256], *mem = NULL;
	int n, err;

	for (n = 0; n + 2 < argc && n < SPINDLE_MAX_MEMBERS; n++)
		member[n] = atoi(argv[n + 2]);
	err = spindle_rdmc_create(&g, node, GROUP, member, n, &o);
	if (err) {
		fprintf(stderr, "%s\n", spindle_rdmc_create_strerror(err, node, GROUP, &o, why,
								     sizeof(why)));
		return 1;
	}
	/* CLOSED or FAILED is the last event; then there is -EPIPE. */
	while (!err && spindle_rdmc_next(g, &ev, -1) == 1)
		err = handle(g, &ev, &mem);
	if (err)
		fprintf(stderr, "%s\n", err < -1 ? strerror(-err) : "out of memory");
	else if (ev.error)
		fprintf(stderr, "%s (node %u)\n", spindle_rdmc_strerror(ev.error), ev.node);
	spindle_rdmc_destroy(g);
	free(mem);
	return err || ev.error;
}
