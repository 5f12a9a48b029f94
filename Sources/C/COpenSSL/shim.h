/* OpenSSL's libcrypto, with its macros as functions. Only Cryptography imports this. */
#pragma once
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/decoder.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

/* Memory of the secure heap: locked, not dumped, between guard pages. NULL if it is used up. */
static inline void *roost_secure_allocate(size_t count) { return OPENSSL_secure_zalloc(count); }
/* Wipes and frees. */
static inline void roost_secure_release(void *memory, size_t count) { OPENSSL_secure_clear_free(memory, count); }

/* Sets SHA-256 in an HMAC context; the parameters are a C array with an end mark, which Swift cannot write as
   neatly. */
static inline int roost_mac_set_sha256(EVP_MAC_CTX *context) {
  char name[] = "SHA256";
  OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name, 0),
                             OSSL_PARAM_construct_end()};
  return EVP_MAC_CTX_set_params(context, parameters);
}

/* A new key on P-256, or of RSA: the functions called here are variadic. */
static inline EVP_PKEY *roost_p256_generate(void) { return EVP_EC_gen("P-256"); }
static inline EVP_PKEY *roost_rsa_generate(size_t bits) { return EVP_RSA_gen(bits); }

/* The public key of a point on P-256; NULL if the bytes are not a point. */
static inline EVP_PKEY *roost_p256_public_key(const unsigned char *point, size_t count) {
  char group[] = "P-256";
  OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, group, 0),
                             OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, (void *)point, count),
                             OSSL_PARAM_construct_end()};
  EVP_PKEY *key = NULL;
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
  if (context == NULL) return NULL;
  if (EVP_PKEY_fromdata_init(context) != 1 || EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters) != 1)
    key = NULL;
  EVP_PKEY_CTX_free(context);
  return key;
}

/* Reads key pairs of one kind from PEM. The decoder keeps the address of its input type's name, and a string lent by
   Swift would not live long enough. */
static inline OSSL_DECODER_CTX *roost_pem_decoder(EVP_PKEY **key, const char *kind) {
  return OSSL_DECODER_CTX_new_for_pkey(key, "PEM", NULL, kind, EVP_PKEY_KEYPAIR, NULL, NULL);
}

/* The state of a memory BIO: whether it is at its end, its position, its bytes. */
static inline int roost_bio_is_at_end(BIO *bio) { return BIO_eof(bio); }
static inline long roost_bio_place(BIO *bio) { return BIO_tell(bio); }
static inline long roost_bio_bytes(BIO *bio, char **bytes) { return BIO_get_mem_data(bio, bytes); }
