#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Is the simulator any good? A bounded number of seeds has to find each mutant. See
# ../../lib/mutate.sh.
#
#   mutate.sh            all
#   mutate.sh NAME...    some
#   SEEDS=n              seeds that each of them gets; 4000

set -euo pipefail
# shellcheck source=selftests/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../lib/common.sh"

here=$SPN_SELFTESTS/core/sim
seeds=${SEEDS:-4000}
# shellcheck source=selftests/lib/mutate.sh
. "$SPN_SELFTESTS/lib/mutate.sh"

# Code that a mutation leaves unused is no reason to fail.
build()
{
	make -s -C "$here" CORE="$work/core" BUILD="$work/build" CFLAGS="-w" "$work/build/sim"
}

survives()
{
	# A mutant may loop for ever. The limit is of CPU time, and many times what the core needs.
	(ulimit -t 300 && "$work/build/sim" -n "$seeds" -m 1)
}

# A crash of the program has no such line, and is found as well.
killer()
{
	grep -m 1 '^seed' "$work/log" || tail -n 1 "$work/log"
}

mutants_begin "${BUILD:-$SPN_BUILD/sim}/mutate" "$@"

# Agreement.
mutant minority_goes_on membership/member.h '/spindle_mb_quorum/,/^}/ s/return .*;/return true;/'
mutant half_goes_on membership/member.h '/spindle_mb_quorum/,/^}/ s/> hweight64(all)/>= hweight64(all)/'
mutant takeover_forgets membership/agree.c '/^static void propose/,/^}/ s/found = adopt_of(mb, ballot);/found = 0;/'
mutant stale_leader membership/agree.c '/^void spindle_mb_vote/,/^}/ s/spindle_mb_voters(mb)/spindle_mb_everybody(mb)/'
mutant commit_alone membership/agree.c '/^static bool all_stand_by/,/^}/ s/return false;/return true;/'
mutant commit_of_dead membership/agree.c '/^static bool all_stand_by/,/^}/ s/spindle_mb_voters(mb)/spindle_mb_everybody(mb)/'
mutant leaver_decides membership/member.h '/u64 spindle_mb_voters/,/^}/ s/return .*;/return spindle_mb_alive(mb);/'
mutant joins_never membership/agree.c '/^static bool may_add/,/^}/ s/return id \&\&/return 0 \&\&/'
mutant any_life membership/membership.c '/^static bool lets_in/,/^}/ s/return i >= 0 \&\&/return 0 \&\&/'
# Suspicion.
mutant accuse_at_once membership/suspect.c 's/^	if (silent)$/	if (0)/'
mutant accuse_unheard membership/suspect.c 's/if (paused || (waits/if ((waits/'
mutant accuse_back membership/suspect.c '/^void spindle_mb_closed/,/^}/ s/if (!spindle_mb_quorum.*/if (1)/;/^void spindle_mb_closed/,/^}/ s/spindle_mb_stop(mb, SPINDLE_MB_EVICTED);/spindle_mb_suspect(mb, rank, SPINDLE_MB_GONE);/'
mutant gossip_lost membership/suspect.c '/^static void gossip/,/^}/ s/spindle_mb_suspect(mb, __ffs64(news).*/;/'
mutant suspects_renumbered membership/membership.c 's/mb->suspected = spindle_decree_renumber(.*;/;/'
# Deliveries.
mutant fence_dropped membership/show.c 's/p->fenced = mb->ops->flushed(mb->ctx, rank);/p->fenced = true;/'
mutant state_not_vouched membership/suspect.c '/^static bool vouched/,/^}/ s/return .*/return true ||/'
mutant vouch_not_begun multicast/epoch.c 's/WRITE_ONCE(\*m->vouch, m->vouched);/(void)0;/'
mutant fence_not_awaited membership/membership.c 's/if (spindle_mb_all_of(mb, spindle_mb_alive(mb), fences_crossed))/if (1)/'
mutant behind_the_fence membership/show.c '/^bool spindle_mb_open/,/^}/ s/!p->fenced/1/'
mutant early_writes membership/show.c '/^bool spindle_mb_open/,/^}/ s/p->vid == spindle_mb_view(mb)->vid/1/'
mutant trim_of_one membership/agree.c '/^static u64 least/,/^}/ s/u64 mask = spindle_mb_alive(mb)/u64 mask = BIT_ULL(mb->me)/'
mutant trim_of_most membership/agree.c '/^static u64 least/,/^}/ s/u64 have = U64_MAX;/u64 have = 0;/;/^static u64 least/,/^}/ s/min_t(u64, have,/max_t(u64, have,/'
mutant trim_of_the_dead membership/agree.c '/^static u64 least/,/^}/ s/u64 mask = spindle_mb_alive(mb)/u64 mask = spindle_mb_everybody(mb)/'
mutant trim_not_echoed membership/show.c 's/if (p->told_decree != mb->digest) {/if (0) {/'
mutant have_not_told membership/show.c 's/!p->told_have/0/'
mutant go_on_receiving multicast/epoch.c 's/enter(mc, SPINDLE_EPOCH_FROZEN);/;/'
mutant go_on_sending multicast/epoch.c 's/enter(mc, SPINDLE_EPOCH_WEDGED);/;/'
mutant no_truncation multicast/epoch.c 's/sd->walk.slot = trim\[s\];/;/'
mutant undelivered membership/membership.c 's/if (mb->ops->drain(mb->ctx) \&\& /if (/'
# The next view.
mutant resend_twice multicast/epoch.c 's/m->push_slot = mc->sender\[mc->my_sender\].walk.slot;/m->push_slot = mc->sender[mc->my_sender].walk.slot - !!mc->sender[mc->my_sender].walk.slot;/'
mutant take_twice multicast/epoch.c 's/mc->send.txq = old->send.txq;/&\n\tmc->send.txq.slot -= !!mc->send.txq.slot;/'
mutant lose_readers multicast/epoch.c 's/now\[from\[s\]\] = s;/;/'
mutant wrong_sender multicast/epoch.c 's/now\[from\[s\]\] = s;/now[s] = s;/'
mutant free_too_early multicast/epoch.c '/^static void begin_sender/,/^}/ s/msg->round = 0;/;/;/^static void begin_sender/,/^}/ s/sd->rel_slot = old->rel_slot;/;/'

