// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A web server for the files of a directory, with faults on demand:
 * feed_server DIR [CERTIFICATE KEY]
 *
 * Listens on 127.0.0.1, with FEED_SERVER_ANY on each address, and prints its port, then a line for
 * each request: the path, what it came with in If-None-Match, If-Modified-Since and User-Agent, and
 * in Range and If-Range, if it has them.
 * Ends when its input does.
 *
 *      /NAME              the file, with an ETag made of its bytes; 304 when the
 *                         client has it
 *      /date/NAME         the same with Last-Modified instead
 *      /gzip/NAME         compressed
 *      /br/NAME           says that it is compressed by brotli
 *      /cut-gzip/NAME     half of its gzip, of which the length is told
 *      /short/NAME        half of what its length says
 *      /half/NAME         the first time in a row half of it, then the rest, or from where
 *                         the client asks; /half-weak with a weak ETag; /half-new then
 *                         has another ETag, /half-other sends another part than was
 *                         asked for, and /half-416 has none
 *      /cut-chunks/NAME   without the last chunk
 *      /first/N/S/NAME    status S to the first N requests in a row
 *      /later/T/NAME      status 429 and Retry-After: T to the first in a row
 *      /status/S          always that; 302 leads back to itself
 *      /to/URL            a redirection to URL
 *      /reset             ends the connection
 *      /token/NAME        401 without the X-Token that the file "token" has
 *      /basic/NAME        401 without "user:SECRET"
 *      /plain/NAME        500 with either of them
 *      /stall             ten bytes and no more
 *      /endless           bytes without end
 *      /huge              says that it has 1 TiB
 *      /bomb              64 MiB that travel as 64 KiB
 */
#include <err.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <microhttpd.h>
#include <zlib.h>

#define BOMB_BYTES (64u << 20)
#define DATE "Thu, 01 Jan 2026 00:00:00 GMT"

static const char *directory;

/* How often the path that was asked for last was asked for. */
static char last_path[256];
static unsigned int n_asked;

/**
 * struct bytes - a body
 * @data: allocated
 * @n: how many
 */
struct bytes {
	char *data;
	size_t n;
};

/* With a NUL byte behind it. */
static char *read_text(const char *path, size_t *n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text = NULL;
	struct stat stat;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &stat) && S_ISREG(stat.st_mode)) {
		*n = stat.st_size;
		text = calloc(1, *n + 1);
		if (!text || read(fd, text, *n) != (ssize_t)*n)
			errx(1, "cannot read %s", path);
	}
	close(fd);
	return text;
}

static bool read_file(const char *name, struct bytes *bytes)
{
	char path[4096];

	if (strstr(name, "..") ||
	    snprintf(path, sizeof(path), "%s/%s", directory, name) >= (int)sizeof(path))
		return false;
	bytes->data = read_text(path, &bytes->n);
	return bytes->data;
}

/* As gzip does it, of @n bytes. */
static struct bytes pack(const char *data, size_t n)
{
	struct bytes packed = { .n = compressBound(n) + 64 };
	z_stream zlib = { 0 };

	packed.data = malloc(packed.n);
	if (!packed.data ||
	    deflateInit2(&zlib, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY))
		errx(1, "no memory");
	zlib.next_in = (void *)data;
	zlib.avail_in = n;
	zlib.next_out = (void *)packed.data;
	zlib.avail_out = packed.n;
	if (deflate(&zlib, Z_FINISH) != Z_STREAM_END)
		errx(1, "cannot compress");
	packed.n = zlib.total_out;
	deflateEnd(&zlib);
	return packed;
}

/* --- answers --- */

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned int status,
			      struct MHD_Response *response)
{
	enum MHD_Result result = MHD_queue_response(connection, status, response);

	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result answer_status(struct MHD_Connection *connection, unsigned int status,
				     const char *header, const char *value)
{
	static char page[] = "<html><body>A page, not a list.</body></html>\n";
	struct MHD_Response *response =
		MHD_create_response_from_buffer(strlen(page), page, MHD_RESPMEM_PERSISTENT);

	if (header)
		MHD_add_response_header(response, header, value);
	return answer(connection, status, response);
}

/* Takes the bytes over. */
static enum MHD_Result answer_bytes(struct MHD_Connection *connection, struct bytes bytes,
				    const char *header, const char *value)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(bytes.n, bytes.data, MHD_RESPMEM_MUST_FREE);

	if (header)
		MHD_add_response_header(response, header, value);
	return answer(connection, 200, response);
}

static enum MHD_Result answer_packed(struct MHD_Connection *connection, struct bytes bytes,
				     unsigned int divisor)
{
	struct bytes packed = pack(bytes.data, bytes.n);

	free(bytes.data);
	packed.n /= divisor;
	return answer_bytes(connection, packed, "Content-Encoding", "gzip");
}

/* A copy that the client has is named by @validator in @header. */
static enum MHD_Result answer_file(struct MHD_Connection *connection, struct bytes bytes,
				   const char *condition, const char *header, const char *validator)
{
	const char *has = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, condition);

	if (has && !strcmp(has, validator)) {
		free(bytes.data);
		return answer(connection, 304,
			      MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT));
	}
	return answer_bytes(connection, bytes, header, validator);
}

