// SPDX-License-Identifier: MIT
/*
 * Reports, proposals, voters, view records and forced restarts as bytes, for a disk or for another
 * node:
 *
 *	magic, kind, length (32 bits each), content, CRC-32C of all before it
 *
 * All numbers are little-endian. cursor.h keeps each access within the bytes.
 */
#include "cursor.h"
#include "log/format.h"
#include "inner.h"

#define MAGIC		0x31524c53U	/* "SLR1" */
#define HEAD		12U
#define TAIL		4U

enum kind {
	KIND_REPORT = 1,
	KIND_PROPOSAL,
	KIND_VOTER,
	KIND_KEEP,
	KIND_FORCE,
};

/* ---- parts ------------------------------------------------------------------------ */

static void put_id(struct cursor *c, const struct spindle_restart_id *id)
{
	put64(c, id->era);
	put64(c, id->vid);
}

static void get_id(struct cursor *c, struct spindle_restart_id *id)
{
	id->era = get64(c);
	id->vid = get64(c);
}

static void put_ballot(struct cursor *c, const struct spindle_restart_ballot *ballot)
{
	put64(c, ballot->era);
	put32(c, ballot->proposer);
}

static void get_ballot(struct cursor *c, struct spindle_restart_ballot *ballot)
{
	ballot->era = get64(c);
	ballot->proposer = get32(c);
}

static void put_nodes(struct cursor *c, const uint32_t *node, uint32_t nodes)
{
	uint32_t i;

	put32(c, nodes);
	for (i = 0; i < nodes; i++)
		put32(c, node[i]);
}

static uint32_t get_nodes(struct cursor *c, uint32_t *node)
{
	uint32_t i, nodes = get_count(c, SPINDLE_MAX_MEMBERS);

	for (i = 0; i < nodes; i++)
		node[i] = get32(c);
	return nodes;
}

static void put_record(struct cursor *c, const struct spindle_restart_record *record)
{
	uint32_t i;

	put32(c, record->known);
	put32(c, record->views);
	for (i = 0; i < record->views; i++) {
		put_id(c, &record->view[i].id);
		put64(c, record->view[i].origin);
		put64(c, record->view[i].base);
		put_nodes(c, record->view[i].node, record->view[i].members);
	}
}

static void get_record(struct cursor *c, struct spindle_restart_record *record)
{
	uint32_t i;

	record->known = get_flag(c);
	record->views = get_count(c, SPINDLE_RESTART_VIEWS);
	for (i = 0; i < record->views; i++) {
		get_id(c, &record->view[i].id);
		record->view[i].origin = get64(c);
		record->view[i].base = get64(c);
		record->view[i].members = get_nodes(c, record->view[i].node);
	}
}

static void put_path(struct cursor *c, const struct spindle_restart_path *path)
{
	uint32_t i;

	put32(c, path->whole);
	put32(c, path->eras);
	for (i = 0; i < path->eras; i++) {
		put_id(c, &path->past[i].last);
		put64(c, path->past[i].base);
	}
}

static void get_path(struct cursor *c, struct spindle_restart_path *path)
{
	uint32_t i;

	path->whole = get_flag(c);
	path->eras = get_count(c, SPINDLE_RESTART_PAST);
	for (i = 0; i < path->eras; i++) {
		get_id(c, &path->past[i].last);
		path->past[i].base = get64(c);
	}
}

static void put_log(struct cursor *c, const struct spindle_restart_log *log)
{
	uint32_t i;

	put32(c, log->missing);
	put32(c, log->whole);
	put64(c, log->end);
	put64(c, log->good);
	put32(c, log->epochs);
	for (i = 0; i < log->epochs; i++) {
		put_id(c, &log->epoch[i].id);
		put64(c, log->epoch[i].lsn);
	}
}

static void get_log(struct cursor *c, struct spindle_restart_log *log)
{
	uint32_t i;

	log->missing = get_flag(c);
	log->whole = get_flag(c);
	log->end = get64(c);
	log->good = get64(c);
	log->epochs = get_count(c, SPINDLE_RESTART_EPOCHS);
	for (i = 0; i < log->epochs; i++) {
		get_id(c, &log->epoch[i].id);
		log->epoch[i].lsn = get64(c);
	}
}

