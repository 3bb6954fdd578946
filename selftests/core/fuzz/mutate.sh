#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Is each target able to fail? The corpus and a bounded number of runs have to find each mutant.
# See ../../lib/mutate.sh.
#
#   mutate.sh            all
#   mutate.sh NAME...    some
#   RUNS=n               runs of each target; 50000

set -euo pipefail
# shellcheck source=selftests/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../lib/common.sh"

here=$SPN_SELFTESTS/core/fuzz
export RUNS=${RUNS:-50000}
# shellcheck source=selftests/lib/mutate.sh
. "$SPN_SELFTESTS/lib/mutate.sh"

# Code that a mutation leaves unused is no reason to fail.
core()
{
	make -s -C "$here" CORE="$work/core" BUILD="$work/build" CFLAGS="-w" "$@"
}

build()
{
	core all
}

survives()
{
	core check
}

killer()
{
	sed -n 's/^not ok [0-9]* - //p' "$work/log"
}

"$SPN_SELFTESTS/lib/deps.sh" fuzz
mutants_begin "${BUILD:-$SPN_BUILD/fuzz-core}/mutate" "$@"

# Members and processes of a subgroup write.
mutant walk_len base/smc.c 's/ || len > walk->max_msg//'
mutant window multicast/receive.c 's/slots - mc->sender\[m->sender\].rel_slot > mc->window/0/'
mutant express_len base/express.c 's/ || copy->len > SPINDLE_EXPRESS_BYTES)/)/'
# Members of a live view write.
mutant suspects_any membership/suspect.c 's/word\[SPINDLE_MB_COL_SUSPECTED\] & ~spindle_mb_everybody(mb) ||/0 ||/'
# Rules and decrees come from others.
mutant decree_twice membership/decree.c '/^static bool is_taken/,/^}/ s/if (other.id == who->id.*/if (0)/'
mutant rules_shards membership/rules.c 's/if (subgroups > SPINDLE_MAX_SUBGROUPS)/if (0)/'
mutant rules_closed_sizes membership/rules.c 's/if (!err \&\& is_closed(rule))/if (0)/'
mutant rules_other_room membership/rules.c 's/rule->room_window == next->room_window \&\& //'
mutant rules_absorbed membership/rules.c '/^static const char \*check_run/,/^}/ s/return i == end ? NULL :/return 1 ? NULL :/'
# Hellos are any bytes.
mutant hello_card_end membership/hello.c 's/if (from >= bytes)/if (from > bytes)/'
mutant hello_lives membership/hello.c 's/i = heard->next++ % SPINDLE_LIVES;/i = heard->next++;/'
mutant express_stale multicast/push.c 's/ || mc->own.changed)$/)/'
# Blocks come with any number.
mutant arrive_any rdmc/move.c 's/slot->state != SPINDLE_RDMC_GRANTED) {/0) {/'
mutant grants_any rdmc/talk.c 's/	if (p->grant_tail - p->grant_head >= SPINDLE_RDMC_GRANTS)/	if (0)/'
mutant progress_any rdmc/talk.c '/^static bool believe/,/^}/ s/ended > p->told ||/0 ||/'

mutants_end
