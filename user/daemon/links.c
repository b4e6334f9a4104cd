// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Devices that re-appear: what was applied to them is put on again. */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/epoll.h>
#include <syslog.h>

#include "daemon.h"
#include "deploy.h"

static void restore(struct daemon *daemon, const char *device)
{
	struct baleen_attempts attempts = { 0 };
	struct baleen_deploy deploy;
	struct baleen_error error;
	int err = baleen_deploy_open(&deploy, device, BALEEN_LOCK_TIMEOUT_MS, &error);
	bool was_attached;

	if (err == -ENOENT)
		return;
	if (!err) {
		was_attached = deploy.has_xdp && deploy.xdp.state == BALEEN_XDP_ATTACHED;
		if (deploy.state.is_kept && !was_attached)
			err = baleen_deploy_restore(&deploy, &attempts, &error);
		else
			was_attached = true;
		baleen_deploy_close(&deploy);
	}
	if (err) {
		tell(daemon, LOG_ERR, device, "cannot put its rules on again: %s", error.text);
	} else if (!was_attached) {
		daemon->me.n_reattached++;
		tell(daemon, LOG_NOTICE, device, "is back: its rules are in force again, %s",
		     baleen_mode_text(attempts.mode));
	}
}

static int take_name(const struct nlattr *attribute, void *data)
{
	char *name = data;

	if (mnl_attr_get_type(attribute) == IFLA_IFNAME &&
	    !mnl_attr_validate(attribute, MNL_TYPE_NUL_STRING))
		strncpy(name, mnl_attr_get_str(attribute), IF_NAMESIZE - 1);
	return MNL_CB_OK;
}

/* Only of a device that was not there before: who detached one by hand meant it. */
static int take_news(const struct nlmsghdr *message, void *data)
{
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(message);
	char name[IF_NAMESIZE] = "";

	if (message->nlmsg_type != RTM_NEWLINK || info->ifi_change != ~0u)
		return MNL_CB_OK;
	mnl_attr_parse(message, sizeof(*info), take_name, name);
	if (*name)
		restore(data, name);
	return MNL_CB_OK;
}

static int on_news(sd_event_source *source, int fd, uint32_t events, void *data)
{
	struct daemon *daemon = data;
	char news[8192] __attribute__((aligned(8)));
	ssize_t n = mnl_socket_recvfrom(daemon->link, news, sizeof(news));

	/* What was lost was news: devices that came meanwhile are found by name. */
	if (n < 0 && errno != ENOBUFS)
		tell(daemon, LOG_ERR, NULL, "news of devices: %m");
	if (n > 0)
		mnl_cb_run(news, n, 0, 0, take_news, daemon);
	return 0;
}

int links_start(struct daemon *daemon)
{
	int err;

	daemon->link = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (!daemon->link || mnl_socket_bind(daemon->link, RTMGRP_LINK, MNL_SOCKET_AUTOPID)) {
		err = -errno;
		tell(daemon, LOG_ERR, NULL, "cannot hear of devices: %m");
		return err;
	}
	err = sd_event_add_io(daemon->event, NULL, mnl_socket_get_fd(daemon->link), EPOLLIN,
			      on_news, daemon);
	return err < 0 ? err : 0;
}

void links_stop(struct daemon *daemon)
{
	if (daemon->link)
		mnl_socket_close(daemon->link);
}
