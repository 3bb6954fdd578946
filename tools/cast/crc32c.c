// SPDX-License-Identifier: GPL-2.0-only
/*
 * CRC32C. See crc32c.h.
 */
#include <string.h>

#include "crc32c.h"

#define POLY	0x82f63b78U	/* bits reversed */
#define WAYS	8

/* [0] has the remainder of a byte; [k] that of a byte with k more bytes behind it. */
static uint32_t table[WAYS][256];

static void make_table(void)
{
	uint32_t i, k, c;

	for (i = 0; i < 256; i++) {
		for (c = i, k = 0; k < 8; k++)
			c = c & 1 ? (c >> 1) ^ POLY : c >> 1;
		table[0][i] = c;
	}
	for (i = 0; i < 256; i++)
		for (k = 1; k < WAYS; k++)
			table[k][i] = (table[k - 1][i] >> 8) ^ table[0][table[k - 1][i] & 255];
}

uint32_t crc32c_table(uint32_t crc, const void *data, size_t len)
{
	const unsigned char *p = data;

	if (!table[0][1])
		make_table();
	crc = ~crc;
	for (; len >= WAYS; len -= WAYS, p += WAYS) {
		crc ^= (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
		       (uint32_t)p[3] << 24;
		crc = table[7][crc & 255] ^ table[6][(crc >> 8) & 255] ^
		      table[5][(crc >> 16) & 255] ^ table[4][crc >> 24] ^
		      table[3][p[4]] ^ table[2][p[5]] ^ table[1][p[6]] ^ table[0][p[7]];
	}
	while (len--)
		crc = (crc >> 8) ^ table[0][(crc ^ *p++) & 255];
	return ~crc;
}

#ifdef __x86_64__
bool crc32c_has_hard(void)
{
	return __builtin_cpu_supports("sse4.2");
}

__attribute__((target("sse4.2")))
uint32_t crc32c_hard(uint32_t crc, const void *data, size_t len)
{
	const unsigned char *p = data;
	uint64_t word, c = ~crc;

	for (; len >= sizeof(word); len -= sizeof(word), p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		c = __builtin_ia32_crc32di(c, word);
	}
	while (len--)
		c = __builtin_ia32_crc32qi((uint32_t)c, *p++);
	return ~(uint32_t)c;
}
#else
bool crc32c_has_hard(void)
{
	return false;
}

uint32_t crc32c_hard(uint32_t crc, const void *data, size_t len)
{
	return crc32c_table(crc, data, len);
}
#endif

/**
 * crc32c() - compute the CRC of bytes, or continue it
 * @crc: CRC of the bytes before; 0: there are none
 * @data: bytes
 * @len: number of bytes
 *
 * Return: the CRC
 */
uint32_t crc32c(uint32_t crc, const void *data, size_t len)
{
	return crc32c_has_hard() ? crc32c_hard(crc, data, len) : crc32c_table(crc, data, len);
}