# Views that need no majority.
mutant majority_always membership/member.h '/spindle_mb_quorum/,/^}/ s/mb->any ? mask & all : //'

# Other rules.
mutant rules_thawed membership/membership.c '/^bool spindle_mb_offer/,/^}/ s/if (mb->state != SPINDLE_MB_ACTIVE)/if (mb->state >= SPINDLE_MB_COMMITTED)/'
mutant rules_not_looked_at membership/agree.c '/^static void compose_members/,/^}/ s/agreed_rules(mb);/mb->rules;/'
mutant rules_of_some membership/agree.c '/^static u64 agreed_rules/,/^}/ s/mb->rules; mask &= mask - 1/mb->rules; mask = 0/'
mutant rules_outlive_view membership/membership.c '/^static void install/,/^}/ s/		mb->rules = 0;/		;/'
mutant rules_takeover_forgets membership/agree.c '/^static void propose/,/^}/ s/	if (!found) {/	if (found) { spindle_mb_own_decree(mb)[SPINDLE_DECREE_RULES] = 0; mb->digest = spindle_decree_digest(spindle_mb_own_decree(mb), spindle_mb_decree_words(mb->trims)); }\n&/'
mutant rules_and_joiners membership/agree.c '/^static void compose_members/,/^}/ { s/word\[SPINDLE_DECREE_RULES\] = agreed_rules(mb);/;/; s/if (!word\[SPINDLE_DECREE_RULES\])/;/; s/add_joins(mb, word);/&\n\tword[SPINDLE_DECREE_RULES] = agreed_rules(mb);/ }'
mutant rules_not_followed membership/agree.c '/^bool spindle_mb_leads_on/,/^}/ s/word\[SPINDLE_DECREE_RULES\]/0/'
mutant rules_spare_twice membership/rules.c '/^static bool fits(/,/^}/ s/ || !is_free(&next->rule\[i\])//'
mutant rules_spare_at_once membership/rules.c '/^static bool fits(/,/^}/ s/!is_free(&rules->rule\[i\]) || //'
mutant rules_in_place membership/rules.c '/^static bool fits(/,/^}/ s/!is_free(&rules->rule\[i\]) || //;/^static bool may_become/,/^}/ s/is_free(rule) != is_free(next) \&\&/1 \&\&/'
mutant rules_position_zero membership/decree.c '/^static u64 begins_at/,/^}/ s/a->id == sg->id/0/'
mutant rules_position_of_first membership/decree.c '/^static u64 begins_at/,/^}/ s/trim += hweight64(a->senders);/;/'
mutant rules_position_former membership/decree.c '/^static u64 begins_at/,/^}/ s/return count_on(.*/return a->former;/'

