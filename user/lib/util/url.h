/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Addresses of documents on web servers (RFC 3986), as they may be shown.
 *
 * A URL may hold secrets: a user and a password before the host, a key in the query. What
 * is printed, logged or counted has its name from here, and nothing else prints a URL.
 */
#ifndef BALEEN_URL_H
#define BALEEN_URL_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct baleen_url_name - a URL without secrets
 * @text: scheme, host, port and path; "malformed URL" for what is none
 */
struct baleen_url_name {
	char text[256];
};

/**
 * baleen_url_is() - does this name a web server's document?
 * @text: as typed
 *
 * Return: true when it starts with http:// or https://.
 */
bool baleen_url_is(const char *text);

/**
 * baleen_url_is_https() - is the document fetched by TLS?
 * @text: as typed
 *
 * Return: true when it starts with https://.
 */
bool baleen_url_is_https(const char *text);

/**
 * baleen_url_name() - a URL as it may be shown
 * @url: the URL
 *
 * Return: the URL without user, password, query and fragment, any of which may be a
 * secret.
 */
struct baleen_url_name baleen_url_name(const char *url);

/**
 * baleen_url_host() - the host of a URL
 * @url: the URL
 * @host: name or address, IPv6 in brackets
 * @n_bytes: size of @host
 *
 * Return: false when @url names no web server, or one that does not fit into @host.
 */
bool baleen_url_host(const char *url, char *host, size_t n_bytes);

/**
 * baleen_url_file() - the path of a file on this host (RFC 8089)
 * @url: the URL
 * @path: with its %XX decoded
 * @n_bytes: size of @path
 *
 * Return: false when @url is not file:///PATH or file://localhost/PATH, is badly encoded, or
 * names a file that does not fit into @path.
 */
bool baleen_url_file(const char *url, char *path, size_t n_bytes);

#endif /* BALEEN_URL_H */
