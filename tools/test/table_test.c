// SPDX-License-Identifier: GPL-2.0-only
/*
 * The verbs get, put and watch of a table, over a device of tables in memory. TAP.
 *
 * The device has three nodes, which are members of table 2. A hook plays the rest of the world
 * whenever a watch waits.
 */
#include <errno.h>
#include <string.h>

#include <linux/spindle.h>
#include <spindle/table.h>

#include "common/util.h"
#include "ctl/cmd.h"
#include "fake_table.h"
#include "fake_wire.h"

#define FIELDS	"fields load:u32,free:i64,host:s8 "

static uint32_t seed = 1;

/* The command ends with this status, and all of its output is this text. */
static void prints(const char *words, int status, const char *want, const char *what)
{
	int rc = run(ctl_cmd_table, "table", words);

	same(ctl_asprintf("%s= %d\n", output, rc), ctl_asprintf("%s= %d\n", want, status),
	     ctl_asprintf("%s%s: %s", words, ctl_opts.json ? " -j" : "", what));
}

/* The command ends with this status, and this text is part of its output. */
static void says(const char *words, int status, const char *part)
{
	int rc = run(ctl_cmd_table, "table", words);

	if (!ok(rc == status && strstr(output, part), "%s: %s", words, part))
		printf("# status %d: %s\n", rc, output);
}

static void attach(struct spindle_table *t, uint32_t node)
{
	struct spindle_table_attr o = { .node = node, .table = 2, .flags = SPINDLE_TABLE_WRITE };

	if (spindle_table_attach(t, &o))
		bail_out("cannot attach");
}

/* The process of a node puts a text into a cell, and all members get it. */
static void put(uint32_t node, uint32_t cell, const char *text)
{
	struct spindle_table t;

	attach(&t, node);
	spindle_cell_put(&t, cell, text, strlen(text));
	fake_table_settle(&seed);
	spindle_table_detach(&t);
}

/* The process of a node dies in the middle of an update. */
static void tear(uint32_t node, uint32_t cell)
{
	struct spindle_table t;
	unsigned char *p;

	attach(&t, node);
	p = spindle_cell_begin(&t, cell);
	p[0]++;
	spindle_table_detach(&t);
}

static bool left_nothing(void)
{
	struct fake_table_report r = fake_table_look();

	return !r.open_files && !r.mappings && !r.lost;
}

/* ---- command lines ---------------------------------------------------- */

static void test_usage(void)
{
	fake_table_setup(&(struct fake_table_opts){ 0 });
	says("get", 2, "table get: 'node' is missing");
	says("get 1", 2, "which table? Give its id or its name");
	says("get 1 id 2 name x", 2, "which table?");
	says("get 1 id 2 cell x", 2, "cell 'x': not a number");
	says("get 1 id 2 rows 2", 2, "'rows' is not known here; there is: node, id, name, cell");
	says("get 1 id 2 fields load:u33", 2, "field 'load:u33': there is no type 'u33'");
	says("get 1 id 2 fields load:s4081", 2, "a string has 1 to 4080 bytes");
	says("watch 1 id 2 count x", 2, "count 'x': not a number");
	says("put 1 id 2 text x", 2, "'cell' is missing");
	says("put 1 id 2 cell 0", 2, "one value: fields with FIELD=VALUE, text, hex, or -");
	says("put 1 id 2 cell 0 text a hex 00", 2, "one value");
	says("put 1 id 2 cell 0 text a load=1", 2, "one value");
	says("put 1 id 2 cell 0 text a -", 2, "one value");
	says("put 1 id 2 cell 0 load=1", 1,
	     "table put: 'load=1' needs 'fields', because table 2 has none");
	says("put 1 id 2 cell 0 " FIELDS "text a", 2, "'fields' needs FIELD=VALUE");
	says("put 1 id 2 cell 0 " FIELDS "laod=1", 2, "'laod=1' sets no field; there is: load");
	says("put 1 id 2 cell 0 " FIELDS "load=4294967296", 2, "not a number from 0 to 4294967295");
	says("put 1 id 2 cell 0 " FIELDS "load=1 load=2", 2, "load=2: the field has a value");
	says("put 1 id 2 cell 0 " FIELDS "host=123456789", 2, "9 bytes, and the field has 8");
	says("put 1 id 2 cell 0 hex 0", 2, "hex '0': two digits");
	says("put 1 id 2 cell 0 text x timeout 0", 2, "timeout");
	says("put 1 id 2 cell 0 word", 2, "'word' is not known here; there is: node, id");
	says("make", 2, "there is no verb 'make'");
	ok(left_nothing(), "nothing stays open");
}

