#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Are the tests of topics any good? The unit tests, some schedules or hostile bytes have to find each
# mutant. See ../lib/mutate.sh.
#
#   mutate.sh            all
#   mutate.sh NAME...    some

set -euo pipefail
# shellcheck source=selftests/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/common.sh"

here=$SPN_SELFTESTS/dds
CORE=${CORE:-$SPN_ROOT/libspindle-user/dds/core}
# shellcheck source=selftests/lib/mutate.sh
. "$SPN_SELFTESTS/lib/mutate.sh"

# Code that a mutation leaves unused is no reason to fail.
build()
{
	make -s -C "$here" CORE="$work/core" BUILD="$work/build" CFLAGS="-w" all
}

# Most are found by the unit tests, which are there first.
notices()
{
	make -s -C "$here" CORE="$work/core" BUILD="$work/build" CFLAGS="-w" "$work/build/test" &&
		! timeout 60 "$work/build/test"
}

survives()
{
	(
		ulimit -t 60
		"$work/build/test" && "$work/build/sim" -n 200 && "$work/build/fuzz" -n 500
	)
}

killer()
{
	grep -m 1 -E '^# seed|^not ok|ERROR|runtime error' "$work/log" || tail -n 1 "$work/log"
}

mutants_begin "${BUILD:-$SPN_BUILD/dds}/mutate" "$@"

# Records.
mutant magic bytes.c 's/magic != MAGIC || //'
mutant version bytes.c 's/ || version != VERSION//'
mutant longer bytes.c 's/return !c.bad \&\& !c.left;/return !c.bad;/'
mutant control_characters bytes.c "/^static bool is_text/,/^}/ s/text\[i\] <= ' ' || text\[i\] > '~'/0/; /^void spindle_dds_get_text/,/^}/ s/text\[i\] <= ' ' || text\[i\] > '~'/0/"
mutant text_without_end bytes.c 's/get_count(c, (uint32_t)size - 1)/get_count(c, (uint32_t)size)/'
mutant nameless bytes.c 's/ && topic->name\[0\] &&/ \&\&/'
mutant topic_unchecked bytes.c 's/	c->bad = c->bad || !spindle_dds_good_topic(topic);/	;/'
mutant level_above_topic bytes.c 's/record->qos.level > record->topic.level/0/'
mutant depth_of_atomic bytes.c 's/qos->level < SPINDLE_DDS_TRANSIENT && qos->depth/0/'
mutant hello_unchecked bytes.c 's/	c->bad = c->bad || !spindle_dds_good_hello(record);/	;/'

