// SPDX-License-Identifier: GPL-2.0-only
/*
 * Card: a live view with all that a node has to know to join it. See card.h.
 */
#include "card.h"
#include "core/base/sst.h"

static_assert(!(sizeof(struct spindle_card) % sizeof(u64)), "words behind it are aligned");
static_assert(!(sizeof(struct spindle_view_member) % sizeof(u64)), "words behind it are aligned");

/* The part of a rule that a card has as it is in memory, and the longest text of the rest. */
#define RULE_BYTES	offsetof(struct spindle_rule, cfg.fields)
#define MAX_TEXT	(SPINDLE_FIELDS_LEN + 1)

static_assert(!(RULE_BYTES % sizeof(u64)), "words behind it are aligned");
static_assert(RULE_BYTES + MAX_TEXT == sizeof(struct spindle_rule), "nothing follows the text");

/* ---- lineage ------------------------------------------------------------ */

/**
 * spindle_lineage_given() - is a lineage given?
 * @lineage: the lineage
 *
 * Return: true if so
 */
bool spindle_lineage_given(const struct spindle_lineage *lineage)
{
	return lineage->word[0] || lineage->word[1];
}

/**
 * spindle_lineage_of() - lineage of a first view that several nodes are given without a lineage
 * @lineage: out
 * @view: the view
 * @rules: its rules
 *
 * The first members have to derive the same lineage before they have talked. The view and its rules
 * are all that they share. Such a view forms only when all of them are in no other.
 */
void spindle_lineage_of(struct spindle_lineage *lineage, const struct spindle_view *view,
			const struct spindle_rules *rules)
{
	u64 part[3] = { spindle_view_digest(view), spindle_rules_digest(rules) };
	u32 i;

	lineage->era = 0;
	for (i = 0; i < 2; i++) {
		part[2] = i + 1;
		lineage->word[i] = spindle_mix(part, 3);
	}
	lineage->word[0] |= 1;
}

/**
 * spindle_lineage_mark() - fingerprint of a lineage, for a hello
 * @lineage: the lineage, or none
 *
 * The mark only explains why a node is refused. The decision is made by the digest, which covers
 * the whole lineage. The last bits of the era are the last ones of the mark, see SPINDLE_MARK_ERA.
 *
 * Return: the fingerprint; 0 for none
 */
u32 spindle_lineage_mark(const struct spindle_lineage *lineage)
{
	u64 mix = spindle_mix(lineage->word, 2);

	if (!spindle_lineage_given(lineage))
		return 0;
	mix &= ~(u64)SPINDLE_MARK_ERA;
	return ((u32)mix ?: SPINDLE_MARK_ERA + 1) | (lineage->era & SPINDLE_MARK_ERA);
}

/**
 * spindle_live_digest() - fingerprint of a live view: members, subgroups, rules and lineage
 * @view: the view
 * @rules: the rules
 * @lineage: the lineage
 *
 * Return: the digest
 */
u64 spindle_live_digest(const struct spindle_view *view, const struct spindle_rules *rules,
			const struct spindle_lineage *lineage)
{
	u64 part[5] = { spindle_view_digest(view), spindle_rules_digest(rules),
			lineage->word[0], lineage->word[1], lineage->era };

	return spindle_mix(part, 5);
}

/* ---- cards -------------------------------------------------------------- */

static u32 card_bytes(u32 members, u32 subgroups, u32 rules, u32 text)
{
	return sizeof(struct spindle_card) + members * sizeof(struct spindle_view_member) +
	       subgroups * sizeof(struct spindle_card_subgroup) + rules * RULE_BYTES + text;
}

static u32 text_bytes(const struct spindle_rules *rules)
{
	u32 bytes = 0, i;

	for (i = 0; i < rules->num_rules; i++)
		bytes += strlen(rules->rule[i].cfg.fields) + 1;
	return ALIGN(bytes, sizeof(u64));
}

/* Put the fields of all rules behind each other. */
static void put_text(char *text, const struct spindle_rules *rules)
{
	u32 i;

	memset(text, 0, text_bytes(rules));
	for (i = 0; i < rules->num_rules; i++) {
		u32 len = strlen(rules->rule[i].cfg.fields) + 1;

		memcpy(text, rules->rule[i].cfg.fields, len);
		text += len;
	}
}

