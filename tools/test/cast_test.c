// SPDX-License-Identifier: GPL-2.0-only
/* Parts of spindle-cast and spindle-recv: checksums, names, messages of peers. TAP. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cast/crc32c.h"
#include "cast/file.h"
#include "cast/link.h"
#include "cast/manifest.h"
#include "common/bar.h"
#include "common/util.h"
#include "tap.h"

static uint32_t rng = 12345;

static uint32_t rnd(void)
{
	rng = rng * 1664525 + 1013904223;
	return rng >> 8;
}

/* ---- checksums -------------------------------------------------------- */

/* The CRC bit by bit, as it is defined. */
static uint32_t crc_slow(uint32_t crc, const unsigned char *p, size_t len)
{
	int k;

	for (crc = ~crc; len--; p++)
		for (crc ^= *p, k = 0; k < 8; k++)
			crc = crc & 1 ? (crc >> 1) ^ 0x82f63b78 : crc >> 1;
	return ~crc;
}

static void test_crc(void)
{
	unsigned char buf[300], up[32], down[32];
	unsigned int i, k, from, len, cut;
	uint32_t want;
	bool same = true;

	/* RFC 3720, B.4, and the usual check value. */
	memset(buf, 0, 32);
	memset(buf + 32, 0xff, 32);
	for (i = 0; i < 32; i++) {
		up[i] = (unsigned char)i;
		down[i] = (unsigned char)(31 - i);
	}
	ok(crc32c(0, buf, 32) == 0x8a9136aa && crc32c(0, buf + 32, 32) == 0x62a8ab43 &&
	   crc32c(0, up, 32) == 0x46dd794e && crc32c(0, down, 32) == 0x113fdb5c &&
	   crc32c(0, "123456789", 9) == 0xe3069283 && crc32c(0, "", 0) == 0,
	   "CRC32C: known values");
	ok(crc32c_table(0, buf, 32) == 0x8a9136aa && crc32c_table(0, down, 32) == 0x113fdb5c,
	   "CRC32C: known values of the table");
	for (i = 0; i < sizeof(buf); i++)
		buf[i] = (unsigned char)rnd();
	for (k = 0; k < 3000; k++) {
		from = rnd() % 20;
		len = rnd() % (sizeof(buf) - from);
		cut = len ? rnd() % len : 0;
		want = crc_slow(k, buf + from, len);
		same &= crc32c_table(k, buf + from, len) == want;
		same &= crc32c(k, buf + from, len) == want;
		same &= !crc32c_has_hard() || crc32c_hard(k, buf + from, len) == want;
		same &= crc32c(crc32c(k, buf + from, cut), buf + from + cut, len - cut) == want;
	}
	ok(same, "CRC32C: all ways, of any bytes in any pieces");
}

/* ---- names ------------------------------------------------------------ */

static bool good_name(const char *name)
{
	return !cast_name_check(name, strlen(name));
}

static void test_names(void)
{
	static const char * const good[] = {
		"a", "a/b", ".a", "..a", "a..", "...", "a/..b", "-", "a b", "a\nb", "\xff",
		"a/b/c/d",
	};
	static const char * const evil[] = {
		"", "/", "/etc/passwd", ".", "..", "../a", "a/..", "a/../b", "./a", "a/.", "a/",
		"a//b", "a/./b", "//",
	};
	char name[CAST_NAME_MAX + 10];
	bool fine = true;
	unsigned int i;

	for (i = 0; i < CTL_ARRAY_SIZE(good); i++)
		fine &= good_name(good[i]);
	ok(fine, "names: those that are harmless");
	for (i = 0, fine = true; i < CTL_ARRAY_SIZE(evil); i++)
		fine &= !good_name(evil[i]);
	ok(fine && cast_name_check("a\0b", 3), "names: those that are not");
	memset(name, 'a', sizeof(name));
	name[255] = '\0';
	fine = good_name(name);
	name[255] = 'a';
	name[256] = '\0';
	fine &= !good_name(name);
	memset(name, 'a', sizeof(name));
	for (i = 1; i < sizeof(name); i += 2)
		name[i] = '/';
	name[CAST_NAME_MAX] = '\0';
	fine &= good_name(name);
	name[CAST_NAME_MAX] = '/';
	name[CAST_NAME_MAX + 1] = 'a';
	name[CAST_NAME_MAX + 2] = '\0';
	ok(fine && !good_name(name), "names: how long they may be");
}

/* ---- manifests -------------------------------------------------------- */

