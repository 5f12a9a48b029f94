/* A blocking peer of either hub: it joins, reads frames in batches, and keeps the credit of both directions.

   The hub in C wants one frame and grants everything. roostd wants the whole dance of docs/protocol.md: HELLO as a
   client, or as a worker of role `bench` with a one-time token in ROOST_TOKEN; WELCOME; READY; then credit. A load that
   speaks to both through this header is the same load. */
#pragma once
#include "frame.h"
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>

enum {
  PEER_BUFFER_BYTES = 256 << 10,
  FRAME_TYPE_WELCOME = 2,
  FRAME_TYPE_READY = 3,
  FRAME_TYPE_PING = 5,
  FRAME_TYPE_CREDIT = 7,
  FRAME_TYPE_FATAL = 10,
  FRAME_TYPE_REQUEST = 16,
  FRAME_TYPE_RESPONSE = 17,
  FRAME_TYPE_ERROR = 18,
  SEAT_SENDER = 1,   /* of the hub in C, where peers choose their seats */
  SEAT_RECEIVER = 2,
};

/* What a peer lets roostd send: about what the hub in C keeps for a seat. */
#define PEER_WINDOW_FRAMES 8192u
#define PEER_WINDOW_BYTES (8u << 20)

struct credit {
  uint64_t frames;
  uint64_t bytes;
};

struct peer {
  int fd;
  bool is_roostd;
  uint32_t endpoint;
  uint16_t method; /* the number of the one it needs, bench.take; 0 at the hub in C */
  struct credit granted, sent;
  struct credit consumed, announced;
  size_t begin, end; /* what is unread in `buffer` */
  uint8_t buffer[PEER_BUFFER_BYTES];
};

_Noreturn static inline void peer_fail(const uint8_t *frame) {
  size_t count = frame_bytes(frame) - FRAME_HEADER_BYTES;
  fprintf(stderr, "the hub sent a frame of type %d: %.*s\n", frame[5], (int)count, frame + FRAME_HEADER_BYTES);
  exit(1);
}

/* The number behind `"key":` after `start` in JSON that the hub wrote. */
static inline uint64_t json_number(const char *start, const char *key) {
  const char *found = start ? strstr(start, key) : NULL;
  if (!found) {
    fprintf(stderr, "WELCOME has no %s\n", key);
    exit(1);
  }
  return strtoull(found + strlen(key), NULL, 10);
}

/* Frames of `payload_bytes` each that may be sent now. */
static inline uint64_t peer_allowance(const struct peer *peer, size_t payload_bytes) {
  if (!peer->is_roostd) return UINT64_MAX;
  if (peer->sent.frames >= peer->granted.frames || peer->sent.bytes >= peer->granted.bytes) return 0;
  uint64_t frames = peer->granted.frames - peer->sent.frames;
  uint64_t by_bytes = payload_bytes ? 1 + (peer->granted.bytes - peer->sent.bytes - 1) / payload_bytes : frames;
  return frames < by_bytes ? frames : by_bytes;
}

/* Counts frames that spent credit; the caller writes them. */
static inline void peer_did_send(struct peer *peer, uint64_t frames, size_t payload_bytes) {
  peer->sent.frames += frames;
  peer->sent.bytes += frames * payload_bytes;
}

/* Counts frames that spent the hub's credit, and gives it back by the quarter of the window. */
static inline void peer_did_consume(struct peer *peer, uint64_t frames, size_t payload_bytes) {
  peer->consumed.frames += frames;
  peer->consumed.bytes += frames * payload_bytes;
  if (!peer->is_roostd || (peer->consumed.frames - peer->announced.frames < PEER_WINDOW_FRAMES / 4 &&
                           peer->consumed.bytes - peer->announced.bytes < PEER_WINDOW_BYTES / 4)) {
    return;
  }
  peer->announced = peer->consumed;
  uint8_t frame[FRAME_HEADER_BYTES + 16];
  write_header(frame, FRAME_TYPE_CREDIT, 0, 0, 16);
  store64(frame + FRAME_HEADER_BYTES, peer->consumed.frames + PEER_WINDOW_FRAMES);
  store64(frame + FRAME_HEADER_BYTES + 8, peer->consumed.bytes + PEER_WINDOW_BYTES);
  write_all(peer->fd, frame, sizeof frame);
}

/* Waits for bytes; what was read before and not taken stays in front. */
static inline void peer_read(struct peer *peer) {
  memmove(peer->buffer, peer->buffer + peer->begin, peer->end - peer->begin);
  peer->end -= peer->begin;
  peer->begin = 0;
  ssize_t got = read(peer->fd, peer->buffer + peer->end, PEER_BUFFER_BYTES - peer->end);
  if (got <= 0) fail("the hub is gone");
  peer->end += (size_t)got;
}

/* The next whole frame that was read, or NULL. Valid until the next read. What runs the
   connection is dealt with here. */
