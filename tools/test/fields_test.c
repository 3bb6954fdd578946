// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fields of a cell: what is a list of fields and what is not, and values from and to text. TAP.
 */
#include <stdint.h>
#include <string.h>

#include "common/util.h"
#include "common/fields.h"
#include "tap.h"

#define ROOM	4080

static struct ctl_cell_fields fields;
static unsigned char value[ROOM];

/* Is the list refused, and is this text part of the reason? */
static void refused(const char *text, const char *why)
{
	const char *err = ctl_fields_parse(text, &fields);

	if (!ok(err && strstr(err, why), "'%.40s' is refused: %s", text, why))
		printf("# %s\n", err ? err : "it is not");
}

static void test_refusals(void)
{
	char name[64];

	refused("", "missing a ':'");
	refused("load", "field 'load': NAME:TYPE is missing a ':'");
	refused("load:u32,", "field '': NAME:TYPE is missing");
	refused(",load:u32", "field ''");
	refused(":u32", "a name begins with a letter");
	refused("1load:u32", "a name begins with a letter");
	refused("lo ad:u32", "a name has letters, digits, - and _");
	refused("lo=ad:u32", "a name has letters");
	refused("a@4:u32", "a name has letters");
	snprintf(name, sizeof(name), "%033d:u8", 0);
	memset(name, 'n', 33);
	refused(name, "a name has 32 characters at most");
	refused("load:", "there is no type ''");
	refused("load:u", "there is no type 'u'");
	refused("load:u7", "there is no type 'u7'; there is: u8, u16");
	refused("load:u0", "there is no type");
	refused("load:u08", "there is no type 'u08'");
	refused("load:u0x8", "there is no type");
	refused("load:u128", "there is no type");
	refused("load:U32", "there is no type 'U32'");
	refused("load:f32", "there is no type");
	refused("load:i24", "there is no type");
	refused("load:u32 ", "there is no type");
	refused("load:s", "there is no type 's'");
	refused("load:s0", "a string has 1 to 4080 bytes");
	refused("load:s4081", "a string has 1 to 4080 bytes");
	refused("load:s4294967296", "there is no type");
	refused("load:s-1", "there is no type");
	refused("load:u32@", "offset '': not a number from 0 to 4080");
	refused("load:u32@4@8", "offset '4@8'");
	refused("load:u32@-4", "offset '-4'");
	refused("load:u32@4077", "the field ends at byte 4081, and no value has more than 4080");
	refused("load:u32@4294967292", "offset '4294967292'");
	refused("a:s4080,b:u8", "field 'b:u8': the field ends at byte 4081");
	refused("a:u32,a:u32", "field 'a:u32': there are two fields of this name");
	refused("a:u32,b:u32@3", "shares bytes with field 'a'");
	refused("a:u32@4,b:s9@0", "shares bytes with field 'a'");
	refused("a:u8,b:u8,c:u8,d:u8,e:u8,f:u8,g:u8,h:u8,i:u8,j:u8,k:u8,l:u8,m:u8,n:u8,o:u8,p:u8,"
		"q:u8,r:u8,s:u8,t:u8,u:u8", "there are more than 20 fields");
}

static bool is_at(unsigned int i, uint32_t at, uint32_t size)
{
	return fields.field[i].at == at && fields.field[i].size == size;
}

static void test_places(void)
{
	const char *err;

	ok(!ctl_fields_parse("a:u8,b:u64,c:u16,d:s3,e:i32,f:u8", &fields) && fields.count == 6 &&
	   is_at(0, 0, 1) && is_at(1, 8, 8) && is_at(2, 16, 2) && is_at(3, 18, 3) &&
	   is_at(4, 24, 4) && is_at(5, 28, 1),
	   "numbers are aligned to their size, strings are not");
	ok(!ctl_fields_parse("a:u32@9,b:u32,c:u8@0", &fields) && is_at(0, 9, 4) &&
	   is_at(1, 16, 4) && is_at(2, 0, 1),
	   "an offset need not be aligned, and the next field comes after it");
	ok(!ctl_fields_parse("_a-1:s4080", &fields) && !ctl_fields_fit(&fields, 4080),
	   "a string may fill the largest cell");
	err = ctl_fields_fit(&fields, 4079);
	ok(err && !strcmp(err, "field '_a-1' ends at byte 4080, and a value has 4079"),
	   "a field that does not fit is named, with the limit");
}

/* The value of a field is taken, and shown again as this text. */
static void shows(const char *list, const char *word, const char *text, const char *json)
{
	const struct ctl_cell_field *f = fields.field;
	const char *err;

	memset(value, 0xee, sizeof(value));
	err = ctl_fields_parse(list, &fields);
	if (!err)
		err = ctl_fields_take(&fields, word, value);
	if (!ok(!err && !strcmp(ctl_field_text(f, value), text) &&
		!strcmp(json_object_to_json_string(ctl_field_json(f, value)), json) &&
		value[f->at + f->size] == 0xee && (!f->at || value[f->at - 1] == 0xee),
		"%s: %s is %s", list, word, text))
		printf("# %s %s\n", err ? err : ctl_field_text(f, value),
		       err ? "" : json_object_to_json_string(ctl_field_json(f, value)));
}