static enum MHD_Result answer_with_etag(struct MHD_Connection *connection, struct bytes bytes)
{
	char etag[32];

	snprintf(etag, sizeof(etag), "\"%08lx\"", crc32(0, (void *)bytes.data, bytes.n));
	return answer_file(connection, bytes, "If-None-Match", "ETag", etag);
}

/* --- bodies that do not end well --- */

/**
 * struct body - a body that is made piece by piece
 * @connection: of the request
 * @bytes: what comes first
 * @stalls: then nothing comes, ever; else the connection ends
 * @is_endless: more of the same without end
 */
struct body {
	struct MHD_Connection *connection;
	struct bytes bytes;
	bool stalls;
	bool is_endless;
};

static ssize_t next_piece(void *data, uint64_t at, char *buffer, size_t room)
{
	struct body *body = data;

	if (body->is_endless) {
		memset(buffer, '\n', room);
		return room;
	}
	if (at < body->bytes.n) {
		size_t n = body->bytes.n - at < room ? body->bytes.n - at : room;

		memcpy(buffer, body->bytes.data + at, n);
		return n;
	}
	if (!body->stalls)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	MHD_suspend_connection(body->connection);
	return 0;
}

static void free_body(void *data)
{
	struct body *body = data;

	free(body->bytes.data);
	free(body);
}

static struct MHD_Response *make_body(struct MHD_Connection *connection, uint64_t length,
				      struct body body)
{
	struct body *copy = malloc(sizeof(*copy));

	if (!copy)
		errx(1, "no memory");
	*copy = body;
	copy->connection = connection;
	return MHD_create_response_from_callback(length, 65536, next_piece, copy, free_body);
}

static enum MHD_Result answer_body(struct MHD_Connection *connection, uint64_t length,
				   struct body body)
{
	return answer(connection, 200, make_body(connection, length, body));
}

/* --- in two parts --- */

/* @bytes from @at on, which are said to be so. */
static enum MHD_Result answer_rest(struct MHD_Connection *connection, struct bytes bytes, size_t at,
				   const char *etag)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(bytes.n - at, bytes.data + at,
						MHD_RESPMEM_MUST_COPY);
	char range[64];

	snprintf(range, sizeof(range), "bytes %zu-%zu/%zu", at, bytes.n - 1, bytes.n);
	MHD_add_response_header(response, "Content-Range", range);
	MHD_add_response_header(response, "ETag", etag);
	free(bytes.data);
	return answer(connection, 206, response);
}

static enum MHD_Result answer_half(struct MHD_Connection *connection, const char *how,
				   struct bytes bytes)
{
	const char *range = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Range");
	const char *part_of = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "If-Range");
	struct MHD_Response *response;
	size_t at, n = bytes.n;
	char etag[32];

	snprintf(etag, sizeof(etag), "%s\"%08lx\"", strcmp(how, "-weak") ? "" : "W/",
		 crc32(0, (void *)bytes.data, bytes.n));
	if (n_asked == 1) {
		bytes.n /= 2;
		response = make_body(connection, n, (struct body){ .bytes = bytes });
		MHD_add_response_header(response, "ETag", etag);
		return answer(connection, 200, response);
	}
	if (!strcmp(how, "-new"))
		strcpy(etag, "\"new\"");
	if (!range || !part_of || strcmp(part_of, etag) || sscanf(range, "bytes=%zu-", &at) != 1 ||
	    at >= n)
		return answer_bytes(connection, bytes, "ETag", etag);
	if (strcmp(how, "-416"))
		return answer_rest(connection, bytes, at + !strcmp(how, "-other"), etag);
	free(bytes.data);
	return answer_status(connection, 416, NULL, NULL);
}

/* --- paths --- */

/* Behind @prefix in @path, or NULL. */
static const char *behind(const char *path, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncmp(path, prefix, length) ? NULL : path + length;
}

static enum MHD_Result serve_special(struct MHD_Connection *connection, const char *path)
{
	const char *rest;

	if ((rest = behind(path, "/status/")))
		return answer_status(connection, atoi(rest), atoi(rest) == 302 ? "Location" : NULL,
				     path);
	if ((rest = behind(path, "/to/")))
		return answer_status(connection, 302, "Location", rest);
	if (!strcmp(path, "/stall"))
		return answer_body(connection, 1000,
				   (struct body){ .bytes = { strdup("192.0.2.1\n"), 10 },
						  .stalls = true });
	if (!strcmp(path, "/endless"))
		return answer_body(connection, MHD_SIZE_UNKNOWN,
				   (struct body){ .is_endless = true });
	if (!strcmp(path, "/huge"))
		return answer_body(connection, 1ull << 40, (struct body){ .is_endless = true });
	if (!strcmp(path, "/bomb"))
		return answer_packed(connection,
				     (struct bytes){ calloc(1, BOMB_BYTES), BOMB_BYTES }, 1);
	/* Without an answer the connection ends: /reset. */
	return strcmp(path, "/reset") ? answer_status(connection, 404, NULL, NULL) : MHD_NO;
}

