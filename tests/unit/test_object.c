// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The self-contained XDP object, read back by libelf and by libbpf. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <bpf/libbpf.h>
#include <gelf.h>

#include "filter/filter.h"
#include "xdp/object.h"

#define N_KEYS 1000

struct fixture {
	struct baleen_filter filter;
	struct baleen_rule rule;
	struct baleen_error error;
	void *object;
	size_t n_bytes;
};

static void *const poison = (void *)0x5a5a;

static int setup(void **state)
{
	static const struct baleen_table ip4 = {
		.kind = BALEEN_KIND_CUCKOO,
		.slot_bits = 32,
		.log2_buckets = 8,
		.first_block = BALEEN_HEADER_BLOCKS,
		.n_blocks = 75,
		.n_buckets = 300,
	};
	struct baleen_image image = {
		.n_blocks = BALEEN_HEADER_BLOCKS + 75,
		.key_spec = BALEEN_KEY_SRC,
		.table[BALEEN_IP4] = ip4,
		.name = "krill",
	};
	struct fixture *f = calloc(1, sizeof(*f));
	struct baleen_key keys[N_KEYS];
	size_t n_done;

	assert_non_null(f);
	for (u32 i = 0; i < BALEEN_SEED_WORDS; i++)
		image.seed.word[i] = baleen_mix64(i + 1);
	for (u32 i = 0; i < N_KEYS; i++)
		keys[i] = (struct baleen_key){.domain = BALEEN_IP4, .ip4 = 0xc0000200 + i};
	assert_int_equal(baleen_filter_alloc(&f->filter, &image, &f->error), 0);
	assert_int_equal(baleen_filter_insert(&f->filter, keys, N_KEYS, &n_done), 0);
	baleen_filter_seal(&f->filter);
	baleen_rule_set(&f->rule, BALEEN_ACTION_DROP, f->filter.image.name, NULL, &f->filter.image);
	f->object = poison;
	f->n_bytes = 4711;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	if (f->object != poison)
		free(f->object);
	baleen_filter_free(&f->filter);
	free(f);
	return 0;
}

static int make(struct fixture *f)
{
	return baleen_object_make(f->filter.bytes, f->filter.n_bytes, &f->rule, &f->object,
				  &f->n_bytes, &f->error);
}

static void assert_refused(struct fixture *f, size_t n_bytes, int err, const char *text)
{
	assert_int_equal(baleen_object_make(f->filter.bytes, n_bytes, &f->rule, &f->object,
					    &f->n_bytes, &f->error),
			 err);
	assert_non_null(strstr(f->error.text, text));
	assert_ptr_equal(f->object, poison);
	assert_int_equal(f->n_bytes, 4711);
}

static void refuses_size_that_is_not_the_headers(void **state)
{
	struct fixture *f = *state;

	assert_refused(f, f->filter.n_bytes - 1, -EINVAL, "header for 83 blocks");
	assert_refused(f, f->filter.n_bytes + BALEEN_BLOCK_BYTES, -EINVAL, "header for 83 blocks");
	f->rule.image.n_blocks = 0;
	assert_refused(f, 0, -EINVAL, "header for 0 blocks");
}

static void refuses_live_image(void **state)
{
	struct fixture *f = *state;

	f->rule.image.flags = BALEEN_FLAG_LIVE;
	assert_refused(f, f->filter.n_bytes, -EINVAL, "live image");
}

static void refuses_unknown_action(void **state)
{
	struct fixture *f = *state;

	f->rule.action = BALEEN_ACTION_ALLOW + 1;
	assert_refused(f, f->filter.n_bytes, -EINVAL, "unknown action 2");
}

/* The image is not read: it would be larger than what is allocated. */
static void refuses_what_no_verifier_takes(void **state)
{
	struct fixture *f = *state;

	f->rule.image.n_blocks = (1u << 29) / BALEEN_BLOCK_BYTES + 1;
	assert_refused(f, (1u << 29) + BALEEN_BLOCK_BYTES, -E2BIG, "at most 536870912");
	f->rule.image.n_blocks = BALEEN_MAX_BLOCKS;
	assert_refused(f, (size_t)BALEEN_MAX_BLOCKS * BALEEN_BLOCK_BYTES, -E2BIG,
		       "at most 536870912");
}

/* The section called @name, its contents in @data. */
static Elf_Scn *find_section(Elf *elf, const char *name, GElf_Shdr *head, Elf_Data **data)
{
	Elf_Scn *section = NULL;
	size_t names;

	assert_int_equal(elf_getshdrstrndx(elf, &names), 0);
	while ((section = elf_nextscn(elf, section))) {
		assert_non_null(gelf_getshdr(section, head));
		if (!strcmp(elf_strptr(elf, names, head->sh_name), name)) {
			*data = elf_getdata(section, NULL);
			assert_non_null(*data);
			return section;
		}
	}
	fail_msg("no section %s", name);
	return NULL;
}