/* ---- contents --------------------------------------------------------------------- */

static void put_proposal(struct cursor *c, const struct spindle_restart_proposal *proposal)
{
	uint32_t i;

	put_ballot(c, &proposal->ballot);
	put64(c, proposal->origin);
	put64(c, proposal->lineage[0]);
	put64(c, proposal->lineage[1]);
	put64(c, proposal->vid);
	put_nodes(c, proposal->node, proposal->members);
	put32(c, proposal->parts);
	for (i = 0; i < proposal->parts; i++) {
		put32(c, proposal->part[i].id);
		put64(c, proposal->part[i].base);
		put64(c, proposal->part[i].members);
		put_record(c, &proposal->part[i].range);
		put_path(c, &proposal->part[i].path);
	}
}

static void get_proposal(struct cursor *c, struct spindle_restart_proposal *proposal)
{
	uint32_t i;

	get_ballot(c, &proposal->ballot);
	proposal->origin = get64(c);
	proposal->lineage[0] = get64(c);
	proposal->lineage[1] = get64(c);
	proposal->vid = get64(c);
	proposal->members = get_nodes(c, proposal->node);
	proposal->parts = get_count(c, SPINDLE_MAX_SUBGROUPS);
	for (i = 0; i < proposal->parts; i++) {
		proposal->part[i].id = get32(c);
		proposal->part[i].base = get64(c);
		proposal->part[i].members = get64(c);
		get_record(c, &proposal->part[i].range);
		get_path(c, &proposal->part[i].path);
	}
	c->bad = c->bad || !spindle_restart_good_proposal(proposal);
}

static void put_votes(struct cursor *c, const struct spindle_restart_ballot *promised,
		      const struct spindle_restart_proposal *accepted)
{
	put_ballot(c, promised);
	put32(c, accepted ? 1 : 0);
	if (accepted)
		put_proposal(c, accepted);
}

static bool get_votes(struct cursor *c, struct spindle_restart_ballot *promised,
		      struct spindle_restart_proposal *accepted)
{
	bool has;

	get_ballot(c, promised);
	has = get_flag(c);
	if (has)
		get_proposal(c, accepted);
	return has;
}

static void put_part(struct cursor *c, const struct spindle_restart_part *part)
{
	put32(c, part->id);
	put32(c, part->shard);
	put32(c, part->majority);
	put32(c, part->member);
	put_record(c, &part->record);
	put_path(c, &part->path);
	put_log(c, &part->log);
}

static void get_part(struct cursor *c, struct spindle_restart_part *part)
{
	part->id = get32(c);
	part->shard = get32(c);
	part->majority = get_flag(c);
	part->member = get_flag(c);
	get_record(c, &part->record);
	get_path(c, &part->path);
	get_log(c, &part->log);
}

/* ---- frames ------------------------------------------------------------------------ */

static struct cursor begin_put(uint8_t *to, size_t size, enum kind kind)
{
	struct cursor c = { .to = to, .left = size };

	put32(&c, MAGIC);
	put32(&c, kind);
	/* The length is set at the end. */
	put32(&c, 0);
	return c;
}

/* Return: the bytes of all; 0: there was no room. */
static size_t end_put(struct cursor *c, uint8_t *start)
{
	size_t len = (size_t)(c->to - start);
	uint32_t le = htole32((uint32_t)len);

	if (c->bad)
		return 0;
	memcpy(start + 8, &le, sizeof(le));
	put32(c, spindle_dlog_crc(0, start, len));
	return c->bad ? 0 : len + TAIL;
}

/* Bytes behind the frame do not matter, because a file may be longer. */
static struct cursor begin_get(const uint8_t *from, size_t len, enum kind kind)
{
	struct cursor c = { .from = from, .left = len };
	uint32_t magic = get32(&c), what = get32(&c), bytes = get32(&c), le;

