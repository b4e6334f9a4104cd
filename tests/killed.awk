# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The calls at which a command is killed, from a log of strace. A line `GROUP NAME K`
# for the Kth call of NAME; GROUP is the name, or startup.
#
#	awk -v from=REGEX -v to=REGEX -v all=0|1 -f tests/killed.awk LOG
#
# The signal comes on entry to the call, so before call n + 1 is after call n. From the
# first call that matches `from` to the one that matches `to` these are taken:
#
#	all=1	every call, but those that only move the memory of the process
#	all=0	calls that change what others see, the first and the last one. Before any
#		other call all is as before the next of these, so each 20th of them will do.
#		What changes without a call does so through a live map: while one is mapped
#		every call is taken, and after the 20th of a command every 8th.
#
# A call that fails changes nothing. Of the calls before `from`, such as the loader's and
# netlink's, each 10th is taken, or each 100th. How many calls there are from `from` on
# is printed to stderr.

function changes(name, line)
{
	if (line ~ /= -1 E/)
		return 0
	if (name == "bpf")
		return line !~ /BPF_(OBJ_GET|BTF_LOAD|[A-Z]*_GET_|MAP_LOOKUP|PROG_QUERY)/ &&
			line !~ /SOCKET_FILTER|CGROUP_SOCK|"libbpf_/
	if (name == "openat" || name == "open")
		return line ~ /O_CREAT/
	if (name ~ /^send(to|msg|mmsg)$/)
		return line !~ /NLM_F_DUMP|RTM_GET/
	return name in changing
}

# follow: fds of maps that others have, too, and where they are mapped
function follow(name, line,   fd, words)
{
	fd = line
	if (!sub(/.* = /, "", fd) || fd ~ /^-/)
		return
	sub(/ .*/, "", fd)
	split(line, words, /[(,)] */)
	if (name == "bpf" && line ~ /BPF_(OBJ_GET,|MAP_GET_FD_BY_ID)/)
		live[fd] = 1
	else if (name ~ /^(dup|dup2|dup3|fcntl)$/ && words[2] in live && line !~ /F_[GS]ET/)
		live[fd] = 1
	else if (name == "close")
		delete live[words[2]]
	else if (name == "mmap" && line ~ /MAP_SHARED,/ && line ~ /PROT_WRITE/ && words[6] in live) {
		mapped[fd] = 1
		n_mapped++
	} else if (name == "munmap" && words[2] in mapped) {
		delete mapped[words[2]]
		n_mapped--
	}
}

function print_point(group)
{
	print group, name, n[name]
	last = ""
}

BEGIN {
	split("write pwrite64 writev sendfile copy_file_range ftruncate fallocate rename renameat " \
		"renameat2 link linkat symlink symlinkat unlink unlinkat mkdir mkdirat rmdir mount " \
		"umount2 flock fchmod fchmodat fchown utimensat fsync msync membarrier exit_group", list)
	for (i in list)
		changing[list[i]] = 1
}

!/^[a-z]/ || /^execve/ {
	next
}

{
	name = $0
	sub(/\(.*/, "", name)
	n[name]++
	was_mapped = n_mapped
	follow(name, $0)
}

# How often the heap grows and SQLite syncs is not the same in the next run.
name == "brk" || name == "mremap" || name == "fdatasync" {
	next
}

!on && $0 ~ from {
	on = first = 1
}

on {
	n_all++
	if (was_mapped)
		n_mapped_calls++
	last = name " " name " " n[name]
	if (all || first || changes(name, $0) || n_all % 20 == 0 ||
	    (was_mapped && (n_mapped_calls <= 20 || n_mapped_calls % 8 == 0)))
		print_point(name)
	first = 0
}

!on && NR % (all ? 10 : 100) == 0 {
	print_point("startup")
}

on && $0 ~ to {
	exit
}

END {
	if (last != "")
		print last
	print n_all + 0 >"/dev/stderr"
}
