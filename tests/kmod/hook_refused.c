// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the commands of the hook refuse: with which errno, that no byte of the answer
 * is touched, and that nothing has changed.
 *
 *	hook_refused DEVICE IMAGE STRINGS
 *
 * DEVICE is of Ethernet and has no rules, STRINGS is an image of strings, and no other
 * device has rules.
 */
#include <linux/capability.h>
#include <net/if.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "dev.h"

#define NO_ADDRESS 0xffff800000000000ull

static int fd, fd_ro, fd_wo;
static u32 ifindex;
static struct file image, strings;

static struct baleen_dev_rule good_rule(const char *name)
{
	struct baleen_dev_rule rule = { .image = address(image.bytes), .n_bytes = image.n_bytes };

	strcpy((char *)rule.name, name);
	return rule;
}

static int bind_one(const struct baleen_dev_rule *rule, u32 flags, u64 version)
{
	struct baleen_dev_bind arg = { .ifindex = ifindex,
				       .flags = flags,
				       .rules = address(rule),
				       .n_rules = 1,
				       .version = version,
				       .rule_bytes = sizeof(*rule) };

	return command(fd, BALEEN_DEV_BIND, &arg);
}

static u32 n_bound(void)
{
	struct baleen_dev_bindings arg = { 0 };

	return command(fd, BALEEN_DEV_BINDINGS, &arg) ? ~0u : arg.n;
}

/* 0 and the version, or a negative errno. */
static int version_of(u64 *version)
{
	struct baleen_dev_binding arg = { .ifindex = ifindex };
	int err = command(fd, BALEEN_DEV_BINDING, &arg);

	if (!err)
		*version = arg.version;
	return err;
}

/* --- BIND ----------------------------------------------------------------- */

/* What is wrong with the arguments of a bind; 0 for nothing. */
static void refuse_bind(const char *name, const struct baleen_dev_bind *arg, int want)
{
	struct baleen_dev_bind copy = *arg;
	u64 before = 0, after = 0;
	int was = version_of(&before);
	u32 n = n_bound();

	check_is(name, command(fd, BALEEN_DEV_BIND, &copy), want);
	if (memcmp(&copy, arg, sizeof(copy)) || version_of(&after) != was || before != after ||
	    n_bound() != n)
		check(false, "%s: nothing has changed", name);
}

static void test_bind_args(void)
{
	struct baleen_dev_rule rule = good_rule("one");
	const struct baleen_dev_bind good = { .ifindex = ifindex,
					      .rules = address(&rule),
					      .n_rules = 1,
					      .rule_bytes = sizeof(struct baleen_dev_rule) };
	struct baleen_dev_bind arg = good;
	struct edge edge = edge_make(sizeof(rule));

#define TRY(name, want, ...) (arg = good, __VA_ARGS__, refuse_bind("bind: " name, &arg, want))
	TRY("no rules", -EINVAL, arg.n_rules = 0);
	TRY("17 rules", -EINVAL, arg.n_rules = 17);
	TRY("4294967295 rules", -EINVAL, arg.n_rules = ~0u);
	for (u32 bit = 3; bit < 32; bit++)
		TRY("an unknown flag", -EINVAL, arg.flags = 1u << bit);
	TRY("a version without replace", -EINVAL, arg.version = 1);
	TRY("a priority with replace", -EINVAL, (arg.flags = BALEEN_DEV_REPLACE, arg.priority = 1));
	TRY("rules at address 0", -EFAULT, arg.rules = 0);
	TRY("rules in the kernel", -EFAULT, arg.rules = NO_ADDRESS);
	TRY("rules that end behind the page", -EFAULT,
	    arg.rules = address(edge.end - sizeof(rule) + 8));
	TRY("no device", -ENODEV, arg.ifindex = 0);
	TRY("a device that is not there", -ENODEV, arg.ifindex = 0x7fffffff);
	TRY("a device of 2^32 - 1", -ENODEV, arg.ifindex = ~0u);
	TRY("a loopback", -EOPNOTSUPP, arg.ifindex = if_nametoindex("lo"));
	TRY("replace of nothing", -ENOENT, arg.flags = BALEEN_DEV_REPLACE);
#undef TRY
	edge_free(&edge);
}

