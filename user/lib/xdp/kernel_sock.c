// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads the structs of sockets in the BTF of the running kernel. */
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

/* NULL when the kernel has no BTF, or no such struct. */
static const struct btf_type *find_struct(const struct btf *btf, const char *name)
{
	int id = btf ? btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT) : -1;

	return id > 0 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? btf__type_by_id(btf, id) :
								     NULL;
}

u32 baleen_kernel_port_lock_bit(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	const struct btf_type *type = find_struct(btf, "sock");
	u32 bit = type ? find_member(btf, type, "sk_userlocks") : 0;

	btf__free(btf);
	return bit ? bit + PORT_LOCK_SHIFT : 0;
}

/* A number of 32 bits: the verifier lets a program read no other at that place. */
static u32 find_number(const struct btf *btf, const struct btf_type *type, const char *name)
{
	return find_member(btf, type, name) / 8;
}

struct baleen_tcp_fields baleen_kernel_tcp_fields(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	const struct btf_type *type = find_struct(btf, "tcp_sock");
	struct baleen_tcp_fields fields = { 0 };

	if (type)
		fields = (struct baleen_tcp_fields){
			.rcv_nxt = find_number(btf, type, "rcv_nxt"),
			.rcv_wup = find_number(btf, type, "rcv_wup"),
			.rcv_wnd = find_number(btf, type, "rcv_wnd"),
			.snd_una = find_number(btf, type, "snd_una"),
			.snd_nxt = find_number(btf, type, "snd_nxt"),
			.max_window = find_number(btf, type, "max_window"),
		};
	btf__free(btf);
	if (!fields.rcv_nxt || !fields.rcv_wup || !fields.rcv_wnd || !fields.snd_una ||
	    !fields.snd_nxt || !fields.max_window)
		return (struct baleen_tcp_fields){ 0 };
	return fields;
}