/* Take the fields of all rules, which have to be all of the text. Return: whether they are. */
static bool take_text(const char *text, u32 bytes, struct spindle_rules *rules)
{
	u32 at = 0, i, len;

	for (i = 0; i < rules->num_rules; i++) {
		len = strnlen(text + at, min_t(u32, bytes - at, MAX_TEXT));
		if (at + len == bytes || len == MAX_TEXT)
			return false;
		memcpy(rules->rule[i].cfg.fields, text + at, len + 1);
		at += len + 1;
	}
	return bytes == ALIGN(at, sizeof(u64)) && !memchr_inv(text + at, 0, bytes - at);
}

/**
 * spindle_card_max() - the longest card that there can be
 *
 * Return: bytes
 */
u32 spindle_card_max(void)
{
	return card_bytes(SPINDLE_MAX_MEMBERS, SPINDLE_MAX_SUBGROUPS, SPINDLE_MAX_SUBGROUPS,
			  SPINDLE_MAX_SUBGROUPS * MAX_TEXT);
}

/**
 * spindle_card_bytes() - length of the card of a view
 * @view: the view
 * @rules: its rules
 *
 * Return: bytes
 */
u32 spindle_card_bytes(const struct spindle_view *view, const struct spindle_rules *rules)
{
	return card_bytes(view->num_members, view->num_subgroups, rules->num_rules,
			  text_bytes(rules));
}

/**
 * spindle_card_make() - write the card of a view
 * @card: out: spindle_card_bytes() of memory
 * @view: the view
 * @rules: its rules
 * @lineage: its lineage
 * @id: id of the member that hands it out
 */
void spindle_card_make(struct spindle_card *card, const struct spindle_view *view,
		       const struct spindle_rules *rules, const struct spindle_lineage *lineage,
		       u32 id)
{
	struct spindle_view_member *member = (void *)(card + 1);
	struct spindle_card_subgroup *subgroup = (void *)(member + view->num_members);
	u8 *rule = (void *)(subgroup + view->num_subgroups);
	u32 i;

	*card = (struct spindle_card){
		.vid = view->vid,
		.digest = spindle_live_digest(view, rules, lineage),
		.lineage = *lineage,
		.contact = id,
		.members = view->num_members,
		.subgroups = view->num_subgroups,
		.rules = rules->num_rules,
		.timeout_ms = rules->timeout_ms,
		.max_nodes = rules->max_nodes,
		.quorum = rules->quorum,
		.text = text_bytes(rules),
	};
	memcpy(card->witness, rules->witness, sizeof(card->witness));
	memcpy(member, view->member, view->num_members * sizeof(*member));
	for (i = 0; i < view->num_subgroups; i++)
		subgroup[i] = (struct spindle_card_subgroup){
			.members = view->subgroup[i].members,
			.former = view->subgroup[i].former,
		};
	for (i = 0; i < rules->num_rules; i++, rule += RULE_BYTES)
		memcpy(rule, &rules->rule[i], RULE_BYTES);
	put_text((char *)rule, rules);
}

/* Terminate the names, and check that each flag is 0 or 1. */
static bool tidy(struct spindle_rules *rules)
{
	bool fine = rules->quorum <= 1;
	u32 i;

	for (i = 0; i < rules->num_rules; i++) {
		struct spindle_rule *rule = &rules->rule[i];

		rule->cfg.name[SPINDLE_NAME_LEN] = 0;
		fine &= rule->all_send <= 1 && rule->cfg.hold <= 1 && !rule->cfg.former;
	}
	return fine;
}

static bool has_length(const struct spindle_card *card, u32 bytes)
{
	return bytes >= sizeof(*card) && card->members <= SPINDLE_MAX_MEMBERS &&
	       card->subgroups <= SPINDLE_MAX_SUBGROUPS &&
	       card->rules <= SPINDLE_MAX_SUBGROUPS && card->text <= card->rules * MAX_TEXT &&
	       bytes == card_bytes(card->members, card->subgroups, card->rules, card->text);
}

/* Read and check the rules of a card of the right length. */
static const char *read_rules(const struct spindle_card *card, const u8 *at,
			      struct spindle_rules *rules)
{
	int fault;
	u32 i;

