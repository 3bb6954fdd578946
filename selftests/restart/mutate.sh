#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Are the tests of the restart any good? The unit tests, or a bounded number of schedules, have to
# find each mutant. See ../lib/mutate.sh.
#
#   mutate.sh            all
#   mutate.sh NAME...    some
#   SEEDS=n              schedules that each of them gets; 20000
#   ONLY_SIM=1           without the unit tests

set -euo pipefail
# shellcheck source=selftests/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/common.sh"

here=$SPN_SELFTESTS/restart
CORE=${CORE:-$SPN_ROOT/libspindle-user/src/restart}
seeds=${SEEDS:-20000}
# shellcheck source=selftests/lib/mutate.sh
. "$SPN_SELFTESTS/lib/mutate.sh"

# Code that a mutation leaves unused is no reason to fail.
build()
{
	make -s -C "$here" CORE="$work/core" BUILD="$work/build" CFLAGS="-w" \
		"$work/build/sim" "$work/build/test"
}

survives()
{
	(
		ulimit -t 120
		{ [[ ${ONLY_SIM:-} ]] || "$work/build/test"; } &&
			"$work/build/sim" -n "$seeds" -m 1
	)
}

killer()
{
	grep -m 1 -E '^seed|^not ok' "$work/log" || tail -n 1 "$work/log"
}

mutants_begin "${BUILD:-$SPN_BUILD/restart}/mutate" "$@"

# The simpler rules of durability.rst.
mutant newest judge.c '/^static bool has_enough/,/^}/ s/i > 0; i--/i > 0 \&\& i == need->range.views; i--/'
mutant one_back judge.c '/^static bool has_enough/,/^}/ s/i > 0; i--/i > 0 \&\& i + 1 >= need->range.views; i--/'
mutant catching judge.c '/^static bool has_enough/,/^}/ s/i > 0; i--/i > 0 \&\& (!logs || i == need->range.views); i--/'
mutant promise vote.c 's/ballot->era <= voter->promised.era || //'
mutant shortest judge.c '/^static void measure/,/^}/ s/if (end > need->base)/if (!need->base || end < need->base)/'
mutant no_cut cut.c 's/			\*end = clip(to, &e->id, path);/			*end = log->end;/'
mutant no_clip cut.c 's/			\*end = clip(to, &e->id, path);/			*end = to;/'
mutant corrupt judge.c 's/(end <= part->log.good || end <= need->base)/true/'
mutant damage_never_covered judge.c 's/(end <= part->log.good || end <= need->base)/(end <= part->log.good)/'
mutant forget_promise vote.c '/^enum spindle_restart_vote spindle_restart_promise/,/^}/ s/return SPINDLE_RESTART_SYNC;/return SPINDLE_RESTART_SAME;/'
mutant forget_value vote.c '/^enum spindle_restart_vote spindle_restart_accept/,/^}/ s/return SPINDLE_RESTART_SYNC;/return SPINDLE_RESTART_SAME;/'
mutant forget_enter vote.c '/^enum spindle_restart_vote spindle_restart_enter/,/^}/ s/return SPINDLE_RESTART_SYNC;/return SPINDLE_RESTART_SAME;/'
mutant adopt judge.c 's/	if (again)$/	if (0)/'
mutant turn vote.c 's/	if (era < spindle_restart_bound(voter))/	if (0)/'
mutant turn_promise vote.c 's/	if (era < spindle_restart_bound(voter))/	if (voter->has_accepted \&\& era < voter->accepted.ballot.era)/'
mutant withdraw_any vote.c '/^bool spindle_restart_withdrawn/,/^}/ s/ballot->era > voter->bound/true/'
mutant withdraw_own vote.c '/^void spindle_restart_withdraw_own/,/^}/ s/if (ballot.proposer == node)//'
mutant withdraw_open vote.c '/^bool spindle_restart_withdrawn/,/^}/ s/ && find_open(voter, ballot) == voter->opens//'
mutant accept_unbound vote.c '/^enum spindle_restart_vote spindle_restart_accept/,/^}/ s/	bind(voter, proposal->ballot.era);/	voter->opens = 0;/'
mutant enter_unbound vote.c '/^enum spindle_restart_vote spindle_restart_enter/,/^}/ s/	bind(voter, era);/	;/'
mutant fold_unbound vote.c '/^static void add_open/,/^}/ s/voter->bound = voter->open\[0\].era;/;/'
mutant stale_vote vote.c 's/	if (era > voter->promised.era)/	if (0)/'
mutant vote_while_running vote.c '/\[SPINDLE_RESTART_RUNNING\] = {/,/}/ s/\[EVENT_PROMISE\] = NONE/[EVENT_PROMISE] = SPINDLE_RESTART_PROMISED/'
mutant vote_after_running vote.c '/\[SPINDLE_RESTART_RUNNING\] = {/,/}/ s/\[EVENT_STOP\] = SPINDLE_RESTART_SILENT/[EVENT_STOP] = SPINDLE_RESTART_PROMISED/'
mutant lost_promise vote.c '/\[SPINDLE_RESTART_PROMISED\] = {/,/}/ s/\[EVENT_STOP\] = SPINDLE_RESTART_PROMISED/[EVENT_STOP] = SPINDLE_RESTART_SILENT/'

