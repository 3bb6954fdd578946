/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Extack: a request is denied, and told why.
 */
#ifndef SPINDLE_EXTACK_H
#define SPINDLE_EXTACK_H

#include <linux/netlink.h>

/**
 * spindle_deny() - say why a request is denied
 * @extack: where to say it, or NULL
 * @attr: the attribute that is wrong, or NULL
 * @err: -errno
 * @text: a literal
 *
 * Return: @err
 */
#define spindle_deny(extack, attr, err, text) ({		\
	NL_SET_ERR_MSG_ATTR(extack, attr, text);		\
	(err);							\
})

#endif /* SPINDLE_EXTACK_H */
