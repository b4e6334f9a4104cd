// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A network device, and the XDP program on it. */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/device.h"
#include "net/netlink.h"
#include "util/capability.h"

const char *baleen_mode_text(enum baleen_mode mode)
{
	static const char *const text[] = { "auto", "native", "generic", "offload", "egress" };

	return text[mode];
}

int baleen_device_privileges(struct baleen_error *error)
{
	struct baleen_capabilities own;
	const char *missing = NULL;
	bool is_admin;
	int err = baleen_capabilities_read(&own);

	if (err)
		return baleen_fail(error, -err, "capget: %s", strerror(-err));
	is_admin = baleen_capabilities_has(&own, CAP_SYS_ADMIN);
	/* Without CAP_PERFMON the verifier allows less arithmetic on pointers. */
	if (!is_admin && !baleen_capabilities_has(&own, CAP_BPF))
		missing = "CAP_BPF";
	else if (!baleen_capabilities_has(&own, CAP_NET_ADMIN))
		missing = "CAP_NET_ADMIN";
	else if (!is_admin && !baleen_capabilities_has(&own, CAP_PERFMON))
		missing = "CAP_PERFMON";
	if (missing)
		return baleen_fail(error, EPERM, "%s is missing: run this as root", missing);
	return 0;
}

static struct {
	unsigned int ifindex;
	char name[IF_NAMESIZE];
} expected;

static int find_index(const char *device)
{
	if (expected.ifindex && !strcmp(device, expected.name))
		return expected.ifindex;
	/* The kernel takes eth0:x for eth0, as in the days of alias devices; no
	 * device is called so.
	 */
	errno = ENODEV;
	return strchr(device, ':') ? 0 : if_nametoindex(device);
}

/* Where @egress begins in a name, if it ends so. */
static size_t base_length(const char *device)
{
	size_t length = strlen(device), suffix = strlen(BALEEN_EGRESS);

	return length > suffix && !strcmp(device + length - suffix, BALEEN_EGRESS) ?
		       length - suffix :
		       length;
}

bool baleen_device_is_egress(const char *device)
{
	return device[base_length(device)];
}

const char *baleen_device_base(const char *device, char *base)
{
	snprintf(base, BALEEN_POINT_BYTES, "%.*s", (int)base_length(device), device);
	return base;
}

int baleen_device_egress(const char *device, char *egress)
{
	size_t length = base_length(device);

	if (length >= IF_NAMESIZE)
		return -ENAMETOOLONG;
	snprintf(egress, BALEEN_POINT_BYTES, "%.*s" BALEEN_EGRESS, (int)length, device);
	return 0;
}

bool baleen_device_is_name(const char *device)
{
	size_t length = base_length(device);

	return length && length < IF_NAMESIZE && strcmp(device, ".") && strcmp(device, "..") &&
	       !strpbrk(device, "/: \t\n");
}

int baleen_device_real(int ifindex)
{
	return ifindex < 0 ? -ifindex : ifindex;
}

int baleen_device_index(const char *device)
{
	char base[BALEEN_POINT_BYTES];
	int ifindex;

	if (!baleen_device_is_egress(device))
		return find_index(device);
	if (strlen(device) >= sizeof(base)) {
		errno = ENODEV;
		return 0;
	}
	ifindex = find_index(baleen_device_base(device, base));
	return -ifindex;
}

bool baleen_device_name(int ifindex, char *device)
{
	unsigned int real = baleen_device_real(ifindex);

	if (expected.ifindex && real == expected.ifindex)
		strcpy(device, expected.name);
	else if (!if_indextoname(real, device))
		return false;
	if (ifindex < 0)
		strcat(device, BALEEN_EGRESS);
	return true;
}

/* From include/uapi/linux/if_arp.h of Linux, which does not go with <net/if.h>. */
enum { IP6GRE = 823 };

/* Other types have headers of their own, which nobody reads here. */
static bool is_of_ip(u32 type)
{
	static const u32 types[] = { ARPHRD_NONE,    ARPHRD_RAWIP, ARPHRD_PPP,	 ARPHRD_TUNNEL,
				     ARPHRD_TUNNEL6, ARPHRD_SIT,   ARPHRD_IPGRE, IP6GRE };

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (type == types[i])
			return true;
	return false;
}