static void test_refusals(void)
{
	struct spindle_table t;

	fake_table_setup(&(struct fake_table_opts){ 0 });
	says("get 9 id 2", 1, "table get: node 9: no such node in this network namespace");
	says("get 1 id 2 cell 4", 1, "table get: cell 4: table 2 has cells 0 to 3");
	says("put 1 id 2 cell 4294967295 text x", 1, "cell 4294967295: table 2 has cells 0 to 3");
	says("watch 1 id 2 cell 4", 1, "table watch: cell 4: table 2 has cells 0 to 3");
	says("get 1 id 2 row 7", 1, "table get: node 7 is no member of table 2");
	says("get 1 id 2 fields a:s40,b:u64,c:u8", 1,
	     "field 'c' ends at byte 49, and a value has 48");
	says("put 1 id 2 cell 0 fields a:s49 a=x", 1, "field 'a' ends at byte 49");
	says("put 1 id 2 cell 0 text 1234567890123456789012345678901234567890123456789", 1,
	     "table put: 49 bytes, and a value of table 2 has 48");
	attach(&t, 1);
	says("put 1 id 2 cell 0 text x", 1, "table 2 of node 1: another process writes its row");
	spindle_table_detach(&t);
	fake_table_setup(&(struct fake_table_opts){ .attach_err = ENOENT });
	says("get 1 id 7", 1, "table 7 of node 1: no such table in its view, or no view yet");
	says("put 1 name x cell 0 text x", 1, "table \"x\" of node 1: no such table");
	says("watch 1 id 7", 1, "no such table in its view");
	fake_table_setup(&(struct fake_table_opts){ .map_err = ENOTCONN });
	says("get 1 id 2", 1, "cannot map its rows: the table has just ended");
	ok(left_nothing(), "nothing stays open after refusals");
}

/* ---- get and put ------------------------------------------------------ */

static void test_get(void)
{
	fake_table_setup(&(struct fake_table_opts){ 0 });
	prints("get 1 id 2", 0, "No cell has a value yet.\n", "an empty table");
	put(2, 1, "hello");
	put(2, 1, "world");
	put(3, 0, "\001\002");
	prints("get 1 id 2", 0,
	       "NODE  CELL  VERSION  VALUE\n"
	       "   2     1        2  \"world\"\n"
	       "   3     0        1  0102000000000000\n", "text and bytes");
	prints("get 1 id 2 row 2 cell 0", 0,
	       "NODE  CELL  VERSION  VALUE\n"
	       "   2     0        0  -\n", "a cell without a value");
	prints("get 1 id 2 cell 1 fields a:u8,b:s3", 0,
	       "NODE  CELL  VERSION    A  B\n"
	       "   1     1        0    -  -\n"
	       "   2     1        2  119  orl\n"
	       "   3     1        0    -  -\n", "fields");
	ctl_opts.json = true;
	prints("get 1 id 2", 0,
	       "[{\"node\":2,\"cell\":1,\"version\":2,\"text\":\"world\"},"
	       "{\"node\":3,\"cell\":0,\"version\":1,\"hex\":\"0102000000000000\"}]\n",
	       "text and bytes");
	prints("get 1 id 2 row 2 fields a-b:u8,b:s3", 0,
	       "[{\"node\":2,\"cell\":1,\"version\":2,\"fields\":{\"a-b\":119,\"b\":\"orl\"}}]\n",
	       "fields");
	ctl_opts.json = false;
	ok(left_nothing(), "nothing stays open after get");
}

static struct spindle_table writer;

/* Whenever a command waits, the process of node 2 writes once more. */
static void play_read(enum fake_call call)
{
	if (call == FAKE_POLL)
		spindle_cell_put(&writer, 1, "again", 5);
}

/* Rows of mode read only come when somebody has them read. */
static void test_read(void)
{
	fake_table_setup(&(struct fake_table_opts){ .read = true, .hook = play_read });
	fake_table_start();
	attach(&writer, 2);
	spindle_cell_put(&writer, 1, "hello", 5);
	says("get 1 id 2 row 2", 0, "   2     1  ");
	prints("put 1 id 2 cell 0 text x timeout 5", 0, "", "nothing to wait for");
	says("watch 3 id 2 row 2 count 3", 0, "changed  node 2  cell 1  version ");
	spindle_table_detach(&writer);
	fake_table_stop();
	ok(left_nothing(), "nothing stays open in mode read");
}

/* The device of a node answers no reads. */
static void test_mute(void)
{
	fake_table_setup(&(struct fake_table_opts){ .read = true });
	fake_table_start();
	fake_table_mute(3, true);
	says("get 1 id 2", 1, "table get: some rows could not be read for 3 s");
	fake_table_stop();
	ok(left_nothing(), "nothing stays open after a read that did not end");
}

