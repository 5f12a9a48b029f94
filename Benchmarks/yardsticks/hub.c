/* A message hub that does nothing but forward: the yardstick for roostd's.

     hub SOCKET

   Clients connect to SOCKET. The first frame of each is type 1 with an 8-byte payload, the number of the seat it takes;
   every later frame goes to the seat in its `destination`, with the sender's seat written into `source`. There is no
   registry, no access table, no credit, no redelivery: what roostd costs beyond this is the price of those.

   It is as fast as the same idea gets with libuv: frames are parsed in the read buffer, a run of frames for
   one seat leaves by one uv_try_write from where it was read, and only what the kernel refuses is copied. A
   client whose destination has more than PENDING_MAXIMUM bytes waiting is not read until that is written, so
   the hub's memory is bounded. */
#include "frame.h"
#include <stdbool.h>
#include <uv.h>

enum {
  SEAT_MAXIMUM = 4095,
  READ_BUFFER_BYTES = 256 << 10,
  FRAME_MAXIMUM = READ_BUFFER_BYTES / 2,
  PENDING_MAXIMUM = 4 << 20,
};

struct bytes {
  uint8_t *start;
  size_t count;
  size_t capacity;
};

struct client {
  uv_pipe_t pipe;
  uv_write_t write;
  uint32_t seat;  /* 0 until its first frame */
  bool is_writing;
  bool is_paused; /* not read, because a destination is full */
  struct bytes flight;  /* with the kernel, by uv_write */
  struct bytes waiting; /* goes next */
  size_t begin, end;    /* what is unread in `buffer` */
  uint8_t buffer[READ_BUFFER_BYTES];
};

static struct client *seats[SEAT_MAXIMUM + 1];

static void start_reading(struct client *client);

static void resume_paused(void) {
  for (int seat = 1; seat <= SEAT_MAXIMUM; seat++) {
    struct client *client = seats[seat];
    if (client && client->is_paused) start_reading(client);
  }
}

static void on_closed(uv_handle_t *handle) {
  struct client *client = handle->data;
  free(client->flight.start);
  free(client->waiting.start);
  free(client);
  /* Somebody may have waited for this one to read. */
  resume_paused();
}

static void close_client(struct client *client) {
  if (uv_is_closing((uv_handle_t *)&client->pipe)) return;
  if (client->seat) seats[client->seat] = NULL;
  uv_close((uv_handle_t *)&client->pipe, on_closed);
}

static void keep(struct bytes *bytes, const uint8_t *start, size_t count) {
  if (bytes->capacity - bytes->count < count) {
    size_t capacity = bytes->capacity ? bytes->capacity * 2 : 256 << 10;
    while (capacity - bytes->count < count) capacity *= 2;
    bytes->start = realloc(bytes->start, capacity);
    if (!bytes->start) fail("realloc");
    bytes->capacity = capacity;
  }
  memcpy(bytes->start + bytes->count, start, count);
  bytes->count += count;
}

static void write_waiting(struct client *client);

static void on_written(uv_write_t *request, int status) {
  struct client *client = request->data;
  client->is_writing = false;
  client->flight.count = 0;
  if (status < 0) {
    close_client(client);
    return;
  }
  write_waiting(client);
  resume_paused();
}

static void write_waiting(struct client *client) {
  if (client->is_writing || client->waiting.count == 0 || uv_is_closing((uv_handle_t *)&client->pipe)) return;
  struct bytes next = client->waiting;
  client->waiting = client->flight;
  client->flight = next;
  client->is_writing = true;
  client->write.data = client;
  uv_buf_t buffer = uv_buf_init((char *)next.start, (unsigned)next.count);
  if (uv_write(&client->write, (uv_stream_t *)&client->pipe, &buffer, 1, on_written) < 0) close_client(client);
}

