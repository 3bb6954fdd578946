#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Are the simulator of replicas and the tests of tables, logs and replays any good? A bounded number of seeds
# has to find each mutant of a replica. See ../../selftests/lib/mutate.sh.
#
#   mutate.sh            all
#   mutate.sh NAME...    some
#   SEEDS=n              seeds that each of them gets; 1000

set -euo pipefail
# shellcheck source=selftests/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../selftests/lib/common.sh"

here=$SPN_ROOT/libspindle-user
CORE=${CORE:-$here/src}
seeds=${SEEDS:-1000}
# shellcheck source=selftests/lib/mutate.sh
. "$SPN_SELFTESTS/lib/mutate.sh"

# Code that a mutation leaves unused is no reason to fail.
build()
{
	mkdir -p "$work/build"
	make -s -C "$here" REPLICA_DIR="$work/core" REPLICA_SIM="$work/build/replica_sim" \
		CFLAGS="-w" "$work/build/replica_sim" shared
}

# The tests of tables, logs and replays have no part of the replicas, and the simulator has none of
# these. A mutant that these tests pass is built and run below as well, and survives there.
notices()
{
	case $1 in
	predicate* | table-wait*)
		fails predicate_test || fails table_test || fails table_read_test ;;
	log*) fails log_test ;;
	snapshot*) fails snapshot_test ;;
	durable* | layout*) fails durable_test ;;
	replay*) fails replay_test ;;
	table*) fails table_test || fails table_read_test || fails predicate_test ;;
	*) return 1 ;;
	esac
}

# fails TEST: does a test of tables or logs, built from the copy, fail?
fails()
{
	local test=$work/build/$1

	mkdir -p "$work/build"
	rm -f "$test"
	make -s -C "$here" TABLE_DIR="$work/core" TABLE_TEST="$work/build/table_test" \
		LOG_DIR="$work/core" LOG_TEST="$work/build/log_test" \
		SNAPSHOT_TEST="$work/build/snapshot_test" \
		DURABLE_DIR="$work/core" DURABLE_TEST="$work/build/durable_test" \
		REPLAY_TEST="$work/build/replay_test" \
		TABLE_READ_TEST="$work/build/table_read_test" \
		PREDICATE_TEST="$work/build/predicate_test" CFLAGS="-w" "$test" || return 1
	! (ulimit -t 60 && TAP_STOP=1 timeout 120 "$test")
}

survives()
{
	# A mutant may loop for ever.
	(ulimit -t 300 && "$work/build/replica_sim" 1 "$seeds")
}

# A crash of the program has no such line, and is found as well.
killer()
{
	grep -m 1 -e '^# seed' -e '^not ok' -e '^Bail out' "$work/log" || tail -n 1 "$work/log"
}

mutants_begin "${BUILD:-$SPN_BUILD/replica}/mutate" "$@"

# The transfer.
mutant offer_position replica-order.c '/joiner_begin(r, m->node/ s/m->lsn + 1/m->lsn + 2/'
mutant snapshot_position replica-donor.c 's/\.lsn = lsn, \.version/.lsn = lsn - 1, .version/'
mutant spill_kept replica-joiner.c '/^static void ask_again/,/^}/ s/spill_clear(&r->spill);/;/'
mutant spill_not_first replica.c '/case SPINDLE_REPLICA_FOLLOWING:/d'
mutant no_deadline_of_donor replica-donor.c 's/if (!err \&\& replica_now() >= d->deadline)/if (0)/'
mutant no_deadline_of_joiner replica-joiner.c 's/else if (replica_now() >= j->deadline)/else if (0)/'

# Lives of a node.
mutant have_of_the_past replica-order.c '/^static void handle_own_have/,/^}/ s/have->life != r->life/0/'
mutant place_stays replica-joiner.c 's/	r->valid = true;/	;/'

# Declared states.
mutant have_is_declared replica-order.c '/^static void handle_own_have/,/^}/ s/if (r->declared \&\& have->declared)/if (r->st.state == SPINDLE_REPLICA_ASKING)/'
mutant old_state_stays replica-order.c 's/		lose_state(r);/		;/'
mutant declared_after_have replica-order.c '/Somebody has the state after all/,/^	}/ s/r->declared = false;/;/'
mutant declared_after_offer replica-joiner.c '/^void joiner_begin/,/^}/ s/r->declared = false;/;/'