static void test_values(void)
{
	shows("a:u8", "a=255", "255", "255");
	shows("a:u8", "a=0", "0", "0");
	shows("a:u16@3", "a=0xabcd", "43981", "43981");
	shows("a:u32", "a=4294967295", "4294967295", "4294967295");
	shows("a:u64@5", "a=18446744073709551615", "18446744073709551615",
	      "18446744073709551615");
	shows("a:i8", "a=-128", "-128", "-128");
	shows("a:i8", "a=127", "127", "127");
	shows("a:i16@1", "a=-1", "-1", "-1");
	shows("a:i32", "a=-2147483648", "-2147483648", "-2147483648");
	shows("a:i64", "a=-9223372036854775808", "-9223372036854775808",
	      "-9223372036854775808");
	shows("a:i64", "a=9223372036854775807", "9223372036854775807", "9223372036854775807");
	shows("a:s4", "a=", "", "\"\"");
	shows("a:s4", "a=full", "full", "\"full\"");
	shows("a:s8@1", "a=b=c d", "b=c d", "\"b=c d\"");
	shows("a:s4", "a=\t\"", "?\"", "\"\\t\\\"\"");
	shows("a:s4", "a=\303\274", "\303\274", "\"\303\274\"");
	shows("a:s4", "a=x\303", "x\303", "\"x?\"");
	shows("a:s4", "a=\355\240\200", "\355\240\200", "\"???\"");
	shows("a:s4", "a=\300\200\377", "\300\200\377", "\"???\"");
	shows("a:s4", "a=\364\220\200\200", "\364\220\200\200", "\"????\"");
}

static void not_taken(const char *word, const char *why)
{
	const char *err;

	memset(value, 7, sizeof(value));
	err = ctl_fields_take(&fields, word, value);
	if (!ok(err && strstr(err, why) && value[0] == 7, "'%s': %s", word, why))
		printf("# %s\n", err ? err : "it is taken");
}

static void test_bad_values(void)
{
	ok(!ctl_fields_parse("a:u8,b:i8,c:s4,d:u64,e:i64", &fields), "fields for bad values");
	not_taken("a", "'a' sets no field; there is: a, b, c, d, e");
	not_taken("x=1", "'x=1' sets no field");
	not_taken("=1", "sets no field");
	not_taken("aa=1", "sets no field");
	not_taken("a=", "not a number from 0 to 255");
	not_taken("a=256", "a=256: not a number from 0 to 255");
	not_taken("a=-1", "not a number from 0 to 255");
	not_taken("a=1x", "not a number");
	not_taken("a= 1", "not a number");
	not_taken("b=128", "b=128: not a number from -128 to 127");
	not_taken("b=-129", "not a number from -128 to 127");
	not_taken("b=--1", "not a number");
	not_taken("b=-", "not a number");
	not_taken("c=12345", "c=12345: 5 bytes, and the field has 4");
	not_taken("d=18446744073709551616", "not a number from 0 to 18446744073709551615");
	not_taken("e=9223372036854775808", "to 9223372036854775807");
	not_taken("e=-9223372036854775809", "not a number from -9223372036854775808");
}

static bool is_text(const char *bytes, uint32_t len, const char *text, const char *hex)
{
	const char *t = ctl_value_text((const void *)bytes, len);

	return (text ? t && !strcmp(t, text) : !t) &&
	       !strcmp(ctl_value_hex((const void *)bytes, len), hex);
}

static void test_raw(void)
{
	uint32_t len;

	ok(is_text("hi!\0\0\0\0\0", 8, "hi!", "6869210000000000"), "text with zeroes behind it");
	ok(is_text("\0hi", 3, NULL, "006869"), "a zero in front of text");
	ok(is_text("hi\n", 3, NULL, "68690a"), "a control character");
	ok(is_text("\0\0\0\0", 4, NULL, "00000000"), "a value of zeroes has no text");
	ok(is_text("12345678\377\0\0\0\0\0\0\0\0\0", 18, NULL, "3132333435363738 ff00000000000000"),
	   "groups of 8 bytes, and none of zeroes at the end");
	ok(!ctl_value_unhex("3132 Ff  00", value, 4, &len) && len == 4 &&
	   !memcmp(value, "12\377\0", 4), "bytes in hexadecimal");
	ok(ctl_value_unhex("", value, 4, &len) && ctl_value_unhex(" ", value, 4, &len) &&
	   ctl_value_unhex("1", value, 4, &len) && ctl_value_unhex("1g", value, 4, &len) &&
	   ctl_value_unhex("1 2", value, 4, &len), "no bytes in hexadecimal");
	ok(ctl_value_unhex("0102030405", value, 4, &len), "more bytes than there is room for");
}

int main(void)
{
	test_refusals();
	test_places();
	test_values();
	test_bad_values();
	test_raw();
	return tap_end();
}
