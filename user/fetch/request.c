// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A request, and where redirections lead it. */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fetch/request.h"
#include "release.h"
#include "util/url.h"

#define MAX_REDIRECTS 5
#define STALL_BYTES_PER_S 10L

/* --- headers ------------------------------------------------------------------------ */

/* A value that a server sent is sent back to it: it may hold no line end. */
static bool is_plain(const char *text)
{
	while (*text >= ' ' && *text <= '~')
		text++;
	return !*text;
}

static int add_line(struct curl_slist **headers, const char *line)
{
	struct curl_slist *longer = curl_slist_append(*headers, line);

	if (!longer)
		return -ENOMEM;
	*headers = longer;
	return 0;
}

static int add_header(struct curl_slist **headers, const char *name, const char *value)
{
	char line[BALEEN_FETCH_VALIDATOR + 32];

	if (!*value || !is_plain(value) ||
	    snprintf(line, sizeof(line), "%s: %s", name, value) >= (int)sizeof(line))
		return 0;
	return add_line(headers, line);
}

static int add_usual(struct curl_slist **headers, const struct baleen_fetch_order *order,
		     const char *part_of)
{
	/* Unpacked here: curl does not notice a gzip stream without its end. */
	if (add_header(headers, "Accept-Encoding", "gzip") ||
	    add_header(headers, "If-None-Match", order->etag) ||
	    add_header(headers, "If-Modified-Since", order->last_modified) ||
	    add_header(headers, "If-Range", part_of))
		return -ENOMEM;
	return 0;
}

static int add_secret(struct curl_slist **headers, const char *lines)
{
	char line[BALEEN_FETCH_HEADERS];

	while (*lines) {
		size_t n = strcspn(lines, "\n");

		snprintf(line, sizeof(line), "%.*s", (int)n, lines);
		if (*line && add_line(headers, line))
			return -ENOMEM;
		lines += n + (lines[n] == '\n');
	}
	return 0;
}

static void free_headers(struct request *request)
{
	curl_slist_free_all(request->headers);
	curl_slist_free_all(request->secret_headers);
	request->headers = request->secret_headers = NULL;
}

static int make_headers(struct request *request, const char *part_of)
{
	free_headers(request);
	if (add_usual(&request->headers, request->order, part_of) ||
	    add_usual(&request->secret_headers, request->order, part_of) ||
	    add_secret(&request->secret_headers, request->order->headers))
		return -ENOMEM;
	return 0;
}

/* --- where it may lead ---------------------------------------------------------------- */

/* curl's own, where the proxy's URL has none. */
static const char *default_proxy_port(const char *proxy)
{
	return strncasecmp(proxy, "https:", 6) ? "1080" : "443";
}

static bool leads_to(const char *host, const char *port, const struct sockaddr *address,
		     socklen_t n_bytes)
{
	const struct addrinfo hints = { .ai_family = address->sa_family,
					.ai_socktype = SOCK_STREAM,
					.ai_flags = AI_NUMERICSERV };
	char name[NI_MAXHOST];
	struct addrinfo *all;
	bool does = false;

	snprintf(name, sizeof(name), "%s", host[0] == '[' ? host + 1 : host);
	name[strcspn(name, "]")] = '\0';
	if (getaddrinfo(name, port, &hints, &all))
		return false;
	for (const struct addrinfo *one = all; one && !does; one = one->ai_next)
		does = one->ai_addrlen == n_bytes && !memcmp(one->ai_addr, address, n_bytes);
	freeaddrinfo(all);
	return does;
}

/* A proxy that somebody gave us is one that we were told to ask, at its port. */
static bool is_proxy(const struct curl_sockaddr *address)
{
	static const char *const names[] = { "http_proxy", "https_proxy", "HTTPS_PROXY",
					     "all_proxy", "ALL_PROXY" };
	bool is_it = false;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !is_it; i++) {
		const char *proxy = getenv(names[i]);
		char *host = NULL, *port = NULL;
		CURLU *parts = proxy ? curl_url() : NULL;

		if (parts &&
		    !curl_url_set(parts, CURLUPART_URL, proxy,
				  CURLU_GUESS_SCHEME | CURLU_NON_SUPPORT_SCHEME) &&
		    !curl_url_get(parts, CURLUPART_HOST, &host, 0)) {
			curl_url_get(parts, CURLUPART_PORT, &port, 0);
			is_it = leads_to(host, port ?: default_proxy_port(proxy), &address->addr,
					 address->addrlen);
		}
		curl_free(host);
		curl_free(port);
		curl_url_cleanup(parts);
	}
	return is_it;
}

static bool may_reach(const struct request *request, const struct curl_sockaddr *address,
		      enum address_class class)
{
	if (class == ADDRESS_PUBLIC || (class == ADDRESS_PRIVATE && request->order->may_be_private))
		return true;
	return (request->host && address_is_said(request->host, &address->addr)) ||
	       is_proxy(address);
}

