// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A network device, and the XDP program on it. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "net/device.h"
#include "util/libbpf_log.h"

const char *baleen_mode_text(enum baleen_mode mode)
{
	static const char *const text[] = { "auto", "native", "generic", "offload" };

	return text[mode];
}

static bool has_capability(const struct __user_cap_data_struct *data, int capability)
{
	return data[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability);
}

int baleen_device_privileges(struct baleen_error *error)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };
	const char *missing = NULL;
	bool is_admin;

	if (syscall(SYS_capget, &header, data))
		return baleen_fail(error, errno, "capget: %m");
	is_admin = has_capability(data, CAP_SYS_ADMIN);
	/* Without CAP_PERFMON the verifier allows less arithmetic on pointers. */
	if (!is_admin && !has_capability(data, CAP_BPF))
		missing = "CAP_BPF";
	else if (!has_capability(data, CAP_NET_ADMIN))
		missing = "CAP_NET_ADMIN";
	else if (!is_admin && !has_capability(data, CAP_PERFMON))
		missing = "CAP_PERFMON";
	if (missing)
		return baleen_fail(error, EPERM, "%s is missing: run this as root", missing);
	return 0;
}

static struct {
	unsigned int ifindex;
	char name[IF_NAMESIZE];
} expected;

unsigned int baleen_device_index(const char *device)
{
	if (expected.ifindex && !strcmp(device, expected.name))
		return expected.ifindex;
	/* The kernel takes eth0:x for eth0, as in the days of alias devices; no
	 * device is called so.
	 */
	errno = ENODEV;
	return strchr(device, ':') ? 0 : if_nametoindex(device);
}

bool baleen_device_name(unsigned int ifindex, char *device)
{
	if (!expected.ifindex || ifindex != expected.ifindex)
		return if_indextoname(ifindex, device);
	strcpy(device, expected.name);
	return true;
}

int baleen_device_expect(unsigned int ifindex, const char *device, struct baleen_error *error)
{
	unsigned int index = baleen_device_index(device);
	char name[IF_NAMESIZE];

	if (!if_indextoname(ifindex, name))
		return baleen_fail(error, ENODEV, "no device has the number %u", ifindex);
	if (index && index != ifindex)
		return baleen_fail(error, EEXIST,
				   "%s: is device %u, so that %s, device %u, cannot "
				   "get its name",
				   device, index, name, ifindex);
	expected.ifindex = ifindex;
	snprintf(expected.name, sizeof(expected.name), "%s", device);
	return 0;
}

int baleen_device_ifindex(const char *device, int *ifindex, struct baleen_error *error)
{
	unsigned int index = baleen_device_index(device);

	if (!index)
		return baleen_fail(error, ENODEV, "%s: no such device", device);
	*ifindex = index;
	return 0;
}

static void program_name(u32 id, char *name, size_t bytes)
{
	struct bpf_prog_info info = { 0 };
	u32 info_bytes = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(id);

	name[0] = '\0';
	if (fd < 0)
		return;
	if (!bpf_obj_get_info_by_fd(fd, &info, &info_bytes))
		snprintf(name, bytes, "%s", info.name);
	close(fd);
}

int baleen_device_program(int ifindex, struct baleen_program *program)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, options);
	int err;

	*program = (struct baleen_program){ 0 };
	baleen_log_start();
	err = bpf_xdp_query(ifindex, 0, &options);
	if (err)
		return err;
	if (options.drv_prog_id) {
		program->id = options.drv_prog_id;
		program->mode = BALEEN_MODE_NATIVE;
	} else if (options.skb_prog_id) {
		program->id = options.skb_prog_id;
		program->mode = BALEEN_MODE_GENERIC;
	} else if (options.hw_prog_id) {
		program->id = options.hw_prog_id;
		program->mode = BALEEN_MODE_OFFLOAD;
	}
	if (program->id)
		program_name(program->id, program->name, sizeof(program->name));
	return 0;
}
