/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The key of a group: bytes of a file that only those who belong to it know.
 */
#ifndef SPINDLE_CTL_SECRET_H
#define SPINDLE_CTL_SECRET_H

#include <linux/spindle_genl.h>

#include "ctl-net.h"

extern const struct ctl_key ctl_secret_key;

/**
 * struct ctl_secret - a key; it is never printed
 * @path: file that it is from; NULL: there is none
 * @byte: bytes, and room to see that there are too many
 * @len: how many
 */
struct ctl_secret {
	const char *path;
	unsigned char byte[SPINDLE_MAX_KEY + 2];
	unsigned int len;
};

const char *ctl_secret_load(struct ctl_secret *secret, const char *path, const char **open_to);
int ctl_secret_read(struct ctl_secret *secret, const char *path);
void ctl_secret_put(struct ctl_req *req, int line, struct ctl_secret *secret);

#endif /* SPINDLE_CTL_SECRET_H */
