// SPDX-License-Identifier: GPL-2.0-only
/*
 * spindle-dds: figures of samples, bytes as text, lines, and all verbs at a domain in memory. TAP.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util.h"
#include "dds/cmd.h"
#include "dds/rate.h"
#include "dds/value.h"
#include "fake_dds.h"
#include "tap.h"

#define SECOND	1000000000ULL
#define WORDS	24

/* ---- figures ------------------------------------------------------------------------- */

static bool near(double have, double want)
{
	return fabs(have - want) < 0.000001;
}

static void test_hz(void)
{
	struct dds_window w;
	struct dds_hz hz;

	dds_window_init(&w, 4);
	dds_window_hz(&w, &hz);
	ok(isnan(hz.rate) && isnan(hz.min) && !hz.samples, "no sample has no rate");
	dds_window_add(&w, 5 * SECOND, 1);
	dds_window_hz(&w, &hz);
	ok(isnan(hz.rate) && isnan(hz.max) && hz.samples == 1, "one sample has no rate");
	dds_window_add(&w, 5 * SECOND, 1);
	dds_window_hz(&w, &hz);
	ok(isnan(hz.rate) && hz.min == 0 && hz.max == 0 && hz.deviation == 0,
	   "samples of one moment have an interval, and no rate");
	dds_window_init(&w, 4);
	dds_window_add(&w, 1000000, 1);
	dds_window_add(&w, 2000000, 1);
	dds_window_add(&w, 5000000, 1);
	dds_window_hz(&w, &hz);
	ok(near(hz.rate, 500) && near(hz.min, 1) && near(hz.max, 3) && near(hz.deviation, 1) &&
	   hz.samples == 3, "rate, shortest, longest interval and deviation");
	dds_window_add(&w, 8000000, 1);
	dds_window_add(&w, 11000000, 1);
	dds_window_hz(&w, &hz);
	ok(near(hz.min, 3) && near(hz.max, 3) && near(hz.deviation, 0) && hz.samples == 4,
	   "a full window forgets its oldest sample");
}

static void test_bw(void)
{
	struct dds_window w;
	struct dds_bw bw;

	dds_window_init(&w, 2);
	dds_window_bw(&w, SECOND, &bw);
	ok(isnan(bw.rate) && isnan(bw.mean) && !bw.max, "no sample has no size");
	dds_window_add(&w, SECOND, 100);
	dds_window_bw(&w, SECOND, &bw);
	ok(isnan(bw.rate) && near(bw.mean, 100) && bw.min == 100 && bw.max == 100,
	   "a sample of this moment has a size, and no rate");
	dds_window_add(&w, SECOND, 1);
	dds_window_add(&w, 2 * SECOND, 300);
	dds_window_bw(&w, 3 * SECOND, &bw);
	ok(near(bw.rate, 150.5) && near(bw.mean, 150.5) && bw.min == 1 && bw.max == 300 &&
	   bw.samples == 2, "bytes per second and sizes of the last two");
}

/* ---- bytes --------------------------------------------------------------------------- */

static void shows(const char *bytes, uint32_t len, const char *text, const char *json)
{
	struct json_object *obj = json_object_new_object();
	const unsigned char *b = (const unsigned char *)bytes;
	char *have = dds_value_text(b, len);
	const char *line;

	dds_value_json(obj, b, len, false);
	line = json_object_to_json_string_ext(obj, JSON_C_TO_STRING_PLAIN);
	if (!ok(!strcmp(have, text) && !strcmp(line, json), "%s is shown", text))
		printf("# %s %s\n", have, line);
	json_object_put(obj);
}

