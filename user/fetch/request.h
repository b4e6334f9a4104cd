/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A request, and where redirections lead it: secrets go to the host they are for only.
 */
#ifndef BALEEN_REQUEST_H
#define BALEEN_REQUEST_H

#include <curl/curl.h>

#include "fetch/addresses.h"
#include "util/fetch_wire.h"

/**
 * struct request - a request of a document
 * @order: the order
 * @curl: the handle
 * @first: the URL of the order, in parts; the host that secrets are for
 * @headers: headers for any host
 * @secret_headers: the same with those of the order
 * @host: its host; NULL for a URL that is none
 * @refused: a server led to an address that is not to be asked; its class, or ADDRESS_PUBLIC
 * @refused_address: that address, for a person
 * @n_redirections: how many led to the last answer
 */
struct request {
	const struct baleen_fetch_order *order;
	CURL *curl;
	CURLU *first;
	struct curl_slist *headers;
	struct curl_slist *secret_headers;
	char *host;
	enum address_class refused;
	char refused_address[ADDRESS_TEXT];
	u32 n_redirections;
};

/**
 * request_start() - set up the handle
 * @request: filled in; end with request_end(), also after a failure
 * @order: the order
 *
 * Return: 0 or -ENOMEM. A URL that is none shows when it is asked.
 */
int request_start(struct request *request, const struct baleen_fetch_order *order);

/**
 * request_from() - what the next ask is for
 * @request: started
 * @at: first byte of the document that is wanted; 0 for all of it
 * @etag: of the document that this is a part of: the server sends all of another one
 *
 * Return: 0 or -ENOMEM.
 */
int request_from(struct request *request, u64 at, const char *etag);

/**
 * request_ask() - ask the URL of the order, and go where the answers lead
 * @request: started
 *
 * Return: as curl_easy_perform(); CURLE_TOO_MANY_REDIRECTS after five.
 */
CURLcode request_ask(struct request *request);

/**
 * request_header() - a header of the last answer
 * @request: asked
 * @name: name of the header
 *
 * Return: its value; "" when there is none.
 */
const char *request_header(const struct request *request, const char *name);

/**
 * request_end() - free what it holds
 * @request: started
 */
void request_end(struct request *request);

#endif /* BALEEN_REQUEST_H */
