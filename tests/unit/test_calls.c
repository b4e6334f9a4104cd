// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The system calls that baleen-fetch may not make, each tried in a process confined as it is. */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fetch/calls.h"
#include "fetch/confine.h"

/* Exits of the child, beside an errno. */
#define WENT_THROUGH 0
#define NOT_CONFINED 255
/* Numbers on all machines, newer than some headers. */
#define NR_OPEN_TREE 428
#define NR_MOVE_MOUNT 429
#define NR_FSOPEN 430
#define NR_CLONE3 435
#define NR_OPENAT2 437
#define NR_PIDFD_GETFD 438
#define NR_IO_URING_SETUP 425
#define NR_LANDLOCK 444
#define NR_MEMFD_SECRET 447
#define NR_NEWER 463

#define ENDED (-SIGSYS)

/* Return: the errno of the call, WENT_THROUGH, or minus the signal that ended it. */
static int try(long number, const long *argument)
{
	const char *reason;
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		if (confine_process(&reason))
			_exit(NOT_CONFINED);
		errno = 0;
		if (syscall(number, argument[0], argument[1], argument[2], argument[3], argument[4],
			    argument[5]) < 0)
			_exit(errno);
		_exit(WENT_THROUGH);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

struct trial {
	const char *what;
	long number;
	int want;
	long argument[6];
};

static void run_trials(const struct trial *trial, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int got = try(trial[i].number, trial[i].argument);

		if (got != trial[i].want)
			fail_msg("%s: %d (%s), not %d", trial[i].what, got,
				 got > 0 ? strerror(got) : "", trial[i].want);
	}
}

#define RUN(trials) run_trials(trials, sizeof(trials) / sizeof((trials)[0]))

