// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads the events that the programs record. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "icp/icp_links.h"
#include "icp/icp_recorder.h"

static int receive_event(void *data, void *bytes, size_t n_bytes)
{
	struct baleen_icp_recorder *recorder = data;
	struct baleen_icp_event event;
	int err;

	if (recorder->is_discarding || n_bytes < sizeof(event))
		return 0;
	memcpy(&event, bytes, sizeof(event));
	recorder->n_events += event.siblings >> recorder->journal->sibling & 1;
	err = baleen_icp_journal_event(recorder->journal, &event);
	if (err && !recorder->err)
		recorder->err = err;
	return 0;
}

u32 baleen_icp_recorder_read(struct baleen_icp_recorder *recorder)
{
	int n = recorder->ring ? ring_buffer__consume(recorder->ring) : 0;

	return n < 0 ? 0 : n;
}

static void *read_on(void *data)
{
	struct baleen_icp_recorder *recorder = data;
	struct pollfd fds[2] = {
		{ .fd = ring_buffer__epoll_fd(recorder->ring), .events = POLLIN },
		{ .fd = recorder->wake_fd, .events = POLLIN },
	};

	while (!(fds[1].revents & POLLIN)) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		pthread_mutex_lock(&recorder->lock);
		baleen_icp_recorder_read(recorder);
		pthread_mutex_unlock(&recorder->lock);
	}
	return NULL;
}

/* Recording is off, but a program may have seen that it was on. */
static void discard(struct baleen_icp_recorder *recorder)
{
	baleen_icp_wait_for_programs();
	recorder->is_discarding = true;
	while (baleen_icp_recorder_read(recorder))
		;
	recorder->is_discarding = false;
}

static int begin(struct baleen_icp_recorder *recorder)
{
	int err;

	discard(recorder);
	recorder->n_unrecorded = __atomic_load_n(&recorder->state->n_unrecorded, __ATOMIC_ACQUIRE);
	recorder->wake_fd = eventfd(0, EFD_CLOEXEC);
	if (recorder->wake_fd < 0)
		return -errno;
	pthread_mutex_init(&recorder->lock, NULL);
	err = pthread_create(&recorder->thread, NULL, read_on, recorder);
	if (err) {
		close(recorder->wake_fd);
		return -err;
	}
	__atomic_store_n(&recorder->state->is_recording, 1, __ATOMIC_SEQ_CST);
	/* Seen by programs before the table is read, which not each machine does of a store and a
	 * load: tests/litmus/recorder-fence.litmus.
	 */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return 0;
}

int baleen_icp_recorder_start(struct baleen_icp_recorder *recorder, int log_fd,
			      struct baleen_icp_state *state, struct baleen_icp_journal *journal,
			      struct baleen_error *error)
{
	int err;

	*recorder = (struct baleen_icp_recorder){ .state = state, .journal = journal };
	recorder->ring = ring_buffer__new(log_fd, receive_event, recorder, NULL);
	err = recorder->ring ? begin(recorder) : -errno;
	if (!err)
		return 0;
	ring_buffer__free(recorder->ring);
	memset(recorder, 0, sizeof(*recorder));
	return baleen_fail(error, -err, "cannot read the log of events: %s", strerror(-err));
}

void baleen_icp_recorder_stop(struct baleen_icp_recorder *recorder)
{
	u64 one = 1;

	if (!recorder->ring)
		return;
	__atomic_store_n(&recorder->state->is_recording, 0, __ATOMIC_SEQ_CST);
	if (write(recorder->wake_fd, &one, sizeof(one)) == sizeof(one))
		pthread_join(recorder->thread, NULL);
	close(recorder->wake_fd);
	pthread_mutex_destroy(&recorder->lock);
	ring_buffer__free(recorder->ring);
	memset(recorder, 0, sizeof(*recorder));
}

void baleen_icp_recorder_lock(struct baleen_icp_recorder *recorder)
{
	if (recorder->ring)
		pthread_mutex_lock(&recorder->lock);
}

void baleen_icp_recorder_unlock(struct baleen_icp_recorder *recorder)
{
	if (recorder->ring)
		pthread_mutex_unlock(&recorder->lock);
}

int baleen_icp_recorder_catch_up(struct baleen_icp_recorder *recorder)
{
	if (!recorder->ring)
		return 0;
	baleen_icp_wait_for_programs();
	baleen_icp_recorder_read(recorder);
	if (__atomic_load_n(&recorder->state->n_unrecorded, __ATOMIC_ACQUIRE) !=
	    recorder->n_unrecorded)
		return -EAGAIN;
	return recorder->err == -ENOMEM ? -ENOMEM : 0;
}