# The directory.
mutant position_stands directory.c 's/	d->position = lsn + 1;/	;/'
mutant position_back directory.c 's/lsn < d->position || //'
mutant position_far directory.c 's/ || lsn > SPINDLE_DDS_LSN_MAX//'
mutant nonsense_has_no_position directory.c 's/^	d->position = lsn + 1;$//; s/^	return change(d, lsn + 1, node, &record);/	d->position = lsn + 1;\n&/'
mutant two_of_a_node directory.c '/^static enum spindle_dds_outcome hello/,/^}/ s/	if (p)/	if (0)/'
mutant shared_for_ever directory.c 's/	if (!d->participants \&\& !d->topics)/	if (0)/'
mutant shared_forgets_topics directory.c 's/	if (!d->participants \&\& !d->topics)/	if (!d->participants)/'
mutant any_shared directory.c 's/d->shared \&\& d->shared != record->shared/0/'
mutant participants_unbounded directory.c 's/d->participants == SPINDLE_DDS_PARTICIPANTS/0/'
mutant own_unbounded directory.c 's/p->endpoints >= d->limits.own/0/'
mutant endpoints_unbounded directory.c 's/d->live.n >= d->limits.endpoints/0/'
mutant topics_unbounded directory.c 's/d->topics >= d->limits.topics/0/'
mutant stored_unbounded directory.c 's/stored_by(d, node) >= d->limits.own/0/'
mutant stored_by_all directory.c 's/ && d->topic\[i\].maker == node;/;/'
mutant type directory.c 's/strcmp(a->type, b->type)/0/'
mutant hash directory.c 's/memcmp(a->type_hash, b->type_hash, sizeof(a->type_hash))/0/'
mutant level directory.c 's/a->level != b->level/0/'
mutant keys directory.c 's/a->keyed != b->keyed/0/'
mutant subgroup directory.c 's/strcmp(a->subgroup, b->subgroup)/0/'
mutant stored_topics_go directory.c 's/!t->endpoints.n \&\& !is_stored(t)/!t->endpoints.n/'
mutant topics_stay directory.c 's/!t->endpoints.n \&\& !is_stored(t)/0/'
mutant newest_is_forgotten directory.c '/^static uint32_t reuse/,/^}/ s/d->left.first/d->left.last/'
mutant forgotten_is_found directory.c '/^static uint32_t reuse/,/^}/ s/	\*at = d->endpoint\[i\].chain;/	;/'
mutant goes_of_others directory.c 's/if (d->endpoint\[i\].node == p->node)/if (1)/'
mutant remove_of_others directory.c 's/e->node != node/0/'
mutant remove_twice directory.c 's/!e || e->gone/!e/'
mutant count_stays directory.c 's/	own_participant(d, node)->endpoints--;/	;/'
mutant gone_is_any directory.c 's/!which || d->participant\[i\].id != which/!d->participant[i].id/'
mutant gone_is_zero directory.c 's/!which || d->participant\[i\].id != which/d->participant[i].id != which/'
mutant drop_is_zero directory.c 's/!which || d->topic\[i\].id != which/d->topic[i].id != which/'
mutant drop_in_use directory.c 's/if (d->topic\[i\].endpoints.n)/if (0)/'
mutant topic_counts directory.c '/^static void forget_topic/,/^}/ s/	d->topics--;/	;/'
mutant topic_in_chain directory.c '/^static void forget_topic/,/^}/ s/	\*at = d->topic\[i\].chain;/	;/'
mutant beat_of_any directory.c 's/return p \&\& p->id == which ?/return p ?/'
mutant beat_without directory.c 's/return p \&\& p->id == which ?/return !p || p->id == which ?/'
mutant lease directory.c 's/	p->lease_ms = record->lease_ms;/	;/'
mutant lease_saved snapshot.c 's/	put32(c, p->lease_ms);/	put32(c, 1);/'
mutant gone_unmarked directory.c 's/	e->gone = gone;/	;/'

# Snapshots.
mutant snapshot_longer snapshot.c 's/!c.bad \&\& !c.left \&\& /!c.bad \&\& /'
mutant snapshot_dead_topic snapshot.c 's/ && !has_dead_topic(d)//'
mutant snapshot_unshared snapshot.c 's/	c->bad |= n \&\& !d->shared;/	;/'
mutant snapshot_future snapshot.c 's/return id \&\& id <= d->position;/return id;/'
mutant snapshot_twins snapshot.c 's/ || spindle_dds_find_participant(d, p->node);/;/'
mutant snapshot_same_record snapshot.c 's/		if (d->participant\[i\].id == id)/		if (0)/'
mutant snapshot_two_topics snapshot.c 's/ || spindle_dds_find_topic(d, topic.name);/;/'
mutant snapshot_no_participant snapshot.c 's/	if (!p || e->topic/	if (!p)\n		p = d->participant;\n	if (e->topic/'
mutant snapshot_topic_index snapshot.c 's/ || e->topic >= d->topics//'
mutant snapshot_topic_id snapshot.c 's/return t->id == e->topic_id \&\& /return /'
mutant snapshot_left_order snapshot.c 's/d->endpoint\[d->left.last\].gone <= e->gone/1/'
mutant snapshot_room snapshot.c 's/d->limits.endpoints - d->used/SPINDLE_DDS_ENDPOINTS/'
mutant snapshot_twice snapshot.c 's/ || spindle_dds_find_endpoint(d, e->id))/)/'
mutant snapshot_counts snapshot.c 's/d->participant\].endpoints++;/d->participant].endpoints += 0;/'
mutant snapshot_half snapshot.c '/^bool spindle_dds_load/,/^}/ { /return true;/,$ s/	spindle_dds_directory_init(d, limits);/	;/; }'
mutant digest_position snapshot.c 's/d->position \* 31 + d->shared/d->shared/'