static void test_values(void)
{
	struct json_object *obj = json_object_new_object();

	shows("hello", 5, "hello", "{\"text\":\"hello\"}");
	shows("", 0, "", "{\"text\":\"\"}");
	shows("a\nb\033\177", 5, "a\\x0ab\\x1b\\x7f", "{\"text\":\"a\\nb\\u001b\177\"}");
	shows("a\\x", 3, "a\\\\x", "{\"text\":\"a\\\\x\"}");
	shows("gr\xc3\xbc\xc3\x9f", 6, "gr\xc3\xbc\xc3\x9f", "{\"text\":\"gr\xc3\xbc\xc3\x9f\"}");
	shows("\xff\xc3", 2, "\\xff\\xc3", "{\"hex\":\"ffc3\"}");
	shows("\xc2\x9b", 2, "\\xc2\\x9b", "{\"text\":\"\xc2\x9b\"}");
	shows("\0z", 2, "\\x00z", "{\"text\":\"\\u0000z\"}");
	/* The last character is cut off by the end. */
	shows("\xe2\x82\xac", 2, "\\xe2\\x82", "{\"hex\":\"e282\"}");
	dds_value_json(obj, (const unsigned char *)"ab", 2, true);
	ok(!strcmp(json_object_to_json_string_ext(obj, JSON_C_TO_STRING_PLAIN),
		   "{\"hex\":\"6162\"}"), "a text may be wanted in hexadecimal");
	json_object_put(obj);
}

/* All lines of a text, which comes in two parts, with a "|" behind each. */
static const char *lines_of(const char *first, const char *rest, uint32_t longest)
{
	static char have[200];
	const char *part[3] = { first, rest, NULL }, **next = part, *text;
	enum dds_found found = DDS_FOUND;
	struct dds_lines l;
	uint32_t len;
	int fd[2];

	have[0] = '\0';
	if (pipe(fd))
		return "no pipe";
	dds_lines_init(&l, longest);
	while (found == DDS_FOUND || found == DDS_MORE) {
		found = dds_lines_next(&l, &text, &len);
		if (found == DDS_FOUND)
			sprintf(have + strlen(have), "%.*s|", (int)len, text);
		if (found != DDS_MORE)
			continue;
		if (*next && write(fd[1], *next, strlen(*next)) < 0)
			break;
		next += !!*next;
		if (!*next && fd[1] >= 0) {
			close(fd[1]);
			fd[1] = -1;
		}
		if (dds_lines_fill(&l, fd[0]))
			break;
	}
	close(fd[0]);
	if (fd[1] >= 0)
		close(fd[1]);
	sprintf(have + strlen(have), "%s %llu", found == DDS_END ? "end" : "long",
		(unsigned long long)l.line);
	return have;
}

static void lines(const char *first, const char *rest, uint32_t longest, const char *want)
{
	const char *have = lines_of(first, rest, longest);

	if (!ok(!strcmp(have, want), "lines are %s", want))
		printf("# %s\n", have);
}

static void test_lines(void)
{
	lines("one\ntwo\n", "three\n", 20, "one|two|three|end 4");
	lines("on", "e\ntwo", 20, "one|two|end 3");
	lines("\n", "\n", 20, "||end 3");
	lines("1234\n12", "34\n", 4, "1234|1234|end 3");
	lines("1234\n12345", "\n", 4, "1234|long 2");
	lines("12345", "\n", 4, "long 1");
	lines("1234", "5", 4, "long 1");
}

/* ---- verbs --------------------------------------------------------------------------- */

static char *said, *complained;

/* Run a command line. Return: its exit code; what it has printed is in @said and @complained. */
static int run(const char *line)
{
	char *rest = ctl_strdup(line), *argv[WORDS + 1] = { "spindle-dds", "topic" };
	FILE *out = stdout, *err = stderr;
	size_t size, other;
	struct dds_opts o;
	int argc = 2, rc;

	while (argc < WORDS && (argv[argc] = strsep(&rest, " ")))
		argc++;
	free(said);
	free(complained);
	stdout = open_memstream(&said, &size);
	stderr = open_memstream(&complained, &other);
	optind = 0;
	rc = dds_opts_parse(&o, argc, argv);
	if (!rc)
		rc = dds_cmd(&o);
	fclose(stdout);
	fclose(stderr);
	stdout = out;
	stderr = err;
	return rc;
}

