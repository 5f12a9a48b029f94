/* OpenSSL's libssl and the parts of libcrypto in its interface, with its macros as functions. Only TLS imports this. */
#pragma once
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

static inline int roost_tls_require(SSL_CTX *context, int version) {
  return SSL_CTX_set_min_proto_version(context, version);
}
static inline void roost_tls_set_mode(SSL_CTX *context, long mode) { SSL_CTX_set_mode(context, mode); }
static inline void roost_tls_keep_no_sessions(SSL_CTX *context) {
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}
static inline int roost_tls_name_host(SSL *connection, const char *name) {
  return (int)SSL_set_tlsext_host_name(connection, name);
}

/* A BIO that reads these bytes in place, and asks for more after them instead of reporting an end. */
static inline BIO *roost_bio_lend(const void *bytes, int count) {
  BIO *bio = BIO_new_mem_buf(bytes, count);
  if (bio) BIO_set_mem_eof_return(bio, -1);
  return bio;
}
static inline size_t roost_bio_contents(BIO *bio, char **start) {
  long count = BIO_get_mem_data(bio, start);
  return count > 0 ? (size_t)count : 0;
}
static inline void roost_bio_empty(BIO *bio) { (void)BIO_reset(bio); }

/* The names a certificate is valid for. NULL if it has no names; otherwise the caller frees them. */
static inline GENERAL_NAMES *roost_names(const X509 *certificate) {
  return (GENERAL_NAMES *)X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
}
static inline int roost_names_count(const GENERAL_NAMES *names) { return sk_GENERAL_NAME_num(names); }
/* The bytes of a name: a host's in ASCII, an address in 4 or 16 bytes. NULL for a name of another kind. */
static inline const unsigned char *roost_name_at(const GENERAL_NAMES *names, int index, int *is_address, int *count) {
  const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, index);
  const ASN1_STRING *text;
  if (name->type != GEN_DNS && name->type != GEN_IPADD) return NULL;
  *is_address = name->type == GEN_IPADD;
  text = *is_address ? name->d.iPAddress : name->d.dNSName;
  *count = ASN1_STRING_length(text);
  return ASN1_STRING_get0_data(text);
}
/* The error number, if it is the operating system's, else 0. */
static inline int roost_error_of_system(unsigned long error) {
  return ERR_SYSTEM_ERROR(error) ? ERR_GET_REASON(error) : 0;
}
static inline int roost_error_reason(unsigned long error) { return ERR_GET_REASON(error); }
static inline int roost_error_library(unsigned long error) { return ERR_GET_LIB(error); }

/* A place in every context for data of ours; `release` frees the data together with the context. */
static inline int roost_tls_place_in_contexts(CRYPTO_EX_free *release) {
  return CRYPTO_get_ex_new_index(CRYPTO_EX_INDEX_SSL_CTX, 0, NULL, NULL, NULL, release);
}

/* Macros that Swift does not import because of their types. */
enum {
  roost_tls_no_renegotiation = SSL_OP_NO_RENEGOTIATION,
  roost_tls_no_ticket = SSL_OP_NO_TICKET,
  roost_tls_unsupported_protocol = SSL_R_UNSUPPORTED_PROTOCOL,
  roost_tls_wrong_version = SSL_R_WRONG_VERSION_NUMBER,
  roost_tls_certificate_refused = SSL_R_CERTIFICATE_VERIFY_FAILED,
  roost_tls_no_certificate = X509_R_NO_CERTIFICATE_OR_CRL_FOUND,
  roost_library_x509 = ERR_LIB_X509,
  roost_tls_bad_passphrase = PEM_R_BAD_PASSWORD_READ
};
