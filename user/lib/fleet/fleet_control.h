/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Messages of operators: a key is let go, a publisher is suspended.
 */
#ifndef BALEEN_FLEET_CONTROL_H
#define BALEEN_FLEET_CONTROL_H

#include "fleet/fleet_apply.h"

/**
 * baleen_fleet_control_apply() - do what an operator asks for
 * @work: a control message that was verified, of somebody who may
 *
 * What is not newer than what was asked before is a duplicate.
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_control_apply(struct baleen_fleet_work *work);

#endif /* BALEEN_FLEET_CONTROL_H */