int baleen_device_has_ethernet(int ifindex, bool *has_ethernet)
{
	struct ifreq request = { 0 };
	int fd, err = 0;

	if (!if_indextoname(baleen_device_real(ifindex), request.ifr_name))
		return -ENODEV;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (ioctl(fd, SIOCGIFHWADDR, &request))
		err = -errno;
	close(fd);
	if (err)
		return err;
	*has_ethernet = !is_of_ip(request.ifr_hwaddr.sa_family);
	return 0;
}

int baleen_device_expect(unsigned int ifindex, const char *device, struct baleen_error *error)
{
	int index = find_index(device);
	char name[IF_NAMESIZE];

	if (!if_indextoname(ifindex, name))
		return baleen_fail(error, ENODEV, "no device has the number %u", ifindex);
	if (index && (unsigned int)index != ifindex)
		return baleen_fail(error, EEXIST,
				   "%s: is device %d, so that %s, device %u, cannot "
				   "get its name",
				   device, index, name, ifindex);
	expected.ifindex = ifindex;
	snprintf(expected.name, sizeof(expected.name), "%s", device);
	return 0;
}

int baleen_device_ifindex(const char *device, int *ifindex, struct baleen_error *error)
{
	int index = baleen_device_index(device);

	if (!index)
		return baleen_fail(error, ENODEV, "%s: no such device", device);
	*ifindex = index;
	return 0;
}

void baleen_program_name(struct baleen_program *program)
{
	struct bpf_prog_info info = { 0 };
	u32 info_bytes = sizeof(info);
	int fd = program->id ? bpf_prog_get_fd_by_id(program->id) : -1;

	program->name[0] = '\0';
	if (fd < 0)
		return;
	if (!bpf_obj_get_info_by_fd(fd, &info, &info_bytes))
		snprintf(program->name, sizeof(program->name), "%s", info.name);
	close(fd);
}

/**
 * struct answer - what the kernel says of a device
 * @name: its name
 * @program: the program on it, without its name
 */
struct answer {
	char name[IF_NAMESIZE];
	struct baleen_program program;
};

/* A device may have a program of each mode: which one is told. */
static void take_program(struct baleen_program *program, const struct nlattr *nested)
{
	static const struct {
		u16 attribute;
		enum baleen_mode mode;
	} modes[] = {
		{ IFLA_XDP_DRV_PROG_ID, BALEEN_MODE_NATIVE },
		{ IFLA_XDP_SKB_PROG_ID, BALEEN_MODE_GENERIC },
		{ IFLA_XDP_HW_PROG_ID, BALEEN_MODE_OFFLOAD },
	};
	const struct nlattr *attr;

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]) && !program->id; i++)
		mnl_attr_for_each_nested(attr, nested)
			if (mnl_attr_get_type(attr) == modes[i].attribute) {
				program->id = baleen_netlink_u32(attr);
				program->mode = modes[i].mode;
			}
}

static int read_link(const struct nlmsghdr *message, void *data)
{
	struct answer *answer = data;
	const struct nlattr *attr;

	if (message->nlmsg_type != RTM_NEWLINK)
		return MNL_CB_OK;
	mnl_attr_for_each(attr, message, sizeof(struct ifinfomsg))
		if (mnl_attr_get_type(attr) == IFLA_XDP)
			take_program(&answer->program, attr);
		else if (mnl_attr_get_type(attr) == IFLA_IFNAME)
			snprintf(answer->name, sizeof(answer->name), "%s", mnl_attr_get_str(attr));
	return MNL_CB_STOP;
}

/* bpf_xdp_query() of libbpf has the kernel list all devices for one. */
int baleen_device_look(int ifindex, char *device, struct baleen_program *program)
{
	const struct ifinfomsg header = { .ifi_index = ifindex };
	struct answer answer = { .name = "" };
	int err = baleen_netlink_ask(NETLINK_ROUTE, RTM_GETLINK, &header, sizeof(header), read_link,
				     &answer);

	if (err)
		return err;
	strcpy(device, expected.ifindex == (unsigned int)ifindex ? expected.name : answer.name);
	*program = answer.program;
	return 0;
}

int baleen_device_program(int ifindex, struct baleen_program *program)
{
	char ignored[BALEEN_POINT_BYTES];
	int err = 0;

	*program = (struct baleen_program){ 0 };
	if (ifindex > 0)
		err = baleen_device_look(ifindex, ignored, program);
	baleen_program_name(program);
	return err == -ENODEV ? 0 : err;
}