# Subgroups that stay.
mutant stays_without membership/decree.c 's/!(a->members \& ~survivors) \&\&/1 \&\&/;s/spindle_decree_renumber(a->members, survivors) == b->members \&\&/1 \&\&/;s/spindle_decree_renumber(a->senders, survivors) == b->senders/1/'
mutant stays_for_joiners membership/decree.c 's/spindle_decree_renumber(a->members, survivors) == b->members \&\&/1 \&\&/;s/spindle_decree_renumber(a->senders, survivors) == b->senders/1/'
mutant stays_frozen multicast/epoch.c 's/if (enter(mc, SPINDLE_EPOCH_STAYED))/if (1)/'
mutant stays_for_ever multicast/epoch.c 's/ | BIT(SPINDLE_EPOCH_STAYED)//'
mutant view_untold multicast/deliver.c 's/bool view = mc->deliver.vid_due \&\& deliver_view(mc);/bool view = false;\n\tmc->deliver.vid_due = 0;/'
mutant view_too_late multicast/deliver.c 's/bool view = mc->deliver.vid_due \&\& deliver_view(mc);/bool view = false;/;s/u32 n = mc->deliver.vid_due ? 0 : deliver_batch(mc);/u32 n = deliver_batch(mc);\n\tview = mc->deliver.vid_due \&\& deliver_view(mc);/'

# Subgroups together: passes, pushes, changes.
mutant acks_wait_for_ever group/group.c 's/if (++c->passes % FLUSH_PASSES == 0 || idle)/if (idle)/'
mutant cold_for_ever group/group.c 's/#define COLD_VISITS 2/#define COLD_VISITS 0/'
mutant push_unopened group/group.c 's/(open || mc->epoch == SPINDLE_EPOCH_STAYED)/1/'
mutant closed_is_lost group/group.c 's/else if (how == SPINDLE_MB_GONE)/else if (0)/'
mutant first_of_another group/change.c 's/ : trim\[rank\[s\]\];/ : trim[s];/'
mutant stays_cleared group/change.c 's/ & ~c->stays;/;/'
mutant blocks_stay group/change.c 's/		spindle_mc_clear(&row, c->view->num_subgroups, begin, messages);/		(void)begin;(void)messages;/'

# Members that only receive.
mutant receivers_uncleared group/wire.c '/^void spindle_mc_clear/,/^}/ s/u32 i = __ffs64(subgroups);/&\n\n\t\tif (row->in->hdr[i] == SPINDLE_NO_OFFSET)\n\t\t\tcontinue;/'
mutant trim_by_members group/change.c 's/trim += hweight64(c->view->subgroup\[i\].senders);/trim += hweight64(c->view->subgroup[i].members);/'

# Too few members.
mutant few_are_enough membership/rules.c '/^bool spindle_rules_enough/,/^}/ s/hweight64(sg->members) >=/64 >=/'

# No order.
mutant unordered_refuses multicast/epoch.c 's/(mc->ordered \&\& trim\[s\] < sd->dlv_slot)/trim[s] < sd->dlv_slot/'

# Processes that come and go, and copy.
mutant close_forgets multicast/multicast.c 's/(send->held != SPINDLE_HELD_NONE || spindle_txq_ready(&send->txq))/(send->held != SPINDLE_HELD_NONE)/'
mutant parting_forgotten multicast/epoch.c 's/mc->send.parting = old->send.parting;/;/'
mutant gone_reader_blocks multicast/multicast.c '/^void spindle_mc_detach_reader/,/^}/ s/mc->deliver.blocked = false;/;/'
mutant late_reader_told multicast/multicast.c 's/dlvq->vid = mc->deliver.vid_due;/dlvq->vid = 0;/'
mutant copies_overwritten multicast/dlvq.h '/^static inline bool spindle_dlvq_room/,/^}/ s/return !dlvq->copy ||/return true ||/'
mutant log_too_small group/wire.c '/^int spindle_mc_create/,/^}/ s/if (old)/if (0)/'

