/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tests, one for each word that fail-nth understands.
 */
#ifndef SPINDLE_FAIL_NTH_FAIL_NTH_H
#define SPINDLE_FAIL_NTH_FAIL_NTH_H

void test_load(const char *file);	/* module.c */
void test_node(void);			/* hand.c */
void test_view(void);
void test_attach(void);			/* seat.c */
void test_map(void);
void test_silence(void);
void test_table(void);			/* table.c */
void test_set(void);			/* set.c */
void test_dump(void);			/* dump.c */
void test_event(void);			/* event.c */
void test_connect(void);		/* connect.c */
void test_live(void);			/* live.c */
void test_rdmc(void);			/* large.c */
void test_lanes(void);

#endif /* SPINDLE_FAIL_NTH_FAIL_NTH_H */
