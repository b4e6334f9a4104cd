/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Devices that come and go, such as those of containers: what they leave behind is bounded.
 *
 *      a filter whose device was deleted      goes at once where a kept state can make it again;
 *                                             of those made by hand, which `status` tells of, the
 *                                             last BALEEN_GONE_KEPT stay
 *      a state that default.conf made         stays for its device to come back; of the devices
 *                                             that are gone the last BALEEN_GONE_KEPT have one
 *
 * States of other configurations stay, as their files do. Bans and other entries are the book's.
 */
#ifndef BALEEN_GONE_H
#define BALEEN_GONE_H

/* More than the ports of most cards, whose driver may be loaded anew. */
#define BALEEN_GONE_KEPT 16

/**
 * baleen_gone_tidy() - forget what deleted devices of this network namespace have left
 *
 * What another command holds, or cannot be read, is left to the next one.
 */
void baleen_gone_tidy(void);

#endif /* BALEEN_GONE_H */
