// SPDX-License-Identifier: MIT
/*
 * Names and heads of the files with the snapshots of programs. See snap.h.
 */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "snap.h"

/**
 * spindle_dlog_snap_name - is this the name of a program?
 * @name: the name
 *
 * Return: whether it has only small letters, digits and "-_", and is not too long.
 */
bool spindle_dlog_snap_name(const char *name)
{
	size_t len = strlen(name);

	return len && len <= SPINDLE_DLOG_SNAP_NAME &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") == len;
}

/**
 * spindle_dlog_snap_newer - which of two places of a lineage is the later one?
 * @a: a place
 * @b: another one
 *
 * A group that begins again has a higher era, and may have given up positions of the era before.
 *
 * Return: whether @a is later than @b.
 */
bool spindle_dlog_snap_newer(const struct spindle_dlog_snap *a, const struct spindle_dlog_snap *b)
{
	return a->era > b->era || (a->era == b->era && a->lsn > b->lsn);
}

/**
 * spindle_dlog_snapshot_build - fill the head of a file with a snapshot
 * @to: the head
 * @from: what it says
 */
void spindle_dlog_snapshot_build(struct spindle_dlog_snapshot_disk *to,
				 const struct spindle_dlog_snapshot *from)
{
	*to = (struct spindle_dlog_snapshot_disk){
		.magic = htole32(SPINDLE_DLOG_SNAPSHOT_MAGIC), .version = htole32(1),
		.era = htole64(from->at.era), .lsn = htole64(from->at.lsn),
		.bytes = htole64(from->bytes), .body = htole32(from->body),
		.subgroup = htole32(from->subgroup),
	};
	memcpy(to->lineage, from->at.lineage, sizeof(to->lineage));
	to->crc = htole32(spindle_dlog_crc(0, to, offsetof(typeof(*to), crc)));
}

/**
 * spindle_dlog_snapshot_parse - look at the head of a file with a snapshot
 * @from: the head
 * @to: what it says
 *
 * Return: 0, or -EBADMSG.
 */
int spindle_dlog_snapshot_parse(const struct spindle_dlog_snapshot_disk *from,
				struct spindle_dlog_snapshot *to)
{
	if (le32toh(from->magic) != SPINDLE_DLOG_SNAPSHOT_MAGIC || le32toh(from->version) != 1 ||
	    from->resv ||
	    le32toh(from->crc) !=
	    spindle_dlog_crc(0, from, offsetof(struct spindle_dlog_snapshot_disk, crc)))
		return -EBADMSG;
	*to = (struct spindle_dlog_snapshot){
		.at = { .era = le64toh(from->era), .lsn = le64toh(from->lsn) },
		.bytes = le64toh(from->bytes), .body = le32toh(from->body),
		.subgroup = le32toh(from->subgroup),
	};
	memcpy(to->at.lineage, from->lineage, sizeof(to->at.lineage));
	/* Offsets in a file are signed. */
	return to->bytes > INT64_MAX - SPINDLE_DLOG_SNAP_HEAD ? -EBADMSG : 0;
}

/**
 * spindle_dlog_snapshot_file - the name of a file with a snapshot
 * @name: of the program, which spindle_dlog_snap_name() accepts
 * @lsn: position of the first message that is not in the snapshot
 * @file: for the name, of SPINDLE_DLOG_SNAP_FILE bytes
 */
void spindle_dlog_snapshot_file(const char *name, uint64_t lsn, char *file)
{
	snprintf(file, SPINDLE_DLOG_SNAP_FILE, "snap.%s.%016llx", name, (unsigned long long)lsn);
}

/**
 * spindle_dlog_snapshot_lsn - is this the name of a snapshot of a program?
 * @file: the name of a file
 * @name: of the program
 * @lsn: set to the position
 *
 * Return: whether the log would give it this name.
 */
bool spindle_dlog_snapshot_lsn(const char *file, const char *name, uint64_t *lsn)
{
	const char *digits = strrchr(file, '.');
	char right[SPINDLE_DLOG_SNAP_FILE];

	if (!digits)
		return false;
	*lsn = strtoull(digits + 1, NULL, 16);
	spindle_dlog_snapshot_file(name, *lsn, right);
	return !strcmp(file, right);
}

/**
 * spindle_dlog_snapshot_split - which program and position does the name of a snapshot say?
 * @file: the name of a file
 * @name: set to the program, SPINDLE_DLOG_SNAP_NAME + 1 bytes
 * @lsn: set to the position
 *
 * Return: whether a snapshot has such a name.
 */
bool spindle_dlog_snapshot_split(const char *file, char *name, uint64_t *lsn)
{
	const char *digits = strrchr(file, '.'), *text = file + strlen("snap.");
	size_t len;

	if (strncmp(file, "snap.", strlen("snap.")) || digits < text)
		return false;
	len = (size_t)(digits - text);
	if (len > SPINDLE_DLOG_SNAP_NAME)
		return false;
	memcpy(name, text, len);
	name[len] = '\0';
	return spindle_dlog_snap_name(name) && spindle_dlog_snapshot_lsn(file, name, lsn);
}