# All members count.
mutant unknown_range range.c '/^static void walk/,/^}/ s/		if (!view)$/		if (!view) { range->known = true; return; }\n		if (0)/'
mutant gap range.c 's/return a->era == b->era \&\& a->vid + 1 == b->vid;/return a->era == b->era \&\& a->vid < b->vid;/'
mutant never_consecutive range.c 's/return a->era == b->era \&\& a->vid + 1 == b->vid;/return false;/'
mutant known_unheard range.c 's/if (record \&\& record->known \&\&$/if (record \&\&/'
mutant known_elsewhere range.c '/^static bool is_established/,/^}/ s/spindle_restart_is(&record->view\[0\].id, &view->id)/true/'

# Reports and proposals.
mutant oldest range.c 's/spindle_restart_older(&newest->id, &view->id)/spindle_restart_older(\&view->id, \&newest->id)/'
mutant era_ignored inner.h 's/return a->era != b->era ? a->era < b->era : a->vid < b->vid;/return a->vid < b->vid;/'
mutant old_report judge.c 's/return !ballot || (report->promised.era == ballot->era \&\&/return !ballot || (1 ||/'
mutant other_proposer judge.c 's/report->promised.proposer == ballot->proposer/1/'
mutant report_twice judge.c 's/		if (set->report\[i\]->node == report->node)/		if (0)/'
mutant other_lineage judge.c 's/if (set->n \&\& (memcmp(/if (set->n \&\& (0 \&\& memcmp(/'
mutant half_is_majority judge.c 's/members \/ 2 + 1 : 1/members \/ 2 : 1/'
mutant half_stands judge.c 's/if (2 \* have <= view->members)/if (2 * have < view->members)/'
mutant newest_stands judge.c '/^bool spindle_restart_stands/,/^}/ s/for (i = 0; i < answer/for (i = answer->part[p].range.views - 1; i < answer/'
mutant majority_ignored judge.c 's/		if (part \&\& part->majority)/		if (0)/'
mutant missing_log judge.c 's/	if (log->missing)/	if (0)/'
mutant one_part judge.c 's/ready = judge_part(&set, &answer->part\[p\]) \&\& ready;/ready = judge_part(\&set, \&answer->part[p]);/'
mutant place_any_shard place.c 's/		if (w->first\[(\*p)++\] != first)/		if ((*p)++ == UINT32_MAX)/'
mutant place_smallest place.c '/^static struct spindle_restart_base \*find_smallest/,/^}/ s/__builtin_popcountll(base->members) </0 */'
mutant place_unnamed place.c 's/if (\*part \&\& (\*part)->member)/if (*part)/'
mutant place_not_home place.c 's/(own || spindle_restart_has(view->node, view->members, report->node))/own/'
mutant place_oldest place.c 's/spindle_restart_older(&best->id, &view->id)/spindle_restart_older(\&view->id, \&best->id)/'
mutant place_own_first place.c '/^static void place_all/,/^}/ s/find_home(w, set->report\[i\], first, false)/NULL/'
mutant place_no_record place.c '/^static void place_all/,/^}/ s/find_home(w, set->report\[i\], first, true)/NULL/'
mutant place_one_shard place.c 's/return id - part->shard;/return id;/'
mutant place_deserted judge.c 's/	if (has_members(set, answer))/	if (1)/'
mutant place_nobody_away judge.c '/^static bool has_members/,/^}/ s/		if (!need->nodes)/		if (0)/'
mutant shard_too_far check.c 's/part->shard >= SPINDLE_MAX_SUBGROUPS ||/0 ||/'
mutant shard_below_0 check.c 's/	    part->shard > part->id)/	    0)/'
mutant other_part range.c 's/	if (newest->id.era < other->id.era) {/	if (0) {/'
mutant accepted_range range.c '/^static const struct spindle_restart_record \*told/,/^}/ s/} else if (report->has_accepted) {/} else if (0) {/'
mutant lowest_accepted judge.c 's/p->ballot.era > best->ballot.era/p->ballot.era < best->ballot.era/'
mutant never_superseded judge.c 's/return best \&\& !is_superseded(answer, best) ? best : NULL;/return best;/'
mutant era_not_superseded judge.c 's/newest->id.era >= proposal->ballot.era || //'
mutant follower_not_superseded judge.c 's/ || newest->origin == proposal->origin//'
mutant old_ballot judge.c '/^static void repeat/,/^}/ s/	answer->proposal.ballot = \*ballot;/	;/'
mutant no_path judge.c 's/^	path->past\[path->eras++\] = .*/	path->past[path->eras++] = (struct spindle_restart_past){ newest->id, base + 1 };/'
mutant path_too_long range.c 's/from->eras ? from->eras - 1 : 0/from->eras/'
mutant forgotten cut.c 's/		if (is_forgotten(&e->id, path))/		if (0)/'
mutant low_unknown cut.c 's/return log->whole || !to;/return true;/'
mutant accept_any vote.c '/^enum spindle_restart_vote spindle_restart_accept/,/^}/ s/if (!is_same(&voter->promised, &proposal->ballot))/if (0)/'
mutant accept_other vote.c 's/a->era == b->era \&\& a->proposer == b->proposer/a->era == b->era/'
mutant keeps_any cut.c 's/		if (!keeps_part(/		if (0 \&\& !keeps_part(/'
mutant keeps_other_list cut.c 's/if (!spindle_restart_lists(report, proposal))/if (0)/'
mutant keeps_shorter_list list.c '/^bool spindle_restart_lists/,/^}/ s/return report->parts == proposal->parts;/return true;/'
mutant keeps_as_many list.c '/^bool spindle_restart_lists/,/^}/ s/			return false;/			break;/'
mutant counts_other_list judge.c 's/!spindle_restart_same_list(report\[i\], set->report\[0\])/0/'
mutant counts_longer_list list.c '/^bool spindle_restart_same_list/,/^}/ s/return a->parts == b->parts;/return true;/'
mutant counts_as_many list.c '/^bool spindle_restart_same_list/,/^}/ s/			return false;/			break;/'
mutant keeps_unknown cut.c 's/if (!record->known || !record->views/if (!record->views/'
mutant keeps_missing cut.c 's/ || part->log.missing ||$/ ||/'
mutant keeps_short cut.c 's/ || end >= part->log.end;/;/'
mutant keeps_below cut.c 's/return end >= record->view\[0\].base/return end + 1 >= record->view[0].base/'
mutant vote_twice vote.c 's/return spindle_restart_equal(&voter->accepted, proposal) ?/return 1 ?/'
mutant equal_ballots vote.c 's/	if (!is_same(&a->ballot, &b->ballot) || /	if (/'
mutant equal_lineages vote.c 's/memcmp(a->lineage, b->lineage, sizeof(a->lineage)) || //'
mutant equal_nodes vote.c 's/	    memcmp(a->node, b->node, a->members \* sizeof(a->node\[0\])))/	    0)/'
mutant equal_parts vote.c 's/		if (!is_same_base(&a->part\[i\], &b->part\[i\]))/		if (0)/'
mutant equal_ranges vote.c 's/is_same_record(&a->range, &b->range) && //'
mutant equal_paths vote.c 's/ && is_same_path(&a->path, &b->path);/;/'
mutant equal_members vote.c '/^static bool is_same_view/,/^}/ s/!memcmp(.*/1;/'
mutant era_jump vote.c 's/ || ballot->era > spindle_restart_reach(voter)//'
mutant era_most vote.c 's/	return reach < SPINDLE_RESTART_ERA_MAX ? reach : SPINDLE_RESTART_ERA_MAX;/	return reach;/'
mutant enter_any_era vote.c 's/	if (era > SPINDLE_RESTART_ERA_MAX)/	if (0)/'