# Matches.
mutant match_level match.c 's/writer->level < reader->level/0/'
mutant match_depth match.c 's/writer->depth < reader->depth/0/'
mutant match_bytes match.c 's/writer->max_bytes > reader->max_bytes/0/'
mutant match_partition match.c 's/!have_common_partition(writer, reader)/0/'
mutant match_default match.c 's/return !qos->partitions \&\& !\*partition;/return false;/'
mutant match_no_default match.c 's/return !a->partitions \&\& is_in(b, "");/return false;/'
mutant match_gone match.c 's/!own || own->gone/!own/'
mutant match_sides match.c 's/if (other->writer == own->writer)/if (0)/'
mutant match_first match.c 's/else if (!n.mismatched++)/else if (n.mismatched++)/'
mutant match_roles match.c 's/own->writer ? &own->qos : &other->qos,/own->writer ? \&other->qos : \&own->qos,/'

# Samples.
mutant head_magic sample.c 's/ && (word & 0xffff) == MAGIC//'
mutant head_bytes sample.c 's/ && c.left == head->bytes//'
mutant head_flags sample.c 's/head->flags & ~FLAGS || //'
mutant head_ids sample.c 's/ || !head->topic || !head->writer || !head->sequence//'
mutant head_end_with_bytes sample.c 's/(!head->bytes \&\& end/(end/'
mutant head_two_ends sample.c 's/ && end != (SPINDLE_DDS_DISPOSE | SPINDLE_DDS_UNREGISTER)//'
mutant judge_topic sample.c 's/	if (head->topic != reader->topic_id)/	if (0)/'
mutant judge_never_ahead sample.c 's/	if (head->writer > d->position)/	if (0)/'
mutant judge_early sample.c 's/	if (head->writer > d->position)/	if (head->writer >= d->position)/'
mutant judge_reader sample.c 's/ || !writer->writer//'
mutant judge_node sample.c 's/ || writer->node != node//'
mutant judge_writer_topic sample.c 's/writer->topic_id != head->topic || //'
mutant judge_bytes sample.c 's/head->bytes <= writer->qos.max_bytes/1/'
mutant judge_keys sample.c 's/keyed == (bool)d->topic\[reader->topic\].topic.keyed/1/'
mutant judge_match sample.c 's/	if (spindle_dds_match(.*/	if (0)/'

# The cache.
mutant cache_newest cache.c 's/take_out(c, c->key\[key\].samples.first)/take_out(c, c->key[key].samples.last)/'
mutant cache_deep cache.c 's/samples.n >= c->depth/samples.n > c->depth/'
mutant cache_keys cache.c 's/key == SPINDLE_DDS_NONE \&\& !c->idle.n/0/'
mutant cache_samples cache.c 's/!full \&\& !c->spare.n/0/'
mutant cache_news cache.c 's/	if (!is_news(c, key, &sample->head))/	if (0)/'
mutant cache_any_unregister cache.c 's/	       c->key\[key\].writer == head->writer;/	       true;/'
mutant cache_unregister_twice cache.c 's/c->key\[key\].state == SPINDLE_DDS_ALIVE \&\&/true \&\&/'
mutant cache_forgets_alive cache.c 's/!key->samples.n \&\& key->state != SPINDLE_DDS_ALIVE/!key->samples.n/'
mutant cache_forgets_samples cache.c 's/!key->samples.n \&\& key->state != SPINDLE_DDS_ALIVE/key->state != SPINDLE_DDS_ALIVE/'
mutant cache_old_key_found cache.c 's/	if (key->used)/	if (0)/'
mutant cache_writer cache.c 's/	c->key\[key\].writer = sample->head.writer;/	;/'
mutant cache_state cache.c 's/	c->key\[key\].state = state_after(.*/	;/'
mutant cache_idle_stays cache.c '/^bool spindle_dds_cache_take/,/^}/ s/if (is_idle(&c->key\[key\]))/if (0)/'
mutant cache_busy_is_idle cache.c '/^enum spindle_dds_kept/,/^}/ s/if (is_idle(&c->key\[key\]))/if (0)/'

mutants_end
