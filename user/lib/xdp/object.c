// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A self-contained XDP object: the template with an image as its filter.
 *
 * A section may lie anywhere in its file, so nothing that the template holds
 * has to move: the image goes behind it and the section header points there.
 *
 *      +----------+-----------------------------+---------+-------+
 *      | ELF head | sections, section headers   | padding | image |
 *      +----------+-----------------------------+---------+-------+
 *                   .rodata.rule, in place        to 64     .data.filter
 *
 * The BTF stays as it is: its DATASEC has no size before libbpf takes it from
 * the section header, and it need not name every byte of the section.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <baleen/stats.h>

#include "section.skel.h"
#include "xdp/load.h"
#include "xdp/object.h"

/* The verifier reaches no further into a map value: BPF_MAX_VAR_OFF in Linux,
 * include/linux/bpf_verifier.h. 2^29 bytes load on 6.18, one block more do not.
 */
#define OBJECT_MAX_IMAGE (1u << 29)

/* The template is ours and in the byte order of this machine, so it is not
 * hostile; what may happen is that bpf/section.bpf.c changes under this file.
 */
static Elf64_Shdr *find_section(u8 *elf, const char *name)
{
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)elf;
	Elf64_Shdr *section = (Elf64_Shdr *)(elf + head->e_shoff);
	const char *names = (const char *)elf + section[head->e_shstrndx].sh_offset;

	for (u32 i = 1; i < head->e_shnum; i++)
		if (!strcmp(names + section[i].sh_name, name))
			return &section[i];
	return NULL;
}

static Elf64_Sym *find_symbol(u8 *elf, const char *name)
{
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)elf;
	const Elf64_Shdr *sections = (const Elf64_Shdr *)(elf + head->e_shoff);
	const Elf64_Shdr *table = find_section(elf, ".symtab");
	const char *names;
	Elf64_Sym *symbol;

	if (!table)
		return NULL;
	symbol = (Elf64_Sym *)(elf + table->sh_offset);
	names = (const char *)elf + sections[table->sh_link].sh_offset;
	for (u64 i = 1; i < table->sh_size / sizeof(*symbol); i++)
		if (!strcmp(names + symbol[i].st_name, name))
			return &symbol[i];
	return NULL;
}

/* Points .data.filter and its variable to the image at @offset of the file. */
static int place_filter(u8 *elf, size_t offset, size_t n_bytes)
{
	Elf64_Shdr *section = find_section(elf, ".data.filter");
	Elf64_Sym *symbol = find_symbol(elf, "baleen_filter");

	if (!section || !symbol || symbol->st_value)
		return -EINVAL;
	section->sh_offset = offset;
	section->sh_size = n_bytes;
	symbol->st_size = n_bytes;
	return 0;
}

static int set_rule(u8 *elf, const struct baleen_rule *rule)
{
	const Elf64_Shdr *section = find_section(elf, ".rodata.rule");
	const Elf64_Sym *symbol = find_symbol(elf, "baleen_rule");

	if (!section || !symbol || symbol->st_size != sizeof(*rule) ||
	    symbol->st_value + sizeof(*rule) > section->sh_size)
		return -EINVAL;
	memcpy(elf + section->sh_offset + symbol->st_value, rule, sizeof(*rule));
	return 0;
}

static int check_rule(size_t n_bytes, const struct baleen_rule *rule, struct baleen_error *error)
{
	if (rule->action != BALEEN_ACTION_DROP && rule->action != BALEEN_ACTION_ALLOW)
		return baleen_fail(error, EINVAL, "unknown action %u", rule->action);
	if (!rule->image.n_blocks || (u64)rule->image.n_blocks * BALEEN_BLOCK_BYTES != n_bytes)
		return baleen_fail(error, EINVAL, "image of %zu bytes under a header for %u blocks",
				   n_bytes, rule->image.n_blocks);
	if (rule->image.flags & BALEEN_FLAG_LIVE)
		return baleen_fail(error, EINVAL,
				   "a live image cannot be compiled, export it first");
	if (n_bytes > OBJECT_MAX_IMAGE)
		return baleen_fail(error, E2BIG,
				   "image of %zu bytes: the kernel takes at most %u in an object, "
				   "use `baleen attach`",
				   n_bytes, OBJECT_MAX_IMAGE);
	return baleen_load_check(&rule->image, error);
}

int baleen_object_make(const void *bytes, size_t n_bytes, const struct baleen_rule *rule,
		       void **out, size_t *out_bytes, struct baleen_error *error)
{
	size_t template_bytes, offset;
	const void *template;
	u8 *elf;
	int err;

	err = check_rule(n_bytes, rule, error);
	if (err)
		return err;
	template = section_bpf__elf_bytes(&template_bytes);
	offset = (template_bytes + BALEEN_BLOCK_BYTES - 1) & ~(size_t)(BALEEN_BLOCK_BYTES - 1);
	elf = calloc(1, offset + n_bytes);
	if (!elf)
		return baleen_fail(error, ENOMEM, "no memory for an object of %zu bytes",
				   offset + n_bytes);
	memcpy(elf, template, template_bytes);
	memcpy(elf + offset, bytes, n_bytes);
	err = place_filter(elf, offset, n_bytes);
	if (!err)
		err = set_rule(elf, rule);
	if (err) {
		baleen_fail(error, -err, "the template of this build is not one");
		goto free_elf;
	}
	*out = elf;
	*out_bytes = offset + n_bytes;
	return 0;

free_elf:
	free(elf);
	return err;
}