# Two readers, and slots that nothing is sent of.
mutant second_reader_waits_not multicast/deliver.c 's/for (q = mc->deliver.readers; q; q = q->next)$/for (q = mc->deliver.readers; q; q = NULL)/'
mutant second_reader_untold multicast/deliver.c 's/for (q = mc->deliver.readers; q; q = q->next) {/for (q = mc->deliver.readers; q; q = NULL) {/'
mutant direct_to_all multicast/send.c 's/.to = slot->mask;/.to = U64_MAX;/'
mutant direct_gap multicast/push.c 's/if (!(e->to \& self) || at - to/if (at - to/'
mutant direct_express multicast/push.c 's/ \&\& !msg->mask;/;/'
mutant direct_large multicast/send.c 's/ \&\& !slot.abandoned \&\& !slot.mask) {/ \&\& !slot.abandoned) {/'
mutant direct_here_too multicast/deliver.c 's/bool other = msg->mask \&\& .*;/bool other = false;/'
mutant direct_not_chained multicast/direct.c 's/now\[from->now\[r\]\];/from->now[r];/'
mutant direct_old_ranks multicast/direct.c '/^static u64 present_ranks/,/^}/ s/now |= BIT_ULL(r);/now = mask;/'
mutant direct_node_ranks group/change.c 's/rank\[r\] = spindle_mask_rank(old, was);/rank[r] = was;/'
mutant direct_not_latest group/change.c 's/c->mc\[i\]->latest = c->view->vid;/;/'
mutant direct_not_renumbered group/change.c 's/spindle_mc_renumber(c->mc\[i\], before, rank);/;/'
mutant history_lost multicast/epoch.c 's/to->history = old->history;/;/'
mutant history_half_copied multicast/dlvq.c '/^bool spindle_dlvq_copy/,/^}/ s/if (dlvq->part_of != .*/if (0)/'
mutant history_kept_reader multicast/history.c 's/		if (c->consumed < low)/		if (0)/'
mutant history_message_before multicast/history.c 's/dlv->lsn == lsn \&\& dlv->kind == SPINDLE_DLV_VIEW/dlv->lsn == lsn/'
mutant history_vid_of_next multicast/history.c 's/last = view->before;/last = view->vid;/'
mutant history_frees_all multicast/history.c 's/h->q.copy_free = .*/h->q.copy_free = h->q.copy_tail;/'
mutant history_unmarked multicast/deliver.c '/^static bool deliver_view/,/^}/ s/if (mc->deliver.history)/if (0)/'
mutant abandoned_sent multicast/txq.c 's/slot->abandoned = flags \& SPINDLE_TX_ABANDON;/slot->abandoned = false;/'

# Nodes that come and go, and lanes that one end has closed.
mutant parted_waits group/stream.c 's/	set = st->parted | without_end(ss, st);/	set = without_end(ss, st);/'
mutant invites_nobody group/group.c 's/	spindle_mg_invite(c, now);/	;/'
mutant leaves_at_once membership/membership.c 's/if (mb->leave \&\& mb->state == SPINDLE_MB_ACTIVE)/if (mb->leave)/'

# Tables.
mutant table_cleared_always group/change.c 's/if (!c->mc\[i\] \&\& spindle_view_is_table/if (spindle_view_is_table/'
mutant table_not_followed group/change.c 's/spindle_tb_follow(c->tb\[i\], tb, rank);/;/'
mutant table_wrong_ranks group/change.c 's/spindle_tb_follow(c->tb\[i\], tb, rank);/spindle_tb_follow(c->tb[i], tb, from);/'
mutant table_shard_moved_kept group/change.c '/^static u32 old_ranks/,/^}/ s/ \&\& (old & BIT_ULL(was)))/)/'
mutant table_shard_not_kept membership/rules.c '/^static void share_out/,/^}/ s/		if (at < rule->shards)/		if (0)/'
mutant table_shards_of_one_id membership/rules.c 's/sg->id += s;/;/'
mutant table_not_pushed group/group.c 's/return tb ? spindle_tb_wanted(tb, rank) : spindle_push_wanted/return spindle_push_wanted/'
mutant table_forgotten group/group.c 's/return tb ? spindle_tb_pending(tb) : spindle_push_pending/return spindle_push_pending/'
mutant table_joiner_lacks_nothing table/table.c '/^static void lacks_all/,/^}/ s/m->due = true;/m->due = false;/'
mutant table_guard_first table/table.c 's/u32 n = push_cells(tb, m, write, max - 1);/u32 n = guard ? push_guard(tb, m, write, 0, max - 2) : 0;/;s/^	if (guard)$/	if (n < max - 1) n += push_cells(tb, m, write + n, max - 1 - n);\n	if (0)/'
mutant table_guard_unheard table/table.c '/hear_guard(struct/,/^}/ s/if (m->vouch || .*/if (1)/'
mutant table_guard_ends_unordered table/table.c 's/if (!guard || !(how \& SPINDLE_PUSH_SPLIT))/if (!guard)/'
mutant table_not_vouched table/table.c 's/return !m->vouch ||/return 1 ||/'
mutant table_torn_guard table/row.c 's/tb->half = !spindle_tb_copy_cell(.*/tb->half = true;/'
mutant table_not_heard table/table.c 's/WRITE_ONCE(m->guard, word\[SPINDLE_TB_GUARD\]);/;/'
mutant fetch_torn_taken table/fetch.c '/^static bool take_cells/,/^}/ s/spindle_mix(from, n - 1) != from\[n - 1\])/0)/'
mutant fetch_guard_with_cells table/fetch.c 's/ || !is_shown(f, m, n))/)/'
mutant fetch_guard_early table/fetch.c 's/^	if (done)$/	if (f->guarded)/'
mutant fetch_not_heard table/fetch.c 's/tb->changed |= BIT_ULL(rank);/;/'
mutant fetch_guard_untold table/fetch.c 's/WRITE_ONCE(m->guard, .*/;/'
mutant fetch_pushed table/table.c 's/return !tb->read \&\& tb->member/return tb->member/'

