/* libsecp256k1 with BIP-340, plain ECDH and keys recovered from ECDSA signatures. Only Cryptography imports this. */
#pragma once
#include <secp256k1.h>
#include <secp256k1_ecdh.h>
#include <secp256k1_extrakeys.h>
#include <secp256k1_recovery.h>
#include <secp256k1_schnorrsig.h>
