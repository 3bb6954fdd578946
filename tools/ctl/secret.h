/* SPDX-License-Identifier: GPL-2.0-only */
/* The key of a group: bytes of a file that only the members of the group know. */
#ifndef SPINDLE_CTL_SECRET_H
#define SPINDLE_CTL_SECRET_H

#include <linux/spindle_genl.h>

#include "common/net.h"

/**
 * struct ctl_secret - a key, which is never printed
 */
struct ctl_secret {
	/** @path: file that the key is from; NULL: there is no key */
	const char *path;
	/** @byte: bytes of the key, with room to detect that a file has too many */
	unsigned char byte[SPINDLE_MAX_KEY + 2];
	/** @len: number of bytes */
	unsigned int len;
};

const char *ctl_secret_load(struct ctl_secret *secret, const char *path, const char **open_to);
int ctl_secret_read(struct ctl_secret *secret, const char *path);
void ctl_secret_put(struct ctl_req *req, int line, struct ctl_secret *secret);

#endif /* SPINDLE_CTL_SECRET_H */