# The choice of a donor.
mutant asks_the_same replica.c 's/r->joiner.attempt++;/;/'
mutant asks_once replica.c 's/r->ask_at = now + r->opts.timeout_ms;/r->ask_at = 0;/'

# Messages come between two parts.
mutant parts_in_a_row replica-joiner.c '/^static void receive/,/^}/ s/&calls, r, 1)/\&calls, r, 99)/'
mutant frees_what_is_sent_again replica-donor.c '/^static void done/,/^}/ s/	d->flying--;/	d->flying--;\n	free_part(d, ev);/'

# Reports.
mutant changes_not_reported replica.c '/^void replica_changed/,/^}/ s/replica_report(r);/;/'
mutant parts_not_reported replica-joiner.c 's/	replica_report(r);/	;/'
mutant length_not_known replica-joiner.c 's/r->st.bytes = announced(j);/;/'

# The history of a newcomer.
mutant batch_crosses_view replica-history.c '/^static int collect/,/^}/ s/^			if (n)$/			if (0)/'
mutant batch_is_torn replica-history.c 's/if (!spindle_is_whole(&r->q, p->at))/if (0)/'
mutant batch_repeats replica-history.c 's/d\[f->count - 1\].lsn >= oldest/0/'
mutant batch_hides_view replica-history.c 's/head->vid = p->vid;/head->vid = 0;/'
mutant view_of_newer_batch replica-history.c '/^static int collect/,/^}/ s/^			p->vid = 0;/			;/'
mutant seats_of_newer_view replica-history.c 's/if (p->seats_of == p->view)/if (1)/'
mutant length_is_believed replica-history.c 's/len != data + head->bytes/0/'
mutant history_after_error replica-history.c 's/j->oldest = err ? 0 : f.lsn;/j->oldest = f.lsn;/'
mutant history_fails_receiver replica-joiner.c 's/if (!err || is_complete(j))/if (!err)/'
mutant history_fails_donor replica-donor.c '/^static void finish/,/^}/ s/if (r->donor.past.buf)/if (0)/'
mutant history_from_lowest replica-order.c '/^static void note_wish/,/^}/ s/oldest > d->oldest/oldest < d->oldest/'

# A state from a snapshot and the log.
mutant log_state_of_old_place replica-restore.c 's/ \&\& s->empty//'
mutant log_replays_twice replica.c 's/r->valid \&\& m->lsn < r->st.lsn/0/'
mutant log_keeps_what_is_replayed replica-restore.c '/^static void start_end/,/^}/ s/if (s->until < at.lsn)/if (0)/'
mutant log_goes_beyond_declared replica-restore.c 's/have.declared ? -EXDEV : 0/0/'
mutant declared_by_late_have replica-order.c 's/if (r->declared \&\& have->declared)/if (r->declared)/'
mutant log_state_stays replica-order.c '/^static bool is_own_state/,/^}/ s/ ||$/ || 0 \&\&/'
mutant log_spill_stays replica-restore.c '/^static void try_later/,/^}/ s/	spill_clear/	if (0) spill_clear/'
mutant log_for_ever replica-restore.c '/^static void try_later/,/^}/ s/if (replica_now() >= s->give_up || s->replaced)/if (0)/'
mutant log_waits_for_what_was_trimmed replica-restore.c 's/err == -ENODATA \&\& s->at.lsn != UINT64_MAX/0/'
mutant log_drops_the_end replica-restore.c 's/(s->step == RESTORE_ENDS \&\& lsn < s->until)/s->step == RESTORE_ENDS/'
mutant snapshot_not_durable replica-snapshot.c 's/spindle_durable(&r->q) >= k->at.lsn/1/'

