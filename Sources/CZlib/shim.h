/* zlib: deflate, undone. Only WebSocket imports this. */
#pragma once
#include <zlib.h>

/* Begins to inflate data without a header of zlib's, with a window of 2^bits bytes; zlib's macro adds its version. */
static inline int roost_inflate_start(z_stream *stream, int bits) { return inflateInit2(stream, -bits); }
