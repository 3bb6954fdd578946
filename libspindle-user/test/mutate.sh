#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Is the simulator of replicas any good? A bounded number of seeds has to find each mutant. See
# ../../selftests/lib/mutate.sh.
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
		CFLAGS="-w" "$work/build/replica_sim"
}

survives()
{
	# A mutant may loop for ever.
	(ulimit -t 300 && "$work/build/replica_sim" 1 "$seeds")
}

# A crash of the program has no such line, and is found as well.
killer()
{
	grep -m 1 '^# seed' "$work/log" || tail -n 1 "$work/log"
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
mutant have_is_declared replica-order.c '/^static void handle_own_have/,/^}/ s/if (r->declared)/if (r->st.state == SPINDLE_REPLICA_ASKING)/'
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

mutants_end