static void test_torn(void)
{
	fake_table_setup(&(struct fake_table_opts){ 0 });
	put(1, 1, "hello");
	tear(1, 1);
	tear(1, 2);
	prints("get 1 id 2", 0,
	       "NODE  CELL  VERSION  VALUE\n"
	       "   1     1  -        (being written)\n"
	       "   1     2  -        (being written)\n", "cells of a writer that died");
	prints("get 1 id 2 cell 1 row 1 fields a:u8,b:u8", 0,
	       "NODE  CELL  VERSION  A                B\n"
	       "   1     1  -        (being written)  -\n", "fields of a writer that died");
	ctl_opts.json = true;
	prints("get 1 id 2 cell 1 row 1", 0,
	       "[{\"node\":1,\"cell\":1,\"error\":\"being written\"}]\n", "the same as JSON");
	ctl_opts.json = false;
	prints("put 1 id 2 cell 1 text again", 0, "", "another writer");
	prints("get 1 id 2 cell 1 row 1", 0,
	       "NODE  CELL  VERSION  VALUE\n"
	       "   1     1        2  \"again\"\n", "the value of the other writer");
}

static void test_put(void)
{
	fake_table_setup(&(struct fake_table_opts){ 0 });
	prints("put 1 id 2 cell 3 " FIELDS "host=web1 load=7", 0, "", "fields");
	prints("put node 1 id 2 cell 3 " FIELDS "free=-9", 0, "", "the other fields stay");
	prints("get 1 id 2 fields load:u32,free:i64,host:s8", 0,
	       "NODE  CELL  VERSION  LOAD  FREE  HOST\n"
	       "   1     3        2     7  -9    web1\n", "fields that were put");
	prints("put 1 id 2 cell 3 hex ff00ff", 0, "", "bytes");
	prints("put 1 id 2 cell 0 text hi", 0, "", "text");
	prints("get 1 id 2", 0,
	       "NODE  CELL  VERSION  VALUE\n"
	       "   1     0        1  \"hi\"\n"
	       "   1     3        3  ff00ff0000000000\n", "bytes and text that were put");
	says("put 1 id 2 cell 0 text ho timeout 1", 1,
	     "table put: the value is written, and after 1 s some members do not have it yet");
	fake_table_start();
	prints("put 1 id 2 cell 0 text ho timeout 60", 0, "", "a value that all members get");
	fake_table_stop();
	ok(left_nothing(), "nothing stays open after put");
}

static void end_of_table(struct spindle_table_attach *a)
{
	(void)a;
	fake_table_final(SPINDLE_STATE_GONE, SPINDLE_ERR_VIEW_GONE);
}

static void test_end(void)
{
	fake_table_setup(&(struct fake_table_opts){ .mangle = end_of_table });
	says("put 1 id 2 cell 0 text x", 1, "table put: the table is gone: ");
	says("get 1 id 2", 1, "table get: the table is gone: ");
	says("watch 1 id 2", 1, "table watch: the table is gone: ");
	ok(left_nothing(), "nothing stays open after the end");
}

/* ---- watch ------------------------------------------------------------ */

static unsigned int turn;

/* All members but one, whose memory is new if it comes. */
static void members(uint32_t n, uint32_t joined)
{
	struct spindle_seat seat[FAKE_NODES] = { 0 };
	uint32_t i;

	for (i = 0; i < n; i++) {
		seat[i].node = i + 1;
		seat[i].sst = FAKE_INSTANCES - 1 - i;
		seat[i].flags = i + 1 == joined ? SPINDLE_SEAT_JOINED : 0;
	}
	fake_table_view(seat, n);
}

static void play(enum fake_call call)
{
	if (call != FAKE_POLL)
		return;
	switch (turn++) {
	case 0:
		put(2, 1, "one");
		put(2, 1, "two");
		put(3, 0, "\001");
		break;
	case 1:
		members(2, 0);
		break;
	case 2:
		put(1, 3, "own");
		members(3, 3);
		break;
	default:
		fake_table_final(SPINDLE_STATE_FAILED, SPINDLE_ERR_EVICTED);
	}
}

static void watch(const char *words, int status, const char *want, const char *what)
{
	fake_table_setup(&(struct fake_table_opts){ .hook = play });
	turn = 100;
	put(2, 2, "before");
	turn = 0;
	prints(ctl_asprintf("watch 1 id 2%s", words), status, want, what);
	ok(left_nothing(), "nothing stays open after: watch%s", words);
}

#define ENDED	"the table is failed: the other members have gone on without this node"