static inline const uint8_t *peer_next(struct peer *peer) {
  for (;;) {
    size_t available = peer->end - peer->begin;
    const uint8_t *frame = peer->buffer + peer->begin;
    if (available < FRAME_HEADER_BYTES || available < frame_bytes(frame)) return NULL;
    peer->begin += frame_bytes(frame);
    switch (frame[5]) {
      case FRAME_TYPE_CREDIT:
        peer->granted = (struct credit){load64(frame + FRAME_HEADER_BYTES), load64(frame + FRAME_HEADER_BYTES + 8)};
        break;
      case FRAME_TYPE_FATAL:
      case FRAME_TYPE_ERROR: peer_fail(frame);
      case FRAME_TYPE_EVENT:
      case FRAME_TYPE_REQUEST:
      case FRAME_TYPE_RESPONSE: return frame;
      default: break; /* REGISTRY and the like: nothing these peers need to know */
    }
  }
}

static inline void peer_join_yardstick(struct peer *peer, uint32_t seat) {
  uint8_t frame[FRAME_HEADER_BYTES + 8];
  write_header(frame, FRAME_TYPE_HELLO, 0, 0, 8);
  store64(frame + FRAME_HEADER_BYTES, seat);
  write_all(peer->fd, frame, sizeof frame);
  peer->endpoint = seat;
}

static inline void peer_say_hello(struct peer *peer, bool is_worker) {
  const char *token = getenv("ROOST_TOKEN");
  uint8_t frame[FRAME_HEADER_BYTES + 512];
  char *text = (char *)frame + FRAME_HEADER_BYTES;
  int count =
      is_worker
          ? snprintf(text, 512,
                     "{\"role\":\"bench\",\"name\":\"bench\",\"token\":\"%s\",\"methods\":[\"bench.take\"],"
                     "\"window\":{\"frames\":%u,\"bytes\":%u}}",
                     token ? token : "", PEER_WINDOW_FRAMES, PEER_WINDOW_BYTES)
          : snprintf(text, 512, "{\"role\":\"client\",\"name\":\"bench\",\"window\":{\"frames\":%u,\"bytes\":%u}}",
                     PEER_WINDOW_FRAMES, PEER_WINDOW_BYTES);
  if (count >= 512) exit(2);
  write_header(frame, FRAME_TYPE_HELLO, 0, 0, (size_t)count);
  store16(frame + 6, 0);
  write_all(peer->fd, frame, FRAME_HEADER_BYTES + (size_t)count);
}

static inline void peer_join_roostd(struct peer *peer, bool is_worker, const char *method) {
  peer_say_hello(peer, is_worker);
  while (peer->end < FRAME_HEADER_BYTES || peer->end < frame_bytes(peer->buffer)) peer_read(peer);
  if (peer->buffer[5] != FRAME_TYPE_WELCOME) peer_fail(peer->buffer);
  peer->begin = frame_bytes(peer->buffer);
  char *welcome = strndup((char *)peer->buffer + FRAME_HEADER_BYTES, peer->begin - FRAME_HEADER_BYTES);
  if (!welcome) fail("strndup");
  const char *window = strstr(welcome, "\"window\":");
  peer->granted = (struct credit){json_number(window, "\"frames\":"), json_number(window, "\"bytes\":")};
  char key[64];
  snprintf(key, sizeof key, "\"%s\":", method);
  peer->method = (uint16_t)json_number(strstr(welcome, key), "\"number\":");
  /* The registry's only worker is this one, so every endpoint in it is its own; a client does not need one. */
  if (is_worker) peer->endpoint = (uint32_t)json_number(welcome, "\"endpoint\":");
  free(welcome);
  if (!is_worker) return;
  uint8_t ready[FRAME_HEADER_BYTES];
  write_header(ready, FRAME_TYPE_READY, 0, 0, 0);
  write_all(peer->fd, ready, sizeof ready);
}

/* Connects and joins: the receiver before the sender. `is_receiver` chooses seat, or role. */
static inline struct peer *peer_connect(const char *path, bool is_roostd, bool is_receiver) {
  struct peer *peer = calloc(1, sizeof *peer);
  if (!peer) fail("calloc");
  peer->fd = connect_unix(path);
  peer->is_roostd = is_roostd;
  if (is_roostd) {
    peer_join_roostd(peer, is_receiver, "bench.take");
  } else {
    peer_join_yardstick(peer, is_receiver ? SEAT_RECEIVER : SEAT_SENDER);
  }
  return peer;
}

/* Connects to roostd as a client that asks for one method. */
static inline struct peer *peer_connect_client(const char *path, const char *method) {
  struct peer *peer = calloc(1, sizeof *peer);
  if (!peer) fail("calloc");
  peer->fd = connect_unix(path);
  peer->is_roostd = true;
  peer_join_roostd(peer, false, method);
  return peer;
}

/* Starts `receive` in a process of its own, and goes on when it has joined; returns its endpoint. */
static inline uint32_t peer_start_receiver(const char *path, bool is_roostd, void (*receive)(struct peer *, void *),
                                           void *context, pid_t *process) {
  int ready[2];
  uint32_t endpoint;
  if (pipe(ready) < 0) fail("pipe");
  *process = fork();
  if (*process < 0) fail("fork");
  if (*process == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(ready[0]);
    struct peer *peer = peer_connect(path, is_roostd, true);
    write_all(ready[1], (const uint8_t *)&peer->endpoint, sizeof peer->endpoint);
    close(ready[1]);
    receive(peer, context);
    fflush(stdout);
    _exit(0);
  }
  close(ready[1]);
  read_all(ready[0], (uint8_t *)&endpoint, sizeof endpoint);
  close(ready[0]);
  return endpoint;
}