# Snapshots beside a log.
mutant snapshot_of_cut snapshot.c 's/epoch.lsn >= at->lsn \&\&/1 \&\&/'
mutant snapshot_of_trimmed snapshot.c 's/(at->lsn > info->low || i)/1/'
mutant snapshot_behind_log snapshot.c '/^static bool is_era_at/,/^}/ s/if (at->lsn > info->next)/if (0)/'
mutant snapshot_in_front_of_log snapshot.c 's/at->lsn < info.low/0/'
mutant snapshot_of_later_era snapshot.c 's/at->era > group->era || //'
mutant snapshot_of_others snapshot.c '/^static bool is_of/,/^}/ s/!memcmp([^;]*;/1;/'
mutant snapshot_of_another_subgroup snapshot.c '/^static bool is_of/,/^}/ s/st->subgroup == w->subgroup/1/'
mutant snapshot_of_another_log snapshot.c 's/info.subgroup != subgroup ||/0 ||/'
mutant snapshot_of_other_users snapshot-file.c 's/(!info->st_uid || info->st_uid == owner)/1/'
mutant snapshot_of_anybody snapshot-file.c 's/ \&\& !(info->st_mode \& 0022)//'
mutant snapshot_of_any_name snapshot-file.c 's/return st->at.lsn == lsn ? 0 : -EBADMSG/return 0/'
mutant snapshot_body snapshot.c 's/crc != st.body/0/'
mutant snapshot_length snapshot-file.c 's/return (uint64_t)info.st_size == [^?]*?/return 1 ?/'
mutant snapshot_one_is_kept snapshot.c '/^static int tell_log/,/^}/ s/if (!find(s->dirfd, s->name, \&w, \&older))/if (1)/'
mutant snapshot_newest_is_told snapshot.c '/^static int tell_log/,/^}/ s/older.st.at.lsn/newest.st.at.lsn/'
mutant snapshot_others_go snapshot.c '/^static void keep_two/,/^}/ s/(!err \&\& is_of(w, \&f.st))/!err/'
mutant snapshot_writes_what_is_there snapshot.c '/^static int open_files/,/^}/ { s/if (unlinkat(s->dirfd, file, 0) /if (0 /; s/O_CREAT | O_EXCL/O_CREAT/ }'
mutant snapshot_follows snapshot-file.c '/^int spindle_dlog_snapshot_open/,/^}/ s/ | O_NOFOLLOW//'
mutant snapshot_is_not_synced snapshot.c 's/if (n < 0 || fsync(s->fd))/if (n < 0)/'
mutant snapshot_name_is_not_synced snapshot.c 's/ || fsync(s->dirfd))/)/'

# Cells of tables: the writer.
mutant cell_version_stays table-cell.c 's/w\[version\] + 1/w[version] + 0/'
mutant cell_is_marked_first table-cell.c '/^int spindle_cell_seal/,/^}/ { s/^	mark(t, cell);/	;/; s/^	w = own_cell(t, cell);/	w = own_cell(t, cell); mark(t, cell);/ }'
mutant cell_is_not_marked table-cell.c '/^int spindle_cell_seal/,/^}/ s/^	mark(t, cell);/	;/'
mutant cell_marks_word_0 table-cell.c 's|usr_dirty\[cell / 64\]|usr_dirty[0]|'
mutant cell_marks_alone table-cell.c 's/__atomic_fetch_or(word, /__atomic_store_n(word, /'
mutant cell_begins_empty table-cell.c 's/return t->own \&\& cell < t->cells ?/if (t->own) memset(own_cell(t, cell), 0, t->cell); &/'
mutant put_keeps_the_rest table-cell.c 's|i < spindle_cell_bytes(t) / 8|i < (len + 7) / 8|'
mutant put_too_long table-cell.c '/^int spindle_cell_put/,/^}/ s/len > spindle_cell_bytes(t)/0/'
mutant push_wakes_nobody table-cell.c 's/if (spindle_load_once32(t->ctl_need_wakeup))/if (0)/'
mutant push_always_kicks table-cell.c 's/if (spindle_load_once32(t->ctl_need_wakeup))/if (1)/'
mutant push_after_the_end table-cell.c 's/if (spindle_table_state(t) > SPINDLE_STATE_ACTIVE)/if (0)/'

