/* OpenSSL's libcrypto, with its macros as functions. Only Cryptography imports this. */
#pragma once
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>

/* Memory of the secure heap: locked, not dumped, between guard pages. NULL when it is used up. */
static inline void *roost_secure_allocate(size_t count) { return OPENSSL_secure_zalloc(count); }
/* Wipes and gives back. */
static inline void roost_secure_release(void *memory, size_t count) { OPENSSL_secure_clear_free(memory, count); }