	memset(rules, 0, sizeof(*rules));
	rules->timeout_ms = card->timeout_ms;
	rules->max_nodes = card->max_nodes;
	rules->quorum = card->quorum;
	memcpy(rules->witness, card->witness, sizeof(rules->witness));
	rules->num_rules = card->rules;
	for (i = 0; i < card->rules; i++, at += RULE_BYTES)
		memcpy(&rules->rule[i], at, RULE_BYTES);
	if (!take_text((const char *)at, card->text, rules) || !tidy(rules))
		return "the contact's answer is malformed";
	return spindle_rules_check(rules, &fault);
}

/**
 * spindle_card_read() - the view and the rules of a card
 * @card: a private copy of what another node has sent
 * @bytes: its length
 * @view: out
 * @rules: out
 *
 * A view is accepted only if it follows from its rules, see spindle_rules_fit().
 *
 * Return: NULL, or what is wrong with it
 */
const char *spindle_card_read(const struct spindle_card *card, u32 bytes,
			      struct spindle_view *view, struct spindle_rules *rules)
{
	const struct spindle_view_member *member = (const void *)(card + 1);
	const struct spindle_card_subgroup *subgroup;
	const char *text;
	u32 i;

	if (!has_length(card, bytes))
		return "the contact's answer has the wrong length";
	if (!spindle_lineage_given(&card->lineage))
		return "the contact's answer is malformed";
	subgroup = (const void *)(member + card->members);
	text = read_rules(card, (const u8 *)(subgroup + card->subgroups), rules);
	if (text)
		return text;
	memset(view, 0, sizeof(*view));
	view->vid = card->vid;
	view->num_members = card->members;
	memcpy(view->member, member, card->members * sizeof(*member));
	spindle_rules_apply(rules, NULL, view);
	if (view->num_subgroups != card->subgroups)
		return "the contact's answer contradicts itself";
	for (i = 0; i < card->subgroups; i++) {
		view->subgroup[i].members = subgroup[i].members;
		view->subgroup[i].former = subgroup[i].former;
	}
	spindle_rules_senders(rules, view);
	text = spindle_view_check(view, true, NULL);
	if (text)
		return text;
	if (!spindle_rules_fit(rules, view))
		return "the contact's view does not follow its rules";
	return spindle_live_digest(view, rules, &card->lineage) == card->digest ? NULL :
	       "the contact's answer contradicts itself";
}

/**
 * spindle_card_rules() - the rules of a card whose view follows from other ones
 * @card: a private copy of what another node has sent
 * @bytes: its length
 * @rules: out
 *
 * Return: NULL, or what is wrong with it
 */
const char *spindle_card_rules(const struct spindle_card *card, u32 bytes,
			       struct spindle_rules *rules)
{
	const struct spindle_view_member *member = (const void *)(card + 1);
	const struct spindle_card_subgroup *subgroup;

	if (!has_length(card, bytes))
		return "the member's answer has the wrong length";
	subgroup = (const void *)(member + card->members);
	return read_rules(card, (const u8 *)(subgroup + card->subgroups), rules);
}

/* The mark in a joiner's question is only a fingerprint, so compare with the whole lineage here. */
static bool of_lineage(const struct spindle_card *card, const struct spindle_lineage *want)
{
	return !spindle_lineage_given(want) ||
	       !memcmp(card->lineage.word, want->word, sizeof(want->word));
}

/**
 * spindle_card_admits() - may a node join by a card that it has read?
 * @card: read by spindle_card_read()
 * @view: its view
 * @rules: its rules
 * @want: the lineage that the view has to be of, or none
 * @self: the node
 * @final: out, with a refusal: the next view will refuse this node as well
 *
 * A member with the node's id and address is its former life. The view will lose that member soon,
 * so that this refusal is not final.
 *
 * Return: NULL, or why it may not
 */
const char *spindle_card_admits(const struct spindle_card *card, const struct spindle_view *view,
				const struct spindle_rules *rules,
				const struct spindle_lineage *want,
				const struct spindle_view_member *self, bool *final)
{
	int rank = spindle_view_rank(view, self->id);

	*final = true;
	if (!of_lineage(card, want))
		return "another lineage of this cluster: a group that began separately";
	/* A node of an earlier era may come back. */
	if (spindle_lineage_given(want) && card->lineage.era < want->era)
		return "an earlier era of this group, which has begun again since";
	if (rank >= 0) {
		*final = memcmp(&view->member[rank].addr, &self->addr, sizeof(self->addr));
		return "the view has a member with this id";
	}
	return view->num_members < rules->max_nodes ? NULL : SPINDLE_NO_ROOM;
}