static void refuse_rule(const char *name, const struct baleen_dev_rule *rule, int want)
{
	struct baleen_dev_bind arg = { .ifindex = ifindex,
				       .rules = address(rule),
				       .n_rules = 1,
				       .rule_bytes = sizeof(*rule) };

	refuse_bind(name, &arg, want);
}

static void test_names(void)
{
	const struct baleen_dev_rule good = good_rule("one");
	struct baleen_dev_rule rule;

#define TRY(name, want, ...) (rule = good, __VA_ARGS__, refuse_rule("rule: " name, &rule, want))
	TRY("no name", -EINVAL, memset(rule.name, 0, sizeof(rule.name)));
	TRY("a name without an end", -EINVAL, memset(rule.name, 'a', sizeof(rule.name)));
	TRY("bytes behind the name", -EINVAL, rule.name[31] = 'a');
	TRY("a line end in the name", -EINVAL, rule.name[1] = '\n');
	TRY("a byte above ASCII in the name", -EINVAL, rule.name[1] = 0xe4);
	TRY("a filter and an image", -EINVAL, rule.filter[0] = 'a');
	TRY("bytes behind no filter", -EINVAL, rule.filter[5] = 'a');
	TRY("an image of no bytes", -EINVAL, rule.n_bytes = 0);
	TRY("bytes of no image", -EINVAL, rule.image = 0);
	TRY("a filter that is not there", -ENOENT,
	    (rule.image = rule.n_bytes = 0, rule.filter[0] = 'a'));
	TRY("a filter without an end", -EINVAL,
	    (rule.image = rule.n_bytes = 0, memset(rule.filter, 'a', sizeof(rule.filter))));
	TRY("a filter to keep that is not there", -ENOENT, rule.image = rule.n_bytes = 0);
	TRY("an action of 3", -EINVAL, rule.action = 3);
	TRY("an action of 2^32 - 1", -EINVAL, rule.action = ~0u);
	TRY("a reserved field", -EINVAL, rule.reserved = 1);
#undef TRY
}

static void test_qualifiers(void)
{
	const struct baleen_dev_rule good = good_rule("one");
	struct baleen_dev_rule rule;
	struct baleen_dev_qualifiers *q = &rule.qualifiers;

#define TRY(name, ...) (rule = good, __VA_ARGS__, refuse_rule("qualifier: " name, &rule, -EINVAL))
	TRY("has_proto 2", q->has_proto = 2);
	TRY("a protocol that is not asked for", q->proto = 6);
	TRY("tcp_syn 2", q->tcp_syn = 2);
	TRY("has_vlan 2", (q->has_vlan = 2, q->vlan = 1));
	TRY("VLAN 0", q->has_vlan = 1);
	TRY("VLAN 4095", (q->has_vlan = 1, q->vlan = 4095));
	TRY("a VLAN that is not asked for", q->vlan = 1);
	TRY("a reserved byte", q->reserved = 1);
	TRY("9 ranges of ports", q->n_dports = 9);
	TRY("255 ranges of ports", q->n_dports = 255);
	TRY("a range that ends before it begins",
	    (q->n_dports = 1, q->dport[0].first = 2, q->dport[0].last = 1));
	TRY("a range behind the last", (q->n_dports = 1, q->dport[1].last = 1));
	TRY("a port behind the last range", q->dport[7].first = 1);
#undef TRY
}