static struct cast_entry entries[] = {
	{ .name = (char *)"a/b", .size = 1ULL << 40, .sec = -5, .nsec = 999999999, .mode = 0644,
	  .crc = 0xdeadbeef },
	{ .name = (char *)"a-b", .size = 0 },
	{ .name = (char *)"new\nline", .size = 7 },
};

static const struct cast_manifest three = { .batch = 77, .entry = entries, .count = 3 };

static void test_manifest(void)
{
	struct cast_manifest m;
	size_t len, i;
	unsigned char *text = cast_manifest_pack(&three, &len), *copy;
	bool cut = true;

	ok(!cast_manifest_parse(&m, text, len) && m.batch == 77 && m.count == 3 &&
	   !strcmp(m.entry[0].name, "a/b") && m.entry[0].size == 1ULL << 40 &&
	   m.entry[0].sec == -5 && m.entry[0].nsec == 999999999 && m.entry[0].mode == 0644 &&
	   m.entry[0].crc == 0xdeadbeef && !strcmp(m.entry[2].name, "new\nline"),
	   "manifest: there and back");
	for (i = 0; i < len; i++) {
		/*
		 * The copy has exactly this size, so that a sanitizer sees a read behind its end.
		 */
		copy = malloc(i ? i : 1);
		memcpy(copy, text, i);
		cut &= !!cast_manifest_parse(&m, copy, i);
		free(copy);
	}
	ok(cut, "manifest: cut off anywhere");
	copy = malloc(len + 1);
	memcpy(copy, text, len);
	ok(cast_manifest_parse(&m, copy, len + 1), "manifest: a byte too much");
	free(copy);
}

/* Parse the manifest after a number in it was changed. */
static const char *spoilt(size_t at, uint32_t value)
{
	struct cast_manifest m;
	size_t len;
	unsigned char *text = cast_manifest_pack(&three, &len);

	memcpy(text + at, &value, sizeof(value));
	return cast_manifest_parse(&m, text, len);
}

static bool says(const char *err, const char *what)
{
	if (!err || !strstr(err, what))
		printf("# '%s', not '%s'\n", err ? err : "", what);
	return err && strstr(err, what);
}

static const char *parse_names(const char *a, const char *b, const char *c)
{
	struct cast_entry e[] = { { .name = (char *)a }, { .name = (char *)b },
				  { .name = (char *)c } };
	struct cast_manifest m = { .entry = e, .count = 3 };
	size_t len;
	void *text = cast_manifest_pack(&m, &len);

	return cast_manifest_parse(&m, text, len);
}

static void test_hostile(void)
{
	struct cast_manifest m;
	size_t len, at;
	unsigned char *text;
	bool fine = true;
	unsigned int i, k;

	ok(says(spoilt(0, 1), "no text of"), "hostile: magic");
	ok(says(spoilt(4, 2 | CAST_MANIFEST << 16), "another version"), "hostile: version");
	ok(says(spoilt(4, 1 | CAST_REPLY << 16), "another kind"), "hostile: kind");
	ok(says(spoilt(16, UINT32_MAX), "more files than") &&
	   says(spoilt(16, 4), "more files than") && says(spoilt(16, 2), "more than is due"), "hostile: number of files");
	ok(says(spoilt(20, UINT32_MAX), "cut off") && says(spoilt(20, 1025), "cut off"),
	   "hostile: length of the reason");
	ok(says(spoilt(24 + 28, UINT32_MAX), "cut off") &&
	   says(spoilt(24 + 28, CAST_NAME_MAX + 1), "too long a name"),
	   "hostile: length of a name");
	ok(says(spoilt(24 + 16, 1000000000), "cannot be") &&
	   says(spoilt(24 + 4, 0x80000000), "cannot be"), "hostile: times and sizes");
	ok(says(parse_names("x", "../x", "y"), "'..'") &&
	   says(parse_names("x", "y", "/etc/passwd"), "absolute") &&
	   says(parse_names("", "y", "z"), "without a name"), "hostile: names");
	ok(says(parse_names("x", "y", "x"), "comes twice"), "hostile: a name twice");
	ok(says(parse_names("a/b", "a-b", "a"), "a directory of another") &&
	   says(parse_names("a/b/c", "b", "a"), "a directory of another") &&
	   !parse_names("a/b", "a/c", "ab"), "hostile: a file as a directory");
	/* Random changes must lead to an error or to a valid manifest, and to nothing worse. */
	text = cast_manifest_pack(&three, &len);
	for (i = 0; i < 100000; i++) {
		unsigned char *copy = malloc(len);
		static struct ctl_pool pool;

		memcpy(copy, text, len);
		for (k = rnd() % 4 + 1; k; k--) {
			at = rnd() % len;
			copy[at] = rnd() % 2 ? (unsigned char)rnd() : copy[at] ^ (1 << rnd() % 8);
		}
		ctl_pool_use(&pool);
		if (!cast_manifest_parse(&m, copy, len - rnd() % 2 * (rnd() % len)))
			for (k = 0; k < m.count; k++)
				fine &= good_name(m.entry[k].name);
		ctl_pool_use(NULL);
		ctl_pool_drop(&pool);
		free(copy);
	}
	ok(fine, "hostile: anything");
}

