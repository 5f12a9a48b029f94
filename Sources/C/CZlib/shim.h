/* zlib: deflate and inflate. Only WebSocket imports this. */
#pragma once
#include <zlib.h>

/* Begins to inflate data without a zlib header, with a window of 2^bits bytes; zlib's macro adds its version. */
static inline int roost_inflate_start(z_stream *stream, int bits) { return inflateInit2(stream, -bits); }

/* Begins to deflate without a zlib header, for a window of 2^bits bytes. */
static inline int roost_deflate_start(z_stream *stream, int level, int bits) {
  return deflateInit2(stream, level, Z_DEFLATED, -bits, 8, Z_DEFAULT_STRATEGY);
}
