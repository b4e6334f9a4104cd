// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Addresses of documents on web servers, as they may be shown. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util/url.h"

/**
 * struct parts - where a URL has what may be shown
 * @scheme_bytes: length of "http" or another scheme, at its start
 * @host: name or address, IPv6 in brackets
 * @host_bytes: its length
 * @host_port_bytes: the same with the port
 * @path: from its slash on, or the end of the URL
 * @path_bytes: its length
 */
struct parts {
	int scheme_bytes;
	const char *host;
	int host_bytes;
	int host_port_bytes;
	const char *path;
	int path_bytes;
};

bool baleen_url_is_https(const char *text)
{
	return !strncasecmp(text, "https://", 8);
}

bool baleen_url_is(const char *text)
{
	return baleen_url_is_https(text) || !strncasecmp(text, "http://", 7);
}

/* Blanks and characters that move a cursor are in no URL. */
static bool is_plain(const char *text)
{
	while ((unsigned char)*text > ' ' && *text != 0x7f)
		text++;
	return !*text;
}

/* A password with a slash in it would leave its first half for a port. */
static bool is_port(const char *text, int n_bytes)
{
	return !n_bytes || (text[0] == ':' && n_bytes <= 6 &&
			    (int)strspn(text + 1, "0123456789") >= n_bytes - 1);
}

static int host_length(const char *host, int n_bytes)
{
	const char *end = host[0] == '[' ? memchr(host, ']', n_bytes) : NULL;
	const char *colon = memchr(host, ':', n_bytes);

	if (end)
		return end + 1 - host;
	return colon ? colon - host : n_bytes;
}

static bool split(const char *url, struct parts *parts)
{
	const char *authority, *end;

	parts->scheme_bytes = strcspn(url, ":");
	if (strncmp(url + parts->scheme_bytes, "://", 3) || !is_plain(url) || strchr(url, '\\'))
		return false;
	authority = url + parts->scheme_bytes + 3;
	end = authority + strcspn(authority, "/?#");
	parts->host = end;
	while (parts->host > authority && parts->host[-1] != '@')
		parts->host--;
	parts->host_port_bytes = end - parts->host;
	parts->host_bytes = host_length(parts->host, parts->host_port_bytes);
	parts->path = end;
	parts->path_bytes = strcspn(end, "?#");
	return parts->host_bytes &&
	       is_port(parts->host + parts->host_bytes, parts->host_port_bytes - parts->host_bytes);
}

struct baleen_url_name baleen_url_name(const char *url)
{
	struct baleen_url_name name = { "malformed URL" };
	struct parts parts;

	if (split(url, &parts))
		snprintf(name.text, sizeof(name.text), "%.*s://%.*s%.*s", parts.scheme_bytes, url,
			 parts.host_port_bytes, parts.host, parts.path_bytes, parts.path);
	return name;
}

bool baleen_url_host(const char *url, char *host, size_t n_bytes)
{
	struct parts parts;

	if (!baleen_url_is(url) || !split(url, &parts) || (size_t)parts.host_bytes >= n_bytes)
		return false;
	snprintf(host, n_bytes, "%.*s", parts.host_bytes, parts.host);
	return true;
}

/* Two digits behind a %. The path is written as a word of a line, as that of a configuration: no
 * NUL, no newline, nor another control character.
 */
static bool take_byte(const char *digits, char *byte)
{
	char hex[3] = { 0 };

	if (strspn(digits, "0123456789abcdefABCDEF") < 2)
		return false;
	memcpy(hex, digits, 2);
	*byte = strtoul(hex, NULL, 16);
	return (unsigned char)*byte >= ' ' && *byte != 0x7f;
}

bool baleen_url_file(const char *url, char *path, size_t n_bytes)
{
	char file[4096];
	size_t n = 0;

	if (strncasecmp(url, "file://", 7))
		return false;
	url += 7;
	url += strncasecmp(url, "localhost/", 10) ? 0 : 9;
	if (*url != '/' || strcspn(url, "?#") != strlen(url) || n_bytes > sizeof(file))
		return false;
	for (; *url && n + 1 < n_bytes; url++) {
		file[n] = *url;
		if (*url == '%' && !take_byte(url + 1, &file[n]))
			return false;
		url += *url == '%' ? 2 : 0;
		n++;
	}
	file[n] = '\0';
	if (*url)
		return false;
	memcpy(path, file, n + 1);
	return true;
}
