// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleend: maintains what the kernel enforces; started by systemd, or by hand. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>
#include <syslog.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>
#include <time.h>
#include <unistd.h>

#include "cli/icp/icp_serve.h"
#include "daemon.h"
#include "daemon/digest_server.h"
#include "net/device.h"
#include "release.h"
#include "state/rule_store_path.h"

#define DEFAULT_LISTEN "127.0.0.1:9733"
#define DEFAULT_COMMAND "/usr/sbin/baleen"

/* --- messages -------------------------------------------------------------- */

static bool has_journal(void)
{
	static int answer = -1;

	if (answer < 0)
		answer = getenv("JOURNAL_STREAM") != NULL;
	return answer;
}

static u64 hash(const char *text, u64 from)
{
	/* FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/ */
	while (*text)
		from = (from ^ (u8)*text++) * 0x100000001b3;
	return from;
}

/* What is tried again and again fails in the same words. */
static bool is_told(struct daemon *daemon, const char *device, const char *text)
{
	u64 what = hash(text, hash(device ? device : "", 0xcbf29ce484222325));
	u64 now = now_us(daemon);
	struct daemon_told *oldest = daemon->told;

	for (size_t i = 0; i < DAEMON_MAX_TOLD; i++) {
		struct daemon_told *told = &daemon->told[i];

		if (told->at_us && told->what == what && now - told->at_us < DAEMON_REPEAT_US)
			return true;
		if (told->at_us < oldest->at_us)
			oldest = told;
	}
	*oldest = (struct daemon_told){ .what = what, .at_us = now };
	return false;
}

void tell(struct daemon *daemon, int priority, const char *device, const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (priority <= LOG_ERR && is_told(daemon, device, text))
		return;
	daemon->me.n_errors += priority <= LOG_ERR;
	if (has_journal())
		sd_journal_send("PRIORITY=%i", priority, "MESSAGE=%s%s%s", device ? device : "",
				device ? ": " : "", text, "BALEEN_DEVICE=%s", device ? device : "",
				NULL);
	else
		fprintf(stderr, "baleend: %s%s%s\n", device ? device : "", device ? ": " : "",
			text);
}

/* --- the loop -------------------------------------------------------------- */

int timer_make(struct daemon *daemon, sd_event_source **timer, u64 after_us,
	       sd_event_time_handler_t handler)
{
	return sd_event_add_time_relative(daemon->event, timer, CLOCK_MONOTONIC, after_us, 1000,
					  handler, daemon);
}

void timer_set(sd_event_source *timer, u64 after_us)
{
	sd_event_source_set_time_relative(timer, after_us);
	sd_event_source_set_enabled(timer, SD_EVENT_ONESHOT);
}

u64 now_us(struct daemon *daemon)
{
	uint64_t now = 0;

	sd_event_now(daemon->event, CLOCK_MONOTONIC, &now);
	return now;
}

void timer_sooner(struct daemon *daemon, sd_event_source *timer, u64 after_us)
{
	int enabled = SD_EVENT_OFF;
	uint64_t at;

	if (!sd_event_source_get_enabled(timer, &enabled) || enabled == SD_EVENT_OFF ||
	    sd_event_source_get_time(timer, &at) < 0 || at > now_us(daemon) + after_us)
		timer_set(timer, after_us);
}

/* Many files live in that directory; an overrun of the kernel's queue has no name. */
static int on_change(sd_event_source *source, const struct inotify_event *event, void *data)
{
	if (event->len && strcmp(event->name, "changed"))
		return 0;
	upkeep_now(data);
	refresh_now(data);
	return 0;
}

/* Writers touch a file there when they have committed. */
static int watch_states(struct daemon *daemon)
{
	const char *root = baleen_rule_store_root(false);
	struct baleen_error error;
	int err = baleen_rule_store_make_root(false, &error);

	if (err) {
		tell(daemon, LOG_ERR, NULL, "%s", error.text);
		return err;
	}
	err = sd_event_add_inotify(daemon->event, NULL, root, IN_ATTRIB | IN_CLOSE_WRITE, on_change,
				   daemon);
	if (err < 0)
		tell(daemon, LOG_ERR, NULL, "%s: %s", root, strerror(-err));
	return err < 0 ? err : 0;
}

/* A timer that never fires, but is cancelled when somebody sets the clock. */
static int arm_clock(struct daemon *daemon)
{
	const struct itimerspec never = { .it_value.tv_sec = INT32_MAX };

	return timerfd_settime(daemon->clock, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never,
			       NULL);
}

static int on_clock(sd_event_source *source, int fd, uint32_t events, void *data)
{
	uint64_t n;

	if (read(fd, &n, sizeof(n)) < 0 && errno != ECANCELED)
		return 0;
	arm_clock(data);
	upkeep_now(data);
	refresh_now(data);
	return 0;
}