# Logs.
mutant durable_untied multicast/durable.c 's/return d->established ? max(/return 1 ? max(/'
mutant durable_no_records multicast/durable.c 's/d->reach >= d->base \&\& has_records(d)/d->reach >= d->base/'
mutant durable_one_back multicast/durable.c '/^static bool has_records/,/^}/ s/for (i = 0;/for (i = d->views - 1;/'
mutant durable_follows_none group/change.c 's/			spindle_durable_follow(c->mc\[i\], ranges);/			;/'
mutant durable_follows_last multicast/durable.c '/^void spindle_durable_follow/,/^}/ s/for (i = 0; ranges \&\& i/for (i = ranges ? ranges->views - 1 : 0; ranges \&\& i/'
mutant durable_no_base multicast/durable.c 's/d->known \&\& d->reach >= d->base \&\&/d->known \&\&/'
mutant durable_joiner_knows multicast/durable.c 's/((d->known \&\& d->reach/((d->reach/'
mutant durable_bit_stays multicast/durable.c 's/own\[SPINDLE_LOG_COL_RECORD\] &= ~SPINDLE_LOG_ESTABLISHED;/;/'
mutant durable_joiner_untold multicast/durable.c 's/ || is_told(d)))/))/'
mutant durable_others_only multicast/durable.c 's/if (!(used \& BIT_ULL(r)) \&\&/if (!(used \& BIT_ULL(r)) \&\& (r != d->me || n + 1 == d->members) \&\&/;s/	while (n--) {/	if (n == d->members \&\& n > 1)\n		n--;\n	while (n--) {/'
mutant durable_largest multicast/durable.c 's/in_logs(d, max(rule, d->copies))/in_logs(d, 1)/'
mutant durable_few_copies multicast/durable.c 's/in_logs(d, max(rule, d->copies))/in_logs(d, rule)/'
mutant durable_beyond multicast/durable.c 's/max(d->durable, min(d->reach, mc->deliver.lsn))/max(d->durable, d->reach)/'
mutant durable_back multicast/durable.c 's/	d->durable = old->durable;/	;/'
mutant durable_log_block_stays group/wire.c '/^void spindle_mc_clear/,/^}/ s/memset(row->base + spindle_layout_log.*/;/'
mutant durable_not_pushed multicast/push.c 's/return mc->member\[rank\].dirty || .*/return mc->member[rank].dirty;/'
mutant keep_ignored multicast/history.c 's/		low = min(low, h->kept);/		;/'
mutant keep_ghost_not multicast/durable.c 's/	d->words = NULL;/	spindle_history_let_go(mc->deliver.history);\n&/'
mutant keep_blocks_view multicast/epoch.c '/^bool spindle_mc_trim/,/^}/ s/mc->deliver.blocked = false;/;/'
mutant keep_for_ever multicast/deliver.c 's/mc->deliver.stable != U64_MAX || !mc->durable/1/'
mutant words_at_any_time multicast/durable.c 's/	if (has_news(d))$/	if (d->words \&\& !d->bad)/'
mutant gate_open multicast/history.c 's/h->gated \&\& !cursor->logger ? h->gate/0 ? h->gate/'
mutant gate_on_view multicast/history.c 's/skip_views(h, max(h->gate, low))/max(h->gate, low)/'
mutant gate_stuck multicast/durable.c '/^static void move_durable/,/^}/ s/	spindle_history_open(.*/	;/'

mutants_end