/* Does the command line end so, and print this? */
static void prints(const char *line, int rc, const char *out, const char *err)
{
	int have = run(line);

	if (!ok(have == rc && !strcmp(said, out) && strstr(complained, err), "%s: %s%s", line,
		*out ? "what is printed" : "", *err ? err : ""))
		printf("# status %d, '%s' '%s'\n", have, said, complained);
}

static void fresh(void)
{
	fake = (struct fake_dds){ .now = SECOND };
}

static void add_topic(const char *name, const char *type, uint32_t level, uint32_t keyed)
{
	struct spindle_dds_topic_info *t = &fake.topic[fake.topics++];

	*t = (struct spindle_dds_topic_info){ .id = 10 + fake.topics, .writers = 1, .readers = 2,
					      .topic = { .level = level, .keyed = keyed } };
	strcpy(t->topic.name, name);
	strcpy(t->topic.type, type);
}

static void add_sample(const char *data, uint32_t len, uint64_t ms)
{
	fake.sample[fake.samples++] = (struct fake_sample){
		.data = data, .len = len, .due = SECOND + ms * 1000000,
	};
}

static void test_list(void)
{
	fresh();
	prints("list -n 1", 0, "There is no topic.\n", "");
	prints("list -n 1 -j", 0, "[]\n", "");
	add_topic("a", "T", SPINDLE_DDS_ATOMIC, 0);
	add_topic("state", "", SPINDLE_DDS_TRANSIENT, 1);
	strcpy(fake.topic[1].topic.subgroup, "heavy");
	fake.topic[1].topic.type_hash[15] = 0xa5;
	prints("list -n 1 -c other -t 3", 0,
	       "TOPIC  LEVEL      TYPE  KEYED  SUBGROUP  WRITERS  READERS\n"
	       "a      atomic     T     no     -               1        2\n"
	       "state  transient  -     yes    heavy           1        2\n", "");
	ok(fake.opts.node == 1 && !strcmp(fake.opts.control, "other") &&
	   fake.opts.timeout_ms == 3000 && !fake.opts.flags && !fake.opts.device,
	   "the participant has the options");
	prints("list -n 1 -j", 0,
	       "[{\"topic\":\"a\",\"id\":11,\"level\":\"atomic\",\"type\":\"T\",\"keyed\":false,"
	       "\"writers\":1,\"readers\":2},{\"topic\":\"state\",\"id\":12,\"level\":\"transient\","
	       "\"type_hash\":\"000000000000000000000000000000a5\",\"keyed\":true,"
	       "\"subgroup\":\"heavy\",\"writers\":1,\"readers\":2}]\n", "");
	prints("list -n 1 --csv -b", 0,
	       "topic,id,level,type,type-hash,keyed,subgroup,writers,readers\n"
	       "a,11,atomic,T,,no,,1,2\n"
	       "state,12,transient,,000000000000000000000000000000a5,yes,heavy,1,2\n", "");
	ok(fake.opts.flags == SPINDLE_DDS_BEGIN, "--begin begins a domain");
	fake.open_error = -ENODATA;
	prints("list -n 1", 1, "", "spindle-dds: no participant has the directory");
}

static void test_info(void)
{
	fresh();
	add_topic("a", "T", SPINDLE_DDS_ATOMIC, 0);
	prints("info -n 1 a", 0,
	       "topic      a\nid         11\nlevel      atomic\ntype       T\ntype-hash  -\n"
	       "keyed      no\nsubgroup   -\nwriters    1\nreaders    2\n", "");
	prints("info -n 1 a --csv", 0,
	       "topic,id,level,type,type-hash,keyed,subgroup,writers,readers\n"
	       "a,11,atomic,T,,no,,1,2\n", "");
	prints("info -n 1 a -j", 0,
	       "{\"topic\":\"a\",\"id\":11,\"level\":\"atomic\",\"type\":\"T\",\"keyed\":false,"
	       "\"writers\":1,\"readers\":2}\n", "");
	prints("info -n 1 b", 1, "", "there is no topic 'b'");
	ok(!fake.waits, "without --wait nobody waits");
	fake.appear = 3 * SECOND;
	prints("info -n 1 a -w 1.5", 1, "", "there is no topic 'a'");
	fake.now = SECOND;
	ok(!run("info -n 1 a -w 2.5") && fake.now >= 3 * SECOND && fake.now < 4 * SECOND,
	   "--wait waits for the topic");
	fake.now = SECOND;
	fake.signal = 2 * SECOND;
	prints("info -n 1 a -w 9", 1, "", "");
	ok(dds_signal(), "a signal ends the wait");
}