/* Called with each address, whatever name or redirection it comes from. */
static curl_socket_t open_socket(void *data, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct request *request = data;
	enum address_class class = address_class(&address->addr);

	if (!may_reach(request, address, class)) {
		request->refused = class;
		address_format(&address->addr, request->refused_address);
		errno = EACCES;
		return CURL_SOCKET_BAD;
	}
	return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static bool is_same_part(const CURLU *a, const CURLU *b, CURLUPart part, unsigned int flags)
{
	char *of_a = NULL, *of_b = NULL;
	bool is_same = !curl_url_get((CURLU *)a, part, &of_a, flags) &&
		       !curl_url_get((CURLU *)b, part, &of_b, flags) && !strcasecmp(of_a, of_b);

	curl_free(of_a);
	curl_free(of_b);
	return is_same;
}

static bool is_same_host(const struct request *request, const char *url)
{
	CURLU *other = curl_url();
	bool is_same = other && !curl_url_set(other, CURLUPART_URL, url, 0) &&
		       is_same_part(request->first, other, CURLUPART_SCHEME, 0) &&
		       is_same_part(request->first, other, CURLUPART_HOST, 0) &&
		       is_same_part(request->first, other, CURLUPART_PORT, CURLU_DEFAULT_PORT);

	curl_url_cleanup(other);
	return is_same;
}

/* --- secrets --------------------------------------------------------------------------- */

static void set_user(struct request *request, bool is_for_it)
{
	char *user = NULL, *password = NULL;

	if (is_for_it && *request->order->user) {
		curl_easy_setopt(request->curl, CURLOPT_USERPWD, request->order->user);
		return;
	}
	if (is_for_it) {
		curl_url_get(request->first, CURLUPART_USER, &user, CURLU_URLDECODE);
		curl_url_get(request->first, CURLUPART_PASSWORD, &password, CURLU_URLDECODE);
	}
	curl_easy_setopt(request->curl, CURLOPT_USERNAME, user);
	curl_easy_setopt(request->curl, CURLOPT_PASSWORD, password);
	curl_free(user);
	curl_free(password);
}

static void go_to(struct request *request, const char *url)
{
	bool is_for_it = is_same_host(request, url);

	curl_easy_setopt(request->curl, CURLOPT_HTTPHEADER,
			 is_for_it ? request->secret_headers : request->headers);
	set_user(request, is_for_it);
	curl_easy_setopt(request->curl, CURLOPT_URL, url);
}

/* --- the request ------------------------------------------------------------------------ */

static void set_options(struct request *request)
{
	const struct baleen_fetch_order *order = request->order;
	/* From a safe connection a redirection leads to another. */
	const char *protocols = baleen_url_is_https(order->url) ? "https" : "http,https";
	CURL *curl = request->curl;

	curl_easy_setopt(curl, CURLOPT_HTTP_CONTENT_DECODING, 0L);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, protocols);
	curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "baleen/" BALEEN_RELEASE);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)order->connect_timeout_ms);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, STALL_BYTES_PER_S);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)order->stall_s);
	curl_easy_setopt(curl, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)order->max_bytes);
	curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, open_socket);
	curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, request);
	/* Neither signals for time limits, nor waiting for a resolver that is
	 * beyond them.
	 */
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);
}

int request_start(struct request *request, const struct baleen_fetch_order *order)
{
	*request =
		(struct request){ .order = order, .curl = curl_easy_init(), .first = curl_url() };
	if (!request->curl || !request->first || make_headers(request, ""))
		return -ENOMEM;
	/* Text that is no URL has no host; curl refuses it when it is asked. */
	curl_url_set(request->first, CURLUPART_URL, order->url, 0);
	curl_url_get(request->first, CURLUPART_HOST, &request->host, 0);
	set_options(request);
	return 0;
}

int request_from(struct request *request, u64 at, const char *etag)
{
	char range[32];

	snprintf(range, sizeof(range), "%llu-", (unsigned long long)at);
	curl_easy_setopt(request->curl, CURLOPT_RANGE, at ? range : NULL);
	return make_headers(request, at ? etag : "");
}

/* A handle that has asked keeps a pointer to the last header of the answer, and frees that before
 * it asks again: libcurl before 8.1.1 reallocates it when the next answer begins with a folded line
 * (its bug 11101; Debian 12 has 7.88.1). So none asks twice. The options go with the copy.
 */
static CURLcode renew(struct request *request)
{
	CURL *fresh = curl_easy_duphandle(request->curl);

	if (!fresh)
		return CURLE_OUT_OF_MEMORY;
	curl_easy_cleanup(request->curl);
	request->curl = fresh;
	return CURLE_OK;
}

CURLcode request_ask(struct request *request)
{
	char *next = NULL;
	CURLcode code;

	request->refused = ADDRESS_PUBLIC;
	go_to(request, request->order->url);
	for (u32 n = 0; n <= MAX_REDIRECTS; n++) {
		request->n_redirections = n;
		code = renew(request);
		if (!code)
			code = curl_easy_perform(request->curl);
		if (code || curl_easy_getinfo(request->curl, CURLINFO_REDIRECT_URL, &next) || !next)
			return code;
		/* The handle's own copy goes with it. */
		next = strdup(next);
		if (!next)
			return CURLE_OUT_OF_MEMORY;
		go_to(request, next);
		free(next);
	}
	return CURLE_TOO_MANY_REDIRECTS;
}

const char *request_header(const struct request *request, const char *name)
{
	struct curl_header *header;

	return curl_easy_header(request->curl, name, 0, CURLH_HEADER, -1, &header) ? "" :
										     header->value;
}

void request_end(struct request *request)
{
	curl_easy_cleanup(request->curl);
	curl_free(request->host);
	curl_url_cleanup(request->first);
	free_headers(request);
}
