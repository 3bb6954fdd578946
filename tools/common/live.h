/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Live views, as the user asks for them: the properties of a live view, and the rules that
 * determine the members of its subgroups.
 */
#ifndef SPINDLE_COMMON_LIVE_H
#define SPINDLE_COMMON_LIVE_H

#include "model.h"
#include "net.h"

extern const struct ctl_key ctl_live_keys[];
extern const struct ctl_key ctl_rule_keys[];
extern const struct ctl_key ctl_live_key;
extern const struct ctl_key ctl_contact_key;
extern const struct ctl_key ctl_lineage_key;
extern const struct ctl_key ctl_insecure_key;
extern const struct ctl_key ctl_witness_key;

const char *ctl_live_check(const struct ctl_view *view);
const char *ctl_live_text(const struct ctl_view *view);
struct ctl_view ctl_live_asked(const struct ctl_view *view);
struct ctl_ids ctl_ids_sorted(const struct ctl_ids *ids);
struct ctl_subgroup ctl_rule_resolve(const struct ctl_view *view, const struct ctl_subgroup *sg);

void ctl_live_put(struct ctl_req *req, const struct ctl_view *view);
void ctl_rule_put(struct ctl_req *req, const struct ctl_subgroup *sg);
void ctl_live_get(struct ctl_view *view, struct nlattr *nest);
void ctl_contacts_put(struct ctl_req *req, const struct ctl_member *contact,
		      unsigned int contacts);
const char *ctl_witness_parse(const char *text, struct ctl_ids *ids);
void ctl_witness_get(struct ctl_ids *ids, struct nlattr *nest);
const char *ctl_lineage_parse(const char *text, uint8_t *lineage, uint64_t *era);
const char *ctl_lineage_text(const void *lineage, uint64_t era);
void ctl_lineage_put(struct ctl_req *req, const struct ctl_val *val);
struct ctl_val ctl_lineage_get(const struct nlattr *attr, uint64_t era);
void ctl_insecure_put(struct ctl_req *req, int line);
void ctl_rule_get(struct ctl_subgroup *sg, struct nlattr *nest);

#endif /* SPINDLE_COMMON_LIVE_H */
