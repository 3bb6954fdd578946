/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The other side of <linux/spindle_table.h>: some nodes in one process, and an engine that the test
 * steps. Node k has the id k + 1. Each step moves a few words of a cell, so a test sees torn cells.
 *
 * Owner: the test. Context: one thread steps; attachments may be used by others.
 */
#ifndef SPINDLE_TEST_FAKE_TABLE_H
#define SPINDLE_TEST_FAKE_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/spindle_table.h>

#define FAKE_NODES	3
#define FAKE_INSTANCES	6

/* Calls of the library that run the hook first. */
enum fake_call {
	FAKE_POLL,
	FAKE_ROW,		/* a row is mapped */
	FAKE_KICK
};

/**
 * struct fake_table_opts - the table to play; zero is a sensible default
 */
struct fake_table_opts {
	/** @cells: default 4 */
	uint32_t cells;
	/** @cell: bytes, default 64 */
	uint32_t cell;
	/** @vouch: the guard may arrive before the other cells */
	bool vouch;
	/** @read: a table of mode read */
	bool read;
	/** @fields: fields of the table; NULL: it has none */
	const char *fields;
	/** @attach_err: refuse the attachment with this errno */
	int attach_err;
	/** @map_err: the errno of mapping a row */
	int map_err;
	/** @mangle: spoils the reply */
	void (*mangle)(struct spindle_table_attach *a);
	/** @add_err: refuse predicates with this errno */
	int add_err;
	/** @mangle_add: spoils the reply to a predicate */
	void (*mangle_add)(struct spindle_predicate *p);
	/** @hook: runs in a call of the library */
	void (*hook)(enum fake_call call);
};

/* Results of a test, from the fake. */
struct fake_table_report {
	unsigned int kicks;
	unsigned int lost;	/* nobody woke the engine for work, or the process that waited */
	unsigned int looks;	/* at predicates of a file */
	unsigned int reads;	/* of all other rows, by a node */
	int predicates;
	int open_files;
	int mappings;
};

void fake_table_setup(const struct fake_table_opts *o);
struct fake_table_report fake_table_look(void);

/* One random step of the engines and of the network. Return: was there anything to do? */
bool fake_table_step(uint32_t *seed);
/* Step until nothing is left to do. */
void fake_table_settle(uint32_t *seed);

/* Mode read: this time passes, in microseconds. The thread lets time pass by itself. */
void fake_table_pass(uint64_t us);
/* Mode read: the device of a node answers no reads, or again. */
void fake_table_mute(uint32_t node, bool on);

/* Has no cell arrived at this node in part? The generation grows when all of it is there. */
bool fake_table_is_calm(uint32_t node);

/* The engines sleep: need_wakeup. */
void fake_table_sleep(bool on);
void fake_table_final(uint32_t state, uint32_t error);
/* A view of @n members begins. Members with SPINDLE_SEAT_JOINED get new memory. */
void fake_table_view(const struct spindle_seat *seat, uint32_t n);

/* A thread that steps until the end, and sleeps when there is nothing to do. */
void fake_table_start(void);
void fake_table_stop(void);

#endif /* SPINDLE_TEST_FAKE_TABLE_H */