static void some_samples(void)
{
	fresh();
	add_topic("a", "", SPINDLE_DDS_ATOMIC, 1);
	add_sample("one", 3, 0);
	add_sample("a,\"b\n", 5, 0);
	fake.sample[1].flags = SPINDLE_DDS_KEYED;
	fake.sample[1].key[0] = 0x7f;
	add_sample("", 0, 500);
	fake.sample[2].flags = SPINDLE_DDS_KEYED | SPINDLE_DDS_DISPOSE;
	add_sample("\xff", 1, 500);
	add_sample("", 0, 500);
	fake.sample[4].flags = SPINDLE_DDS_KEYED | SPINDLE_DDS_UNREGISTER;
}

#define KEY	"7f000000000000000000000000000000"
#define NO_KEY	"00000000000000000000000000000000"

static void test_echo_text(void)
{
	some_samples();
	prints("echo -n 1 a -N 5", 0,
	       "101 3 one\n102 3 a,\"b\\x0a\n103 3 (disposed)\n104 3 \\xff\n105 3 (unregistered)\n",
	       "read 5 samples, 9 bytes in 0.5 s\n");
	ok(fake.opened == 1 && fake.closed == 1 && fake.qos.level == SPINDLE_DDS_UNORDERED &&
	   !fake.qos.depth && fake.qos.max_bytes == UINT32_MAX && !fake.qos.partitions,
	   "the reader takes what any writer offers");
	some_samples();
	prints("echo -n 1 a -N 2 -k -v -q", 0,
	       "101 3 1 -5 - one\n102 3 2 -5 " KEY " a,\"b\\x0a\n", "");
	ok(!*complained, "--quiet has no summary");
	some_samples();
	prints("echo -n 1 a -1 -f hex -P p1 -P p2", 0, "101 3 6f6e65\n", "read 1 samples");
	ok(fake.given == 1 && fake.qos.partitions == 2 && !strcmp(fake.qos.partition[1], "p2"),
	   "--once takes one sample, --partition names partitions");
	some_samples();
	prints("echo -n 1 a -N 4 --form raw", 0, "onea,\"b\n\xff", "");
}

static void test_echo_programs(void)
{
	some_samples();
	prints("echo -n 1 a -N 5 -j", 0,
	       "{\"lsn\":101,\"node\":3,\"writer\":7,\"sequence\":1,\"time\":-5,\"bytes\":3,"
	       "\"text\":\"one\"}\n"
	       "{\"lsn\":102,\"node\":3,\"writer\":7,\"sequence\":2,\"time\":-5,\"key\":\"" KEY
	       "\",\"bytes\":5,\"text\":\"a,\\\"b\\n\"}\n"
	       "{\"lsn\":103,\"node\":3,\"writer\":7,\"sequence\":3,\"time\":-5,\"key\":\"" NO_KEY
	       "\",\"state\":\"disposed\",\"bytes\":0}\n"
	       "{\"lsn\":104,\"node\":3,\"writer\":7,\"sequence\":4,\"time\":-5,\"bytes\":1,"
	       "\"hex\":\"ff\"}\n"
	       "{\"lsn\":105,\"node\":3,\"writer\":7,\"sequence\":5,\"time\":-5,\"key\":\"" NO_KEY
	       "\",\"state\":\"unregistered\",\"bytes\":0}\n", "");
	some_samples();
	prints("echo -n 1 a -N 2 --csv", 0,
	       "lsn,node,writer,sequence,time,key,state,bytes,value\n"
	       "101,3,7,1,-5,,,3,one\n"
	       "102,3,7,2,-5," KEY ",,5,\"a,\"\"b\\x0a\"\n", "");
}