/* Entries end, and feeds are due, by the time of day; timers wait for so long. */
static int watch_clock(struct daemon *daemon)
{
	int err;

	daemon->clock = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
	if (daemon->clock < 0 || arm_clock(daemon)) {
		err = -errno;
		tell(daemon, LOG_ERR, NULL, "cannot watch the clock: %m");
		return err;
	}
	err = sd_event_add_io(daemon->event, NULL, daemon->clock, EPOLLIN, on_clock, daemon);
	return err < 0 ? err : 0;
}

static int add_signals(struct daemon *daemon)
{
	static const int signals[] = { SIGTERM, SIGINT };
	sigset_t blocked;
	int err = 0;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGCHLD);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaddset(&blocked, signals[i]);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]) && err >= 0; i++)
		err = sd_event_add_signal(daemon->event, NULL, signals[i], NULL, NULL);
	return err < 0 ? err : 0;
}

static int start(struct daemon *daemon)
{
	int err = add_signals(daemon);

	if (!err)
		err = watch_states(daemon);
	if (!err)
		err = watch_clock(daemon);
	if (!err)
		err = upkeep_start(daemon);
	if (!err)
		err = refresh_start(daemon);
	if (!err)
		err = links_start(daemon);
	if (!err)
		err = drops_start(daemon);
	if (!err)
		err = http_start(daemon);
	return err;
}

static int loop(struct daemon *daemon)
{
	int err = sd_event_new(&daemon->event);

	if (err < 0)
		return err;
	err = start(daemon);
	if (!err) {
		sd_event_set_watchdog(daemon->event, true);
		sd_notify(false, "READY=1");
		err = sd_event_loop(daemon->event);
		sd_notify(false, "STOPPING=1");
	}
	refresh_stop(daemon);
	http_stop(daemon);
	drops_stop(daemon);
	links_stop(daemon);
	if (daemon->clock >= 0)
		close(daemon->clock);
	baleen_metrics_counts_free(&daemon->counts);
	sd_event_unref(daemon->event);
	return err;
}

/* --- options --------------------------------------------------------------- */

static const char usage[] =
	"usage: baleend [OPTION...]\n\n"
	"Maintains what baleen has put on devices: single entries that end, feeds that are due,\n"
	"devices that re-appear, sampled drops to the journal, metrics. Packets are filtered by\n"
	"the kernel, whether it runs or not.\n\n"
	"  --listen ADDRESS:PORT  metrics over HTTP (127.0.0.1:9733), or off\n"
	"  --textfile FILE        metrics for node_exporter, every 15 s\n"
	"  --command FILE         the command that updates feeds (/usr/sbin/baleen)\n"
	"  --no-drops             do not read the sampled drops\n"
	"  --serve-digest ...     serve a cache digest instead: see 'baleen help icp serve'\n"
	"  -V, --version          the release\n"
	"  -h, --help             this text\n";

/* 0 to go on, else the exit status + 1. */
static int parse(struct daemon_options *options, int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "listen", required_argument, NULL, 'l' },
		{ "textfile", required_argument, NULL, 't' },
		{ "command", required_argument, NULL, 'c' },
		{ "no-drops", no_argument, NULL, 'n' },
		{ "version", no_argument, NULL, 'V' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "Vh", long_options, NULL)) != -1) {
		switch (option) {
		case 'l': options->listen = strcmp(optarg, "off") ? optarg : NULL; break;
		case 't': options->textfile = optarg; break;
		case 'c': options->command = optarg; break;
		case 'n': options->no_drops = true; break;
		case 'V': puts("baleend " BALEEN_RELEASE); return 1;
		case 'h': fputs(usage, stdout); return 1;
		default: fputs("baleend: see 'baleend --help'\n", stderr); return 3;
		}
	}
	if (optind == argc)
		return 0;
	fprintf(stderr, "baleend: '%s': takes no arguments\n", argv[optind]);
	return 3;
}

int main(int argc, char **argv)
{
	struct daemon daemon = {
		.options = { .listen = DEFAULT_LISTEN, .command = DEFAULT_COMMAND }, .clock = -1
	};
	struct baleen_error error;
	int err;

	if (argc > 1 && !strcmp(argv[1], ICP_SERVE_OPTION)) {
		/* getopt_long() starts its messages with it. */
		argv[1] = "baleen";
		return serve_digest(argc - 1, argv + 1);
	}
	err = parse(&daemon.options, argc, argv);
	if (err)
		return err - 1;
	if (baleen_device_privileges(&error)) {
		fprintf(stderr, "baleend: %s\n", error.text);
		return EXIT_FAILURE;
	}
	signal(SIGPIPE, SIG_IGN);
	daemon.me.started_s = time(NULL);
	return loop(&daemon) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
