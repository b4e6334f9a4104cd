// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Every command on rules of a device, with everything that it has to refuse.
 *
 *	refused_bind DEVICE IMAGE OTHER     an Ethernet device without rules; images of
 *	                                    other keys each
 */
#include <net/if.h>

#include "refused.h"

#define NAME "good"
#define LOOPBACK 1

static struct file file, other;
static struct baleen_dev_rule *rules;
static u8 *image, *bound, *ifindexes;
static u32 ifindex;

/* --- good calls ----------------------------------------------------------- */

static void make_bind(void *arg)
{
	struct baleen_dev_bind *bind = arg;

	for (u32 i = 0; i < 2; i++) {
		rules[i] = (struct baleen_dev_rule){ .name = "rule0", .filter = NAME };
		rules[i].name[4] += i;
	}
	*bind = (struct baleen_dev_bind){
		.ifindex = ifindex,
		.rules = address(rules),
		.n_rules = 2,
		.priority = -5,
		.rule_bytes = sizeof(rules[0]),
	};
}

static void undo_bind(void)
{
	struct baleen_dev_unbind arg = { .ifindex = ifindex };

	if (command(device, BALEEN_DEV_UNBIND, &arg))
		errx(1, "cannot undo");
}

/* In place of what is bound. */
static void make_replace(void *arg)
{
	struct baleen_dev_bind *bind = arg;

	make_bind(arg);
	bind->flags = BALEEN_DEV_REPLACE;
	bind->priority = 0;
}

static void make_unbind(void *arg)
{
	*(struct baleen_dev_unbind *)arg = (struct baleen_dev_unbind){ .ifindex = ifindex };
}

static void undo_unbind(void)
{
	struct baleen_dev_bind arg;

	make_bind(&arg);
	if (command(device, BALEEN_DEV_BIND, &arg))
		errx(1, "cannot undo");
}

static void make_binding(void *arg)
{
	struct baleen_dev_binding *binding = arg;

	poison(binding, sizeof(*binding));
	binding->ifindex = ifindex;
	binding->room = 1;
	binding->rules = address(bound);
	binding->rule_bytes = sizeof(struct baleen_dev_bound_rule);
}

static void make_bindings(void *arg)
{
	struct baleen_dev_bindings *bindings = arg;

	bindings->ifindexes = address(ifindexes);
	bindings->room = 1;
	poison(&bindings->n, sizeof(bindings->n));
}

static const struct call call_bind = {
	"BIND", BALEEN_DEV_BIND, sizeof(struct baleen_dev_bind), true, false, make_bind, undo_bind,
	-1
};
static const struct call call_replace = { "BIND to replace",
					  BALEEN_DEV_BIND,
					  sizeof(struct baleen_dev_bind),
					  true,
					  false,
					  make_replace,
					  NULL,
					  -1 };
static const struct call call_unbind = { "UNBIND",
					 BALEEN_DEV_UNBIND,
					 sizeof(struct baleen_dev_unbind),
					 true,
					 false,
					 make_unbind,
					 undo_unbind,
					 -1 };
static const struct call call_binding = { "BINDING",
					  BALEEN_DEV_BINDING,
					  sizeof(struct baleen_dev_binding),
					  false,
					  true,
					  make_binding,
					  NULL,
					  -1 };
static const struct call call_bindings = { "BINDINGS",
					   BALEEN_DEV_BINDINGS,
					   sizeof(struct baleen_dev_bindings),
					   false,
					   true,
					   make_bindings,
					   NULL,
					   -1 };

/* --- wrong fields --------------------------------------------------------- */

#define BIND(field, value, want) WRONG(BALEEN_DEV_BIND, baleen_dev_bind, field, value, want)

