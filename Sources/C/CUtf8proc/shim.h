/* utf8proc: the normal forms of Unicode that Swift's library does not expose. Only Cryptography imports this. */
#pragma once
#include <utf8proc.h>
