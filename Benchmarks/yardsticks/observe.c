/* An application that observes: it counts what it is sent.

     observe [--pages] FILTER COUNT SOCKET

   Asks roostd for `store.observe` with one filter, prints "ready" when all that was stored has come, and the clock's
   nanoseconds when COUNT events have; then it leaves. With --pages events come many to a part. It reads in batches and
   looks at no event, so that it is not what is measured. */
#include "peer.h"

enum { STORED_END_BYTES = 128 }; /* the part that ends what was stored is shorter, an event is longer */

/* How many events a part brings: of a page as many as it has records, whose lengths stand at byte 8 of 16. */
static unsigned long events_of(const uint8_t *payload, size_t bytes, bool has_pages) {
  if (!has_pages) return 1;
  unsigned long count = 0;
  for (size_t place = 0; place + 16 <= bytes; place += 16 + load32(payload + place + 8)) count++;
  return count;
}

int main(int argc, char **argv) {
  bool has_pages = argc == 5 && strcmp(argv[1], "--pages") == 0;
  if (has_pages) {
    argv++;
    argc--;
  }
  unsigned long wanted = argc == 4 ? strtoul(argv[2], NULL, 10) : 0;
  if (wanted == 0) {
    fprintf(stderr, "usage: observe [--pages] FILTER COUNT SOCKET\n");
    return 2;
  }
  struct peer *peer = peer_connect_client(argv[3], "store.observe");
  uint8_t frame[FRAME_HEADER_BYTES + 1024];
  char *text = (char *)frame + FRAME_HEADER_BYTES;
  int count = snprintf(text, 1024, "{\"filters\":[%s],\"policy\":\"cache-only\",\"pages\":%s}", argv[1],
                       has_pages ? "true" : "false");
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
        unsigned long came = events_of(part + FRAME_HEADER_BYTES, payload, has_pages);
        wanted -= came < wanted ? came : wanted;
      }
    }
  }
  printf("%llu\n", (unsigned long long)now_nanoseconds());
  return 0;
}