# Cells of tables: the reader.
mutant seal_not_checked table-cell.c 's/return spindle_cell_mix(copy, words - 1) == copy\[words - 1\];/return true;/'
mutant guard_not_vouched table-cell.c 's/return cell || is_vouched(t, instance, copy\[words - 2\])/return 1/'
mutant own_guard_is_vouched table-cell.c 's/ || instance == t->own_instance ||/ ||/'
mutant all_cells_are_vouched table-cell.c 's/return cell || is_vouched/return is_vouched/'
mutant get_too_long table-cell.c '/^int spindle_cell_get/,/^}/ s/ || len > spindle_cell_bytes(t)//'
mutant get_of_nobody table-cell.c 's/ || !t->rows->row\[instance\].len//'
mutant torn_value_is_handed_out table-cell.c '/^int spindle_cell_get/,/^}/ s/^	if (err)/	if (err) memcpy(p, copy, len); if (err)/'
mutant snapshot_in_one_pass table-cell.c 's/(!torn_before \&\& !p.torn \&\& !p.changed)/!p.torn/'
mutant snapshot_with_changes table-cell.c 's/ \&\& !p.changed)/)/'
mutant snapshot_with_torn_cells table-cell.c 's/ \&\& !p.torn \&\& / \&\& /; s/torn_before = p.torn != 0;/torn_before = 0;/'
mutant snapshot_shows_torn_cells table-cell.c 's/^		memset(to, 0, t->cell);/		memcpy(to, copy, t->cell);/'

