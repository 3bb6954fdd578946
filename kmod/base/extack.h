/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Extack: the reason why a request is denied.
 */
#ifndef SPINDLE_BASE_EXTACK_H
#define SPINDLE_BASE_EXTACK_H

#include <linux/netlink.h>

/**
 * spindle_deny() - say why a request is denied
 * @extack: where to put the text, or NULL
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

#endif /* SPINDLE_BASE_EXTACK_H */
