/* libsodium: signatures of Ed25519, verified twice as fast as by libcrypto, and encrypted streams. Only Cryptography
   imports this. */
#pragma once
#include <sodium/core.h>
#include <sodium/crypto_secretstream_xchacha20poly1305.h>
#include <sodium/crypto_sign_ed25519.h>
