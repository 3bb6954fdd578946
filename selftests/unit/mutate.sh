#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Are the unit tests any good? See ../lib/mutate.sh.
#
#   mutate.sh            all
#   mutate.sh NAME...    some

set -euo pipefail
# shellcheck source=selftests/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/common.sh"

here=$SPN_SELFTESTS/unit
# shellcheck source=selftests/lib/mutate.sh
. "$SPN_SELFTESTS/lib/mutate.sh"

# What the mutation leaves unused is no reason to fail.
unit()
{
	make -s -C "$here" CORE="$work/core" BUILD="$work/build" CFLAGS="-O1 -g -w" "$@"
}

build()
{
	unit all
}

survives()
{
	unit check STOP=1
}

killer()
{
	sed -n 's/^# FAILED: *//p' "$work/log"
}

mutants_begin "${BUILD:-$SPN_BUILD/unit}/mutate" "$@"

mutant believe_all receive.c 's/if (!plausible(mc, m, word))/if (0)/'
mutant take_unpushed receive.c 's/received <= pushed_seq(mc, m)/1/'
mutant no_round_limit receive.c 's/sent > SPINDLE_MAX_ROUND/0/'
mutant no_window_check receive.c 's/mc->sender\[m->sender\].rel_slot > mc->window/mc->sender[m->sender].rel_slot > U64_MAX/'
mutant free_too_many release.c '/^static void free_own/,/^}/ s/mc->my_sender < low)/mc->my_sender <= low)/'
mutant free_unasked release.c '/^static u64 lowest_delivered/,/^}/ s/r != mc->me/r < mc->me/'
mutant deliver_limit deliver.c '/^static u32 deliver_batch/,/^}/ s/>= limit/> limit/'
mutant deliver_on_receipt deliver.c 's/return mc->ordered ? mc->stable : U64_MAX;/return mc->ordered ? mc->word[SPINDLE_COL_RECEIVED] : U64_MAX;/'
mutant forget_a_member multicast.c '/^static u64 stable_seq/,/^}/ s/r != mc->me/r > 0 \&\& r != mc->me/'
mutant null_for_higher receive.c 's/c -= !!c;/c -= 0;/'
mutant null_for_lower receive.c '/^static u64 rounds_needed/,/^}/ s/if (s < mc->my_sender)/if (1)/'
mutant null_for_nulls receive.c '/^static u64 rounds_needed/,/^}/ s/mc->sender\[s\].heard/mc->sender[s].walk.rounds/'
mutant null_unheard receive.c 's/sd->heard = msg->round + 1;/sd->heard = msg->round;/'
mutant null_switch receive.c 's/ && spindle_mc_uses(mc, SPINDLE_SW_NULLS)//'
mutant null_at_once send.c 's/(mc->idle || mc->ahead || mc->late >= NULLS_LATE)/1/'
mutant null_only_idle send.c 's/ || mc->late >= NULLS_LATE//'
mutant null_not_silent send.c 's/mc->idle || mc->ahead ||/mc->idle ||/'
mutant null_not_idle send.c 's/(mc->idle || /(/'
mutant late_for_ever send.c 's/mc->late = 0;/;/'
mutant ahead_none send.c 's/sd->walk.rounds = mc->need + ahead;/sd->walk.rounds = mc->need;/'
mutant ahead_by_one send.c 's/2 \* ahead : 1/ahead + 1 : 1/'
mutant ahead_limit send.c 's/mc->ahead = min_t(u64, ahead ? 2 \* ahead : 1, mc->tune.silence);/mc->ahead = ahead ? 2 * ahead : 1;/'
mutant ahead_after_message send.c 's/mc->ahead = 0;/;/'
mutant silence_first send.c '/^bool spindle_mc_silence/,/^}/ s/i < mc->window \&\&/0 \&\&/'
mutant silence_budget send.c '/^bool spindle_mc_silence/,/^}/ s/i < mc->window \&\&/!i \&\&/'
mutant silence_untold send.c '/^bool spindle_mc_silence/,/^}/ s/spindle_mc_set(.*);/;/'
mutant silence_no_end send.c 's/rounds > SPINDLE_MAX_ROUND \/ 4/rounds > U64_MAX/'
mutant silence_wakes_none send.c '/^bool spindle_mc_silence/,/^}/ s/mc->settle = true;/;/'
mutant acks_at_once multicast.c 's/!lazy || value/1 || value/'
mutant acks_no_quarter multicast.c 's/value - m->told_delivered >= most/0/'
mutant acks_half multicast.c 's/#define LAZY_SHIFT 2/#define LAZY_SHIFT 1/'
mutant acks_eighth multicast.c 's/#define LAZY_SHIFT 2/#define LAZY_SHIFT 3/'
mutant acks_one_window multicast.c 's/((u64)mc->window \* mc->senders) >>/(u64)mc->window >>/'
mutant acks_always_lazy multicast.c 's/ && spindle_mc_uses(mc, SPINDLE_SW_MERGED_ACKS);/;/'
mutant flush_nothing multicast.c '/^bool spindle_mc_flush_acks/,/^}/ s/m->dirty = true;/;/'
mutant flush_in_silence multicast.c '/^bool spindle_mc_flush_acks/,/^}/ s/any = true;/;/'
mutant flush_twice multicast.c '/^bool spindle_mc_flush_acks/,/^}/ s/mc->lazy = false;/;/;s/ || m->told_delivered == mc->word\[SPINDLE_COL_DELIVERED\]//'
mutant flush_told multicast.c '/^bool spindle_mc_flush_acks/,/^}/ s/ || m->told_delivered == mc->word\[SPINDLE_COL_DELIVERED\]//'
mutant told_nothing push.c 's/m->told_delivered = mc->word\[SPINDLE_COL_DELIVERED\];/;/'
mutant budget_switch stage.h 's/spindle_mc_uses(mc, technique) ? budget : 1/budget/'
mutant budget_none stage.h 's/spindle_mc_uses(mc, technique) ? budget : 1/spindle_mc_uses(mc, technique) ? 65536 : 1/'
mutant budget_recv receive.c 's/if (n == max)/if (0)/'
mutant budget_each receive.c 's/left - n)/left)/'
mutant budget_dlv deliver.c 's/ || n == max ||/ ||/'
mutant budget_turn receive.c 's/u32 i, s = mc->turn;/u32 i, s = 0;/'
mutant backlog_unseen receive.c '/^bool spindle_receive_test/,/^}/ s/if (mc->backlog)/if (0)/'
mutant backlog_unsaid receive.c '/^static u64 walk_headers/,/^}/ s/mc->backlog = true;/;/'
mutant backlog_for_ever receive.c 's/mc->backlog = false;/;/'
mutant retune_ahead multicast.c '/^void spindle_mc_retune/,/^}/ s/mc->ahead = .*;/;/'
mutant retune_unasked multicast.c '/^void spindle_mc_retune/,/^}/ s/mc->backlog = true;/;/'
mutant post_nothing multicast.c 's/mc->post(mc);/;/'
mutant post_always multicast.c 's/if (spindle_mc_uses(mc, SPINDLE_SW_LATE_POST) ||/if (/'
mutant post_unsealed multicast.c '/^void spindle_mc_post_in_place/,/^}/ s/spindle_mc_publish(mc);/;/'
mutant post_failed multicast.c '/^void spindle_mc_post_in_place/,/^}/ s/ || !mc->active//'
mutant half_none push.c 's/if (split && ack_received(mc, m))/if (0)/'
mutant half_merged push.c 's/if ((mc->tune.switches & SPINDLE_SW_MERGED_ACKS) ||/if (/'
mutant half_whole push.c 's/word\[SPINDLE_COL_DELIVERED\] = m->told_delivered;/;/'
mutant half_unsplit push.c 's/if (split && ack_received/if (ack_received/'
mutant half_room push.c 's/max - 3 - split/max - 3/'
mutant slots_packed push.c 's/if (mc->tune.switches & SPINDLE_SW_PACKED)/if (1)/'
mutant slots_fixed push.c 's/if (mc->tune.switches & SPINDLE_SW_PACKED)/if (0)/'
mutant slots_too_long push.c 's/units = min((u32)mc->ends\[i\].unit - msg->unit, spindle_units(mc->max_msg));/units = (u32)mc->ends[i].unit - msg->unit;/'
mutant slots_max push.c 's/units = min((u32)mc->ends\[i\].unit - msg->unit, spindle_units(mc->max_msg));/units = spindle_units(mc->max_msg);/'
mutant vouch_unseen receive.c 's/if (m->vouch && READ_ONCE(\*m->vouch) != m->vouched)/if (0)/'
mutant no_vouch receive.c 's/if (!m->vouch)$/if (1)/'
mutant vouch_wrap receive.c 's/slot + ((m->vouched - (u32)slot) & SPINDLE_IMM_SLOTS)/(u64)m->vouched/'
mutant nulls_too_early receive.c 's/if (limit == m->slots)/if (1)/'
mutant prefix_first multicast.c '/^u64 spindle_mc_prefix/,/^}/ s/if (c < low)/if (c <= low)/'
mutant release_unread release.c '/^static u64 released/,/^}/ s/low = min(low, q->base + q->consumed);/;/'
mutant reader_base multicast.c 's/dlvq->base = mc->log_tail;/dlvq->base = mc->log_head;/'
mutant ignore_blocked deliver.c 's/if (!readers_have_room(mc, msg->len))/if (0)/'
mutant stay_blocked release.c '/^static u64 released/,/^}/ s/mc->blocked = false;/;/'
mutant no_settle receive.c '/^void spindle_receive_trigger/,/^}/ s/mc->settle = true;/;/'
mutant no_block multicast.c '/^void spindle_mc_publish/,/^}/ s/if (!mc->changed/if (!mc->need || !mc->changed/'
mutant abandon_end send.c 's/last->unit = slot->end_unit;/;/'
mutant detach_drops multicast.c '/^void spindle_mc_detach_sender/,/^}/ s/while (.*send_test(mc))/while (0)/'
mutant publish_first dlvq.c '/^void spindle_dlvq_append/,/^{/ s/^{/{\n\tsmp_store_release(dlvq->tail_word, dlvq->tail + 1);/'
mutant publish_early deliver.c '/^void spindle_deliver_trigger/,/^}/ s/u32 n = deliver_batch(mc);/u32 n;\n\n\tfor (q = mc->readers; q; q = q->next)\n\t\tsmp_store_release(q->tail_word, q->tail + 1);\n\tn = deliver_batch(mc);/'
mutant copy_free dlvq.c 's/copy_end\[(consumed - 1) & dlvq->mask\]/copy_end[consumed \& dlvq->mask]/'
mutant consumed_range dlvq.c 's/consumed > dlvq->tail/consumed > dlvq->tail + 1/'
mutant ignore_seal sst.c 's/if (spindle_seal(w) != s)/if (0)/'
mutant weak_seal sst.c 's/h \*= 0x9e3779b97f4a7c15ULL;/h += 1;/'
mutant express_unread receive.c '/^bool spindle_receive_test/,/^}/ s/if (m->express \&\&/if (0 \&\&/'
mutant express_before_block receive.c '/^void spindle_receive_trigger/,/^}/ {s/read_block(mc, i);/read_express(mc, i);/;t;s/read_express(mc, i);/read_block(mc, i);/}'
mutant express_unchecked receive.c 's/if (!outdated(m, x->word)) {/if (0) {/'
mutant express_believed receive.c 's/!accept(mc, m, x->word))/!(accept(mc, m, x->word) || 1))/'
mutant express_no_old receive.c 's/if (!outdated(m, x->word)) {/if (1) {/'
mutant express_overtakes receive.c 's/if (m->overtaken \&\& outdated(m, word))/if (0)/'
mutant express_overtaken_once receive.c 's/m->overtaken = true;/;/'
mutant express_overtaken_ever receive.c 's/m->overtaken = false;/;/'
mutant express_again receive.c 's/if (slots <= sd->walk.slot)/if (!slots)/'
mutant express_no_header receive.c '/^static bool take_express/,/^}/ s/spindle_hdr_write(.*);/;/'
mutant express_next_header receive.c '/^static bool take_express/,/^}/ s/slots - 1, &msg/slots, \&msg/'
mutant express_no_bytes receive.c 's/spindle_express_unpack(x.*);/;/'
mutant express_torn_free receive.c '/^static void read_express/,/^}/ s/torn(mc, r);/;/'
mutant express_failed receive.c 's/if (!m->express || !mc->active)/if (!m->express)/'
mutant express_unasked push.c 's/(how \& SPINDLE_PUSH_EXPRESS) \&\&/1 \&\&/'
mutant express_switches push.c 's/SPINDLE_SW_EXPRESS | SPINDLE_SW_PACKED | SPINDLE_SW_MERGED_ACKS;/SPINDLE_SW_EXPRESS | SPINDLE_SW_PACKED;/'
mutant express_padded push.c 's/SPINDLE_SW_EXPRESS | SPINDLE_SW_PACKED | SPINDLE_SW_MERGED_ACKS;/SPINDLE_SW_EXPRESS | SPINDLE_SW_MERGED_ACKS;/'
mutant express_batch push.c 's/mc->word\[SPINDLE_COL_SLOTS\] - slot == 1 \&\&/mc->word[SPINDLE_COL_SLOTS] != slot \&\&/'
mutant express_overwrites push.c 's/m->received >= m->by_express/1/'
mutant express_too_soon push.c 's/mc->my_sender + 1;$/mc->my_sender;/'
mutant express_too_late push.c 's/m->received >= m->by_express/m->received > m->by_express/'
mutant express_too_long push.c 's/^	       SPINDLE_EXPRESS_BYTES;/	       SPINDLE_EXPRESS_BYTES - 1;/'
mutant express_stale multicast.c 's/mc->express_ready = false;/;/'
mutant express_weak express.c 's/if (payload_mix(copy) != copy->mix)/if (0)/'
mutant express_unsealed express.c 's/if (seal_of(copy) != s ||/if (/'
mutant express_len express.c 's/ || copy->len > SPINDLE_EXPRESS_BYTES)/)/'
mutant express_tail express.c 's/x->pay\[SPINDLE_EXPRESS_WORDS - 1\] = 0;/;/'
mutant express_wrap_out express.c '/^void spindle_express_write/,/^}/ s/memcpy(to + part, ring, /memcpy(to + part, ring + at + part, /'
mutant express_wrap_in express.c '/^void spindle_express_unpack/,/^}/ s/memcpy(ring, from + part/memcpy(ring + at + part, from + part/'
mutant guard_early push.c 's/if (end != mc->word\[SPINDLE_COL_SLOTS\])/if (0)/'
mutant headers_short push.c 's/(end - slot) \* sizeof(struct spindle_hdr), hdrs/(end - slot - 1) * sizeof(struct spindle_hdr), hdrs/'
mutant no_wrap push.c 's/u64 part = min(len, ring - off);/u64 part = len;/'
mutant one_range push.c 's/first_byte(msg) - to > SPINDLE_PUSH_GAP/0/'
mutant imm_count push.c 's/((u32)end & SPINDLE_IMM_SLOTS)/((u32)slot \& SPINDLE_IMM_SLOTS)/'
mutant walk_lap smc.c 's/READ_ONCE(hdr->slot) != walk->slot + 1/!READ_ONCE(hdr->slot)/'
mutant walk_len smc.c 's/ || len > walk->max_msg//'
mutant walk_round smc.c 's/round >= sent/round > sent/'
mutant tx_full txq.c 's/txq->slot - txq->free_slot > txq->wmask/0/'
mutant tx_extent txq.c 's/txq->unit + units - txq->free_unit > txq->ring_units/0/'
mutant tx_twice txq.c '/^static bool freeze/,/^}/ s/txq->error = error;/txq->error = txq->error;/'
mutant tx_units txq.c 's/ || spindle_units(len) > units//'
mutant free_early txq.c 's/smp_store_release(txq->free_unit_word, unit)/smp_store_release(txq->free_unit_word, unit + 1)/'
mutant layout_overlap layout.c 's/(u64)sg->window \* sizeof(struct spindle_hdr);/(u64)(sg->window - 1) * sizeof(struct spindle_hdr);/'
mutant layout_express layout.c 's/lo->hdr[[]i[]] = at + sizeof(struct spindle_express);/lo->hdr[i] = at;/'
mutant digest_ring view.c '/h = digest_u64(h, sg->ring);/d'

mutants_end