static const struct wrong wrong_bind[] = {
	BIND(ifindex, 0, -ENODEV),
	BIND(ifindex, 0x7fffffff, -ENODEV),
	BIND(ifindex, 0x80000000, -ENODEV),
	BIND(ifindex, ~0u, -ENODEV),
	BIND(ifindex, LOOPBACK, -EOPNOTSUPP),
	BIND(flags, BALEEN_DEV_REPLACE << 1, -EINVAL),
	BIND(flags, 1u << 31, -EINVAL),
	BIND(flags, ~0u, -EINVAL),
	BIND(n_rules, 0, -EINVAL),
	BIND(n_rules, BALEEN_DEV_MAX_RULES + 1, -EINVAL),
	BIND(n_rules, 1u << 31, -EINVAL),
	BIND(n_rules, ~0u, -EINVAL),
	BIND(version, 1, -EINVAL),
	BIND(version, 1ull << 63, -EINVAL),
	BIND(rule_bytes, 0, -EINVAL),
	BIND(rule_bytes, sizeof(struct baleen_dev_rule) - 1, -EINVAL),
	BIND(rule_bytes, PAGE + 1, -E2BIG),
	BIND(rule_bytes, ~0u, -E2BIG),
	BIND(reserved, 1, -EINVAL),
};

static const struct wrong wrong_replace[] = {
	BIND(priority, 1, -EINVAL),
	BIND(priority, -1, -EINVAL),
	BIND(version, ~0ull, -ESTALE),
};

static const struct wrong wrong_binding[] = {
	WRONG(BALEEN_DEV_BINDING, baleen_dev_binding, rule_bytes, 0, -EINVAL),
	WRONG(BALEEN_DEV_BINDING, baleen_dev_binding, rule_bytes,
	      sizeof(struct baleen_dev_bound_rule) - 1, -EINVAL),
	WRONG(BALEEN_DEV_BINDING, baleen_dev_binding, rule_bytes, PAGE + 1, -E2BIG),
};

/* Of the second rule. */
#define RULE(field, value, want) WRONG(0, baleen_dev_rule, field, value, want)

static const struct wrong wrong_rule[] = {
	RULE(action, 3, -EINVAL),
	RULE(action, 1u << 31, -EINVAL),
	RULE(action, ~0u, -EINVAL),
	RULE(reserved, 1, -EINVAL),
	RULE(reserved, 1u << 31, -EINVAL),
	RULE(name[0], 0, -EINVAL),
	RULE(name[0], '\n', -EINVAL),
	RULE(name[5], '\n', -EINVAL),
	RULE(name[31], 'x', -EINVAL),
	RULE(name[4], '0', -EINVAL),
	RULE(filter[0], '\x80', -EINVAL),
	RULE(filter[4], '\x01', -EINVAL),
	RULE(filter[31], 'x', -EINVAL),
	RULE(filter[0], 0, -EINVAL),
	RULE(filter[0], 'x', -ENOENT),
	RULE(n_bytes, 512, -EINVAL),
	RULE(image, 4096, -EINVAL),
	RULE(qualifiers.has_proto, 2, -EINVAL),
	RULE(qualifiers.has_proto, 255, -EINVAL),
	RULE(qualifiers.proto, 6, -EINVAL),
	RULE(qualifiers.tcp_syn, 2, -EINVAL),
	RULE(qualifiers.tcp_syn, 255, -EINVAL),
	RULE(qualifiers.has_vlan, 1, -EINVAL),
	RULE(qualifiers.has_vlan, 2, -EINVAL),
	RULE(qualifiers.vlan, 1, -EINVAL),
	RULE(qualifiers.vlan, 4095, -EINVAL),
	RULE(qualifiers.n_dports, BALEEN_DEV_MAX_PORTS + 1, -EINVAL),
	RULE(qualifiers.n_dports, 255, -EINVAL),
	RULE(qualifiers.reserved, 1, -EINVAL),
	RULE(qualifiers.reserved, 128, -EINVAL),
	RULE(qualifiers.dport[0].first, 1, -EINVAL),
	RULE(qualifiers.dport[0].last, 1, -EINVAL),
	RULE(qualifiers.dport[7].last, 65535, -EINVAL),
};

static void refuse_rules(const struct call *call)
{
	struct baleen_dev_bind arg;

	for (size_t i = 0; i < N_OF(wrong_rule); i++) {
		call->make(&arg);
		memcpy((u8 *)&rules[1] + wrong_rule[i].offset, &wrong_rule[i].value,
		       wrong_rule[i].size);
		refuse(call, &arg, wrong_rule[i].want, wrong_rule[i].what);
	}
	refused_end(call->name, "the second rule");
}