static enum MHD_Result serve_file(struct MHD_Connection *connection, const char *kind,
				  struct bytes bytes)
{
	if (!strcmp(kind, "date"))
		return answer_file(connection, bytes, "If-Modified-Since", "Last-Modified", DATE);
	if (!strcmp(kind, "gzip"))
		return answer_packed(connection, bytes, 1);
	if (!strcmp(kind, "cut-gzip"))
		return answer_packed(connection, bytes, 2);
	if (!strcmp(kind, "br"))
		return answer_bytes(connection, bytes, "Content-Encoding", "br");
	if (!strcmp(kind, "short"))
		return answer_body(connection, 2 * bytes.n, (struct body){ .bytes = bytes });
	if (behind(kind, "half"))
		return answer_half(connection, behind(kind, "half"), bytes);
	if (!strcmp(kind, "cut-chunks"))
		return answer_body(connection, MHD_SIZE_UNKNOWN, (struct body){ .bytes = bytes });
	return answer_with_etag(connection, bytes);
}

/* 0, or the status for who came with the wrong secrets. */
static unsigned int refuse(struct MHD_Connection *connection, const char *kind)
{
	const char *sent = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "X-Token");
	const char *user =
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Authorization");
	struct bytes token;
	bool is_right;

	if (!strcmp(kind, "plain"))
		return sent || user ? 500 : 0;
	if (!strcmp(kind, "basic"))
		return user && !strcmp(user, "Basic dXNlcjpTRUNSRVQ=") ? 0 : 401;
	if (strcmp(kind, "token"))
		return 0;
	if (!read_file("token", &token))
		return 401;
	is_right = sent && !strcmp(sent, token.data);
	free(token.data);
	return is_right ? 0 : 401;
}

static enum MHD_Result serve(struct MHD_Connection *connection, const char *path)
{
	unsigned int n_first, status, seconds;
	char kind[32] = "", name[256];
	struct bytes bytes;

	if (sscanf(path, "/first/%u/%u/%255s", &n_first, &status, name) == 3) {
		if (n_asked <= n_first)
			return answer_status(connection, status, NULL, NULL);
	} else if (sscanf(path, "/later/%u/%255s", &seconds, name) == 2) {
		char text[16];

		snprintf(text, sizeof(text), "%u", seconds);
		if (n_asked == 1)
			return answer_status(connection, 429, "Retry-After", text);
	} else if (sscanf(path, "/%31[^/]/%255s", kind, name) != 2) {
		kind[0] = '\0';
		snprintf(name, sizeof(name), "%.255s", path + 1);
	}
	if (refuse(connection, kind))
		return answer_status(connection, refuse(connection, kind), NULL, NULL);
	return read_file(name, &bytes) ? serve_file(connection, kind, bytes) :
					 serve_special(connection, path);
}

static const char *header(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name) ?: "-";
}

static enum MHD_Result on_request(void *data, struct MHD_Connection *connection, const char *path,
				  const char *method, const char *version, const char *upload,
				  size_t *n_upload, void **state)
{
	printf("%s %s %s %s", path, header(connection, "If-None-Match"),
	       header(connection, "If-Modified-Since"), header(connection, "User-Agent"));
	if (MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Range"))
		printf(" %s %s", header(connection, "Range"), header(connection, "If-Range"));
	printf("\n");
	fflush(stdout);
	n_asked = strncmp(path, last_path, sizeof(last_path) - 1) ? 1 : n_asked + 1;
	snprintf(last_path, sizeof(last_path), "%s", path);
	return serve(connection, path);
}

static struct MHD_Daemon *start(char *certificate, char *key)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(getenv("FEED_SERVER_ANY") ? INADDR_ANY : INADDR_LOOPBACK),
	};
	unsigned int flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_ALLOW_SUSPEND_RESUME;

	if (!certificate)
		return MHD_start_daemon(flags, 0, NULL, NULL, on_request, NULL,
					MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_END);
	return MHD_start_daemon(flags | MHD_USE_TLS, 0, NULL, NULL, on_request, NULL,
				MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_HTTPS_MEM_CERT,
				certificate, MHD_OPTION_HTTPS_MEM_KEY, key, MHD_OPTION_END);
}

int main(int argc, char **argv)
{
	char *certificate = NULL, *key = NULL, byte;
	struct MHD_Daemon *daemon;
	size_t n;

	if (argc != 2 && argc != 4) {
		fprintf(stderr, "usage: feed_server DIR [CERTIFICATE KEY]\n");
		return 2;
	}
	directory = argv[1];
	if (argc == 4) {
		certificate = read_text(argv[2], &n);
		key = read_text(argv[3], &n);
	}
	daemon = start(certificate, key);
	if (!daemon)
		errx(1, "cannot listen");
	printf("%u\n", MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	/* Connections may be stalled: the end of the process ends them. */
	return 0;
}
