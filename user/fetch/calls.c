// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The system calls that the process may make. */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <baleen/port.h>

#include "fetch/calls.h"

#if defined(__x86_64__)
#define OWN_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCH AUDIT_ARCH_AARCH64
#endif

/* mseal of Linux 6.10; from 424 on, numbers are the same on all machines. */
#define LAST_KNOWN 462

#define MAX_ARGUMENTS 3
/* Load and compare the number; load, mask and compare each argument; answer. */
#define MAX_CODE (3 + 3 * MAX_ARGUMENTS)

/* pthread_create() asks for these. */
#define THREAD                                                                              \
	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SYSVSEM | CLONE_SIGHAND | CLONE_THREAD | \
	 CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID)

/**
 * struct call - calls that share a verdict
 * @number: number of the call
 * @verdict: of seccomp
 * @argument: the call is meant when the low half of each is @value in the bits of @mask
 */
struct call {
	u32 number;
	u32 verdict;
	struct {
		u32 mask;
		u32 value;
	} argument[MAX_ARGUMENTS];
};

#define ALL 0xffffffff
#define ANY          \
	{            \
		0, 0 \
	}
#define ALLOW(name)                                                \
	{                                                          \
		.number = SYS_##name, .verdict = SECCOMP_RET_ALLOW \
	}
#define ALLOW_IF(name, ...)                                                                     \
	{                                                                                       \
		.number = SYS_##name, .verdict = SECCOMP_RET_ALLOW, .argument = { __VA_ARGS__ } \
	}
#define END(name)                                                         \
	{                                                                 \
		.number = SYS_##name, .verdict = SECCOMP_RET_KILL_PROCESS \
	}
#define END_IF(name, ...)                                                                \
	{                                                                                \
		.number = SYS_##name, .verdict = SECCOMP_RET_KILL_PROCESS, .argument = { \
			__VA_ARGS__                                                      \
		}                                                                        \
	}
#define ABSENT(name)                                                        \
	{                                                                   \
		.number = SYS_##name, .verdict = SECCOMP_RET_ERRNO | ENOSYS \
	}