static void test_watch(void)
{
	watch("", 1,
	      "exists   node 2  cell 2  version 1  \"before\"\n"
	      "exists-end\n"
	      "changed  node 2  cell 1  version 2  \"two\"\n"
	      "changed  node 3  cell 0  version 1  0100000000000000\n"
	      "left     node 3\n"
	      "joined   node 3\n"
	      "changed  node 1  cell 3  version 1  \"own\"\n"
	      "spindle-ctl: table watch: " ENDED "\n", "all events");
	watch(" row 2 fields a:u8,b:s3", 1,
	      "exists   node 2  cell 2  version 1  a=98  b=\"efo\"\n"
	      "exists-end\n"
	      "changed  node 2  cell 1  version 2  a=116  b=\"wo\"\n"
	      "spindle-ctl: table watch: " ENDED "\n", "one row, with fields");
	watch(" cell 1 count 1", 0,
	      "exists-end\n"
	      "changed  node 2  cell 1  version 2  \"two\"\n", "one change of one cell");
	watch(" count 0", 0,
	      "exists   node 2  cell 2  version 1  \"before\"\n"
	      "exists-end\n", "what there is");
	ctl_opts.json = true;
	watch("", 1,
	      "{\"event\":\"exists\",\"node\":2,\"cell\":2,\"version\":1,\"text\":\"before\"}\n"
	      "{\"event\":\"exists-end\"}\n"
	      "{\"event\":\"changed\",\"node\":2,\"cell\":1,\"version\":2,\"text\":\"two\"}\n"
	      "{\"event\":\"changed\",\"node\":3,\"cell\":0,\"version\":1,"
	      "\"hex\":\"0100000000000000\"}\n"
	      "{\"event\":\"left\",\"node\":3}\n"
	      "{\"event\":\"joined\",\"node\":3}\n"
	      "{\"event\":\"changed\",\"node\":1,\"cell\":3,\"version\":1,\"text\":\"own\"}\n"
	      "{\"event\":\"ended\",\"reason\":\"" ENDED "\"}\n"
	      "spindle-ctl: table watch: " ENDED "\n", "all events");
	ctl_opts.json = false;
}

/* A writer dies in an update. Another one comes much later. */
static void play_torn(enum fake_call call)
{
	if (call != FAKE_POLL)
		return;
	switch (turn++) {
	case 0:
		tear(1, 1);
		tear(1, 2);
		break;
	case 1:
		break;
	default:
		if (!strstr(output, "torn"))
			usleep(10000);
		else if (turn < 1000000)
			put(1, 1, "whole");
	}
}

static void test_watch_torn(void)
{
	fake_table_setup(&(struct fake_table_opts){ .hook = play_torn });
	turn = 5;
	put(1, 2, "before");
	turn = 0;
	prints("watch 1 id 2 cell 1 count 1", 0,
	       "exists-end\n"
	       "torn     node 1  cell 1  (being written)\n"
	       "changed  node 1  cell 1  version 1  \"whole\"\n", "a writer that dies");
	ok(left_nothing(), "nothing stays open after a writer that dies");
}

/* The table has fields, and the command line need not name them. */
static void test_fields_of_table(void)
{
	struct fake_table_opts o = { .fields = "load:u32,host:s8" };

	fake_table_setup(&o);
	prints("put 1 id 2 cell 3 host=web1 load=7", 0, "", "fields of the table");
	fake_table_settle(&seed);
	prints("get 1 id 2", 0,
	       "NODE  CELL  VERSION  LOAD  HOST\n"
	       "   1     3        1     7  web1\n", "fields of the table");
	prints("get 1 id 2 fields a:u8,b:s7@4", 0,
	       "NODE  CELL  VERSION  A  B\n"
	       "   1     3        1  7  web1\n", "the command line is first");
	says("put 1 id 2 cell 3 laod=1", 1, "table put: 'laod=1' sets no field; there is: load, host");
	says("put 1 id 2 cell 3 load=1 load=2", 1, "load=2: the field has a value already");
	prints("put 1 id 2 cell 3 text abc", 0, "", "a value without fields");
	fake_table_settle(&seed);
	prints("get 1 id 2 cell 3 row 1", 0,
	       "NODE  CELL  VERSION     LOAD  HOST\n"
	       "   1     3        2  6513249  -\n", "fields of the table");
	o.fields = "load:u32,host:s60";
	fake_table_setup(&o);
	prints("get 1 id 2", 0,
	       "spindle-ctl: table get: the fields of table 2 are left out: field 'host' ends at byte 64, "
	       "and a value has 48\nNo cell has a value yet.\n", "fields that do not fit");
	o.fields = "a text of somebody\033[2J";
	fake_table_setup(&o);
	says("get 1 id 2", 0, "the fields of table 2 are left out: field 'a text of somebody?[2J': "
	     "NAME:TYPE is missing a ':'");
}

int main(void)
{
	begin(1);
	test_usage();
	test_refusals();
	test_get();
	test_read();
	test_mute();
	test_torn();
	test_put();
	test_end();
	test_watch();
	test_watch_torn();
	test_fields_of_table();
	return tap_end();
}