#define NEW(namespace)                                                                          \
	{ "clone of a new " #namespace, SYS_clone, ENDED, { CLONE_NEW##namespace | SIGCHLD } }, \
		{ "the same with a thread's flags",                                             \
		  SYS_clone,                                                                    \
		  ENDED,                                                                        \
		  { CLONE_NEW##namespace | CLONE_VM | CLONE_THREAD | CLONE_SIGHAND } },         \
	{                                                                                       \
		"unshare of " #namespace, SYS_unshare, ENDED,                                   \
		{                                                                               \
			CLONE_NEW##namespace                                                    \
		}                                                                               \
	}

static void test_attacks(void **state)
{
	static const char *const words[] = { "/bin/true", NULL };
	const struct trial trials[] = {
		NEW(USER),
		NEW(NS),
		NEW(NET),
		NEW(PID),
		NEW(IPC),
		NEW(UTS),
		NEW(CGROUP),
		{ "execve", SYS_execve, ENDED, { (long)words[0], (long)words, 0 } },
		{ "execveat", SYS_execveat, ENDED, { AT_FDCWD, (long)words[0], (long)words } },
		{ "ptrace", SYS_ptrace, ENDED, { 0 } },
		{ "process_vm_readv", SYS_process_vm_readv, ENDED, { 1 } },
		{ "process_vm_writev", SYS_process_vm_writev, ENDED, { 1 } },
		{ "pidfd_getfd", NR_PIDFD_GETFD, ENDED, { 0 } },
		{ "setns", SYS_setns, ENDED, { 0 } },
		{ "mount", SYS_mount, ENDED, { 0 } },
		{ "umount2", SYS_umount2, ENDED, { 0 } },
		{ "open_tree", NR_OPEN_TREE, ENDED, { 0 } },
		{ "move_mount", NR_MOVE_MOUNT, ENDED, { 0 } },
		{ "fsopen", NR_FSOPEN, ENDED, { (long)"tmpfs" } },
		{ "pivot_root", SYS_pivot_root, ENDED, { 0 } },
		{ "chroot", SYS_chroot, ENDED, { (long)"/" } },
		{ "bpf", SYS_bpf, ENDED, { 0 } },
		{ "perf_event_open", SYS_perf_event_open, ENDED, { 0 } },
		{ "userfaultfd", SYS_userfaultfd, ENDED, { 1 } },
		{ "open_by_handle_at", SYS_open_by_handle_at, ENDED, { 0 } },
		{ "init_module", SYS_init_module, ENDED, { 0 } },
		{ "finit_module", SYS_finit_module, ENDED, { 0 } },
		{ "delete_module", SYS_delete_module, ENDED, { 0 } },
		{ "kexec_load", SYS_kexec_load, ENDED, { 0 } },
		{ "reboot", SYS_reboot, ENDED, { 0 } },
#ifdef __x86_64__
		{ "a call of the x32 ABI", 0x40000000 + SYS_getpid, ENDED, { 0 } },
#endif
	};

	RUN(trials);
}

/* Libraries may try these. */
static void test_refused(void **state)
{
	const long here = AT_FDCWD, path = (long)"/dev/null", to = (long)"/dev/shm/baleen-test-x";
	const struct trial trials[] = {
		{ "a process", SYS_clone, EPERM, { SIGCHLD } },
		{ "one that shares memory",
		  SYS_clone,
		  EPERM,
		  { CLONE_VM | CLONE_VFORK | SIGCHLD } },
		{ "a traced thread", SYS_clone, EPERM, { CLONE_THREAD | CLONE_PTRACE } },
		{ "clone3", NR_CLONE3, ENOSYS, { 0 } },
		{ "a call newer than the list", NR_NEWER, ENOSYS, { 0 } },
		{ "io_uring_setup", NR_IO_URING_SETUP, EPERM, { 1 } },
		{ "keyctl", SYS_keyctl, EPERM, { 0 } },
		{ "add_key", SYS_add_key, EPERM, { 0 } },
		{ "request_key", SYS_request_key, EPERM, { 0 } },
		{ "memfd_create", SYS_memfd_create, EPERM, { path } },
		{ "memfd_secret", NR_MEMFD_SECRET, EPERM, { 0 } },
		{ "landlock", NR_LANDLOCK, EPERM, { 0 } },
		{ "open to write", SYS_openat, EPERM, { here, path, O_WRONLY } },
		{ "open for both", SYS_openat, EPERM, { here, path, O_RDWR } },
		{ "open to make", SYS_openat, EPERM, { here, to, O_RDONLY | O_CREAT, 0600 } },
		{ "open to cut", SYS_openat, EPERM, { here, path, O_RDONLY | O_TRUNC } },
		{ "open without a name",
		  SYS_openat,
		  EPERM,
		  { here, (long)"/dev/shm", O_TMPFILE | O_RDWR, 0600 } },
		{ "openat2", NR_OPENAT2, EPERM, { here, path } },
		{ "unlinkat", SYS_unlinkat, EPERM, { here, to } },
		{ "mkdirat", SYS_mkdirat, EPERM, { here, to } },
		{ "symlinkat", SYS_symlinkat, EPERM, { path, here, to } },
		{ "linkat", SYS_linkat, EPERM, { here, path, here, to } },
		{ "mknodat", SYS_mknodat, EPERM, { here, to } },
		{ "renameat2", SYS_renameat2, EPERM, { here, to, here, to } },
		{ "fchmodat", SYS_fchmodat, EPERM, { here, path } },
		{ "fchownat", SYS_fchownat, EPERM, { here, path } },
		{ "listen", SYS_listen, EPERM, { 0 } },
		{ "accept4", SYS_accept4, EPERM, { 0 } },
		{ "a raw socket", SYS_socket, EPERM, { AF_INET, SOCK_RAW, IPPROTO_TCP } },
		{ "a socket of ping", SYS_socket, EPERM, { AF_INET, SOCK_DGRAM, IPPROTO_ICMP } },
		{ "of SCTP", SYS_socket, EPERM, { AF_INET6, SOCK_STREAM, IPPROTO_SCTP } },
		{ "of packets", SYS_socket, EPERM, { AF_PACKET, SOCK_RAW } },
		{ "of netfilter", SYS_socket, EPERM, { AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER } },
		{ "of other netlink",
		  SYS_socket,
		  EPERM,
		  { AF_NETLINK, SOCK_RAW, NETLINK_GENERIC } },
		{ "of virtual machines", SYS_socket, EPERM, { AF_VSOCK, SOCK_STREAM } },
		{ "of cryptography", SYS_socket, EPERM, { AF_ALG, SOCK_SEQPACKET } },
		{ "pairs of the internet", SYS_socketpair, EPERM, { AF_INET, SOCK_STREAM } },
		{ "typing for a terminal", SYS_ioctl, EPERM, { 0, TIOCSTI } },
		{ "changing a device", SYS_ioctl, EPERM, { 0, SIOCSIFFLAGS } },
		{ "kill", SYS_kill, EPERM, { 1, 0 } },
		{ "a signal to a thread of another",
		  SYS_tgkill,
		  EPERM,
		  { getppid(), getppid(), 0 } },
		{ "limits of another", SYS_prlimit64, EPERM, { getppid(), 0 } },
		{ "being dumpable again", SYS_prctl, EPERM, { PR_SET_DUMPABLE, 1 } },
		{ "outliving the parent", SYS_prctl, EPERM, { PR_SET_PDEATHSIG, 0 } },
		{ "setuid", SYS_setuid, EPERM, { 0 } },
		{ "capset", SYS_capset, EPERM, { 0 } },
		{ "personality", SYS_personality, EPERM, { 0xffffffff } },
		{ "shmget", SYS_shmget, EPERM, { 0 } },
		{ "msgget", SYS_msgget, EPERM, { 0 } },
		{ "inotify_init1", SYS_inotify_init1, EPERM, { 0 } },
		{ "setpriority", SYS_setpriority, EPERM, { 0 } },
	};

	RUN(trials);
}

static void test_allowed(void **state)
{
	const struct trial trials[] = {
		{ "reading",
		  SYS_openat,
		  WENT_THROUGH,
		  { AT_FDCWD, (long)"/etc/passwd", O_RDONLY | O_CLOEXEC } },
		{ "TCP",
		  SYS_socket,
		  WENT_THROUGH,
		  { AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP } },
		{ "UDP", SYS_socket, WENT_THROUGH, { AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0 } },
		{ "sockets of this host",
		  SYS_socket,
		  WENT_THROUGH,
		  { AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC } },
		{ "routing netlink",
		  SYS_socket,
		  WENT_THROUGH,
		  { AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE } },
		{ "a name of a thread", SYS_prctl, WENT_THROUGH, { PR_SET_NAME, (long)"x" } },
		{ "own limits", SYS_prlimit64, WENT_THROUGH, { 0, 0 } },
	};

	RUN(trials);
}

static void *end_thread(void *from)
{
	return from;
}

/* A thread, and a signal to oneself; the exit says what went wrong. Without the bounds on
 * memory: a sanitizer needs more.
 */
static void work_restricted(void)
{
	pthread_t thread;
	void *got = NULL;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || calls_restrict())
		_exit(NOT_CONFINED);
	if (pthread_create(&thread, NULL, end_thread, &got) || pthread_join(thread, &got) || !got)
		_exit(1);
	abort();
}

static void test_threads(void **state)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid)
		work_restricted();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_attacks),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_allowed),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
