#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Are the tests of the durable log any good? The unit tests, or a bounded number of schedules, have
# to find each mutant. See ../lib/mutate.sh.
#
#   mutate.sh            all
#   mutate.sh NAME...    some
#   SEEDS=n              schedules that each of them gets; 4000

set -euo pipefail
# shellcheck source=selftests/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/common.sh"

here=$SPN_SELFTESTS/log
CORE=${CORE:-$SPN_ROOT/libspindle-user/src/log}
seeds=${SEEDS:-4000}
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
	# A mutant may loop for ever. The limit is of CPU time, and many times what the log needs.
	(ulimit -t 60 && "$work/build/test" && "$work/build/sim" -n "$seeds" -m 1)
}

killer()
{
	grep -m 1 -E '^seed|^not ok' "$work/log" || tail -n 1 "$work/log"
}

mutants_begin "${BUILD:-$SPN_BUILD/log}/mutate" "$@"

# What is durable.
mutant name_not_synced chores.c 's/		log->ahead = SPINDLE_DLOG_AHEAD_NAMED;/		log->ahead = SPINDLE_DLOG_AHEAD_READY;/'
mutant data_not_synced writer.c 's/log->port->through ? SPINDLE_DLOG_DURABLE :/1 ? SPINDLE_DLOG_DURABLE :/'
mutant tail_not_synced writer.c 's/log->sync_tail = s->map.n;/log->persisted = log->map.until = s->next;/'
mutant sync_too_wide writer.c '/^static void sync_done/,/^}/ s/== SPINDLE_DLOG_SYNCING/!= SPINDLE_DLOG_WRITING/'
mutant out_of_order writer.c '/^static void advance/,/^}/ s/slot_at(log, 0)->state == /slot_at(log, log->flying - 1)->state == /'
mutant roll_without_drain writer.c 's/if (log->flying || log->ahead/if (log->ahead/'
mutant open_too_early writer.c 's/s->map.n \&\& s->acked < s->next ? s->acked : s->next/s->next/'
mutant error_ignored writer.c 's/	log->failed = true;/	;/'
mutant acked_rewritten writer.c 's/	log->offset += op.len;/	log->offset += op.len > 1024 ? op.len - log->id.block : op.len;/'

# Meta, and recycled segments.
mutant meta_in_place chores.c 's/state.number = ++log->number;/state.number = log->number += 2;/'
mutant meta_not_synced chores.c 's/log->sync_meta = !log->port->through;/log->sync_meta = false;/'
mutant meta_half_made writer.c 's/return s->has_meta\[i\] \&\& /return s->has_meta[i] || /'
mutant meta_oldest recover.c 's/if (\*good \&\& state.number < s->number)/if (*good \&\& state.number > s->number)/'
mutant since_newest recover.c 's/(before->newest ? before->n_epochs : before->resume.n_epochs)/before->resume.n_epochs/'
mutant recycle_early chores.c 's/^	if (!open_chore(log))$/	space_chore(log); if (log->chore == SPINDLE_DLOG_IDLE \&\& !open_chore(log))/'
mutant recycle_too_much chores.c '/^static bool is_trimmed/,/^}/ s/seg\[1\].lsn <=/seg[0].lsn <=/'
mutant recycle_cut chores.c 's/(map->n > 2 || !log->in_segment || log->persisted > map->seg\[1\].lsn)/1/'
mutant skip_too_early chores.c '/^int spindle_dlog_skip/,/^}/ s/	log->opened = false;/	;/'
mutant skip_unsaid chores.c '/^int spindle_dlog_skip/,/^}/ s/	log->write_meta = true;/	;/'
mutant skip_in_segment chores.c '/^int spindle_dlog_skip/,/^}/ s/	log->in_segment = false;/	;/'
mutant skip_over_frames chores.c '/^int spindle_dlog_skip/,/^}/ s/ || log->flying || log->persisted != log->next)/)/'
mutant space_ignored chores.c 's/		log->no_space = true;/		log->keep_new = true;/'
mutant spare_twice chores.c '/^static void name_ahead/,/^}/ s/log->spares &= .*/;/'
mutant number_lost recover.c 's/		s->seq += SPINDLE_DLOG_RESERVE;/		;/'
mutant number_again recover.c 's/if (s->seq <= file.id)/if (0)/'

# What belongs to the log.
mutant old_segment frame.c 's/info->seq != seq || //'
mutant astray frame.c 's/info->offset != offset || //'
mutant no_salt frame.c '/^static uint32_t header_crc/,/^}/ s/htole64(salt)/0/'
mutant header_crc frame.c 's/if (info->crc != header_crc(&f, id->salt))/if (0)/'
mutant header_only frame.c 's/if (le32toh(f.body) != spindle_dlog_crc(0,/if (0 \&\& le32toh(f.body) != spindle_dlog_crc(0,/'
mutant count frame.c 's/return at == info->used ? 0 : -EBADMSG;/return 0;/'
mutant chain walk.c 's/return info->prev == w->prev \&\& /return /'
mutant no_base walk.c 's/if (info->base != w->base || /if (/'
mutant behind_a_gap walk.c 's/return info->end <= w->sure || info->lsn == frontier;/return true;/'
mutant cut_comes_back walk.c 's/ \&\& seg\[1\].seq == seg->seq + 1 \&\& !seg\[1\].lost)/)/'
mutant cut_is_kept walk.c 's/(!w->last \&\& info->end > w->proof) ||/0 ||/'
mutant cut_too_far walk.c 's/return info->prev == w->prev \&\&/return info->end <= w->proof \&\& info->prev == w->prev \&\&/'
mutant mark_is_torn walk.c 's/return info->end <= w->sure || .*/return info->end <= w->sure;/'

