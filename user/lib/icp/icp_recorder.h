/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the events that the programs record, into a journal, while other work goes on.
 */
#ifndef BALEEN_ICP_RECORDER_H
#define BALEEN_ICP_RECORDER_H

#include <pthread.h>

#include "icp/icp_journal.h"
#include "util/error.h"

struct ring_buffer;

/**
 * struct baleen_icp_recorder - who reads the log
 * @state: state of the programs, mapped
 * @journal: where events go; of whoever has the lock
 * @ring: the log
 * @lock: guards @journal, @ring and the fields below
 * @thread: reads while others work
 * @wake_fd: readable: the thread is to end
 * @is_discarding: what comes is older than the recording
 * @n_events: number of events of the journal's sibling, since the start
 * @n_unrecorded: of @state, at the start
 * @err: first error of the journal
 *
 * All zeros records nothing: locking and stopping it does nothing.
 */
struct baleen_icp_recorder {
	struct baleen_icp_state *state;
	struct baleen_icp_journal *journal;
	struct ring_buffer *ring;
	pthread_mutex_t lock;
	pthread_t thread;
	int wake_fd;
	bool is_discarding;
	u64 n_events;
	u64 n_unrecorded;
	int err;
};

/**
 * baleen_icp_recorder_start() - record from now on
 * @recorder: filled in; end with baleen_icp_recorder_stop()
 * @log_fd: the ring of events, which nobody else reads
 * @state: state of the programs, mapped and writable; recording is off
 * @journal: gets the events; to be used with the lock alone
 * @error: filled in on failure, without the name of the device
 *
 * Discards the events that a killed recorder left in the ring. Signals that the caller
 * blocks stay blocked in the thread, too.
 *
 * Return: 0 or a negative errno: nothing is recorded then, and @recorder is all zeros.
 */
int baleen_icp_recorder_start(struct baleen_icp_recorder *recorder, int log_fd,
			      struct baleen_icp_state *state, struct baleen_icp_journal *journal,
			      struct baleen_error *error);

/**
 * baleen_icp_recorder_stop() - record no more
 * @recorder: started, or all zeros; afterwards all zeros
 */
void baleen_icp_recorder_stop(struct baleen_icp_recorder *recorder);

/**
 * baleen_icp_recorder_lock() - have the journal for oneself
 * @recorder: started, or all zeros
 */
void baleen_icp_recorder_lock(struct baleen_icp_recorder *recorder);

/**
 * baleen_icp_recorder_unlock() - the opposite
 * @recorder: locked
 */
void baleen_icp_recorder_unlock(struct baleen_icp_recorder *recorder);

/**
 * baleen_icp_recorder_read() - what has been recorded so far into the journal
 * @recorder: locked
 *
 * Return: how many events of any sibling.
 */
u32 baleen_icp_recorder_read(struct baleen_icp_recorder *recorder);

/**
 * baleen_icp_recorder_catch_up() - every program that runs now to its end, and read it
 * @recorder: started, or all zeros; locked
 *
 * Return: 0; -EAGAIN when events found no room in the log; -ENOMEM.
 */
int baleen_icp_recorder_catch_up(struct baleen_icp_recorder *recorder);

#endif /* BALEEN_ICP_RECORDER_H */