/* A rule with 16 bytes that the module does not know: only as zeros. */
static void test_larger_rule(void)
{
	const u32 n_bytes = sizeof(struct baleen_dev_rule) + 16;
	struct edge edge = edge_make(n_bytes);
	u8 *at = edge.end - n_bytes;
	struct baleen_dev_bind arg = {
		.ifindex = ifindex, .rules = address(at), .n_rules = 1, .rule_bytes = n_bytes
	};

	memset(at, 0, n_bytes);
	memcpy(at, &(struct baleen_dev_rule){ .name = "large", .filter = NAME },
	       sizeof(struct baleen_dev_rule));
	edge.end[-1] = 1;
	refuse(&call_bind, &arg, -E2BIG, "a field that the module does not know");
	refused_end("BIND", "a larger rule");
	edge.end[-1] = 0;
	check_is("BIND of a larger rule with zeros", command(device, BALEEN_DEV_BIND, &arg), 0);
	undo_bind();
	edge_free(&edge);
}

/* Two values that are wrong together. */
static void refuse_pairs(void)
{
	struct baleen_dev_bind arg;
	struct baleen_dev_qualifiers *asked = &rules[1].qualifiers;

	make_bind(&arg);
	asked->has_vlan = 1;
	asked->vlan = 4095;
	refuse(&call_bind, &arg, -EINVAL, "VLAN 4095");
	make_bind(&arg);
	asked->n_dports = 1;
	asked->dport[0] = (struct baleen_dev_port_range){ 2, 1 };
	refuse(&call_bind, &arg, -EINVAL, "ports 2 to 1");
	make_bind(&arg);
	asked->n_dports = 8;
	asked->dport[7] = (struct baleen_dev_port_range){ 65535, 0 };
	refuse(&call_bind, &arg, -EINVAL, "ports 65535 to 0");
	make_bind(&arg);
	asked->n_dports = 1;
	asked->dport[1].last = 1;
	refuse(&call_bind, &arg, -EINVAL, "a port behind the last");
	make_bind(&arg);
	memset(rules[1].filter, 0, sizeof(rules[1].filter));
	refuse(&call_bind, &arg, -ENOENT, "a rule to keep the filter of");
	refused_end("BIND", "pairs of fields");
}

/* A rule's own image, at an address; the answer to it. */
static void own(u64 at, u64 n_bytes, int want, const char *what)
{
	struct baleen_dev_bind arg;

	make_bind(&arg);
	memset(rules[1].filter, 0, sizeof(rules[1].filter));
	rules[1].image = at;
	rules[1].n_bytes = n_bytes;
	refuse(&call_bind, &arg, want, what);
}

static void refuse_images(void)
{
	memcpy(image, file.bytes, file.n_bytes);
	for (unsigned int i = 1; i < N_BAD_ADDRESSES; i++)
		own(bad_address(i), file.n_bytes, -EFAULT, "an address");
	own(address(image), 511, -EINVAL, "511 bytes");
	own(address(image), 513, -EINVAL, "513 bytes");
	own(address(image), 512, -EBADMSG, "512 bytes");
	own(address(image), file.n_bytes - 64, -EBADMSG, "too short");
	memcpy(image + file.n_bytes - 512, file.bytes, 512);
	own(address(image) + file.n_bytes - 512, file.n_bytes, -EFAULT, "not all ours");
	memcpy(image, file.bytes, file.n_bytes);
	image[file.n_bytes - 1] ^= 1;
	own(address(image), file.n_bytes, -EBADMSG, "damaged");
	image[file.n_bytes - 1] ^= 1;
	refused_end("BIND", "an image of a rule's own");
}

/* --- what is there already ------------------------------------------------ */