# Changes and members of tables.
mutant seen_is_not_stored table-wait.c 's/^	spindle_store_release(n->handled, counter);/	;/'
mutant seen_is_stored_late table-wait.c '/^static int wait_for/,/^}/ s/^	for (;;) {/	if (deadline) spindle_store_release(n->handled, spindle_load_acquire(n->counter));\n&/'
mutant end_hides_last_change table-wait.c 's/^		if (has_news(n))/		if (!ended \&\& has_news(n))/'
mutant wait_gives_up_at_poll table-wait.c 's/^		ret = spindle_poll_until(t->fd, n->event, \&revents, deadline);/&\n		if (ret > 0) return 0;/'
mutant signal_wakes_by_changes table-wait.c 's/t->usr_heard, POLLPRI/t->usr_heard, POLLIN/'
mutant waits_for_no_event table-wait.c 's/ || (deadline \&\& (t->flags & SPINDLE_TABLE_SIGNALS))//'
mutant rows_of_old_view table.c 's/t->rows->vid == r->vid/1/'
mutant view_ends_unnoticed table.c 's/err = ask_seats(t, r, r->vid);/err = 0;/'
mutant two_members_in_a_row table.c 's/ || r->row\[instance\].len)/)/'
mutant row_outside table.c 's/instance >= r->instances || //'
mutant reply_of_a_wide_cell table-layout.c 's/ \&\& a->cell <= SPINDLE_MAX_CELL \&\&/ \&\&/'
mutant reply_without_own_row table-layout.c 's/!holds(&a->own, 0, a->cells, a->cell)/0/'
mutant reply_with_short_rows table-layout.c 's/return holds(&a->rows, 0, a->cells, a->cell) \&\& /return /'
mutant reply_without_fired table-layout.c 's/a->ctl_fired, SPINDLE_MAX_PREDICATES, 8/a->ctl_fired, 1, 8/'
mutant reply_without_signals table-layout.c 's/holds(&a->ctl, a->ctl_signals, 1, 8) \&\&/1 \&\&/'
mutant reply_without_heard table-layout.c 's/holds(&a->usr, a->usr_heard, 1, 8)/1/'
mutant reply_without_flushed table-layout.c 's/holds(&a->ctl, a->ctl_flushed, 1, 8)/1/'
mutant reply_without_flush table-layout.c 's/holds(&a->usr, a->usr_flush, 1, 8)/1/'
mutant reply_without_skip table-layout.c 's/holds(&a->usr, a->usr_skip, .*, 8)/1/'
mutant flush_without_number table-wait.c 's/\*t->usr_flush + 1/*t->usr_flush/'
mutant flush_wakes_nobody table-wait.c 's/err = spindle_table_push(t);/err = 0;/'
mutant flush_of_a_reader table-wait.c '/^int spindle_table_flush/,/^}/ s/if (!t->own)/if (!t->fd)/'
mutant skip_nobody table-cell.c 's/__atomic_fetch_or(word, bit, __ATOMIC_RELAXED);/;/'
mutant skip_for_ever table-cell.c 's/__atomic_fetch_and(word, ~bit/__atomic_fetch_and(word, ~0ULL/'
mutant skip_wakes_nobody table-cell.c '/^int spindle_table_skip/,/^}/ s/return spindle_table_push(t);/return 0;/'
mutant skip_oneself table-cell.c 's/ || instance == t->own_instance)/)/'
mutant reply_of_any_mode table-layout.c 's/!mode_is_legal(a) || //'
mutant reply_of_mode_write table-layout.c 's/ || a->mode == SPINDLE_MODE_TABLE_READ;/;/'
mutant reply_of_other_mode table-layout.c 's/a->mode == SPINDLE_MODE_TABLE || a->mode == /a->mode <= /'
mutant reply_without_refreshed table-layout.c 's/holds(&a->ctl, a->ctl_refreshed, 1, 8)/1/'
mutant reply_without_refresh table-layout.c 's/!holds(&a->usr, a->usr_refresh, 1, 8)/0/'
mutant reply_without_every table-layout.c 's/!holds(&a->usr, a->usr_every, 1, 8)/0/'
mutant words_of_reads_for_writers table-layout.c '/^static bool usr_fits/,/^}/ s/return false;/return !(a->flags \& SPINDLE_TABLE_WRITE);/'
mutant mode_is_not_read table.c 's/a->mode == SPINDLE_MODE_TABLE_READ/0/'
mutant flush_in_mode_read table-wait.c '/^int spindle_table_flush/,/^}/ s/if (t->read)/if (0)/'
mutant skip_in_mode_read table-cell.c '/^int spindle_table_skip/,/^}/ s/if (t->read)/if (0)/'
mutant refresh_in_mode_write table-wait.c '/^int spindle_table_refresh/,/^}/ s/if (!t->read)/if (0)/'
mutant refresh_without_number table-wait.c 's/\*t->usr_refresh + 1/*t->usr_refresh/'
mutant refresh_wakes_nobody table-wait.c '/^int spindle_table_refresh/,/^}/ s/err = spindle_table_wake(t);/err = 0;/'
mutant refresh_by_writers table-wait.c '/^int spindle_table_refresh/,/^}/ s/if (!n.handled)/if (!t->own)/'
mutant refresh_waits_for_flush table-wait.c 's/t->usr_refresh, POLLRDBAND/t->usr_refresh, POLLOUT/'
mutant refresh_of_nobody table-wait.c '/^int spindle_table_refresh/,/^}/ s/if (!n.handled)/if (0)/'
mutant detach_keeps_refresh table.c 's/t->usr_refresh = NULL;/;/'
mutant detach_keeps_every table.c 's/t->usr_every = NULL;/;/'
mutant every_in_mode_write table-wait.c '/^int spindle_table_every/,/^}/ s/if (!t->read)/if (0)/'
mutant every_of_nobody table-wait.c '/^int spindle_table_every/,/^}/ s/if (!t->usr_every)/if (0)/'
mutant every_is_not_stored table-wait.c 's/spindle_store_release(t->usr_every, us);/;/'
mutant every_is_cut table-wait.c 's/spindle_store_release(t->usr_every, us);/spindle_store_release(t->usr_every, (uint32_t)us);/'
mutant every_wakes_nobody table-wait.c '/^int spindle_table_every/,/^}/ s/return spindle_table_wake(t);/return 0;/'
mutant every_over_refresh table.c 's/t->usr_every = (void \*)(usr + a->usr_every);/t->usr_every = t->usr_refresh;/'
mutant wrong_mode_is_named table-strerror.c 's/t->read ?/!t->read ?/'
mutant reply_with_few_vouched table-layout.c 's/a->ctl_vouched, a->instances, 8/a->ctl_vouched, 1, 8/'

# Predicates of tables.
mutant id_is_believed predicate.c 's/arg.id < SPINDLE_MAX_PREDICATES \&\& //'
mutant other_id_is_believed predicate.c 's/ \&\& (p->id == SPINDLE_ANY_ID || p->id == arg.id)//'
mutant fired_outside predicate.c 's/ || id >= SPINDLE_MAX_PREDICATES)/)/'
mutant id_stays_in_predicate predicate.c 's/		return (int)arg.id;/		return (int)(p->id = arg.id);/'
mutant fault_is_forgotten predicate.c 's/p->bad = arg.bad;/;/'
mutant bad_part_is_believed predicate-strerror.c 's/if (i < SPINDLE_MAX_TRIGGERS)/if (p->bad >= SPINDLE_BAD_TRIGGER)/'
mutant wrong_part_is_named predicate-strerror.c 's/"term %u: ", i + 1/"term %u: ", i/'
mutant seal_counts_as_value predicate-strerror.c 's/field->offset + field->width > value/field->offset + field->width > value + 16/'