	if (c.bad || magic != MAGIC || what != kind || bytes < HEAD || len < TAIL ||
	    bytes > len - TAIL) {
		c.bad = true;
		return c;
	}
	memcpy(&le, from + bytes, sizeof(le));
	c.bad = le32toh(le) != spindle_dlog_crc(0, from, bytes);
	c.left = bytes - HEAD;
	return c;
}

/* Was that all, and right? */
static bool end_get(const struct cursor *c)
{
	return !c->bad && !c->left;
}

/**
 * spindle_restart_put_report() - encode a report
 * @report: the report
 * @to: out
 * @size: bytes at @to; SPINDLE_RESTART_BYTES are enough
 *
 * Return: the bytes; 0: there is no room.
 */
size_t spindle_restart_put_report(const struct spindle_restart_report *report, uint8_t *to,
				  size_t size)
{
	struct cursor c = begin_put(to, size, KIND_REPORT);
	uint32_t i;

	put32(&c, report->node);
	put_bytes(&c, report->address, sizeof(report->address));
	put64(&c, report->lineage[0]);
	put64(&c, report->lineage[1]);
	put32(&c, report->parts);
	for (i = 0; i < report->parts; i++)
		put_part(&c, &report->part[i]);
	put_votes(&c, &report->promised, report->has_accepted ? &report->accepted : NULL);
	return end_put(&c, to);
}

/**
 * spindle_restart_get_report() - decode a report
 * @report: out; undefined unless the return is true
 * @from: bytes of another node
 * @len: how many
 *
 * Return: whether they are a report.
 */
bool spindle_restart_get_report(struct spindle_restart_report *report, const uint8_t *from,
				size_t len)
{
	struct cursor c = begin_get(from, len, KIND_REPORT);
	uint32_t i;

	report->node = get32(&c);
	get_bytes(&c, report->address, sizeof(report->address));
	report->lineage[0] = get64(&c);
	report->lineage[1] = get64(&c);
	report->parts = get_count(&c, SPINDLE_MAX_SUBGROUPS);
	for (i = 0; i < report->parts; i++)
		get_part(&c, &report->part[i]);
	report->has_accepted = get_votes(&c, &report->promised, &report->accepted);
	return end_get(&c) && spindle_restart_good_report(report);
}

/**
 * spindle_restart_put_proposal() - encode a proposal
 * @proposal: the proposal
 * @to: out
 * @size: bytes at @to; SPINDLE_RESTART_BYTES are enough
 *
 * Return: the bytes; 0: there is no room.
 */
size_t spindle_restart_put_proposal(const struct spindle_restart_proposal *proposal, uint8_t *to,
				    size_t size)
{
	struct cursor c = begin_put(to, size, KIND_PROPOSAL);

	put_proposal(&c, proposal);
	return end_put(&c, to);
}

/**
 * spindle_restart_get_proposal() - decode a proposal
 * @proposal: out; undefined unless the return is true
 * @from: bytes of another node
 * @len: how many
 *
 * Return: whether they are a proposal.
 */
bool spindle_restart_get_proposal(struct spindle_restart_proposal *proposal, const uint8_t *from,
				  size_t len)
{
	struct cursor c = begin_get(from, len, KIND_PROPOSAL);

	get_proposal(&c, proposal);
	return end_get(&c);
}

/**
 * spindle_restart_put_voter() - encode the state of a voter
 * @voter: the voter
 * @to: out
 * @size: bytes at @to; SPINDLE_RESTART_BYTES are enough
 *
 * Return: the bytes; 0: there is no room.
 */
size_t spindle_restart_put_voter(const struct spindle_restart_voter *voter, uint8_t *to,
				 size_t size)
{
	struct cursor c = begin_put(to, size, KIND_VOTER);
	uint32_t i;

	put32(&c, voter->state);
	put64(&c, voter->bound);
	put32(&c, voter->opens);
	for (i = 0; i < voter->opens; i++)
		put_ballot(&c, &voter->open[i]);
	put_votes(&c, &voter->promised, voter->has_accepted ? &voter->accepted : NULL);
	return end_put(&c, to);
}

