#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Are the tests any good? Break a copy of the core in one place after the other; the
# check has to fail each time. Prints which mutants were killed and which survived.
#
#   mutate.sh            all
#   mutate.sh NAME...    some

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
core=${CORE:-$root/kmod/core}
work=${BUILD:-$root/build/unit}/mutate
only=("$@")
killed=0
survived=()

# mutant NAME FILE SED-SCRIPT: one change, which must change something.
mutant()
{
	local name=$1 file=$2 script=$3 dir=$work/$1

	if [[ ${#only[@]} -gt 0 && " ${only[*]} " != *" $name "* ]]; then
		return
	fi
	rm -rf "$dir"
	mkdir -p "$dir"
	cp -r "$core" "$dir/core"
	sed -i "$script" "$dir/core/$file"
	if cmp -s "$core/$file" "$dir/core/$file"; then
		echo "stale      $name (the line is not there any more)"
		survived+=("$name")
		return
	fi
	# What the mutation leaves unused is no reason to fail.
	if ! make -s -C "$here" CORE="$dir/core" BUILD="$dir/build" CFLAGS="-O1 -g -w" all \
		>"$dir/log" 2>&1; then
		echo "no build   $name"
		survived+=("$name")
		return
	fi
	if make -s -C "$here" CORE="$dir/core" BUILD="$dir/build" CFLAGS="-O1 -g -w" check \
		>"$dir/log" 2>&1; then
		echo "SURVIVED   $name"
		survived+=("$name")
	else
		echo "killed     $name ($(grep -c '^not ok' "$dir/log" || true) cases)"
		killed=$((killed + 1))
	fi
	rm -rf "$dir/build"
}

mutant believe_all multicast.c 's/if (!plausible(mc, m, word))/if (0)/'
mutant take_unpushed multicast.c 's/received <= pushed_seq(mc, m)/1/'
mutant no_round_limit multicast.c 's/sent > SPINDLE_MAX_ROUND/0/'
mutant no_window_check multicast.c 's/mc->sender\[m->sender\].rel_slot > mc->window/mc->sender[m->sender].rel_slot > U64_MAX/'
mutant free_too_many multicast.c '/^static void free_own/,/^}/ s/mc->my_sender < low)/mc->my_sender <= low)/'
mutant free_unasked multicast.c '/^static u64 lowest_delivered/,/^}/ s/r != mc->me/r < mc->me/'
mutant deliver_limit multicast.c '/^static u32 deliver_batch/,/^}/ s/>= limit/> limit/'
mutant deliver_on_receipt multicast.c 's/return mc->ordered ? mc->stable : U64_MAX;/return mc->ordered ? mc->word[SPINDLE_COL_RECEIVED] : U64_MAX;/'
mutant forget_a_member multicast.c '/^static u64 stable_seq/,/^}/ s/r != mc->me/r > 0 \&\& r != mc->me/'
mutant null_for_higher multicast.c '/^static u64 rounds_needed/,/^}/ s/s <= mc->my_sender/s < mc->my_sender/;/^static u64 rounds_needed/,/^}/ s/c -= !!c/c -= 0/'
mutant null_for_lower multicast.c '/^static u64 rounds_needed/,/^}/ s/if (s <= mc->my_sender)/if (1)/'
mutant null_always multicast.c '/^static u64 rounds_needed/,/^}/ s/if (s <= mc->my_sender)/if (0)/'
mutant no_vouch multicast.c 's/if (!m->vouch)$/if (1)/'
mutant vouch_wrap multicast.c 's/slot + ((m->vouched - (u32)slot) & SPINDLE_IMM_SLOTS)/(u64)m->vouched/'
mutant nulls_too_early multicast.c 's/if (limit == m->slots)/if (1)/'
mutant prefix_first multicast.c '/^static u64 prefix/,/^}/ s/if (c < low)/if (c <= low)/'
mutant release_unread multicast.c '/^static u64 released/,/^}/ s/low = min(low, q->base + q->consumed);/;/'
mutant reader_base multicast.c 's/dlvq->base = mc->log_tail;/dlvq->base = mc->log_head;/'
mutant ignore_blocked multicast.c 's/if (!readers_have_room(mc, msg->len))/if (0)/'
mutant stay_blocked multicast.c '/^static u64 released/,/^}/ s/mc->blocked = false;/;/'
mutant no_settle multicast.c '/^static void receive_trigger/,/^}/ s/mc->settle = true;/;/'
mutant no_block multicast.c '/^bool spindle_mc_run/,/^}/ s/if (mc->changed/if (mc->need \&\& mc->changed/'
mutant abandon_end multicast.c 's/last->unit = slot->end_unit;/;/'
mutant detach_drops multicast.c '/^void spindle_mc_detach_sender/,/^}/ s/while (.*send_test(mc))/while (0)/'
mutant publish_first dlvq.c '/^void spindle_dlvq_append/,/^{/ s/^{/{\n\tsmp_store_release(dlvq->tail_word, dlvq->tail + 1);/'
mutant publish_early multicast.c '/^static void deliver_trigger/,/^}/ s/if (!deliver_batch(mc))/for (q = mc->readers; q; q = q->next)\n\t\tsmp_store_release(q->tail_word, q->tail + 1);\n\tif (!deliver_batch(mc))/'
mutant copy_free dlvq.c 's/copy_end\[(consumed - 1) & dlvq->mask\]/copy_end[consumed \& dlvq->mask]/'
mutant consumed_range dlvq.c 's/consumed > dlvq->tail/consumed > dlvq->tail + 1/'
mutant ignore_seal sst.c 's/if (spindle_seal(w) != s)/if (0)/'
mutant weak_seal sst.c 's/h \*= 0x9e3779b97f4a7c15ULL;/h += 1;/'
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
mutant layout_overlap layout.c 's/at += (u64)sg->window \* sizeof(struct spindle_hdr);/at += (u64)(sg->window - 1) * sizeof(struct spindle_hdr);/'
mutant digest_ring view.c '/h = digest_u64(h, sg->ring);/d'

echo "$killed killed, ${#survived[@]} not${survived[*]:+: ${survived[*]}}"
[[ ${#survived[@]} -eq 0 ]]
