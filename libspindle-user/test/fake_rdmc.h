/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A /dev/spindle-rdmc without a kernel: one thread that all members talk to over sockets,
 * in a process of theirs or in one of its own. It keeps the contract of
 * <linux/spindle_rdmc.h>, and copies the bytes from process to process as the kernel would:
 * when it likes to, between SEND and DONE, and only memory that is there. Any node from 1 to
 * 64 exists, and all are in the view.
 *
 * fake_rdmc_sys.c is the other end: what the library's sys.c is elsewhere.
 */
#ifndef SPINDLE_TEST_FAKE_RDMC_H
#define SPINDLE_TEST_FAKE_RDMC_H

#include <stdbool.h>
#include <stdint.h>

#define FAKE_NODES	64U

/* Environment variable with the socket of the fake; without it there is no device. */
#define FAKE_RDMC_ENV	"FAKE_RDMC"

/**
 * struct fake_rdmc_opts - behaviour of the fake; zero is the default
 */
struct fake_rdmc_opts {
	/** @rate: bytes per millisecond; 0: as many as can be copied */
	uint64_t rate;
	/** @memlock: bytes that a process may have in progress; 0: any number */
	uint64_t memlock;
	/** @memlock_in: the same for a process that accepts; 0: as @memlock */
	uint64_t memlock_in;
	/** @no_files: mappings of files cannot be pinned */
	bool no_files;
	/** @corrupt_tag: tag of an object of which the last member gets a wrong byte; 0: none */
	uint64_t corrupt_tag;
	/** @lost: report members that go as lost, and not as having left */
	bool lost;
};

/* Serve until the process ends. */
void fake_rdmc_serve(int listener, const struct fake_rdmc_opts *o);
int fake_rdmc_listen(const char *path);

/* A request over the control socket. Events come over another socket, one by one. */
struct fake_rdmc_request {
	uint64_t cmd;	/* 0: the file is closed */
	unsigned char arg[64];
};

struct fake_rdmc_reply {
	int64_t ret;
	unsigned char arg[64];
};

#endif /* SPINDLE_TEST_FAKE_RDMC_H */
