// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Asks the twin of the program on a device about the packets on stdin.
 *
 *      twin DEVICE
 *
 * A line is a flow key as in lists, PROTO,SRC,DST,SPORT,DPORT, then `vlan N`
 * and the TCP flags `syn` or `ack`, where they are wanted. Prints `same` or
 * `other` for the program, then for each line the verdict and who decided:
 * `drop rule NAME`, `pass unmatched` ..., the rules that counted it behind
 * `counted`, and behind `live` what the program said when it was asked itself.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "key/key_text.h"
#include "net/frame.h"
#include "xdp/shadow_prog.h"

static const char *const outcomes[BALEEN_N_OUTCOMES] = {
	[BALEEN_OUTCOME_RULE] = "rule",	      [BALEEN_OUTCOME_UNMATCHED] = "unmatched",
	[BALEEN_OUTCOME_VITAL] = "vital",     [BALEEN_OUTCOME_NOT_IP] = "not_ip",
	[BALEEN_OUTCOME_MPLS] = "mpls",	      [BALEEN_OUTCOME_TAGS] = "tags",
	[BALEEN_OUTCOME_VERSION] = "version", [BALEEN_OUTCOME_SHORT] = "short",
};

/* See the picture of struct baleen_key. */
static void fields_of(const struct baleen_key *key, struct baleen_fields *fields)
{
	*fields = (struct baleen_fields){
		.is_ip6 = key->rest >> 40 & 1,
		.src_hi = key->hi,
		.src_lo = key->lo,
		.dst_hi = key->dst_hi,
		.dst_lo = key->dst_lo,
		.proto = key->rest >> 32,
		.sport = key->rest >> 16,
		.dport = key->rest,
	};
}

static void make_frame(char *line, struct baleen_frame *frame)
{
	char *word = strtok(line, " \n");
	u32 vlan = BALEEN_VLAN_NONE;
	struct baleen_fields fields;
	struct baleen_key key;
	const char *reason = "empty line";
	u8 flags = 0;

	if (!word || baleen_key_parse(word, strlen(word), BALEEN_KEY_FLOW, &key, &reason))
		errx(2, "%s: %s", word ? word : "", reason);
	fields_of(&key, &fields);
	while ((word = strtok(NULL, " \n"))) {
		if (!strcmp(word, "syn"))
			flags = BALEEN_TCP_SYN;
		else if (!strcmp(word, "ack"))
			flags = BALEEN_TCP_ACK;
		else if (!strcmp(word, "vlan") && (word = strtok(NULL, " \n")))
			vlan = atoi(word);
		else
			errx(2, "'%s'?", word ? word : "vlan");
	}
	baleen_frame_make(&fields, vlan, flags, BALEEN_FRAME_WHOLE, frame);
}

static void print_answer(const struct baleen_xdp *xdp,
			 const struct baleen_shadow_prog_answer *answer)
{
	const struct baleen_judgement *judgement = &answer->judgement;

	printf("%s %s", judgement->is_drop ? "drop" : "pass", outcomes[judgement->outcome]);
	if (judgement->outcome == BALEEN_OUTCOME_RULE)
		printf(" %s", xdp->config.rule[judgement->rule].image.name);
	for (u32 i = 0; i < xdp->config.n_rules; i++)
		if (judgement->counted >> i & 1)
			printf(" counted %s", xdp->config.rule[i].image.name);
	if (answer->is_live_asked)
		printf(" live %s", answer->is_live_drop ? "drop" : "pass");
	putchar('\n');
}

int main(int argc, char **argv)
{
	struct baleen_shadow_prog_answer answer;
	struct baleen_error error;
	struct baleen_frame frame;
	struct baleen_shadow_prog shadow;
	struct baleen_xdp xdp;
	char line[256];

	if (argc != 2)
		errx(2, "usage: twin DEVICE");
	if (baleen_xdp_open(&xdp, argv[1], false, &error) ||
	    baleen_shadow_prog_open(&xdp, &shadow, &error))
		errx(1, "%s", error.text);
	puts(shadow.is_same ? "same" : "other");
	while (fgets(line, sizeof(line), stdin)) {
		make_frame(line, &frame);
		if (baleen_shadow_prog_ask(&shadow, frame.bytes, frame.n_bytes, &answer, &error))
			errx(1, "%s", error.text);
		print_answer(&xdp, &answer);
	}
	baleen_shadow_prog_close(&shadow);
	baleen_xdp_close(&xdp);
	return 0;
}