static void find_symbol(Elf *elf, const char *name, GElf_Sym *symbol)
{
	GElf_Shdr head;
	Elf_Data *data;

	find_section(elf, ".symtab", &head, &data);
	for (int i = 0; gelf_getsym(data, i, symbol); i++)
		if (!strcmp(elf_strptr(elf, head.sh_link, symbol->st_name), name))
			return;
	fail_msg("no symbol %s", name);
}

static Elf *open_elf(struct fixture *f)
{
	Elf *elf;

	elf_version(EV_CURRENT);
	assert_int_equal(make(f), 0);
	elf = elf_memory(f->object, f->n_bytes);
	assert_non_null(elf);
	return elf;
}

static void filter_section_is_the_image(void **state)
{
	struct fixture *f = *state;
	Elf *elf = open_elf(f);
	GElf_Sym symbol;
	GElf_Shdr head;
	Elf_Data *data;
	Elf_Scn *section;

	section = find_section(elf, ".data.filter", &head, &data);
	assert_int_equal(head.sh_addralign, BALEEN_BLOCK_BYTES);
	assert_int_equal(head.sh_offset % BALEEN_BLOCK_BYTES, 0);
	assert_int_equal(data->d_size, f->filter.n_bytes);
	assert_memory_equal(data->d_buf, f->filter.bytes, f->filter.n_bytes);
	find_symbol(elf, "baleen_filter", &symbol);
	assert_int_equal(symbol.st_shndx, elf_ndxscn(section));
	assert_int_equal(symbol.st_value, 0);
	assert_int_equal(symbol.st_size, f->filter.n_bytes);
	elf_end(elf);
}

static void rodata_holds_the_rule(void **state)
{
	struct fixture *f = *state;
	GElf_Sym symbol;
	GElf_Shdr head;
	Elf_Data *data;
	Elf *elf;

	f->rule.action = BALEEN_ACTION_ALLOW;
	elf = open_elf(f);
	find_section(elf, ".rodata.rule", &head, &data);
	find_symbol(elf, "baleen_rule", &symbol);
	assert_int_equal(symbol.st_size, sizeof(f->rule));
	assert_in_range(symbol.st_value + symbol.st_size, sizeof(f->rule), data->d_size);
	assert_memory_equal((u8 *)data->d_buf + symbol.st_value, &f->rule, sizeof(f->rule));
	elf_end(elf);
}

static void licence_is_dual(void **state)
{
	Elf *elf = open_elf(*state);
	GElf_Shdr head;
	Elf_Data *data;

	find_section(elf, "license", &head, &data);
	assert_int_equal(data->d_size, sizeof("Dual BSD/GPL"));
	assert_string_equal(data->d_buf, "Dual BSD/GPL");
	elf_end(elf);
}

static void same_image_same_object(void **state)
{
	struct fixture *f = *state;
	size_t n_again;
	void *again;

	assert_int_equal(make(f), 0);
	assert_int_equal(baleen_object_make(f->filter.bytes, f->filter.n_bytes, &f->rule, &again,
					    &n_again, &f->error),
			 0);
	assert_int_equal(n_again, f->n_bytes);
	assert_memory_equal(again, f->object, n_again);
	free(again);
}

/* What `ip link`, bpftool and xdp-loader see: all of them go by libbpf. */
static void libbpf_finds_filter_and_programs(void **state)
{
	struct fixture *f = *state;
	struct bpf_program *program;
	struct bpf_object *object;
	struct bpf_map *map;
	size_t n_bytes;
	void *value;

	assert_int_equal(make(f), 0);
	libbpf_set_print(NULL);
	object = bpf_object__open_mem(f->object, f->n_bytes, NULL);
	assert_non_null(object);
	map = bpf_object__find_map_by_name(object, ".data.filter");
	assert_non_null(map);
	assert_int_equal(bpf_map__value_size(map), f->filter.n_bytes);
	value = (void *)bpf_map__initial_value(map, &n_bytes);
	assert_int_equal(n_bytes, f->filter.n_bytes);
	assert_memory_equal(value, f->filter.bytes, n_bytes);
	program = bpf_object__next_program(object, NULL);
	assert_string_equal(bpf_program__section_name(program), "xdp");
	program = bpf_object__next_program(object, program);
	assert_string_equal(bpf_program__section_name(program), "xdp.frags");
	assert_null(bpf_object__next_program(object, program));
	bpf_object__close(object);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(refuses_size_that_is_not_the_headers),
		TEST(refuses_live_image),
		TEST(refuses_unknown_action),
		TEST(refuses_what_no_verifier_takes),
		TEST(filter_section_is_the_image),
		TEST(rodata_holds_the_rule),
		TEST(licence_is_dual),
		TEST(same_image_same_object),
		TEST(libbpf_finds_filter_and_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
