// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Puts rules on the ingress hook of a device by the ioctls of the module alone.
 *
 *	bind DEVICE [--replace [--version V]] [--priority P] [--default drop]
 *	     [--dry-run] RULE...
 *	RULE: --allow|--drop|--count NAME=FILTER [proto N] [tcp-syn] [vlan N]
 *	      [dport A[-B],...]
 *	FILTER: the file of an image, for one of the rule's own; kmod:NAME; `-` for
 *	      what the rule has
 *	bind --off DEVICE
 *	bind --show DEVICE	flags, priority, version, and of each rule name, filter,
 *				packets and bytes, and rules, packets and hits of its filter
 *	bind --counts DEVICE	one line: packets of each rule, those of no rule in the
 *				order of struct baleen_dev_binding, bytes of each rule
 *	bind --all		the indexes of the devices with rules
 *	bind --asked NAME	how many rules ask the filter of this name
 *	bind --destroy NAME
 *
 * DEVICE may be an index. Exit: 0 done; 1 not, with the name of the errno; 2 usage.
 */
#include <net/if.h>

#include "dev.h"

static int fd;

static void do_command(const char *name, unsigned long number, void *arg)
{
	int err = command(fd, number, arg);

	if (!err)
		return;
	fprintf(stderr, "%s: %s\n", name, strerrorname_np(-err));
	exit(1);
}

static u32 device(const char *text)
{
	u32 ifindex = if_nametoindex(text);

	return ifindex ? ifindex : strtoul(text, NULL, 0);
}

static const char *value(char ***args)
{
	if (!(*args)[0] || !(*args)[1])
		errx(2, "'%s' has no value", (*args)[0] ? (*args)[0] : "");
	return *++*args;
}

/* --- bind ----------------------------------------------------------------- */

static void set_filter(struct baleen_dev_rule *rule, const char *text)
{
	const char *equals = strchr(text, '=');

	if (!equals || equals - text >= BALEEN_DEV_NAME_BYTES)
		errx(2, "'%s' is not NAME=FILTER", text);
	memcpy(rule->name, text, equals - text);
	text = equals + 1;
	if (!strncmp(text, "kmod:", 5)) {
		memcpy(rule->filter, text + 5, strnlen(text + 5, sizeof(rule->filter)));
	} else if (strcmp(text, "-")) {
		struct file file = file_read(text);

		rule->image = address(file.bytes);
		rule->n_bytes = file.n_bytes;
	}
}

static void set_ports(struct baleen_dev_qualifiers *qualifiers, const char *text)
{
	char *end;

	do {
		struct baleen_dev_port_range *range = &qualifiers->dport[qualifiers->n_dports++];

		if (qualifiers->n_dports > BALEEN_DEV_MAX_PORTS)
			errx(2, "too many ports");
		range->first = range->last = strtoul(text, &end, 10);
		if (*end == '-')
			range->last = strtoul(end + 1, &end, 10);
		text = end + 1;
	} while (*end == ',');
}

/* Is it a qualifier, then sets it. */
static bool set_qualifier(struct baleen_dev_qualifiers *qualifiers, char ***args)
{
	const char *word = **args;

	if (!strcmp(word, "proto")) {
		qualifiers->has_proto = 1;
		qualifiers->proto = strtoul(value(args), NULL, 0);
	} else if (!strcmp(word, "tcp-syn")) {
		qualifiers->tcp_syn = 1;
	} else if (!strcmp(word, "vlan")) {
		qualifiers->has_vlan = 1;
		qualifiers->vlan = strtoul(value(args), NULL, 0);
	} else if (!strcmp(word, "dport")) {
		set_ports(qualifiers, value(args));
	} else {
		return false;
	}
	return true;
}

static int action_of(const char *word)
{
	if (!strcmp(word, "--drop"))
		return BALEEN_DEV_DROP;
	if (!strcmp(word, "--allow"))
		return BALEEN_DEV_ALLOW;
	return strcmp(word, "--count") ? -1 : (int)BALEEN_DEV_ONLY_COUNT;
}

static void parse_option(struct baleen_dev_bind *arg, char ***args)
{
	const char *word = **args;

	if (!strcmp(word, "--replace"))
		arg->flags |= BALEEN_DEV_REPLACE;
	else if (!strcmp(word, "--version"))
		arg->version = strtoull(value(args), NULL, 0);
	else if (!strcmp(word, "--priority"))
		arg->priority = strtol(value(args), NULL, 0);
	else if (!strcmp(word, "--dry-run"))
		arg->flags |= BALEEN_DEV_DRY_RUN;
	else if (strcmp(word, "--default"))
		errx(2, "'%s'", word);
	else if (!strcmp(value(args), "drop"))
		arg->flags |= BALEEN_DEV_DEFAULT_DROP;
}

