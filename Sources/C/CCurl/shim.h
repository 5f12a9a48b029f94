/* libcurl, loaded when it is first needed: nothing is linked (decision 0011). Only HTTPClient imports this.

   The table holds the functions that are called. An option takes a value of any type, which Swift cannot express: so
   there is a function for each type. */
#pragma once
#define CURL_DISABLE_TYPECHECK 1
#include <curl/curl.h>
#include <dlfcn.h>
#include <stddef.h>

#define ROOST_CURL_FUNCTIONS(use)                                                                                   \
  use(curl_global_init) use(curl_version_info) use(curl_multi_init) use(curl_multi_cleanup) use(curl_multi_setopt)  \
  use(curl_multi_add_handle) use(curl_multi_remove_handle) use(curl_multi_socket_action) use(curl_multi_assign)     \
  use(curl_multi_info_read) use(curl_easy_init) use(curl_easy_cleanup) use(curl_easy_setopt) use(curl_easy_getinfo) \
  use(curl_easy_strerror) use(curl_slist_append) use(curl_slist_free_all)

/* Macros of the same names count their arguments; the code below needs the functions. */
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

#define ROOST_CURL_MEMBER(name) __typeof__(&name) name;
struct roost_curl {
  ROOST_CURL_FUNCTIONS(ROOST_CURL_MEMBER)
};
#undef ROOST_CURL_MEMBER

/* Loads the library and fills the table. Returns NULL, or a text that says why it failed. The library stays loaded:
   its threads may be resolving names until the process ends. */
static inline const char *roost_curl_load(struct roost_curl *table, const char *file) {
  void *library = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
  if (!library) return dlerror();
#define ROOST_CURL_FIND(name) \
  if (!(table->name = (__typeof__(table->name))dlsym(library, #name))) return dlerror();
  ROOST_CURL_FUNCTIONS(ROOST_CURL_FIND)
#undef ROOST_CURL_FIND
  return NULL;
}
#undef ROOST_CURL_FUNCTIONS

/* The TLS library that it uses: "OpenSSL/3.0.15". */
static inline const char *roost_curl_tls(const struct roost_curl *curl) {
  const char *name = curl->curl_version_info(CURLVERSION_NOW)->ssl_version;
  return name ? name : "";
}
static inline unsigned int roost_curl_version(const struct roost_curl *curl) {
  return curl->curl_version_info(CURLVERSION_NOW)->version_num;
}
static inline const char *roost_curl_version_text(const struct roost_curl *curl) {
  return curl->curl_version_info(CURLVERSION_NOW)->version;
}
static inline CURLcode roost_curl_start(const struct roost_curl *curl) {
  return curl->curl_global_init(CURL_GLOBAL_DEFAULT);
}

/* Options of a transfer. */
static inline CURLcode roost_curl_set_number(const struct roost_curl *curl, CURL *easy, CURLoption option, long value) {
  return curl->curl_easy_setopt(easy, option, value);
}
static inline CURLcode roost_curl_set_size(
    const struct roost_curl *curl, CURL *easy, CURLoption option, long long value) {
  return curl->curl_easy_setopt(easy, option, (curl_off_t)value);
}
static inline CURLcode roost_curl_set_text(
    const struct roost_curl *curl, CURL *easy, CURLoption option, const char *value) {
  return curl->curl_easy_setopt(easy, option, value);
}
static inline CURLcode roost_curl_set_pointer(
    const struct roost_curl *curl, CURL *easy, CURLoption option, const void *value) {
  return curl->curl_easy_setopt(easy, option, value);
}

/* Callbacks of a transfer: for its bytes (of the head, of the body), its sockets, and the libssl context of its
   connection. */
typedef size_t (*roost_curl_bytes)(char *bytes, size_t size, size_t count, void *owner);
typedef curl_socket_t (*roost_curl_open)(void *owner, curlsocktype purpose, struct curl_sockaddr *address);
typedef CURLcode (*roost_curl_tls_context)(CURL *easy, void *context, void *owner);
static inline CURLcode roost_curl_on_bytes(
    const struct roost_curl *curl, CURL *easy, CURLoption option, roost_curl_bytes call) {
  return curl->curl_easy_setopt(easy, option, call);
}
static inline CURLcode roost_curl_on_open(const struct roost_curl *curl, CURL *easy, roost_curl_open call) {
  return curl->curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, call);
}
static inline CURLcode roost_curl_on_tls(const struct roost_curl *curl, CURL *easy, roost_curl_tls_context call) {
  return curl->curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, call);
}

/* Results of a transfer. */
static inline long roost_curl_number(const struct roost_curl *curl, CURL *easy, CURLINFO info) {
  long value = 0;
  return curl->curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}
static inline const char *roost_curl_text(const struct roost_curl *curl, CURL *easy, CURLINFO info) {
  char *value = NULL;
  return curl->curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : NULL;
}

/* Callbacks and options that all transfers share. */
typedef int (*roost_curl_socket)(CURL *easy, curl_socket_t socket, int what, void *owner, void *watcher);
typedef int (*roost_curl_timer)(CURLM *multi, long milliseconds, void *owner);
static inline void roost_curl_share(
    const struct roost_curl *curl, CURLM *multi, void *owner, roost_curl_socket on_socket, roost_curl_timer on_timer) {
  curl->curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, owner);
  curl->curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
  curl->curl_multi_setopt(multi, CURLMOPT_TIMERDATA, owner);
  curl->curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
  curl->curl_multi_setopt(multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
}
static inline void roost_curl_keep(const struct roost_curl *curl, CURLM *multi, long connections) {
  curl->curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, connections);
}

/* The next transfer that has ended, and its result; NULL if no other has. */
static inline CURL *roost_curl_ended(const struct roost_curl *curl, CURLM *multi, CURLcode *result) {
  int left;
  const CURLMsg *message;
  while ((message = curl->curl_multi_info_read(multi, &left)))
    if (message->msg == CURLMSG_DONE) {
      *result = message->data.result;
      return message->easy_handle;
    }
  return NULL;
}

/* Creates the socket that libcurl asks for. */
static inline curl_socket_t roost_curl_socket_for(const struct curl_sockaddr *address) {
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}
static inline const void *roost_curl_address(const struct curl_sockaddr *address) { return &address->addr; }