# Forced restarts.
mutant force_unsorted force.c 's/^	sort(&set);$/	;/'
mutant force_view_unsorted force.c 's/	sort_members(&part->range.view\[0\]);/	;/'
mutant force_part_order force.c 's/ \&\& (!next || need->id < next->id))/)/'
mutant force_log_era force.c 's/			if (log->epochs)$/			if (0)/'
mutant force_accepted_era force.c 's/		if (report->has_accepted)$/		if (0)/'
mutant force_conflict force.c 's/answer->part\[p\].why == SPINDLE_RESTART_CONFLICT ||/0 ||/'
mutant force_ready force.c 's/return answer->kind == SPINDLE_RESTART_WAIT \&\& answer->parts;/return answer->parts;/'
mutant force_loss force.c 's/\.to = need->to, /.to = need->base, /'
mutant force_open force.c 's/, \.open = need->open }/ }/'
mutant force_proposer check.c 's/	if (proposal->ballot.proposer || /	if (/'
mutant force_padding check.c 's/ || !is_padded(force->address\[i\])//'
mutant durable_unneeded judge.c 's/ \&\& has_durable(set, need);/;/'

# Bytes.
mutant crc bytes.c 's/	c.bad = le32toh(le) != spindle_dlog_crc(0, from, bytes);/	;/'
mutant kind bytes.c 's/what != kind || //'
mutant twice check.c '/^static bool has_twice/,/^}/ s/return true/return false/'
mutant views_order check.c 's/if (i \&\& !spindle_restart_older(&view\[-1\].id, &view->id))/if (0)/'
mutant path_order check.c 's/past->last.era >= era || //'
mutant log_order check.c 's/if (e->lsn >= log->end)/if (0)/'
mutant masks check.c 's/ || part->members \& ~all//'
mutant accepted_unchecked bytes.c 's/	c->bad = c->bad || !spindle_restart_good_proposal(proposal);/	;/'
mutant votes_unchecked bytes.c 's/return end_get(&c) \&\& spindle_restart_good_voter(voter);/return end_get(\&c);/'
mutant proposal_era check.c 's/ || proposal->ballot.era > SPINDLE_RESTART_ERA_MAX//'
mutant report_era check.c '/^bool spindle_restart_good_report/,/^}/ s/report->promised.era > SPINDLE_RESTART_ERA_MAX/0/'
mutant record_era check.c 's/return era <= SPINDLE_RESTART_ERA_MAX \&\& is_path/return is_path/'
mutant voter_era check.c '/^bool spindle_restart_good_voter/,/^}/ s/voter->promised.era > SPINDLE_RESTART_ERA_MAX/0/'
mutant address_end check.c 's/	return i < SPINDLE_RESTART_ADDRESS;/	return true;/'
mutant address_any check.c "s/address\[i\] <= ' ' || address\[i\] > '~'/0/"

mutants_end