static void bind_rules(char **args)
{
	struct baleen_dev_rule rule[BALEEN_DEV_MAX_RULES] = { 0 };
	struct baleen_dev_bind arg = { .ifindex = device(*args),
				       .rules = address(rule),
				       .rule_bytes = sizeof(rule[0]) };

	while (*++args) {
		int action = action_of(*args);

		if (action >= 0) {
			if (arg.n_rules == BALEEN_DEV_MAX_RULES)
				errx(2, "too many rules");
			rule[arg.n_rules].action = action;
			set_filter(&rule[arg.n_rules++], value(&args));
		} else if (!arg.n_rules ||
			   !set_qualifier(&rule[arg.n_rules - 1].qualifiers, &args)) {
			parse_option(&arg, &args);
		}
	}
	do_command("BIND", BALEEN_DEV_BIND, &arg);
}

/* --- what there is -------------------------------------------------------- */

static struct baleen_dev_binding read_binding(const char *name, struct baleen_dev_bound_rule *rules)
{
	struct baleen_dev_binding arg = {
		.ifindex = device(name),
		.room = BALEEN_DEV_MAX_RULES,
		.rule_bytes = sizeof(*rules),
		.rules = address(rules),
	};

	do_command("BINDING", BALEEN_DEV_BINDING, &arg);
	return arg;
}

static void show(const char *name)
{
	struct baleen_dev_bound_rule rule[BALEEN_DEV_MAX_RULES];
	struct baleen_dev_binding binding = read_binding(name, rule);

	printf("flags %u priority %d version %llu rules %u\n", binding.flags, binding.priority,
	       binding.version, binding.n_rules);
	for (u32 i = 0; i < binding.n_rules; i++)
		printf("%s %s %llu %llu asked by %u: %llu %llu\n", (char *)rule[i].name,
		       rule[i].filter[0] ? (char *)rule[i].filter : "-", rule[i].packets,
		       rule[i].bytes, rule[i].info.n_rules, rule[i].info.counters.packets,
		       rule[i].info.counters.hits);
}

static void print_counts(const char *name)
{
	struct baleen_dev_bound_rule rule[BALEEN_DEV_MAX_RULES];
	struct baleen_dev_binding binding = read_binding(name, rule);

	for (u32 i = 0; i < binding.n_rules; i++)
		printf("%llu ", rule[i].packets);
	printf("%llu %llu %llu %llu %llu %llu %llu", binding.unmatched, binding.vital,
	       binding.not_ip, binding.mpls, binding.tags, binding.ip_version, binding.too_short);
	for (u32 i = 0; i < binding.n_rules; i++)
		printf(" %llu", rule[i].bytes);
	putchar('\n');
}

static void print_all(void)
{
	u32 ifindex[1024];
	struct baleen_dev_bindings arg = { .ifindexes = address(ifindex), .room = N_OF(ifindex) };

	do_command("BINDINGS", BALEEN_DEV_BINDINGS, &arg);
	for (u32 i = 0; i < arg.n && i < arg.room; i++)
		printf("%u\n", ifindex[i]);
}

static void print_asked(const char *name)
{
	struct baleen_dev_get arg = { .target = target_of(name) };

	do_command("GET", BALEEN_DEV_GET, &arg);
	printf("%u\n", arg.info.n_rules);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		errx(2, "usage: bind DEVICE ...");
	fd = device_open(O_RDWR);
	if (!strcmp(argv[1], "--all")) {
		print_all();
	} else if (argc == 3 && !strcmp(argv[1], "--off")) {
		struct baleen_dev_unbind arg = { .ifindex = device(argv[2]) };

		do_command("UNBIND", BALEEN_DEV_UNBIND, &arg);
	} else if (argc == 3 && !strcmp(argv[1], "--show")) {
		show(argv[2]);
	} else if (argc == 3 && !strcmp(argv[1], "--counts")) {
		print_counts(argv[2]);
	} else if (argc == 3 && !strcmp(argv[1], "--asked")) {
		print_asked(argv[2]);
	} else if (argc == 3 && !strcmp(argv[1], "--destroy")) {
		struct baleen_dev_target arg = target_of(argv[2]);

		do_command("DESTROY", BALEEN_DEV_DESTROY, &arg);
	} else {
		bind_rules(argv + 1);
	}
	return 0;
}