static void test_echo_ends(void)
{
	some_samples();
	prints("echo -n 1 b", 1, "", "there is no topic 'b'");
	prints("echo -n 1 a -d 3", 1, "", "has level atomic, which keeps no samples");
	fake.topic[0].topic.level = SPINDLE_DDS_PERSISTENT;
	ok(!run("echo -n 1 a -d 3 -N 1") && fake.qos.level == SPINDLE_DDS_TRANSIENT &&
	   fake.qos.depth == 3, "--depth requests samples from before");
	fake.reader_error = -EPROTO;
	prints("echo -n 1 a", 1, "", "the topic has another type");
	some_samples();
	fake.overtaken = true;
	prints("echo -n 1 a", 1, "", "the history has overtaken the reader");
	some_samples();
	fake.take_error = -EPIPE;
	ok(run("echo -n 1 a") == 1 && strstr(said, "105 3") &&
	   strstr(complained, "the reader cannot go on") && fake.closed == 1,
	   "a reader that fails has printed what came before");
	some_samples();
	fake.status = (struct spindle_dds_status){ .other = 9, .wrong = 4, .why = "it is shallow" };
	fake.signal = 6 * SECOND;
	ok(!run("echo -n 1 a") && dds_signal() && strstr(said, "105 3") &&
	   strstr(complained, "a writer does not match: it is shallow\n") &&
	   !strstr(strstr(complained, "shallow") + 1, "shallow") &&
	   strstr(complained, "read 5 samples, 9 bytes in 5.5 s\n4 messages were no samples\n"),
	   "SIGINT ends with a summary; a mismatch is said once");
}

/* Standard output is a full disk. */
static void test_echo_full(void)
{
	FILE *out = stdout, *err = stderr;
	struct dds_opts o = { .verb = DDS_ECHO, .node = 1, .topic = "a" };
	char *words;
	size_t size;
	int rc;

	some_samples();
	stdout = fopen("/dev/full", "w");
	stderr = open_memstream(&words, &size);
	setvbuf(stdout, NULL, _IONBF, 0);
	rc = ctl_flush(dds_cmd(&o));
	fclose(stdout);
	fclose(stderr);
	stdout = out;
	stderr = err;
	ok(rc == 1 && fake.given == 1 && strstr(words, "output: No space left on device") &&
	   fake.closed == 1, "a full disk ends echo");
	free(words);
}

static void test_rates(void)
{
	unsigned int i;

	fresh();
	add_topic("a", "", SPINDLE_DDS_ATOMIC, 0);
	for (i = 0; i < 30; i++)
		add_sample("12345678", 1 + i % 4, 100 * i);
	prints("hz -n 1 a -N 30 -W 11", 0,
	       "10.0/s, interval 100 to 100 ms, deviation 0.00 ms, 11 samples\n"
	       "10.0/s, interval 100 to 100 ms, deviation 0.00 ms, 11 samples\n"
	       "10.0/s, interval 100 to 100 ms, deviation 0.00 ms, 11 samples\n",
	       "read 30 samples, 73 bytes in 2.9 s");
	fake.given = 0;
	fake.now = SECOND;
	prints("bw -n 1 a -N 30 -W 4 -j", 0,
	       "{\"rate\":33.3333,\"mean\":2.5000,\"min\":1,\"max\":4,\"samples\":4}\n"
	       "{\"rate\":33.3333,\"mean\":2.5000,\"min\":1,\"max\":4,\"samples\":4}\n"
	       "{\"rate\":33.3333,\"mean\":2.5000,\"min\":1,\"max\":4,\"samples\":4}\n", "");
	fake.samples = 1;
	fake.given = 0;
	fake.now = SECOND;
	fake.signal = 3 * SECOND + SECOND / 2;
	prints("bw -n 1 a", 0, "1 B/s, 1.00 bytes each, 1 to 1, 1 samples\nno new samples\n",
	       "read 1 samples, 1 bytes in 3.0 s");
	fake.given = 0;
	fake.now = SECOND;
	prints("hz -n 1 a --csv -N 1", 0, "rate,min-ms,max-ms,deviation-ms,samples\n,,,,1\n", "");
}

