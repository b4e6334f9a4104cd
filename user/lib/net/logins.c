// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The TCP sessions by which people are logged in to this host. */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "key/key_text.h"
#include "late.h"
#include "net/logind_calls.h"
#include "net/logins.h"
#include "util/array.h"
#include "util/capability.h"
#include "util/input.h"
#include "util/late_library.h"

#define SSH_VARIABLE "SSH_CONNECTION="

/**
 * struct process - what /proc/PID/stat says
 * @pid: number
 * @parent: number of the parent; 0 for none
 * @leads_terminal: leads a session on a terminal
 * @has_login: a process that does descends from it
 */
struct process {
	int pid;
	int parent;
	bool leads_terminal;
	bool has_login;
};

struct processes {
	struct process *process;
	size_t n;
};

static int compare_processes(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static int compare_inodes(const void *a, const void *b)
{
	const u32 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The number that a name consists of; 0 for another name. */
static int number_of(const char *name)
{
	return strspn(name, "0123456789") == strlen(name) ? atoi(name) : 0;
}

/* --- processes ------------------------------------------------------------- */

/* Field 2 is a name that may hold anything; after its last ')' come state, parent, group,
 * session and terminal (proc(5)).
 */
static bool read_process(int pid, struct process *process)
{
	char path[32], text[512];
	int fd, session, terminal;
	const char *fields;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = baleen_input_open(path, BALEEN_INPUT_SYSTEM, NULL);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	fields = strrchr(text, ')');
	*process = (struct process){ .pid = pid };
	if (!fields ||
	    sscanf(fields, ") %*c %d %*d %d %d", &process->parent, &session, &terminal) != 3)
		return false;
	process->leads_terminal = session == pid && terminal;
	return true;
}

static int read_processes(struct processes *processes)
{
	DIR *proc = opendir("/proc");
	struct process process;
	struct dirent *entry;
	int err = 0;

	while (proc && !err && (entry = readdir(proc))) {
		int pid = number_of(entry->d_name);

		if (!pid || !read_process(pid, &process))
			continue;
		if (baleen_array_add(&processes->process, processes->n))
			err = -ENOMEM;
		else
			processes->process[processes->n++] = process;
	}
	if (proc)
		closedir(proc);
	if (processes->n)
		qsort(processes->process, processes->n, sizeof(process), compare_processes);
	return err;
}

/* NULL for none, and for process 1, which has sockets of everybody. */
static struct process *parent_of(const struct processes *processes, const struct process *child)
{
	const struct process asked = { .pid = child->parent };

	if (asked.pid <= 1 || !processes->n)
		return NULL;
	return bsearch(&asked, processes->process, processes->n, sizeof(asked), compare_processes);
}

static void mark_parents(const struct processes *processes)
{
	for (size_t i = 0; i < processes->n; i++) {
		struct process *process = &processes->process[i];

		if (!process->leads_terminal)
			continue;
		while ((process = parent_of(processes, process)) && !process->has_login)
			process->has_login = true;
	}
}

/* --- sockets --------------------------------------------------------------- */

static int add_sockets(struct baleen_logins *logins, int pid)
{
	char path[32], target[64];
	struct dirent *entry;
	int err = 0;
	DIR *fds;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	fds = opendir(path);
	while (fds && !err && (entry = readdir(fds))) {
		ssize_t n = readlinkat(dirfd(fds), entry->d_name, target, sizeof(target) - 1);
		u32 inode;

		target[n > 0 ? n : 0] = '\0';
		if (sscanf(target, "socket:[%u]", &inode) != 1)
			continue;
		if (baleen_array_add(&logins->inode, logins->n_inodes))
			err = -ENOMEM;
		else
			logins->inode[logins->n_inodes++] = inode;
	}
	if (fds)
		closedir(fds);
	return err;
}

static int find_sockets(struct baleen_logins *logins, const struct processes *processes)
{
	int err = 0;

	for (size_t i = 0; i < processes->n && !err; i++)
		if (processes->process[i].has_login)
			err = add_sockets(logins, processes->process[i].pid);
	if (logins->n_inodes)
		qsort(logins->inode, logins->n_inodes, sizeof(*logins->inode), compare_inodes);
	return err;
}

/* --- $SSH_CONNECTION ------------------------------------------------------- */

static bool parse_address(const char *text, struct baleen_key *key)
{
	u8 bytes[16];

	if (inet_pton(AF_INET, text, bytes) == 1)
		return baleen_address_key(bytes, 4, key);
	return inet_pton(AF_INET6, text, bytes) == 1 && baleen_address_key(bytes, 16, key);
}

static int add_session(struct baleen_logins *logins, const struct baleen_host_address *session)
{
	if (baleen_array_add(&logins->session, logins->n_sessions))
		return -ENOMEM;
	logins->session[logins->n_sessions++] = *session;
	return 0;
}

/* "192.0.2.7 50022 192.0.2.1 22": the client, then the server. */
static int add_ssh_session(struct baleen_logins *logins, const char *text)
{
	struct baleen_host_address session = { .role = BALEEN_HOST_PEER };
	char peer[INET6_ADDRSTRLEN], own[INET6_ADDRSTRLEN];

	if (sscanf(text, "%45s %hu %45s %hu", peer, &session.session.peer_port, own,
		   &session.session.port) != 4 ||
	    !parse_address(peer, &session.key) || !parse_address(own, &session.session.own))
		return 0;
	return add_session(logins, &session);
}

static int read_environment(struct baleen_logins *logins, int pid)
{
	char path[32], *variable = NULL;
	size_t room = 0;
	FILE *stream;
	int err = 0;

	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	stream = baleen_input_stream(path, BALEEN_INPUT_SYSTEM, NULL);
	while (stream && !err && getdelim(&variable, &room, '\0', stream) >= 0)
		if (!strncmp(variable, SSH_VARIABLE, strlen(SSH_VARIABLE)))
			err = add_ssh_session(logins, variable + strlen(SSH_VARIABLE));
	free(variable);
	if (stream)
		fclose(stream);
	return err;
}

static int find_sessions(struct baleen_logins *logins, const struct processes *processes)
{
	struct process own = { .parent = getppid() };
	const struct process *process = &own;
	int err = read_environment(logins, getpid());

	while (!err && (process = parent_of(processes, process)))
		err = read_environment(logins, process->pid);
	return err;
}

/* --- logind ---------------------------------------------------------------- */

static const char *const logind_names[] = { LOGIND_CALLS(BALEEN_LATE_NAME) NULL };
static struct {
	LOGIND_CALLS(BALEEN_LATE_POINTER)
} logind;

/* Its address without a port: logind knows no more. A name, which sshd tells with UseDNS, is
 * passed over, and so is a session that ends.
 */
static int add_logind_session(struct baleen_logins *logins, const char *id)
{
	struct baleen_host_address session = { .role = BALEEN_HOST_PEER };
	char *host = NULL, *state = NULL;
	int err = 0;

	if (logind.sd_session_is_remote(id) > 0 &&
	    logind.sd_session_get_remote_host(id, &host) >= 0 &&
	    logind.sd_session_get_state(id, &state) >= 0 && strcmp(state, "closing")) {
		host[strcspn(host, "%")] = '\0';
		if (parse_address(host, &session.key))
			err = add_session(logins, &session);
	}
	free(host);
	free(state);
	return err;
}

/* A daemon without CAP_SYS_PTRACE: /proc does not tell it whose a socket is. */
static bool is_blind(void)
{
	struct baleen_capabilities own;

	return baleen_capabilities_read(&own) || !baleen_capabilities_has(&own, CAP_SYS_PTRACE);
}

static int ask_logind(struct baleen_logins *logins)
{
	struct baleen_error error;
	char **ids = NULL;
	int err = 0;

	if (baleen_late_load(BALEEN_LIBSYSTEMD, logind_names, &logind, &error) ||
	    logind.sd_get_sessions(&ids) < 0)
		return 0;
	for (char **id = ids; id && *id; id++) {
		if (!err)
			err = add_logind_session(logins, *id);
		free(*id);
	}
	free(ids);
	return err;
}

/* --- all ------------------------------------------------------------------- */

int baleen_logins_read(struct baleen_logins *logins)
{
	struct baleen_logins found = { 0 };
	struct processes processes = { 0 };
	int err = read_processes(&processes);

	if (!err) {
		mark_parents(&processes);
		err = find_sockets(&found, &processes);
	}
	if (!err)
		err = find_sessions(&found, &processes);
	/* Not by everybody: libsystemd takes 2 ms to load. */
	if (!err && is_blind())
		err = ask_logind(&found);
	free(processes.process);
	if (err)
		baleen_logins_free(&found);
	else
		*logins = found;
	return err;
}

bool baleen_logins_has(const struct baleen_logins *logins,
		       const struct baleen_host_address *address)
{
	const struct baleen_host_session *asked = &address->session;

	if (logins->n_inodes && bsearch(&asked->inode, logins->inode, logins->n_inodes,
					sizeof(asked->inode), compare_inodes))
		return true;
	for (size_t i = 0; i < logins->n_sessions; i++) {
		const struct baleen_host_address *known = &logins->session[i];

		if (baleen_key_compare(&known->key, &address->key))
			continue;
		if (!known->session.port || (known->session.port == asked->port &&
					     known->session.peer_port == asked->peer_port))
			return true;
	}
	return false;
}

void baleen_logins_free(struct baleen_logins *logins)
{
	free(logins->inode);
	free(logins->session);
	*logins = (struct baleen_logins){ 0 };
}