/* A run of whole frames, from the sender's read buffer to one seat. */
static void forward(struct client *sender, uint32_t destination, const uint8_t *start, size_t count) {
  if (count == 0 || destination == 0 || destination > SEAT_MAXIMUM || !seats[destination]) return;
  struct client *client = seats[destination];
  if (!client->is_writing && client->waiting.count == 0) {
    uv_buf_t buffer = uv_buf_init((char *)start, (unsigned)count);
    int written = uv_try_write((uv_stream_t *)&client->pipe, &buffer, 1);
    if (written < 0 && written != UV_EAGAIN) {
      close_client(client);
      return;
    }
    if (written > 0) {
      start += written;
      count -= (size_t)written;
    }
  }
  if (count == 0) return;
  keep(&client->waiting, start, count);
  write_waiting(client);
  if (client->waiting.count + client->flight.count > PENDING_MAXIMUM) {
    sender->is_paused = true;
    uv_read_stop((uv_stream_t *)&sender->pipe);
  }
}

static bool take_seat(struct client *client, const uint8_t *frame, size_t count) {
  if (frame[5] != FRAME_TYPE_HELLO || count != FRAME_HEADER_BYTES + 8) return false;
  uint64_t seat = load64(frame + FRAME_HEADER_BYTES);
  if (seat == 0 || seat > SEAT_MAXIMUM || seats[seat]) return false;
  client->seat = (uint32_t)seat;
  seats[seat] = client;
  return true;
}

static void on_read(uv_stream_t *stream, ssize_t got, const uv_buf_t *unused) {
  (void)unused;
  struct client *client = stream->data;
  if (got < 0) {
    if (got != UV_ENOBUFS) close_client(client);
    return;
  }
  client->end += (size_t)got;
  size_t at = client->begin, run = at;
  uint32_t run_destination = 0;
  while (client->end - at >= FRAME_HEADER_BYTES) {
    uint8_t *frame = client->buffer + at;
    size_t count = frame_bytes(frame);
    if (count < FRAME_HEADER_BYTES || count > FRAME_MAXIMUM) {
      close_client(client);
      return;
    }
    if (client->end - at < count) break;
    if (client->seat == 0) {
      if (!take_seat(client, frame, count)) {
        close_client(client);
        return;
      }
      run = at + count;
    } else {
      uint32_t destination = load32(frame + 8);
      store32(frame + 12, client->seat);
      if (destination != run_destination) {
        forward(client, run_destination, client->buffer + run, at - run);
        run = at;
        run_destination = destination;
      }
    }
    at += count;
  }
  forward(client, run_destination, client->buffer + run, at - run);
  client->begin = at;
}

static void on_allocate(uv_handle_t *handle, size_t unused, uv_buf_t *buffer) {
  (void)unused;
  struct client *client = handle->data;
  if (client->begin == client->end) client->begin = client->end = 0;
  if (READ_BUFFER_BYTES - client->end < FRAME_MAXIMUM) {
    memmove(client->buffer, client->buffer + client->begin, client->end - client->begin);
    client->end -= client->begin;
    client->begin = 0;
  }
  *buffer = uv_buf_init((char *)client->buffer + client->end, (unsigned)(READ_BUFFER_BYTES - client->end));
}

static void start_reading(struct client *client) {
  client->is_paused = false;
  uv_read_start((uv_stream_t *)&client->pipe, on_allocate, on_read);
}

static void on_connection(uv_stream_t *listener, int status) {
  if (status < 0) return;
  struct client *client = calloc(1, sizeof *client);
  if (!client) fail("calloc");
  uv_pipe_init(listener->loop, &client->pipe, 0);
  client->pipe.data = client;
  if (uv_accept(listener, (uv_stream_t *)&client->pipe) < 0) {
    close_client(client);
    return;
  }
  start_reading(client);
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: hub SOCKET\n");
    return 2;
  }
  /* libuv 1.44 writes with write(2): without this a client that leaves takes the hub with it. */
  signal(SIGPIPE, SIG_IGN);
  uv_loop_t *loop = uv_default_loop();
  uv_pipe_t listener;
  uv_pipe_init(loop, &listener, 0);
  unlink(argv[1]);
  int status = uv_pipe_bind(&listener, argv[1]);
  if (status == 0) status = uv_listen((uv_stream_t *)&listener, 128, on_connection);
  if (status < 0) {
    fprintf(stderr, "hub: %s: %s\n", argv[1], uv_strerror(status));
    return 1;
  }
  return uv_run(loop, UV_RUN_DEFAULT);
}