/* ---- writers ------------------------------------------------------------------------- */

/* Run with this as standard input. */
static int run_with(const char *input, const char *line)
{
	int fd[2], saved = dup(STDIN_FILENO), rc;

	if (pipe(fd) || write(fd[1], input, strlen(input)) < 0)
		return -1;
	dup2(fd[0], STDIN_FILENO);
	close(fd[0]);
	close(fd[1]);
	rc = run(line);
	dup2(saved, STDIN_FILENO);
	close(saved);
	return rc;
}

static void test_pub_topic(void)
{
	fresh();
	prints("pub -n 1 a x -1", 1, "", "there is no topic 'a'; --level makes it");
	ok(!fake.opened, "no topic is made by accident");
	ok(!run("pub -n 1 a hello -1 -l transient --type T -g heavy -k 0a0B") &&
	   fake.made.level == SPINDLE_DDS_TRANSIENT && !strcmp(fake.made.type, "T") &&
	   !strcmp(fake.made.subgroup, "heavy") && fake.made.keyed && fake.keyed &&
	   fake.key[0] == 10 && fake.key[1] == 11 && !fake.key[2] && fake.qos.depth == 1 &&
	   fake.qos.max_bytes == 5 && fake.qos.level == SPINDLE_DDS_TRANSIENT,
	   "a topic is made as the options describe it");
	fresh();
	add_topic("a", "T", SPINDLE_DDS_ATOMIC, 0);
	strcpy(fake.topic[0].topic.subgroup, "heavy");
	add_topic("k", "", SPINDLE_DDS_TRANSIENT, 1);
	prints("pub -n 1 a x -1 -l unordered", 1, "", "topic 'a' has level atomic");
	prints("pub -n 1 a x -1 -l atomic --type U", 1, "", "topic 'a' has type 'T'");
	prints("pub -n 1 k x -1 -l transient --type U -k 01", 1, "", "topic 'k' has no type");
	prints("pub -n 1 a x -1 -l atomic -g x", 1, "", "topic 'a' is in subgroup 'heavy'");
	prints("pub -n 1 k x -1 -l transient -g x -k 01", 1, "", "'k' is in a shared subgroup");
	prints("pub -n 1 a x -1 -k 01", 1, "", "topic 'a' has no keys");
	prints("pub -n 1 k x -1", 1, "", "topic 'k' has keys, and --key is missing");
	prints("pub -n 1 a x -1 -d 2", 1, "", "has level atomic, which keeps no samples");
	ok(!fake.opened, "none of these has a writer");
	ok(!run("pub -n 1 a x -1 -l atomic --type T -g heavy -s 99 -P p") && !fake.keyed &&
	   fake.qos.max_bytes == 99 && !fake.qos.depth && fake.qos.partitions == 1 &&
	   !strcmp(fake.made.type, "T"), "a topic that is there needs no description");
	ok(!run("pub -n 1 k x -1 -k ff -d 0") && !fake.qos.depth, "--depth=0 offers nothing old");
	fake.writer_error = -EMSGSIZE;
	prints("pub -n 1 a x -1", 1, "", "samples do not fit");
}

static void writes(const char *line, const char *want)
{
	int rc = run(line);

	if (!ok(!rc && !strcmp(fake.written, want), "%s writes %s", line, want))
		printf("# status %d, '%s' %s\n", rc, fake.written, complained);
}