/* ---- answers ---------------------------------------------------------- */

static void test_answers(void)
{
	struct cast_say say[] = { { CAST_YES, "" }, { CAST_NO, "no space" }, { CAST_HAD, "" } };
	struct cast_answer a = { .kind = CAST_REPLY, .batch = 77, .why = "", .say = say,
				 .count = 3 }, b;
	size_t len, i;
	unsigned char *text = cast_answer_pack(&a, &len), *copy;
	bool cut = true;

	ok(!cast_answer_parse(&b, text, len, CAST_REPLY, &three) && b.count == 3 &&
	   b.say[0].verdict == CAST_YES && b.say[1].verdict == CAST_NO &&
	   !strcmp(b.say[1].why, "no space") && b.say[2].verdict == CAST_HAD,
	   "answer: there and back");
	ok(says(cast_answer_parse(&b, text, len, CAST_REPORT, &three), "another kind"),
	   "answer: of another kind");
	for (i = 0; i < len; i++) {
		copy = malloc(i ? i : 1);
		memcpy(copy, text, i);
		cut &= !!cast_answer_parse(&b, copy, i, CAST_REPLY, &three);
		free(copy);
	}
	ok(cut, "answer: cut off anywhere");
	text[24] = CAST_VERDICTS;
	ok(says(cast_answer_parse(&b, text, len, CAST_REPLY, &three), "verdict that is none"),
	   "answer: no such verdict");
	a.batch = 78;
	text = cast_answer_pack(&a, &len);
	ok(says(cast_answer_parse(&b, text, len, CAST_REPLY, &three), "something else"),
	   "answer: of another batch");
	a.batch = 77;
	a.count = 2;
	text = cast_answer_pack(&a, &len);
	ok(says(cast_answer_parse(&b, text, len, CAST_REPLY, &three), "something else"),
	   "answer: of too few files");
	a.count = 0;
	text = cast_answer_pack(&a, &len);
	ok(says(cast_answer_parse(&b, text, len, CAST_REPLY, &three), "something else"),
	   "answer: of no files, without a reason");
	a.why = "what?";
	text = cast_answer_pack(&a, &len);
	ok(!cast_answer_parse(&b, text, len, CAST_REPLY, &three) && !b.say &&
	   !strcmp(b.why, "what?"), "answer: a reason alone");
}

static void test_rate(void)
{
	char buf[CTL_RATE_LEN];

	ok(!strcmp(ctl_rate_text(buf, 5, 1000000000), "5 B/s") &&
	   !strcmp(ctl_rate_text(buf, 12345, 1000000000), "12.3 kB/s") &&
	   !strcmp(ctl_rate_text(buf, 1234567, 1000000), "1.23 GB/s") &&
	   !strcmp(ctl_rate_text(buf, 1ULL << 50, 1000000000), "1125900 GB/s") &&
	   !strcmp(ctl_rate_text(buf, 5, 0), "0 B/s"), "rates in words");
}

/*
 * Three objects of 10000 bytes in three blocks each. The bytes that a member has must never fall.
 */
static void test_part(void)
{
	struct spindle_rdmc_stat st = { 0 };
	uint64_t last = 0, sum, i;
	bool fine = true;

	for (st.finished = 0; st.finished < 4; st.finished++) {
		for (st.blocks = 0; st.blocks <= 3; st.blocks++) {
			for (sum = i = 0; i < 3; i++)
				sum += cast_link_part(&st, i, 10000, 4096);
			fine &= sum >= last && sum <= 30000;
			last = sum;
		}
	}
	ok(fine && last == 30000, "part of an object: never less than before, never too much");
	st = (struct spindle_rdmc_stat){ .finished = 1, .blocks = 2 };
	ok(cast_link_part(&st, 0, 10000, 4096) == 10000 &&
	   cast_link_part(&st, 1, 10000, 4096) == 8192 &&
	   !cast_link_part(&st, 2, 10000, 4096),
	   "part of an object: one that is over, present, next");
}

int main(void)
{
	test_crc();
	test_names();
	test_manifest();
	test_hostile();
	test_answers();
	test_rate();
	test_part();
	return tap_end();
}
