// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A connection to a Redis. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fleetd/redis.h"
#include "util/clock.h"
#include "util/fd.h"

/* A snapshot of a million entries fits; what is longer is no answer to us. */
#define MAX_ANSWER_BYTES (256u << 20)
/* Streams nest 4 times: an array of streams, of entries, of fields. */
#define MAX_DEPTH 8
/* A dead peer is noticed after so many seconds of silence, and as many for three questions. */
#define KEEPALIVE_S 10

static int fail(struct redis *redis, int code, struct baleen_error *error, const char *what)
{
	baleen_fail(error, code, "%s:%s: %s", redis->server.host, redis->server.port, what);
	redis_close(redis);
	return -code;
}

/* --- bytes ---------------------------------------------------------------------- */

/* 0, -EAGAIN when the wake descriptor was first, -ETIMEDOUT. */
static int wait_for(int fd, short events, int wake_fd, u64 deadline_ms)
{
	struct pollfd fds[] = { { .fd = fd, .events = events },
				{ .fd = wake_fd, .events = POLLIN } };
	u64 now_ms;
	int n;

	do {
		now_ms = baleen_monotonic_ms();
		n = poll(fds, 2, now_ms < deadline_ms ? (int)(deadline_ms - now_ms) : 0);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (!n)
		return -ETIMEDOUT;
	return fds[0].revents ? 0 : -EAGAIN;
}

/* Bytes, 0 when it would block, or a negative errno; -EPIPE at the end. */
static ssize_t read_some(struct redis *redis, void *to, size_t room)
{
	ssize_t n;

	if (redis->is_tls) {
		do {
			n = gnutls_record_recv(redis->session, to, room);
		} while (n == GNUTLS_E_INTERRUPTED || n == GNUTLS_E_REHANDSHAKE);
		if (n == GNUTLS_E_AGAIN)
			return 0;
		return n > 0 ? n : n ? -EIO : -EPIPE;
	}
	n = recv(redis->fd, to, room, 0);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	return n ? n : -EPIPE;
}

static ssize_t write_some(struct redis *redis, const void *from, size_t n_bytes)
{
	ssize_t n;

	if (redis->is_tls) {
		do {
			n = gnutls_record_send(redis->session, from, n_bytes);
		} while (n == GNUTLS_E_INTERRUPTED);
		return n >= 0 ? n : n == GNUTLS_E_AGAIN ? 0 : -EIO;
	}
	n = send(redis->fd, from, n_bytes, MSG_NOSIGNAL);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	return n;
}

static int write_all(struct redis *redis, const char *bytes, size_t n_bytes)
{
	u64 deadline_ms = baleen_monotonic_ms() + REDIS_STEP_MS;

	while (n_bytes) {
		ssize_t n = write_some(redis, bytes, n_bytes);

		if (n < 0)
			return n;
		if (!n) {
			int err = wait_for(redis->fd, POLLOUT, -1, deadline_ms);

			if (err)
				return err;
		} else {
			deadline_ms = baleen_monotonic_ms() + REDIS_STEP_MS;
		}
		bytes += n;
		n_bytes -= n;
	}
	return 0;
}

/* --- connect -------------------------------------------------------------------- */

static int open_socket(struct redis *redis, const struct addrinfo *address)
{
	int one = 1, idle = KEEPALIVE_S, between = KEEPALIVE_S / 3, n = 3, code = 0;
	socklen_t length = sizeof(code);

	redis->fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (redis->fd < 0)
		return -errno;
	setsockopt(redis->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(redis->fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
	setsockopt(redis->fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	setsockopt(redis->fd, IPPROTO_TCP, TCP_KEEPINTVL, &between, sizeof(between));
	setsockopt(redis->fd, IPPROTO_TCP, TCP_KEEPCNT, &n, sizeof(n));
	if (!connect(redis->fd, address->ai_addr, address->ai_addrlen))
		return 0;
	if (errno != EINPROGRESS)
		return -errno;
	code = -wait_for(redis->fd, POLLOUT, -1, baleen_monotonic_ms() + REDIS_STEP_MS);
	if (!code && getsockopt(redis->fd, SOL_SOCKET, SO_ERROR, &code, &length))
		code = errno;
	return -code;
}

static int open_stream(struct redis *redis, struct baleen_error *error)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG };
	struct addrinfo *all = NULL;
	int err = getaddrinfo(redis->server.host, redis->server.port, &hints, &all);

	if (err)
		return fail(redis, EHOSTUNREACH, error, gai_strerror(err));
	err = -EHOSTUNREACH;
	for (const struct addrinfo *one = all; one && err; one = one->ai_next) {
		baleen_close_fd(&redis->fd);
		err = open_socket(redis, one);
	}
	freeaddrinfo(all);
	return err ? fail(redis, -err, error, strerror(-err)) : 0;
}

static int load_credentials(struct redis *redis, const struct baleen_fleet_conf *conf,
			    struct baleen_error *error)
{
	int n = gnutls_certificate_allocate_credentials(&redis->credentials);

	if (!n)
		n = gnutls_certificate_set_x509_trust_file(redis->credentials, conf->tls_ca,
							   GNUTLS_X509_FMT_PEM);
	if (n <= 0) {
		redis_close(redis);
		return baleen_fail(error, EINVAL, "%s: no certificate: %s", conf->tls_ca,
				   n ? gnutls_strerror(n) : "it is empty");
	}
	n = *conf->tls_cert ?
		    gnutls_certificate_set_x509_key_file(redis->credentials, conf->tls_cert,
							 conf->tls_key, GNUTLS_X509_FMT_PEM) :
		    0;
	if (!n)
		return 0;
	redis_close(redis);
	return baleen_fail(error, EINVAL, "%s, %s: %s", conf->tls_cert, conf->tls_key,
			   gnutls_strerror(n));
}

static int shake_hands(struct redis *redis, struct baleen_error *error)
{
	u64 deadline_ms = baleen_monotonic_ms() + REDIS_STEP_MS;
	int n;

	while ((n = gnutls_handshake(redis->session)) < 0 && !gnutls_error_is_fatal(n)) {
		short events = gnutls_record_get_direction(redis->session) ? POLLOUT : POLLIN;
		int err = wait_for(redis->fd, events, -1, deadline_ms);

		if (err)
			return fail(redis, -err, error, "TLS: no handshake in time");
	}
	if (n == GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR) {
		gnutls_datum_t why = { 0 };
		int err;

		gnutls_certificate_verification_status_print(gnutls_session_get_verify_cert_status(
								     redis->session),
							     GNUTLS_CRT_X509, &why, 0);
		err = fail(redis, EACCES, error, why.data ? (char *)why.data : gnutls_strerror(n));
		gnutls_free(why.data);
		return err;
	}
	return n ? fail(redis, EPROTO, error, gnutls_strerror(n)) : 0;
}

static bool is_address(const char *host)
{
	return strchr(host, ':') || !host[strspn(host, "0123456789.")];
}

static int start_tls(struct redis *redis, const struct baleen_fleet_conf *conf,
		     struct baleen_error *error)
{
	const char *host = redis->server.host;
	int err = load_credentials(redis, conf, error);

	if (err)
		return err;
	if (gnutls_init(&redis->session, GNUTLS_CLIENT | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL))
		return fail(redis, ENOMEM, error, "no TLS session");
	redis->is_tls = true;
	gnutls_set_default_priority(redis->session);
	gnutls_credentials_set(redis->session, GNUTLS_CRD_CERTIFICATE, redis->credentials);
	if (!is_address(host))
		gnutls_server_name_set(redis->session, GNUTLS_NAME_DNS, host, strlen(host));
	gnutls_session_set_verify_cert(redis->session, redis->server.host, 0);
	gnutls_transport_set_int(redis->session, redis->fd);
	return shake_hands(redis, error);
}

static int log_in(struct redis *redis, const struct baleen_fleet_conf *conf,
		  struct baleen_error *error)
{
	char password[BALEEN_FLEET_PASSWORD];
	redisReply *reply = NULL;
	int err = *conf->user ? baleen_fleet_conf_password(conf, password, error) : 0;

	if (err || !*conf->user)
		return err;
	err = redis_call(redis, &reply, error, "AUTH %s %s", conf->user, password);
	explicit_bzero(password, sizeof(password));
	if (!err)
		freeReplyObject(reply);
	return err;
}

static int connect_to(struct redis *redis, const struct baleen_fleet_conf *conf,
		      const struct baleen_fleet_server *server, struct baleen_error *error)
{
	int err;

	*redis = (struct redis)REDIS_CLOSED;
	redis->server = *server;
	redis->reader = redisReaderCreate();
	if (!redis->reader)
		return baleen_no_memory(error);
	err = open_stream(redis, error);
	return err || !*conf->tls_ca ? err : start_tls(redis, conf, error);
}

int redis_connect(struct redis *redis, const struct baleen_fleet_conf *conf,
		  const struct baleen_fleet_server *server, struct baleen_error *error)
{
	int err = connect_to(redis, conf, server, error);

	if (!err)
		err = log_in(redis, conf, error);
	if (err)
		redis_close(redis);
	return err;
}

void redis_close(struct redis *redis)
{
	if (redis->session)
		gnutls_deinit(redis->session);
	if (redis->credentials)
		gnutls_certificate_free_credentials(redis->credentials);
	if (redis->reader)
		redisReaderFree(redis->reader);
	baleen_close_fd(&redis->fd);
	redis->session = NULL;
	redis->credentials = NULL;
	redis->reader = NULL;
	redis->is_tls = false;
	redis->n_bytes = 0;
}

/* --- commands ------------------------------------------------------------------- */

static int send_formatted(struct redis *redis, struct baleen_error *error, const char *format,
			  va_list args)
{
	char *command;
	int n, err;

	if (redis->fd < 0)
		return baleen_fail(error, ENOTCONN, "%s:%s: not connected", redis->server.host,
				   redis->server.port);
	n = redisvFormatCommand(&command, format, args);
	if (n < 0)
		return baleen_no_memory(error);
	err = write_all(redis, command, n);
	redisFreeCommand(command);
	return err ? fail(redis, -err, error, strerror(-err)) : 0;
}

int redis_send(struct redis *redis, struct baleen_error *error, const char *format, ...)
{
	va_list args;
	int err;

	va_start(args, format);
	err = send_formatted(redis, error, format, args);
	va_end(args);
	return err;
}

/* hiredis 0.14 refuses what is nested more than 9 times; 1.0 and newer take any depth, and free it
 * by a function that calls itself. A read() brings 16,384 at the most, which the stack has room for.
 */
static bool is_deep(const redisReply *reply, u32 depth)
{
	if (depth > MAX_DEPTH)
		return true;
	for (size_t i = 0; i < reply->elements; i++)
		if (is_deep(reply->element[i], depth + 1))
			return true;
	return false;
}

/* 1: there is an answer; 0: not yet. */
static int take_answer(struct redis *redis, redisReply **reply, struct baleen_error *error)
{
	void *answer = NULL;

	if (redisReaderGetReply(redis->reader, &answer) != REDIS_OK)
		return fail(redis, EPROTO, error, redis->reader->errstr);
	/* The reader has the depth of an answer that is not whole. */
	if (answer ? is_deep(answer, 0) : redis->reader->ridx > MAX_DEPTH) {
		freeReplyObject(answer);
		return fail(redis, EPROTO, error, "its answer is nested too deep");
	}
	if (!answer)
		return 0;
	redis->n_bytes = redis->reader->len - redis->reader->pos;
	*reply = answer;
	return 1;
}

static int feed(struct redis *redis, struct baleen_error *error)
{
	static char buffer[65536];
	ssize_t n = read_some(redis, buffer, sizeof(buffer));

	if (n < 0)
		return fail(redis, -n, error, n == -EPIPE ? "it hung up" : strerror(-n));
	redis->n_bytes += n;
	if (redis->n_bytes > MAX_ANSWER_BYTES)
		return fail(redis, EMSGSIZE, error, "its answer is too long");
	if (n && redisReaderFeed(redis->reader, buffer, n) != REDIS_OK)
		return fail(redis, ENOMEM, error, redis->reader->errstr);
	return n > 0;
}

static int is_error(struct redis *redis, redisReply *reply, struct baleen_error *error)
{
	if (reply->type != REDIS_REPLY_ERROR)
		return 0;
	baleen_fail(error, EREMOTE, "%s:%s: %.200s", redis->server.host, redis->server.port,
		    reply->str);
	freeReplyObject(reply);
	return -EREMOTE;
}

int redis_receive(struct redis *redis, u64 timeout_ms, int wake_fd, redisReply **reply,
		  struct baleen_error *error)
{
	u64 deadline_ms = baleen_monotonic_ms() + timeout_ms;
	redisReply *answer = NULL;
	int err;

	if (redis->fd < 0)
		return baleen_fail(error, ENOTCONN, "%s:%s: not connected", redis->server.host,
				   redis->server.port);
	for (;;) {
		err = take_answer(redis, &answer, error);
		if (err)
			break;
		/* GnuTLS may hold bytes that the socket no longer has, so it is read first. */
		err = feed(redis, error);
		if (err < 0)
			break;
		if (err)
			continue;
		err = wait_for(redis->fd, POLLIN, wake_fd, deadline_ms);
		if (err == -EAGAIN)
			return err;
		if (err) {
			err = fail(redis, -err, error, strerror(-err));
			break;
		}
	}
	if (err > 0)
		err = is_error(redis, answer, error);
	if (!err)
		*reply = answer;
	return err;
}

int redis_call(struct redis *redis, redisReply **reply, struct baleen_error *error,
	       const char *format, ...)
{
	va_list args;
	int err;

	va_start(args, format);
	err = send_formatted(redis, error, format, args);
	va_end(args);
	return err ? err : redis_receive(redis, REDIS_STEP_MS, -1, reply, error);
}