static void test_images(void)
{
	const struct baleen_dev_rule good = good_rule("one");
	struct baleen_dev_rule rule, two[2] = { good, good };
	struct baleen_dev_bind arg = { .ifindex = ifindex,
				       .rules = address(two),
				       .n_rules = 2,
				       .rule_bytes = sizeof(two[0]) };

#define TRY(name, want, ...) (rule = good, __VA_ARGS__, refuse_rule("image: " name, &rule, want))
	TRY("in the kernel", -EFAULT, rule.image = NO_ADDRESS);
	TRY("of one block less", -EBADMSG, rule.n_bytes -= 64);
	TRY("of one block more", -EBADMSG, rule.n_bytes += 64);
	TRY("of one byte", -EINVAL, rule.n_bytes = 1);
	TRY("of 2^64 - 1 bytes", -EINVAL, rule.n_bytes = ~0ull);
	TRY("of strings", -EOPNOTSUPP,
	    (rule.image = address(strings.bytes), rule.n_bytes = strings.n_bytes));
	image.bytes[image.n_bytes - 1] ^= 1;
	TRY("that is damaged", -EBADMSG, rule.reserved = 0);
	image.bytes[image.n_bytes - 1] ^= 1;
#undef TRY
	refuse_bind("image: two rules of one name", &arg, -EINVAL);
	strcpy((char *)two[1].name, "two");
	two[1].image = NO_ADDRESS;
	refuse_bind("image: the second is not there", &arg, -EFAULT);
	two[1] = (struct baleen_dev_rule){ .name = "two", .filter = "nobody" };
	refuse_bind("image: the second filter is not there", &arg, -ENOENT);
}

/* --- who may -------------------------------------------------------------- */

/* Runs @number in a child without CAP_NET_ADMIN. */
static int unprivileged(unsigned long number, void *arg)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];
	pid_t child = fork();
	int status;

	if (!child) {
		if (syscall(SYS_capget, &header, data))
			_exit(255);
		data[0].effective &= ~(1u << CAP_NET_ADMIN);
		if (syscall(SYS_capset, &header, data))
			_exit(255);
		_exit(-command(fd, number, arg));
	}
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
		err(1, "child");
	return -WEXITSTATUS(status);
}

static void test_rights(void)
{
	struct baleen_dev_rule rule = good_rule("one");
	struct baleen_dev_bind bind = { .ifindex = ifindex,
					.rules = address(&rule),
					.n_rules = 1,
					.rule_bytes = sizeof(rule) };
	struct baleen_dev_unbind unbind = { .ifindex = ifindex };
	struct baleen_dev_binding binding = { .ifindex = ifindex };
	struct baleen_dev_bindings bindings = { 0 };

	check_is("bind: open for reading", command(fd_ro, BALEEN_DEV_BIND, &bind), -EBADF);
	check_is("unbind: open for reading", command(fd_ro, BALEEN_DEV_UNBIND, &unbind), -EBADF);
	check_is("binding: open for writing", command(fd_wo, BALEEN_DEV_BINDING, &binding), -EBADF);
	check_is("bindings: open for writing", command(fd_wo, BALEEN_DEV_BINDINGS, &bindings),
		 -EBADF);
	check_is("bind: no CAP_NET_ADMIN", unprivileged(BALEEN_DEV_BIND, &bind), -EPERM);
	check_is("unbind: no CAP_NET_ADMIN", unprivileged(BALEEN_DEV_UNBIND, &unbind), -EPERM);
	check_is("bindings: no CAP_NET_ADMIN is fine", unprivileged(BALEEN_DEV_BINDINGS, &bindings),
		 0);
	check_is("nothing is bound", n_bound(), 0);
}

/* --- UNBIND, BINDING, BINDINGS -------------------------------------------- */

static void test_unbind(void)
{
	struct baleen_dev_unbind arg = { .ifindex = ifindex };

	check_is("unbind: no rules", command(fd, BALEEN_DEV_UNBIND, &arg), -ENOENT);
	arg.ifindex = 0x7fffffff;
	check_is("unbind: no device", command(fd, BALEEN_DEV_UNBIND, &arg), -ENOENT);
	arg = (struct baleen_dev_unbind){ .ifindex = ifindex, .reserved = 1 };
	check_is("unbind: a reserved field", command(fd, BALEEN_DEV_UNBIND, &arg), -EINVAL);
}