#define NO_NEW(namespace) END_IF(clone, { CLONE_NEW##namespace, CLONE_NEW##namespace })
#define INTERNET(family, type, protocol) \
	ALLOW_IF(socket, { ALL, AF_##family }, { 0xf, SOCK_##type }, { ALL, protocol })
#define TRANSPORTS(family)                                                  \
	INTERNET(family, STREAM, 0), INTERNET(family, STREAM, IPPROTO_TCP), \
		INTERNET(family, DGRAM, 0), INTERNET(family, DGRAM, IPPROTO_UDP)
#define TO_READ                                         \
	{                                               \
		O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY \
	}

/* The first that is meant decides. */
static const struct call calls[] = {
	/* bytes */
	ALLOW(read),
	ALLOW(write),
	ALLOW(readv),
	ALLOW(writev),
	ALLOW(pread64),
	ALLOW(lseek),
	ALLOW(ftruncate),
	ALLOW(close),
	ALLOW(close_range),
	ALLOW(dup),
	ALLOW(dup3),
	ALLOW(fcntl),
	ALLOW(pipe2),
	ALLOW(eventfd2),
	ALLOW_IF(ioctl, ANY, { ALL, FIONBIO }),
	ALLOW_IF(ioctl, ANY, { ALL, FIONREAD }),
	ALLOW_IF(ioctl, ANY, { ALL, TCGETS }),
	ALLOW_IF(ioctl, ANY, { ALL, SIOCGIFINDEX }),
	ALLOW_IF(ioctl, ANY, { ALL, SIOCGIFNAME }),

	/* sockets */
	TRANSPORTS(INET),
	TRANSPORTS(INET6),
	ALLOW_IF(socket, { ALL, AF_UNIX }),
	ALLOW_IF(socket, { ALL, AF_NETLINK }, ANY, { ALL, NETLINK_ROUTE }),
	ALLOW_IF(socketpair, { ALL, AF_UNIX }),
	ALLOW(connect),
	ALLOW(bind),
	ALLOW(getsockname),
	ALLOW(getpeername),
	ALLOW(getsockopt),
	ALLOW(setsockopt),
	ALLOW(sendto),
	ALLOW(sendmsg),
	ALLOW(sendmmsg),
	ALLOW(recvfrom),
	ALLOW(recvmsg),
	ALLOW(recvmmsg),
	ALLOW(shutdown),

	/* files: certificates, the resolver's, libraries that these load */
	ALLOW_IF(openat, ANY, ANY, TO_READ),
	ALLOW(fstat),
	ALLOW(newfstatat),
	ALLOW(statx),
	ALLOW(statfs),
	ALLOW(fstatfs),
	ALLOW(faccessat),
	ALLOW(faccessat2),
	ALLOW(readlinkat),
	ALLOW(getdents64),
	ALLOW(getcwd),
	ALLOW(fadvise64),

	/* memory */
	ALLOW(brk),
	ALLOW(mmap),
	ALLOW(munmap),
	ALLOW(mremap),
	ALLOW(mprotect),
	ALLOW(madvise),
	ALLOW(mincore),

	/* threads; glibc does with clone what it cannot do with clone3 */
	NO_NEW(USER),
	NO_NEW(NS),
	NO_NEW(NET),
	NO_NEW(PID),
	NO_NEW(IPC),
	NO_NEW(UTS),
	NO_NEW(CGROUP),
	ALLOW_IF(clone, { ~(u32)THREAD | CLONE_THREAD, CLONE_THREAD }),
	ABSENT(clone3),
	ALLOW(futex),
	ALLOW(set_robust_list),
	ALLOW(get_robust_list),
	ALLOW(rseq),
	ALLOW(membarrier),
	ALLOW(sched_yield),
	ALLOW(sched_getaffinity),
	ALLOW(sched_getparam),
	ALLOW(sched_getscheduler),
	ALLOW(getcpu),
	ALLOW(gettid),
	ALLOW(exit),
	ALLOW(exit_group),
	ALLOW_IF(prctl, { ALL, PR_SET_NAME }),
	ALLOW_IF(prctl, { ALL, PR_GET_NAME }),
	ALLOW_IF(prctl, { ALL, PR_CAPBSET_READ }),
	ALLOW_IF(prctl, { ALL, PR_SET_VMA }),

	/* waiting, signals, time */
	ALLOW(ppoll),
	ALLOW(pselect6),
	ALLOW(epoll_create1),
	ALLOW(epoll_ctl),
	ALLOW(epoll_pwait),
	ALLOW(epoll_pwait2),
	ALLOW(rt_sigaction),
	ALLOW(rt_sigprocmask),
	ALLOW(rt_sigreturn),
	ALLOW(rt_sigtimedwait),
	ALLOW(sigaltstack),
	ALLOW(restart_syscall),
	ALLOW(setitimer),
	ALLOW(nanosleep),
	ALLOW(clock_nanosleep),
	ALLOW(clock_gettime),
	ALLOW(clock_getres),
	ALLOW(gettimeofday),
	ALLOW(times),

	/* itself: of its limits it can only lower those that it has left */
	ALLOW_IF(prlimit64, { ALL, 0 }),
	ALLOW(getrlimit),
	ALLOW(setrlimit),
	ALLOW(getrusage),
	ALLOW(getrandom),
	ALLOW(getpid),
	ALLOW(getppid),
	ALLOW(getuid),
	ALLOW(geteuid),
	ALLOW(getgid),
	ALLOW(getegid),
	ALLOW(getresuid),
	ALLOW(getresgid),
	ALLOW(getgroups),
	ALLOW(capget),
	ALLOW(uname),
	ALLOW(sysinfo),

#ifdef SYS_open
	/* The same by names that newer machines never had. */
	ALLOW_IF(open, ANY, TO_READ),
	ALLOW(stat),
	ALLOW(lstat),
	ALLOW(access),
	ALLOW(readlink),
	ALLOW(getdents),
	ALLOW(dup2),
	ALLOW(pipe),
	ALLOW(eventfd),
	ALLOW(poll),
	ALLOW(select),
	ALLOW(epoll_create),
	ALLOW(epoll_wait),
	ALLOW(alarm),
	ALLOW(time),
#endif

	/* Only an attack makes these. */
	END(execve),
	END(execveat),
	END(ptrace),
	END(process_vm_readv),
	END(process_vm_writev),
	END(pidfd_getfd),
	END(unshare),
	END(setns),
	END(mount),
	END(umount2),
	END(move_mount),
	END(open_tree),
	END(fsopen),
	END(fsmount),
	END(fsconfig),
	END(pivot_root),
	END(chroot),
	END(bpf),
	END(perf_event_open),
	END(userfaultfd),
	END(open_by_handle_at),
	END(init_module),
	END(finit_module),
	END(delete_module),
	END(kexec_load),
	END(reboot),
};

#define N_CALLS (sizeof(calls) / sizeof(calls[0]))
#define LOAD(field)          \
	(struct sock_filter) \
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ANSWER(verdict) (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, verdict)
/* Goes on when it is so, else behind @n_else more. */
#define CHECK(comparison, value, n_else) \
	(struct sock_filter) BPF_JUMP(BPF_JMP | (comparison) | BPF_K, value, 0, n_else)

/* Adds what decides on a call; @code has room. */
static u32 add_call(struct sock_filter *code, const struct call *call)
{
	u32 n_arguments = 0, n = 0, n_else;

	for (u32 i = 0; i < MAX_ARGUMENTS; i++)
		n_arguments += !!call->argument[i].mask;
	n_else = 3 * n_arguments + 1;
	code[n++] = LOAD(nr);
	code[n++] = CHECK(BPF_JEQ, call->number, n_else);
	for (u32 i = 0; i < MAX_ARGUMENTS; i++) {
		if (!call->argument[i].mask)
			continue;
		n_else -= 3;
		/* Each is of 32 bits to the kernel, too. */
		code[n++] = LOAD(args[i]);
		code[n++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K,
							 call->argument[i].mask);
		code[n++] = CHECK(BPF_JEQ, call->argument[i].value, n_else);
	}
	code[n++] = ANSWER(call->verdict);
	return n;
}

/* Calls of another machine, and those of the x32 ABI, have other numbers. */
static u32 add_abi(struct sock_filter *code)
{
	u32 n = 0;

	code[n++] = LOAD(arch);
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCH, 1, 0);
	code[n++] = ANSWER(SECCOMP_RET_KILL_PROCESS);
	code[n++] = LOAD(nr);
	code[n++] = CHECK(BPF_JGE, 0x40000000, 1);
	code[n++] = ANSWER(SECCOMP_RET_KILL_PROCESS);
	return n;
}

/* Aborting takes a signal to oneself, and only that. */
static struct call signal_to_oneself(void)
{
	return (struct call)ALLOW_IF(tgkill, { ALL, (u32)getpid() });
}

static u32 add_rest(struct sock_filter *code)
{
	u32 n = 0;

	code[n++] = LOAD(nr);
	code[n++] = CHECK(BPF_JGT, LAST_KNOWN, 1);
	code[n++] = ANSWER(SECCOMP_RET_ERRNO | ENOSYS);
	code[n++] = ANSWER(SECCOMP_RET_ERRNO | EPERM);
	return n;
}

int calls_restrict(void)
{
	struct sock_filter code[(N_CALLS + 2) * MAX_CODE];
	const struct call own_signal = signal_to_oneself();
	struct sock_fprog program = { .filter = code };
	u32 n = add_abi(code);

	for (u32 i = 0; i < N_CALLS; i++)
		n += add_call(code + n, &calls[i]);
	n += add_call(code + n, &own_signal);
	program.len = n + add_rest(code + n);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) && errno != EINVAL ? -errno : 0;
}