# Torn or corrupt.
mutant acked_unsaid writer.c 's/\.acked = log->persisted,/.acked = log->map.seg[log->map.n - 1].lsn,/'
mutant corrupt_is_torn recover.c 's/if (!err \&\& s->next < s->acked)/if (0)/'
mutant damage_unsaid recover.c '/^static void accept/,/^}/ s/	miss(s, info->lsn);/	;/'
mutant known_unheard recover.c 's/		s->acked = s->known;/		;/'
mutant unread_is_torn walk.c 's/err != -EBADMSG \&\& w->last/0/'
mutant tail_is_fine recover.c 's/	s->tail_damaged = true;/	;/'
mutant low_forgotten recover.c '/^static void add_damage/,/^}/ s/		from = s->map.low;/		;/'

# A cut.
mutant cut_tail_lost cut.c 's/		return c->has_tail;/		return false;/'
mutant cut_acked cut.c '/^static struct spindle_dlog_op give_up/,/^}/ s/c->low > c->base ? c->low : c->base/c->low > c->end + 9 ? c->low : c->end + 9/'
mutant cut_low cut.c 's/c->low < c->end ? c->low : c->end/c->low/'
mutant cut_head_first cut.c '/^static struct spindle_dlog_op operation/,/^}/ { s/return write_block(c, c->id.block, c->copy);/return write_block(c, 0, c->id.block);/; t; s/return write_block(c, 0, c->id.block);/return c->copy ? write_block(c, c->id.block, c->copy) : write_block(c, 0, c->id.block);/ }'
mutant cut_frame_whole cut.c 's/for (lsn = info->lsn; lsn < c->end; lsn++)/for (lsn = info->lsn; lsn + 1 < c->end; lsn++)/'
mutant cut_names cut.c '/^static bool is_needed/,/^}/ s/	default:/	case SPINDLE_DLOG_CUT_NAMES: return false; default:/'
mutant cut_unsynced cut.c '/case SPINDLE_DLOG_CUT_SYNC_COPY:/d; /^static bool is_needed/,/^}/ s/	default:/	case SPINDLE_DLOG_CUT_SYNC_COPY: return false; default:/'
mutant cut_head_unsynced cut.c 's/return c->head \&\& !c->port->through;/return false;/'
mutant cut_once_said cut.c '/^static bool is_needed/,/^}/ s/	default:/	case SPINDLE_DLOG_CUT_COPY: return c->end != c->base; default:/'
mutant cut_half cut.c 's/	c->head = build_head(c, &info) == info.prev;/	;/'
mutant cut_short_file cut.c '/^static bool lacks_meta/,/^}/ s/ || bytes != c->id.block//'
mutant cut_again cut.c 's/	if (c->step == SPINDLE_DLOG_CUT_TAIL)/	if (!c->is_cut \&\& c->step == SPINDLE_DLOG_CUT_TAIL)/'
mutant cut_without_room cut.c 's/n += s->file\[i\].kind == SPINDLE_DLOG_SEGMENT;/;/'
mutant cut_is_lost recover.c 's/} else if (found || i + 1 == map->n) {/} else if (i + 1 == map->n) {/'
mutant epochs_oldest recover.c 's/} else if (s->newest \&\& /} else if (0 \&\& /'

# Readers, and views.
mutant reader_stale_window reader.c '/^static void refresh/,/^}/ s/		r->window.len = 0;/		;/'
mutant reader_trimmed reader.c 's/if (r->lsn < r->map->low)/if (0)/'
mutant reader_skips reader.c 's/	if (r->frame.lsn > r->lsn)/	if (0)/'
mutant time_too_late reader.c 's/r->map->seg\[i\].time < time)/r->map->seg[i].time <= time + 2500)/'
mutant views_mixed writer.c 's/return m->era == log->era \&\& m->vid == log->vid \&\&/return/'
mutant epoch_not_listed recover.c 's/e->vid == info->vid)/1)/'

# Repair.
mutant fix_not_synced fix.c '/^static void sync_fix/,/^}/ s/SPINDLE_DLOG_SYNC, /SPINDLE_DLOG_SYNC_DIR, /'
mutant fix_not_read_back fix.c 's/	if (!is_written(r)) {/	if (0) {/'
mutant fix_of_trimmed fix.c 's/(r->replaces ? !is_there(r) : !has_entry(r->log)) ||/0 ||/; s/	    r->next <= r->log->map.low) {/	    0) {/'
mutant fix_under_recycling fix.c 's/	r->log->hold = true;/	;/'
mutant fix_while_clearing fix.c 's/log->chore == SPINDLE_DLOG_DROP)/0)/'
mutant fix_old_place reader.c 's/	if (r->changes != r->map->changes)/	if (0)/'
mutant fix_old_base fix.c 's/\.seq = r->seq, \.lsn = r->base, \.time/.seq = r->seq, .lsn = r->base + 1, .time/'
mutant fix_loses_records fix.c 's/if (!r->fetched || r->want_to != r->end || !r->offset) {/if (!r->offset) {/'
mutant fix_unchained fix.c 's/	info.prev = r->prev;/	;/'
mutant fix_mixes_views fix.c 's/ \&\& m->era == r->era \&\& m->vid == r->vid \&\&/ \&\&/'
mutant fix_takes_any fix.c 's/if (m->lsn != r->next || /if (/'
mutant fix_takes_too_long fix.c 's/ || !spindle_dlog_build_fits(&empty, m->len))/)/'
mutant fix_no_number writer.c 's/s->tail_damaged ? SPINDLE_DLOG_RESERVE : 0/0/'
mutant fix_low_comes_back fix.c 's/map->seg\[i - 1\].lsn > map->low ? map->seg\[i - 1\].lsn : map->low/map->seg[i - 1].lsn/'

mutants_end