# Barriers and elections.
mutant barrier_is_not_entered predicate-round.c '/^static int enter/,/^}/ s/return spindle_cell_put(t, cell, &number, sizeof(number));/return 0;/'
mutant round_goes_back predicate-round.c 's/	    have >= number)/	    have == number)/'
mutant barrier_of_any predicate-round.c 's/spindle_term_all(/spindle_term_any(/'
mutant barrier_ends_early predicate-round.c 's/SPINDLE_CMP_GE,/SPINDLE_CMP_NE,/'
mutant barrier_believes_any_signal predicate-round.c 's/while (!spindle_predicate_fired(t, id) \&\& !spindle_is_past(deadline))/while (0)/'
mutant barrier_takes_signals predicate-round.c 's/spindle_store_release(t->usr_heard, heard + fired);/;/'
mutant barrier_leaves_its_signal predicate-round.c 's/t->usr_heard, heard + fired/t->usr_heard, heard/'
mutant barrier_leaves_its_predicate predicate-round.c 's/gone = spindle_predicate_remove(t, (uint32_t)id);/gone = 0;/'
mutant time_is_up_unnoticed predicate-round.c 's/return err ? err : gone ? gone : -ETIMEDOUT;/return err;/'
mutant old_view_elects predicate-round.c 's/if (vid == t->vid)/if (vid)/'
mutant all_lead predicate-round.c 's/leader->me = !t->rank;/leader->me = 1;/'

# Predicates in user space.
mutant added_watch_is_tested_at_once predicate-loop.c 's/if (w->since < l->look)/if (1)/'
mutant added_watch_waits predicate-loop.c '/^int spindle_loop_add/,/^}/ s/l->again = true;/;/'
mutant added_watch_has_held predicate-loop.c 's/w->held = false;/;/'
mutant removal_keeps_cursor predicate-loop.c 's/if (l->cursor == w)/if (0)/'
mutant removed_watch_goes_on predicate-loop.c 's/for (i = 0; l->current == w \&\& i/for (i = 0; i/'
mutant removed_watch_fires predicate-loop.c 's/if (l->current != w)/if (0)/'
mutant removal_of_once_is_unknown predicate-loop.c '/^int spindle_loop_remove/,/^}/ s/else if (!current)/else/'
mutant once_stays predicate-loop.c 's/if (w->kind == SPINDLE_KIND_ONCE)/if (0)/'
mutant transition_repeats predicate-loop.c 's/return holds \&\& !(held \&\& w->kind == SPINDLE_KIND_TRANSITION)/return holds/'
mutant loop_in_loop predicate-loop.c '/^int spindle_loop_look/,/^}/ s/if (l->looking)/if (0)/'
mutant loop_notes_late predicate-loop.c 's/^		spindle_loop_look(l);/&\n		spindle_table_wait(t, 0);/'
mutant loop_waits_first predicate-loop.c '/^int spindle_loop_run/,/^}/ s/l->again = true;/;/'
mutant loop_never_ends predicate-loop.c 's/while (!spindle_is_past(deadline))/while (1)/'

