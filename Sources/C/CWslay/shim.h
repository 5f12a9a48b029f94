#pragma once
#include <wslay/wslay.h>

/* A macro with a cast, which Swift does not import: the reserved bit of a compressed message's first frame. */
enum { roost_wslay_compressed = WSLAY_RSV1_BIT };
