// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files to send. See file.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util.h"
#include "crc32c.h"
#include "file.h"

#define BUFFER		(1U << 20)

/* ---- which ------------------------------------------------------------ */

static int checksum(const char *path, struct cast_entry *e)
{
	static unsigned char buf[BUFFER];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t len = 0;
	struct stat st;
	ssize_t n = -1;

	if (fd < 0 || fstat(fd, &st))
		goto failed;
	e->size = (uint64_t)st.st_size;
	e->mode = st.st_mode & 0777;
	e->sec = st.st_mtim.tv_sec;
	e->nsec = (uint32_t)st.st_mtim.tv_nsec;
	while ((n = read(fd, buf, sizeof(buf))) > 0) {
		e->crc = crc32c(e->crc, buf, (size_t)n);
		len += (uint64_t)n;
	}
	if (n < 0)
		goto failed;
	close(fd);
	if (len == e->size)
		return CTL_OK;
	ctl_err("%s: changes while it is read", ctl_clean(path));
	return CTL_FAILED;
failed:
	ctl_err("%s: %s", ctl_clean(path), strerror(errno));
	if (fd >= 0)
		close(fd);
	return CTL_FAILED;
}

static int add(struct cast_files *f, const char *path, const char *name)
{
	const char *err = cast_name_check(name, strlen(name));
	struct cast_entry *e;

	if (err) {
		ctl_err("%s: would be %s for the receivers", ctl_clean(path), err);
		return CTL_FAILED;
	}
	f->m.entry = ctl_grow(f->m.entry, f->m.count, sizeof(*f->m.entry));
	f->path = ctl_grow(f->path, f->m.count, sizeof(*f->path));
	e = &f->m.entry[f->m.count];
	f->path[f->m.count++] = ctl_strdup(path);
	e->name = ctl_strdup(name);
	return checksum(path, e);
}

/* The length of the part of a path that the receivers do not see: all up to its last component. */
static size_t prefix(const char *path)
{
	size_t len = strlen(path), end;

	while (len && path[len - 1] == '/')
		len--;
	end = len;
	while (len && path[len - 1] != '/')
		len--;
	/* "." and ".." and "/" have no name that could be a directory at the receivers. */
	if (end == len || (end - len == 1 && path[len] == '.') ||
	    (end - len == 2 && path[len] == '.' && path[len + 1] == '.'))
		return strlen(path);
	return len;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int add_tree(struct cast_files *f, char *path, const struct cast_opts *o)
{
	char *roots[2] = { path };
	size_t skip = prefix(path);
	int rc = CTL_OK;
	const char *name;
	FTSENT *e;
	FTS *fts;

	fts = fts_open(roots, FTS_COMFOLLOW | FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	while (fts && (e = fts_read(fts))) {
		name = e->fts_path + skip;
		while (*name == '/')
			name++;
		switch (e->fts_info) {
		case FTS_F:
			rc |= add(f, e->fts_path, name);
			break;
		case FTS_D:
			if (o->recursive)
				break;
			ctl_err("%s: is a directory; -r sends what is in it", ctl_clean(path));
			rc = CTL_FAILED;
			fts_set(fts, e, FTS_SKIP);
			break;
		case FTS_DP:
			break;
		case FTS_DNR:
		case FTS_ERR:
		case FTS_NS:
			ctl_err("%s: %s", ctl_clean(e->fts_path), strerror(e->fts_errno));
			rc = CTL_FAILED;
			break;
		default:
			/*
			 * Such a file is left out if it is in a tree, and an error if the user
			 * named it.
			 */
			ctl_err("%s: not a regular file%s", ctl_clean(e->fts_path),
				e->fts_level ? ", left out" : "");
			rc |= e->fts_level ? CTL_OK : CTL_FAILED;
		}
	}
	if (!fts || errno) {
		ctl_err("%s: %s", ctl_clean(path), strerror(errno));
		rc = CTL_FAILED;
	}
	if (fts)
		fts_close(fts);
	return rc;
}

/**
 * cast_files_find() - find all files to send, and compute their checksums
 * @f: out: files
 * @o: options
 *
 * Return: CTL_OK, or CTL_FAILED after messages about all errors
 */
int cast_files_find(struct cast_files *f, const struct cast_opts *o)
{
	struct cast_manifest again;
	int i, rc = CTL_OK;
	const char *err;
	size_t len;
	void *text;

	memset(f, 0, sizeof(*f));
	if (getrandom(&f->m.batch, sizeof(f->m.batch), 0) != sizeof(f->m.batch))
		f->m.batch = (uint64_t)getpid();
	for (i = 0; i < o->argc; i++)
		rc |= add_tree(f, o->argv[i], o);
	if (rc)
		return CTL_FAILED;
	if (!f->m.count) {
		ctl_err("there is no file to send");
		return CTL_FAILED;
	}
	/* Check what the receivers would complain about. */
	text = cast_manifest_pack(&f->m, &len);
	err = len > CAST_TEXT_MAX ? "too many files for one batch" :
				    cast_manifest_parse(&again, text, len);
	ctl_free(text);
	if (err)
		ctl_err("the receivers would see %s", err);
	return err ? CTL_FAILED : CTL_OK;
}

/* ---- bytes ------------------------------------------------------------ */

static int open_same(const struct cast_files *f, uint32_t i)
{
	int fd = open(f->path[i], O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && (uint64_t)st.st_size == f->m.entry[i].size)
		return fd;
	close(fd);
	return -ESTALE;
}

/* Map a file. Return: 0, or -errno; -ESTALE: the size of the file has changed. */
int cast_file_map(const struct cast_files *f, uint32_t i, struct cast_memory *m)
{
	int fd = open_same(f, i), err = 0;

	memset(m, 0, sizeof(*m));
	if (fd < 0)
		return fd;
	m->len = f->m.entry[i].size;
	/* The mapping is shared, because otherwise the kernel would copy each page that it pins. */
	m->addr = mmap(NULL, m->len, PROT_READ, MAP_SHARED, fd, 0);
	if (m->addr == MAP_FAILED) {
		err = -errno;
		m->addr = NULL;
	}
	close(fd);
	return err;
}

/* Copy a file into memory, where a mapping of the file cannot be pinned. */
int cast_file_copy(const struct cast_files *f, uint32_t i, struct cast_memory *m)
{
	int fd = open_same(f, i), err;
	size_t done = 0;
	ssize_t n = 1;

	memset(m, 0, sizeof(*m));
	if (fd < 0)
		return fd;
	err = cast_memory_new(m, f->m.entry[i].size);
	while (!err && done < m->len && n > 0) {
		n = read(fd, (char *)m->addr + done, m->len - done);
		if (n > 0)
			done += (size_t)n;
		else
			err = n < 0 ? -errno : -ESTALE;
	}
	close(fd);
	if (err)
		cast_memory_free(m);
	return err;
}

int cast_memory_new(struct cast_memory *m, uint64_t len)
{
	void *p;

	memset(m, 0, sizeof(*m));
	if (len > SIZE_MAX)
		return -ENOMEM;
	p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		 -1, 0);
	if (p == MAP_FAILED)
		return -errno;
	m->addr = p;
	m->len = len;
	return 0;
}

void cast_memory_free(struct cast_memory *m)
{
	if (m->addr)
		munmap(m->addr, m->len);
	memset(m, 0, sizeof(*m));
}
