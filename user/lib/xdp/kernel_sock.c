// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads struct sock in the BTF of the running kernel. */
#include <bpf/btf.h>
#include <string.h>

#include "xdp/kernel_sock.h"

/* Linux, include/net/sock.h: SOCK_BINDPORT_LOCK is 8. */
#define PORT_LOCK_SHIFT 3

/* For a little-endian machine; 0, the start of the struct, means that it is not there. */
static u32 find_member(const struct btf *btf, const struct btf_type *type, const char *name)
{
	const struct btf_member *member = btf_members(type);

	for (u32 i = 0; i < btf_vlen(type); i++)
		if (!strcmp(btf__name_by_offset(btf, member[i].name_off), name))
			return btf_member_bit_offset(type, i);
	return 0;
}

u32 baleen_kernel_port_lock_bit(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int id = btf ? btf__find_by_name_kind(btf, "sock", BTF_KIND_STRUCT) : -1;
	u32 bit = 0;

	if (id > 0 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
		bit = find_member(btf, btf__type_by_id(btf, id), "sk_userlocks");
	btf__free(btf);
	return bit ? bit + PORT_LOCK_SHIFT : 0;
}
