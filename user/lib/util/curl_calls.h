/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The functions of libcurl that are used; see late_library.h. */
#ifndef BALEEN_CURL_CALLS_H
#define BALEEN_CURL_CALLS_H

/* Its checks of types call the functions by name. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#define CURL_CALLS(CALL)          \
	CALL(curl_global_init)    \
	CALL(curl_global_cleanup) \
	CALL(curl_slist_append)   \
	CALL(curl_slist_free_all) \
	CALL(curl_easy_init)      \
	CALL(curl_easy_setopt)    \
	CALL(curl_easy_getinfo)   \
	CALL(curl_easy_header)    \
	CALL(curl_easy_perform)   \
	CALL(curl_easy_strerror)  \
	CALL(curl_easy_cleanup)

#endif /* BALEEN_CURL_CALLS_H */
