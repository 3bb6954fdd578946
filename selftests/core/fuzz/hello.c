// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hellos: a node reads any bytes that a peer sends, and decides. The decision is a defined refusal,
 * or the true meaning of the hello. The node admits the requests of one life in the order of their
 * nonces.
 */
#include "fuzz.h"
#include "core/membership/hello.h"

#define LAST SPINDLE_REFUSE_NO_RULES

static struct spindle_hello_self self;
static struct spindle_hello_door door;
static struct spindle_heard heard;
static u32 tags;

/* A tag is right if its first byte is odd. */
static bool tagged(void *ctx, const struct spindle_hello *hello)
{
	tags++;
	return hello->tag[0] & 1;
}

static struct spindle_addr read_addr(struct input *in)
{
	u8 how = in_u8(in);

	return (struct spindle_addr){
		.ip = { how & 1, [15] = how >> 1 & 1 },
		.family = (how >> 2 & 3) * 2,
	};
}

static void read_node(struct input *in)
{
	u8 how = in_u8(in);
	u32 i;

	self = (struct spindle_hello_self){
		.id = 1 + (how & 3), .cluster = how >> 2 & 1, .incarnation = 1, .port = 7,
	};
	door = (struct spindle_hello_door){
		.digest = how >> 3 & 1, .mark = how >> 4 & 1 ? 0x103 : 0,
		.bytes = how & 0x80 ? in_near(in, 1000) : how >> 5,
	};
	door.max = in_u8(in) % (SPINDLE_MAX_MEMBERS + 1);
	door.ids = in_u8(in) % (SPINDLE_MAX_MEMBERS + 1);
	for (i = 0; i < door.ids; i++)
		door.id[i] = 10 + i;
	memset(&heard, 0, sizeof(heard));
}

/*
 * Read a hello that is correct except for a few words, or any bytes. Returns the number of bytes.
 */
static u32 read_hello(struct input *in, u8 *data)
{
	struct spindle_hello hello;
	u8 how = in_u8(in);
	u32 i, at;

	spindle_hello_make(&hello, &self);
	hello.src = cpu_to_le32(8 + (how & 7));
	hello.dst = cpu_to_le32(self.id);
	hello.digest = cpu_to_le64(door.digest);
	hello.nonce = cpu_to_le64(in_near(in, heard.life[0].nonce));
	hello.flags = in_u8(in);
	hello.tag[0] = how >> 3 & 1;
	for (i = how >> 4 & 3; i; i--) {
		at = in_below(in, sizeof(hello));
		((u8 *)&hello)[at] = in_near(in, ((u8 *)&hello)[at]);
	}
	memcpy(data, &hello, sizeof(hello));
	if (how & 0x80)
		for (i = 0; i < sizeof(hello); i++)
			data[i] = in_u8(in);
	return how & 0x40 ? in_below(in, sizeof(hello) + 1) : sizeof(hello);
}

static void check_meant(const struct spindle_hello *hello, u32 refusal)
{
	MUST(!refusal || (refusal >= SPINDLE_REFUSE_NOT_SPINDLE && refusal <= LAST));
	MUST(tags == (!refusal || refusal == SPINDLE_REFUSE_KEY ||
		      refusal == SPINDLE_REFUSE_DESTINATION));
	if (refusal)
		return;
	MUST(le32_to_cpu(hello->magic) == SPINDLE_HELLO_MAGIC && hello->tag[0] & 1);
	MUST(hello->version == SPINDLE_PROTOCOL && le32_to_cpu(hello->cluster) == self.cluster);
	MUST(le32_to_cpu(hello->dst) == self.id ||
	     (!hello->dst && hello->flags & SPINDLE_HELLO_F_ASK));
	MUST(!spindle_hello_answers(hello, &self));
}

/* A node of the same lineage, and of the same era unless it joins. */
static bool is_of_door(const struct spindle_hello *hello)
{
	u32 mark = le32_to_cpu(hello->lineage);

	return !mark || mark == door.mark ||
	       (mark >> 8 == door.mark >> 8 &&
		(hello->flags & (SPINDLE_HELLO_F_ASK | SPINDLE_HELLO_F_JOIN)));
}

static void check_door(const struct spindle_hello *hello, struct spindle_addr from)
{
	u32 at, len, room = 100, i;

	if (!spindle_hello_asks(hello, &door, room, &at, &len)) {
		u32 all = hello->flags & SPINDLE_HELLO_F_RULES ? door.rules : door.bytes;

		MUST(len && len <= room && at < all && len <= all - at);
		MUST(at == le64_to_cpu(hello->incarnation));
		MUST(is_of_door(hello));
	}
	if (spindle_hello_knocks(hello, &door, &from))
		return;
	MUST(door.bytes && door.ids < door.max && hello->incarnation && from.family);
	MUST(from.port && from.port == le16_to_cpu(hello->port));
	MUST(le64_to_cpu(hello->digest) == door.digest);
	MUST(is_of_door(hello));
	for (i = 0; i < door.ids; i++)
		MUST(le32_to_cpu(hello->src) != door.id[i]);
}

/* The last nonce of a life, or false. */
static bool last_of(u64 life, u64 *nonce)
{
	u32 i;

	for (i = 0; i < heard.lives; i++) {
		if (heard.life[i].incarnation != life)
			continue;
		*nonce = heard.life[i].nonce;
		return true;
	}
	return false;
}

static void check_admitted(const struct spindle_hello *hello, const struct spindle_addr *from)
{
	const struct spindle_addr addr = { .ip = { 1 }, .family = 4 };
	u64 life = le64_to_cpu(hello->incarnation), before = 0;
	bool known = last_of(life, &before);
	u32 refusal = spindle_hello_admitted(hello, &heard, &addr, from);

	MUST(heard.lives <= SPINDLE_LIVES);
	if (refusal) {
		MUST(refusal == SPINDLE_REFUSE_ADDRESS ||
		     (refusal == SPINDLE_REFUSE_AGAIN && known));
		return;
	}
	MUST(from->family == 4 && from->ip[0] == 1);
	MUST(!known || (s64)(le64_to_cpu(hello->nonce) - before) > 0);
	MUST(last_of(life, &before) && before == le64_to_cpu(hello->nonce));
	MUST(spindle_hello_admitted(hello, &heard, &addr, from) == SPINDLE_REFUSE_AGAIN);
}

static void hear(struct input *in)
{
	const struct spindle_hello_peer peer = {
		.id = 8,
		.digest = 1,
		.incarnation = in_u8(in) & 3,
	};
	u8 data[sizeof(struct spindle_hello)], *sent;
	struct spindle_addr from = read_addr(in);
	struct spindle_hello hello;
	u32 len = read_hello(in, data);
	bool read;

	/* A copy of exactly @len bytes. */
	sent = fuzz_alloc(len);
	memcpy(sent, data, len);
	read = spindle_hello_read(&hello, sent, len);
	fuzz_free(sent);
	MUST(read == (len == sizeof(hello)));
	tags = 0;
	check_meant(&hello, spindle_hello_meant(&hello, &self, tagged, NULL));
	if (!spindle_hello_expected(&hello, &peer)) {
		MUST(le32_to_cpu(hello.src) == peer.id && le64_to_cpu(hello.digest) == 1);
		MUST(!peer.incarnation || le64_to_cpu(hello.incarnation) == peer.incarnation);
	}
	check_door(&hello, from);
	check_admitted(&hello, &from);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { .at = data, .left = size };

	fuzz_begin();
	read_node(&in);
	while (in.left)
		hear(&in);
	return 0;
}