static void test_pub_text(void)
{
	fresh();
	add_topic("a", "", SPINDLE_DDS_ATOMIC, 0);
	writes("pub -n 1 a x -N 3", "1000000000:x|2000000000:x|3000000000:x|");
	ok(strstr(complained, "wrote 3 samples, 3 bytes in 2.0 s"), "the summary counts them");
	fake.written[0] = '\0';
	fake.now = 0;
	fake.full = 2;
	fake.slow = 2;
	fake.flushes = 0;
	writes("pub -n 1 a 6162 -N 2 -f hex -r 4", "2000000000:ab|2000000000:ab|");
	ok(fake.flushes == 3, "what was written is waited for");
	fake.written[0] = '\0';
	fake.now = 0;
	fake.match = 5 * SECOND;
	writes("pub -n 1 a x -N 2 -r 0 -w 1", "5000000000:x|5000000000:x|");
	fake.written[0] = '\0';
	fake.now = 0;
	fake.signal = 7 * SECOND;
	fake.status = (struct spindle_dds_status){ .other = 4, .why = "it takes short samples" };
	writes("pub -n 1 a x", "0:x|1000000000:x|2000000000:x|3000000000:x|4000000000:x|"
	       "5000000000:x|6000000000:x|");
	ok(dds_signal() && strstr(complained, "wrote 7 samples") &&
	   strstr(complained, "a reader does not match: it takes short samples"),
	   "SIGINT ends a writer with a summary");
	fake.signal = fake.now + SECOND;
	fake.match = UINT64_MAX;
	prints("pub -n 1 a x -w 1", 0, "", "wrote 0 samples");
	fake.write_error = -EPIPE;
	fake.flushes = 0;
	prints("pub -n 1 a x", 1, "", "the subgroup takes no messages");
	ok(!fake.flushes, "nothing is waited for when the library has failed");
}

static void test_pub_lines(void)
{
	fresh();
	add_topic("a", "", SPINDLE_DDS_ATOMIC, 0);
	ok(!run_with("one\n\ntwo words", "pub -n 1 a") && fake.qos.max_bytes == DDS_SIZE &&
	   !strcmp(fake.written, "1000000000:one|1000000000:|1000000000:two words|"),
	   "each line of standard input is a sample");
	fake.written[0] = '\0';
	ok(!run_with("1\n2\n3\n", "pub -n 1 a - -N 2 -r 2") &&
	   !strcmp(fake.written, "1000000000:1|1500000000:2|"), "lines have a rate and a count");
	fake.written[0] = '\0';
	ok(run_with("1234\n12345\n1\n", "pub -n 1 a -s 4") == 1 &&
	   !strcmp(fake.written, "1500000000:1234|") &&
	   strstr(complained, "line 2 is too long: a sample has 4 bytes at most (--size)") &&
	   strstr(complained, "wrote 1 samples, 4 bytes"), "a line that is too long ends the writer");
	fake.written[0] = '\0';
	ok(!run_with("61 62\n63", "pub -n 1 a -f hex -s 2") &&
	   !strcmp(fake.written, "1500000000:ab|1500000000:c|"), "lines in hexadecimal");
	ok(run_with("616263\n", "pub -n 1 a -f hex -s 2") == 1 &&
	   strstr(complained, "line 1: more than 2 bytes"), "a line with more bytes is refused");
	ok(run_with("61\n6x\n", "pub -n 1 a -f hex -s 2") == 1 &&
	   strstr(complained, "line 2: two digits from 0 to f"), "so is one with other characters");
}

int main(void)
{
	ctl_program = "spindle-dds";
	test_hz();
	test_bw();
	test_values();
	test_lines();
	test_list();
	test_info();
	test_echo_text();
	test_echo_programs();
	test_echo_ends();
	test_echo_full();
	test_rates();
	test_pub_topic();
	test_pub_text();
	test_pub_lines();
	return tap_end();
}
