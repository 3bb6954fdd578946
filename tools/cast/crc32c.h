/* SPDX-License-Identifier: GPL-2.0-only */
/* CRC32C (Castagnoli): by an instruction of the processor if it has one, otherwise from a table. */
#ifndef SPINDLE_CAST_CRC32C_H
#define SPINDLE_CAST_CRC32C_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

uint32_t crc32c(uint32_t crc, const void *data, size_t len);

/* The two implementations, for tests. */
bool crc32c_has_hard(void);
uint32_t crc32c_hard(uint32_t crc, const void *data, size_t len);
uint32_t crc32c_table(uint32_t crc, const void *data, size_t len);

#endif /* SPINDLE_CAST_CRC32C_H */
