/* An application that observes: it counts what it is sent.

     observe FILTER COUNT SOCKET

   Asks roostd for `store.observe` with one filter, prints "ready" when all that was stored has come, and the clock's
   nanoseconds when COUNT events have; then it leaves. It reads in batches and looks at no event, so that it is not what
   is measured. */
#include "peer.h"

enum { STORED_END_BYTES = 128 }; /* the part that ends what was stored is shorter, an event is longer */

int main(int argc, char **argv) {
  unsigned long wanted = argc == 4 ? strtoul(argv[2], NULL, 10) : 0;
  if (wanted == 0) {
    fprintf(stderr, "usage: observe FILTER COUNT SOCKET\n");
    return 2;
  }
  struct peer *peer = peer_connect_client(argv[3], "store.observe");
  uint8_t frame[FRAME_HEADER_BYTES + 1024];
  char *text = (char *)frame + FRAME_HEADER_BYTES;
  int count = snprintf(text, 1024, "{\"filters\":[%s],\"policy\":\"cache-only\"}", argv[1]);
  if (count >= 1024) return 2;
  write_header(frame, FRAME_TYPE_REQUEST, 0, 1, (size_t)count);
  store16(frame + 6, 0);
  store16(frame + 38, peer->method);
  write_all(peer->fd, frame, FRAME_HEADER_BYTES + (size_t)count);
  while (wanted > 0) {
    peer_read(peer);
    for (const uint8_t *part; wanted > 0 && (part = peer_next(peer));) {
      size_t payload = frame_bytes(part) - FRAME_HEADER_BYTES;
      peer_did_consume(peer, 1, payload);
      if (payload < STORED_END_BYTES && memmem(part + FRAME_HEADER_BYTES, payload, "isStoredEnd", 11)) {
        printf("ready\n");
        fflush(stdout);
      } else if (part[5] == FRAME_TYPE_RESPONSE) {
        wanted--;
      }
    }
  }
  printf("%llu\n", (unsigned long long)now_nanoseconds());
  return 0;
}