# Readers of logs.
mutant log_file_has_moved_on log-read.c '/^	if (fstatat/,/^	return after/c\	return n;'
mutant log_gone_is_damage log-read.c '/^int spindle_log_read/,/^}/ s/if (!log->gone \&\& /if (/'
mutant log_scan_of_old_names log-read.c '/^static int scan(/,/^}/ s/if (log->gone || /if (/'
mutant log_damage_seen_once log-read.c 's/if (err || is_confirmed(look, before))/if (1)/'
mutant log_crash_may_take log-read.c 's/if ((log->flags \& SPINDLE_LOG_DURABLE)/if (0/'
mutant log_reads_a_fifo log-read.c 's/if (!S_ISREG(file.st_mode))/if (0)/'
mutant log_follows_links log-read.c 's/ | O_NOFOLLOW//'
mutant log_of_somebody log-read.c 's/if (!is_same_log(/if (0 \&\& !is_same_log(/'
mutant log_seeks_what_was_trimmed log-read.c '/^int spindle_log_seek/,/^}/ s/if (lsn < map->low)/if (0)/'
mutant log_seeks_behind_the_end log-read.c '/^int spindle_log_seek/,/^}/ s/if (lsn > map->until)/if (0)/'
mutant log_refresh_goes_back log-read.c 's/use_look(log, look, lsn);/use_look(log, look, look->scan.map.low);/'
mutant log_refresh_misses_cut log-read.c 's/	if (lsn <= end) {/	if (1) {/'
mutant log_refresh_stays_behind_cut log-read.c 's/use_look(log, look, end > .*/use_look(log, look, lsn);/'
mutant log_refresh_sees_only_the_end log-read.c '/^static uint64_t end_of_known/,/^}/ s/if (map->seg\[i\].lsn < end)/if (0)/'
mutant log_refresh_of_cut_segment log/recover.c 's/s->map.seg\[first\].lsn != before->map.seg\[before->map.n - 1\].lsn)/0)/'
mutant log_damage_without_end log-read.c 's/if (i >= s->n_damaged ||/if (/'
mutant log_epoch_was_trimmed log-read.c 's/if (epoch->lsn < s->map.low)/if (0)/'
mutant log_is_never_there log-read.c 's/if (!err \&\& look->scan.is_new)/if (0)/'
mutant log_refresh_reads_all log-read.c 's/scan(log, \&look, log->look);/scan(log, \&look, NULL);/'
mutant log_refresh_misses_repair log-read.c '/^static bool holds/,/^}/ s/return false;/continue;/'
mutant log_repair_is_damage log-read.c 's/(n != -EUCLEAN || !was_repaired(log))/true/'
mutant log_refresh_another_base log/recover.c 's/if (map->seg\[i\].seq != old->seg\[gone + i\].seq)/if (0)/'
mutant log_refresh_keeps_epochs log/recover.c 's/before->epoch\[i + 1\].lsn > s->map.low)/1)/'
mutant log_refresh_loses_damage log/recover.c 's/		s->damaged\[s->n_damaged++\] = range;/		;/'
mutant log_refresh_joins_damage log/recover.c 's/			range.to = r->last_to;/			range.to = r->next;/'
mutant log_name_is_like_one log/name.c 's/ || strcmp(name, text)//'
mutant log_has_three_meta_blocks log/name.c 's/ \&\& id < 2//'
mutant log_name_is_cut log/name.c 's/ || (size_t)n >= size//'

# Durable messages.
mutant durable_reply_with_odd_position layout.c '/a->ctl_durable, 1, 8, 8/d'
mutant durable_reply_with_odd_lsn layout.c '/a->ctl_lsn, 1, 8, 8/d'
mutant durable_reply_with_odd_want layout.c '/a->usr_want, 1, 8, 8/d'
mutant durable_reply_with_odd_block layout.c 's/holds(&a->sst, a->sst_log, 1, sizeof(struct spindle_log_block), 8)/1/'
mutant durable_reply_with_short_words layout.c 's/a->usr_log, 1, sizeof(struct spindle_log_words), 8/a->usr_log, 1, 8, 8/'
mutant durable_reply_with_a_gate layout.c 's/return !(a->features & SPINDLE_FEAT_GATE) \&\& /return /'
mutant durable_is_at_its_position durable.c 's/durable_until(q, lsn + 1, spindle/durable_until(q, lsn, spindle/'
mutant durable_wants_the_first_one durable.c 's/if (w->want < want)/if (1)/'
mutant durable_want_stays durable.c 's/l->waiters ? smallest(l) : 0/smallest(l)/'
mutant durable_want_of_one_that_left durable.c '/^static void leave/,/^}/ s/tell_kernel(l);/;/'
mutant durable_want_passes_a_sleeper durable.c 's/if (w->want < want)/if (w->want < want \&\& w->want > *l->durable)/'
mutant durable_is_lost_at_the_end durable.c 's/if (spindle_durable(q) >= want)/if (!ended \&\& spindle_durable(q) >= want)/'
mutant durable_signal_unsent durable.c 's/err == -EINTR ? -EINPROGRESS : err/err/'
mutant durable_at_some_members durable.c 's/	err = spindle_freed_until(.*/	err = 0;/'
mutant durable_slot_of_the_one_before durable.c 's/(uint32_t)slot + 1/(uint32_t)slot/'
mutant durable_is_another_one durable.c 's/return durable_until(q, spindle_load_acquire(q->logs->lsn), deadline);/return 0;/'
mutant durable_time_is_up_unsent durable.c 's/err == -EAGAIN ? -ETIMEDOUT : //'
mutant durable_ends_unsent durable.c 's/err == -EPIPE ? -ENOTCONN : err/err/'
mutant durable_words_unchanged durable.c 's/++q->logs->change/q->logs->change/'
mutant durable_words_wake_nobody durable.c '/^int spindle_log_say/,/^}/ s/return spindle_wake(q);/return 0;/'
mutant durable_words_out_of_order durable.c '/^int spindle_log_say/,/^}/ { /w->persisted, report/d; s/	spindle_store_release(&w->change/	spindle_store_release(\&w->persisted, report->persisted);\n&/ }'
mutant durable_block_is_torn durable.c 's/return spindle_cell_mix(word, BLOCK_WORDS) == seal;/return true;/'
mutant durable_block_of_an_old_view durable.c 's/if (l->vid != e->vid)/if (0)/'
mutant durable_block_is_mapped_twice durable.c 's/if (l->row\[rank\].len)/if (0)/'
mutant durable_block_of_no_member durable.c 's/rank >= q->epoch->members || //'