/* Each with the outputs poisoned. */
static void refuse_binding(const char *name, u32 index, u32 room, u64 rules, u32 rule_bytes,
			   int want)
{
	struct baleen_dev_binding arg, copy;

	poison(&arg, sizeof(arg));
	arg.ifindex = index;
	arg.room = room;
	arg.rules = rules;
	arg.rule_bytes = rule_bytes;
	copy = arg;
	check_is(name, command(fd, BALEEN_DEV_BINDING, &arg), want);
	if (memcmp(&copy, &arg, sizeof(arg)))
		check(false, "%s: the answer is untouched", name);
}

static void test_binding(bool is_bound)
{
	struct edge edge = edge_make(sizeof(struct baleen_dev_bound_rule));
	u32 rule_bytes = sizeof(struct baleen_dev_bound_rule);
	u64 cut = address(edge.end - rule_bytes + 8);

	refuse_binding("binding: no device", 0x7fffffff, 0, 0, 0, -ENOENT);
	if (is_bound) {
		refuse_binding("binding: rules in the kernel", ifindex, 1, NO_ADDRESS, rule_bytes,
			       -EFAULT);
		refuse_binding("binding: rules that end behind the page", ifindex, 1, cut,
			       rule_bytes, -EFAULT);
	} else {
		refuse_binding("binding: no rules", ifindex, 0, 0, 0, -ENOENT);
		check(is_poison(edge.start, edge.n_bytes), "binding: no rule is written");
	}
	edge_free(&edge);
}

static void test_binding_room(u32 room)
{
	struct baleen_dev_bound_rule rule[3];
	struct baleen_dev_binding arg = { .ifindex = ifindex,
					  .room = room,
					  .rule_bytes = sizeof(rule[0]) };

	poison(rule, sizeof(rule));
	arg.rules = room ? address(rule) : 0;
	check_is("binding: with room", command(fd, BALEEN_DEV_BINDING, &arg), 0);
	check(arg.n_rules == 2 && arg.room == room && arg.ifindex == ifindex,
	      "binding: %u of 2 rules are asked for", room);
	check(is_poison(rule + (room < 2 ? room : 2), sizeof(rule[0])),
	      "binding: what is behind room for %u is untouched", room);
	for (u32 i = 0; i < room && i < 2; i++) {
		check(!strcmp((char *)rule[i].name, i ? "two" : "one") && !rule[i].filter[0],
		      "binding: rule %u has its name and its own filter", i);
		check(rule[i].info.n_rules == 1 && rule[i].info.n_bytes == image.n_bytes &&
			      !memcmp(rule[i].info.name, rule[i].name, sizeof(rule[i].name)),
		      "binding: the filter of rule %u is told", i);
	}
}

static void test_bindings(void)
{
	u32 index[2] = { 1, 1 };
	struct baleen_dev_bindings arg = { .ifindexes = NO_ADDRESS, .room = 2, .n = 77 };

	check_is("bindings: indexes in the kernel", command(fd, BALEEN_DEV_BINDINGS, &arg),
		 -EFAULT);
	check_is("bindings: the answer is untouched", arg.n, 77);
	arg.ifindexes = address(index);
	check_is("bindings: with room", command(fd, BALEEN_DEV_BINDINGS, &arg), 0);
	check(arg.n == 1 && index[0] == ifindex && index[1] == 1, "bindings: this device");
	index[0] = 1;
	arg.room = 0;
	check_is("bindings: without room", command(fd, BALEEN_DEV_BINDINGS, &arg), 0);
	check(arg.n == 1 && index[0] == 1, "bindings: only counted");
}

/* --- with rules ----------------------------------------------------------- */

