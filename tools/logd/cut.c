// SPDX-License-Identifier: GPL-2.0-only
/* The note that a log was cut for an era. See cut.h. */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "cut.h"
#include "pair.h"

static struct logd_pair pair_of(int dir)
{
	return (struct logd_pair){ .dir = dir, .name = { "cut.a", "cut.b" } };
}

static struct logd_cut cut_of(const struct spindle_dlog_ident *id, uint64_t era)
{
	struct logd_cut cut = {
		.magic = htole32(LOGD_CUT_MAGIC), .version = htole32(LOGD_CUT_VERSION),
		.salt = htole64(id->salt), .era = htole64(era),
	};

	static_assert(sizeof(cut.lineage) == sizeof(id->lineage), "a lineage has 16 bytes");
	memcpy(cut.lineage, id->lineage, sizeof(cut.lineage));
	return cut;
}

/**
 * logd_cut_has() - does a log have the note of an era?
 * @dir: directory of the log
 * @id: the log
 * @era: the era
 *
 * A note of another version is none of this era.
 *
 * Return: 1: it has; 0: not; -EBADMSG: both files are damaged; or another error of the disk.
 */
int logd_cut_has(int dir, const struct spindle_dlog_ident *id, uint64_t era)
{
	const struct logd_cut want = cut_of(id, era);
	struct logd_pair pair = pair_of(dir);
	struct logd_cut have;
	size_t len;
	int err;

	err = logd_pair_read(&pair, (uint8_t *)&have, sizeof(have), &len);
	if (err)
		return err;
	if (len == sizeof(have) - LOGD_CUT_HEAD)
		return !memcmp(&have, (const uint8_t *)&want + LOGD_CUT_HEAD, len);
	return len == sizeof(have) && !memcmp(&have, &want, sizeof(have));
}

/**
 * logd_cut_write() - note that a log has only what is on the way to an era
 * @dir: directory of the log
 * @id: the log, of which all is on disk
 * @era: the era
 *
 * Return: 0, or a negative errno.
 */
int logd_cut_write(int dir, const struct spindle_dlog_ident *id, uint64_t era)
{
	const struct logd_cut cut = cut_of(id, era);
	struct logd_pair pair = pair_of(dir);
	struct logd_cut have;
	size_t len;
	int err;

	/* Damage of a note is no reason to have none. */
	err = logd_pair_read(&pair, (uint8_t *)&have, sizeof(have), &len);
	if (err && err != -EBADMSG)
		return err;
	return logd_pair_write(&pair, (const uint8_t *)&cut, sizeof(cut));
}
