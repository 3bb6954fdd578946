/* SPDX-License-Identifier: GPL-2.0-only */
/* The member that a subgroup waits for. */
#ifndef SPINDLE_CTL_LAG_H
#define SPINDLE_CTL_LAG_H

#include "common/model.h"

/**
 * struct ctl_lag - how far a member is behind, in sequence numbers
 * @sends: the member is a sender
 * @ahead: rounds that the member has decided beyond the sender that has decided the fewest
 * @recv: messages that some member has received and this one has not
 * @dlv: messages that the member may deliver and has not, or that its readers hold
 */
struct ctl_lag {
	bool sends;
	uint64_t ahead;
	uint64_t recv;
	uint64_t dlv;
};

struct ctl_lag ctl_row_lag(const struct ctl_subgroup *sg, const struct ctl_row *row);
const struct ctl_reader *ctl_subgroup_holder(const struct ctl_subgroup *sg);

#endif /* SPINDLE_CTL_LAG_H */