static void test_bound(void)
{
	struct baleen_dev_rule two[2] = { good_rule("one"), good_rule("two") };
	struct baleen_dev_bind arg = { .ifindex = ifindex,
				       .rules = address(two),
				       .n_rules = 2,
				       .rule_bytes = sizeof(two[0]) };
	struct baleen_dev_get get = { .target = { .ifindex = ifindex } };
	u64 version = 0, next = 0;

	check_is("two rules are bound", command(fd, BALEEN_DEV_BIND, &arg), 0);
	refuse_bind("bind: there are rules", &arg, -EEXIST);
	check_is("the version", version_of(&version), 0);
	arg.flags = BALEEN_DEV_REPLACE;
	arg.version = version + 1;
	refuse_bind("replace: another version", &arg, -ESTALE);
	arg.version = version;
	two[1] = (struct baleen_dev_rule){ .name = "three" };
	refuse_bind("replace: a filter to keep that is not there", &arg, -ENOENT);
	two[1] = (struct baleen_dev_rule){ .name = "two" };
	test_binding(true);
	for (u32 room = 0; room < 3; room++)
		test_binding_room(room);
	test_bindings();
	get.target = (struct baleen_dev_target){ .name = "three", .ifindex = ifindex };
	check_is("target: no such rule", command(fd, BALEEN_DEV_GET, &get), -ENOENT);
	get.target = (struct baleen_dev_target){ .name = "two", .ifindex = ifindex };
	check_is("target: a rule's own filter", command(fd, BALEEN_DEV_GET, &get), 0);
	check_is("target: it has the name of the rule", strcmp((char *)get.info.name, "two"), 0);
	check_is("target: it is that image",
		 memcmp(get.header, image.bytes, sizeof(get.header)) || !get.info.version, 0);
	get.target.ifindex = 0x7fffffff;
	check_is("target: no such device", command(fd, BALEEN_DEV_GET, &get), -ENOENT);
	check_is("replace: with the version, the second keeps its filter",
		 command(fd, BALEEN_DEV_BIND, &arg), 0);
	check_is("the next version", version_of(&next), 0);
	check(next != version, "it is another");
	refuse_bind("replace: the old version", &arg, -ESTALE);
}

/* A filter with a name, which cannot go while a rule asks it. */
static void test_named(void)
{
	struct baleen_dev_rule rule = { .name = "one", .filter = "shared" };
	struct baleen_dev_unbind unbind = { .ifindex = ifindex };
	struct baleen_dev_get get = { .target = { .name = "one", .ifindex = ifindex } };
	struct baleen_dev_info info;

	check_is("a filter with a name", device_create(fd, "shared", image.bytes, image.n_bytes),
		 0);
	check_is("a rule asks it", bind_one(&rule, BALEEN_DEV_REPLACE, 0), 0);
	check_is("target: a rule that asks it", command(fd, BALEEN_DEV_GET, &get), 0);
	check_is("target: it has its own name", strcmp((char *)get.info.name, "shared"), 0);
	check_is("it cannot go", device_destroy(fd, "shared"), -EBUSY);
	check_is("its info", device_info(fd, "shared", &info), 0);
	check_is("one rule asks it", info.n_rules, 1);
	check_is("unbind", command(fd, BALEEN_DEV_UNBIND, &unbind), 0);
	check_is("unbind again", command(fd, BALEEN_DEV_UNBIND, &unbind), -ENOENT);
	check_is("no rule asks it", device_info(fd, "shared", &info) || info.n_rules, 0);
	check_is("it goes", device_destroy(fd, "shared"), 0);
	check_is("a filter of strings", device_create(fd, "shared", strings.bytes, strings.n_bytes),
		 0);
	refuse_rule("a rule asks for strings", &rule, -EOPNOTSUPP);
	check_is("nor holds it that", device_destroy(fd, "shared"), 0);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		errx(2, "usage: hook_refused DEVICE IMAGE STRINGS");
	ifindex = if_nametoindex(argv[1]);
	image = file_read(argv[2]);
	strings = file_read(argv[3]);
	fd = device_open(O_RDWR);
	fd_ro = device_open(O_RDONLY);
	fd_wo = device_open(O_WRONLY);
	test_bind_args();
	test_names();
	test_qualifiers();
	test_images();
	test_rights();
	test_unbind();
	test_binding(false);
	check_is("no filter is left", device_n(fd), 0);
	test_bound();
	test_named();
	check_is("nothing is bound at the end", n_bound(), 0);
	check_is("no filter is left at the end", device_n(fd), 0);
	return tap_end();
}