# Replays.
mutant replay_keeps_what_is_overwritten replay.c 's/if (!spindle_intact(&r->q))/if (0)/'
mutant replay_stands_still replay.c '/^static int read_log/,/^}/ s/r->place.lsn = m->next;/;/'
mutant replay_place_of_the_log replay.c '/^static int read_live/,/^}/ s/r->place.lsn = m->next;/;/'
mutant replay_has_no_gate replay.c 's/q->features & SPINDLE_FEAT_GATE ? spindle_durable(q) : UINT64_MAX/UINT64_MAX/'
mutant replay_gate_is_ajar replay.c 's/if (r->place.lsn >= r->bound)/if (r->place.lsn > r->bound)/'
mutant replay_falls_behind_for_ever replay.c 's/return is_behind(r, n) ? fall_behind(r) : n;/return n;/'
mutant replay_reads_the_log_once replay.c 's/int err = spindle_log_refresh(r->log);/int err = 0;/'
mutant replay_goes_over_damage replay.c 's/r->sought = n == 1;/r->sought = true;/'
mutant replay_damage_is_the_end replay.c 's/if (err || r->live)$/if (n == -EUCLEAN || err || r->live)/'
mutant replay_takes_any_log replay.c '/^static int need_log/,/^}/ s/if (err || is_log_of_group(r))/if (1)/'
mutant replay_takes_old_eras replay.c 's/return r->log_era != r->place.era/return 0 \&\& r->log_era != r->place.era/'
mutant replay_takes_new_eras replay.c '/m->era > r->place.era/,/true/ s/return true;/return false;/'
mutant replay_takes_what_the_history_has replay.c 's/ \&\& m->lsn < r->oldest)/)/'
mutant replay_era_without_logs replay.c 's/!((r->features & SPINDLE_FEAT_LOG) \&\& m->lsn/!(m->lsn/'
mutant replay_of_others replay.c 's/while (m->flags & SPINDLE_LOG_OTHER);/while (0);/'
mutant replay_attachment_idles replay.c 's/else if (r->place.lsn < r->bound)/else if (0)/'
mutant replay_ignores_low replay.c 's/if (info.low > m->lsn \&\& info.low < m->next)/if (0)/'
mutant replay_waits_for_nothing replay.c 's/return err == -ETIMEDOUT ? 0 : err ? err : 1;/return 1;/'
mutant replay_waits_for_the_gate replay.c 's/else if (is_attached(r) \&\& r->place.lsn >= r->bound)/else if (0)/'
mutant replay_oldest_of_the_history replay.c 's/if (info.low < r->place.lsn)/if (0)/'
mutant replay_checks_no_directory replay.c 's/return o->dir ? check_dir(o->dir) : 0;/return 0;/'

mutants_end
