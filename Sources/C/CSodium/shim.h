/* libsodium: signatures of Ed25519, verified twice as fast as by libcrypto. Only Cryptography imports this. */
#pragma once
#include <sodium/core.h>
#include <sodium/crypto_sign_ed25519.h>
