// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The settings of a network device's driver. */
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/ethtool.h"

/* Linux 6.18 has 61. */
#define MAX_FEATURES 1024

static int ask(const char *device, void *command)
{
	struct ifreq request = { .ifr_data = command };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int err;

	if (fd < 0)
		return -errno;
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", device);
	err = ioctl(fd, SIOCETHTOOL, &request) ? -errno : 0;
	close(fd);
	return err;
}

static int count_features(const char *device, u32 *n)
{
	size_t bytes = sizeof(struct ethtool_sset_info) + sizeof(u32);
	struct ethtool_sset_info *info = calloc(1, bytes);
	int err;

	if (!info)
		return -ENOMEM;
	info->cmd = ETHTOOL_GSSET_INFO;
	info->sset_mask = 1ull << ETH_SS_FEATURES;
	err = ask(device, info);
	if (!err && (!info->sset_mask || info->data[0] > MAX_FEATURES))
		err = -EOPNOTSUPP;
	if (!err)
		*n = info->data[0];
	free(info);
	return err;
}

/* The number of a feature; -ENOENT when the kernel has none of that name. */
static int find_feature(const char *device, const char *name, u32 n)
{
	struct ethtool_gstrings *names = calloc(1, sizeof(*names) + (size_t)n * ETH_GSTRING_LEN);
	int err;

	if (!names)
		return -ENOMEM;
	names->cmd = ETHTOOL_GSTRINGS;
	names->string_set = ETH_SS_FEATURES;
	names->len = n;
	err = ask(device, names);
	for (u32 i = 0; !err && i < n && i < names->len; i++) {
		if (!strncmp((char *)names->data + i * ETH_GSTRING_LEN, name, ETH_GSTRING_LEN)) {
			free(names);
			return i;
		}
	}
	free(names);
	return err ? err : -ENOENT;
}

static int read_feature(const char *device, u32 number, u32 n,
			struct baleen_ethtool_feature *feature)
{
	u32 n_blocks = (n + 31) / 32, bit = 1u << number % 32;
	struct ethtool_gfeatures *all =
		calloc(1, sizeof(*all) + n_blocks * sizeof(all->features[0]));
	const struct ethtool_get_features_block *block;
	int err;

	if (!all)
		return -ENOMEM;
	all->cmd = ETHTOOL_GFEATURES;
	all->size = n_blocks;
	err = ask(device, all);
	block = &all->features[number / 32];
	if (!err)
		*feature = (struct baleen_ethtool_feature){
			.is_known = true,
			.is_on = block->active & bit,
			.is_fixed = !(block->available & bit) || block->never_changed & bit,
		};
	free(all);
	return err;
}

int baleen_ethtool_feature(const char *device, const char *name,
			   struct baleen_ethtool_feature *feature)
{
	u32 n;
	int err = count_features(device, &n), number;

	if (err)
		return err;
	number = find_feature(device, name, n);
	if (number == -ENOENT) {
		*feature = (struct baleen_ethtool_feature){ 0 };
		return 0;
	}
	return number < 0 ? number : read_feature(device, number, n, feature);
}

int baleen_ethtool_channels(const char *device, struct baleen_ethtool_channels *channels)
{
	struct ethtool_channels found = { .cmd = ETHTOOL_GCHANNELS };
	int err = ask(device, &found);

	if (err)
		return err;
	*channels = (struct baleen_ethtool_channels){
		.n = found.rx_count + found.combined_count,
		.max = found.max_combined ? found.max_combined : found.max_rx,
		.is_combined = found.max_combined,
	};
	return 0;
}

int baleen_ethtool_driver(const char *device, char *driver)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	int err = ask(device, &info);

	if (!err)
		snprintf(driver, BALEEN_DRIVER_BYTES, "%.31s", info.driver);
	return err;
}

bool baleen_ethtool_strips_tags(const char *device)
{
	struct ethtool_value flags = { .cmd = ETHTOOL_GFLAGS };

	return !ask(device, &flags) && flags.data & ETH_FLAG_RXVLAN;
}
