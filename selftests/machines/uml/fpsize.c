// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print the number of bytes that PTRACE_GETREGSET has for a process's XSAVE
 * area.
 */
#include <elf.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static char area[1 << 20];

int main(void)
{
	struct iovec iov = { area, sizeof(area) };
	pid_t pid = fork();
	int st, rc;

	if (pid < 0)
		return 1;
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		_exit(0);
	}
	if (waitpid(pid, &st, 0) != pid || !WIFSTOPPED(st))
		return 1;
	rc = ptrace(PTRACE_GETREGSET, pid, NT_X86_XSTATE, &iov) != 0;
	kill(pid, SIGKILL);
	waitpid(pid, &st, 0);
	if (rc)
		perror("fpsize");
	else
		printf("%zu\n", iov.iov_len);
	return rc;
}