/**
 * spindle_restart_get_voter() - decode the state of a voter
 * @voter: out; undefined unless the return is true
 * @from: bytes of a disk
 * @len: how many
 *
 * Return: whether they are one. spindle_restart_boot() is next.
 */
bool spindle_restart_get_voter(struct spindle_restart_voter *voter, const uint8_t *from,
			       size_t len)
{
	struct cursor c = begin_get(from, len, KIND_VOTER);
	uint32_t i;

	voter->state = get32(&c);
	voter->bound = get64(&c);
	voter->opens = get_count(&c, SPINDLE_RESTART_OPEN);
	for (i = 0; i < voter->opens; i++)
		get_ballot(&c, &voter->open[i]);
	voter->has_accepted = get_votes(&c, &voter->promised, &voter->accepted);
	return end_get(&c) && spindle_restart_good_voter(voter);
}

/**
 * spindle_restart_put_force() - encode a forced restart
 * @force: the restart
 * @to: out
 * @size: bytes at @to; SPINDLE_RESTART_BYTES are enough
 *
 * A restart has one encoding, so that a digest of the bytes is a name of it.
 *
 * Return: the bytes; 0: there is no room.
 */
size_t spindle_restart_put_force(const struct spindle_restart_force *force, uint8_t *to,
				 size_t size)
{
	struct cursor c = begin_put(to, size, KIND_FORCE);
	uint32_t i;

	put_proposal(&c, &force->proposal);
	for (i = 0; i < force->proposal.members; i++)
		put_bytes(&c, force->address[i], sizeof(force->address[i]));
	for (i = 0; i < force->proposal.parts; i++) {
		put64(&c, force->loss[i].to);
		put32(&c, force->loss[i].open);
	}
	return end_put(&c, to);
}

/**
 * spindle_restart_get_force() - decode a forced restart
 * @force: out; undefined unless the return is true
 * @from: bytes of a disk, or of another node
 * @len: how many
 *
 * Return: whether they are one.
 */
bool spindle_restart_get_force(struct spindle_restart_force *force, const uint8_t *from,
			       size_t len)
{
	struct cursor c = begin_get(from, len, KIND_FORCE);
	uint32_t i;

	get_proposal(&c, &force->proposal);
	for (i = 0; !c.bad && i < force->proposal.members; i++)
		get_bytes(&c, force->address[i], sizeof(force->address[i]));
	for (i = 0; !c.bad && i < force->proposal.parts; i++) {
		force->loss[i].to = get64(&c);
		force->loss[i].open = get_flag(&c);
	}
	return end_get(&c) && spindle_restart_good_force(force);
}

/**
 * spindle_restart_put_keep() - encode a view record
 * @keep: the record
 * @to: out
 * @size: bytes at @to; SPINDLE_RESTART_PART_BYTES are enough
 *
 * Return: the bytes; 0: there is no room.
 */
size_t spindle_restart_put_keep(const struct spindle_restart_keep *keep, uint8_t *to, size_t size)
{
	struct cursor c = begin_put(to, size, KIND_KEEP);

	put64(&c, keep->lineage[0]);
	put64(&c, keep->lineage[1]);
	put32(&c, keep->established);
	put_record(&c, &keep->record);
	put_path(&c, &keep->path);
	return end_put(&c, to);
}

/**
 * spindle_restart_get_keep() - decode a view record
 * @keep: out; undefined unless the return is true
 * @from: bytes of a disk, or of another node
 * @len: how many
 *
 * Return: whether they are one. It has at least one view.
 */
bool spindle_restart_get_keep(struct spindle_restart_keep *keep, const uint8_t *from, size_t len)
{
	struct cursor c = begin_get(from, len, KIND_KEEP);

	keep->lineage[0] = get64(&c);
	keep->lineage[1] = get64(&c);
	keep->established = get_flag(&c);
	get_record(&c, &keep->record);
	get_path(&c, &keep->path);
	return end_get(&c) && spindle_restart_good_keep(keep);
}
