/* OpenSSL's libcrypto, with its macros as functions. Only Cryptography imports this. */
#pragma once
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>

/* Memory of the secure heap: locked, not dumped, between guard pages. NULL when it is used up. */
static inline void *roost_secure_allocate(size_t count) { return OPENSSL_secure_zalloc(count); }
/* Wipes and gives back. */
static inline void roost_secure_release(void *memory, size_t count) { OPENSSL_secure_clear_free(memory, count); }

/* Names SHA-256 to a context for HMAC; parameters are a C array with an end mark, which
   Swift cannot write as neatly. */
static inline int roost_mac_set_sha256(EVP_MAC_CTX *context) {
  char name[] = "SHA256";
  OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name, 0),
                             OSSL_PARAM_construct_end()};
  return EVP_MAC_CTX_set_params(context, parameters);
}