/* The filters of rules: neither destroyed nor given other keys. */
static void refuse_in_use(void)
{
	struct call destroy = { .name = "DESTROY",
				.number = BALEEN_DEV_DESTROY,
				.n_bytes = sizeof(struct baleen_dev_target) };
	struct call swap = { .name = "SWAP",
			     .number = BALEEN_DEV_SWAP,
			     .n_bytes = sizeof(struct baleen_dev_image) };
	struct baleen_dev_target target = target_of(NAME);
	struct baleen_dev_image arg = { .target = target,
					.image = address(other.bytes),
					.n_bytes = other.n_bytes };

	refuse(&destroy, &target, -EBUSY, "a rule asks it");
	refuse(&swap, &arg, -EINVAL, "other keys");
	arg.target = target_of("rule0");
	arg.target.ifindex = ifindex;
	refuse(&swap, &arg, -EINVAL, "other keys for a rule");
	arg.target = target_of("rule7");
	arg.target.ifindex = ifindex;
	refuse(&swap, &arg, -ENOENT, "no such rule");
	refused_end("filters of rules", "DESTROY and SWAP");
}

static void test_bound(void)
{
	struct baleen_dev_bind arg;

	make_bind(&arg);
	if (!check_is("rules are bound", command(device, BALEEN_DEV_BIND, &arg), 0))
		return;
	refuse(&call_bind, &arg, -EEXIST, "rules that are there");
	refused_end("BIND", "a device that has rules");
	accept_call(&call_replace);
	refuse_fields(&call_replace, wrong_replace, N_OF(wrong_replace));
	refuse_rules(&call_replace);
	refuse_in_use();
	accept_call(&call_unbind);
	accept_call(&call_binding);
	accept_call(&call_bindings);
	refuse_reserved(&call_unbind, offsetof(struct baleen_dev_unbind, reserved), 4);
	refuse_fields(&call_binding, wrong_binding, N_OF(wrong_binding));
	refuse_pointer(&call_binding, offsetof(struct baleen_dev_binding, rules), 40, true);
	refuse_pointer(&call_bindings, offsetof(struct baleen_dev_bindings, ifindexes), 3, true);
	undo_bind();
}

/* Of @n devices without rules. */
static void refuse_unbound(const struct call *call, size_t n)
{
	const u32 none[] = { ifindex, LOOPBACK, 0, 0x7fffffff, ~0u };
	u64 arg[MAX_ARG / 8];

	for (size_t i = 0; i < n; i++) {
		call->make(arg);
		memcpy(arg, &none[i], sizeof(none[i]));
		refuse(call, arg, -ENOENT, "a device without rules");
	}
	refused_end(call->name, "devices without rules");
}

static void test_unbound(void)
{
	const struct call *calls[] = { &call_bind, &call_unbind, &call_binding, &call_bindings };

	for (size_t i = 0; i < N_OF(calls); i++) {
		refuse_argument(calls[i]);
		refuse_numbers(calls[i]);
		refuse_modes(calls[i]);
	}
	accept_call(&call_bind);
	refuse_fields(&call_bind, wrong_bind, N_OF(wrong_bind));
	refuse_pointer(&call_bind, offsetof(struct baleen_dev_bind, rules),
		       2 * sizeof(struct baleen_dev_rule) - 1, false);
	refuse_rules(&call_bind);
	refuse_pairs();
	test_larger_rule();
	refuse_images();
	refuse_unbound(&call_replace, 1);
	refuse_unbound(&call_unbind, 5);
	refuse_unbound(&call_binding, 5);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		errx(2, "usage: refused_bind DEVICE IMAGE OTHER");
	ifindex = if_nametoindex(argv[1]);
	if (!ifindex)
		err(1, "%s", argv[1]);
	file = file_read(argv[2]);
	other = file_read(argv[3]);
	device = device_open(O_RDWR);
	image = watch(file.n_bytes);
	bound = watch(sizeof(struct baleen_dev_bound_rule));
	ifindexes = watch(sizeof(u32));
	rules = (void *)watch(2 * sizeof(*rules));
	check_is("a filter to bind", device_create(device, NAME, file.bytes, file.n_bytes), 0);
	test_unbound();
	test_bound();
	check_is("the filter goes", device_destroy(device, NAME), 0);
	return tap_end();
}
