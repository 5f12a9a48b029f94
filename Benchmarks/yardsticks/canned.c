/* A relay that says what was prepared: so fast that whoever asks it is what is measured.

     canned EVENTS.jsonl

   Listens on a port of 127.0.0.1 and prints its URL. To any REQ it sends all events of the file and EOSE, whatever the
   filters say, and keeps the connection; an EVENT has OK at once, a ping its pong. CLOSE ends a REQ that is still being
   answered. At SIGTERM it prints what it has done as one line of JSON.

   One thread and poll(2). An event's frame is its JSON between a header and the subscription's name, copied into an
   output buffer that is filled when the socket has emptied it: a memory copy for each event, and a write for 256 KiB.
   It compresses nothing, and takes what its few known peers say: messages in one frame, below 64 KiB. */
#include "frame.h"
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>

enum {
  CLIENT_MAXIMUM = 512,
  STREAM_MAXIMUM = 32, /* REQs of one client that are being answered */
  NAME_MAXIMUM = 64,   /* bytes of a subscription's name, NIP-01 */
  INPUT_BYTES = 80 << 10,
  OUTPUT_BYTES = 256 << 10,
  HEADER_BYTES = 4,   /* of a frame from 126 to 65,535 bytes; smaller ones are sent with fewer */
  REPLY_BYTES = 256,  /* an OK, a pong, an EOSE, with its header */
  EVENT_MAXIMUM = 60 << 10,
};

struct event {
  const char *json;
  size_t count;
};

struct stream {
  char name[NAME_MAXIMUM];
  size_t name_count;
  size_t next; /* event */
};

struct client {
  int fd;
  bool is_upgraded, is_closing;
  struct stream streams[STREAM_MAXIMUM];
  size_t stream_count;
  size_t input_count;
  size_t begin, end; /* what is unwritten in `output` */
  char input[INPUT_BYTES];
  uint8_t output[OUTPUT_BYTES];
};

static struct event *events;
static size_t event_count;
static struct client *clients[CLIENT_MAXIMUM];
static size_t client_count;
static struct { unsigned long connections, requests, events, publishes; } done;
static volatile sig_atomic_t is_over;

static void load(const char *path) {
  FILE *file = fopen(path, "r");
  if (!file) fail(path);
  size_t capacity = 0, room = 0;
  char *line = NULL;
  for (ssize_t count; (count = getline(&line, &room, file)) > 0; line = NULL, room = 0) {
    if (line[count - 1] == '\n') count--;
    if (count == 0 || count > EVENT_MAXIMUM) {
      fprintf(stderr, "canned: a line of %zd bytes\n", count);
      exit(2);
    }
    if (event_count == capacity) {
      capacity = capacity ? capacity * 2 : 1024;
      events = realloc(events, capacity * sizeof *events);
      if (!events) fail("realloc");
    }
    events[event_count++] = (struct event){line, (size_t)count};
  }
  free(line);
  fclose(file);
}

/* Output. Whoever calls has looked for room. */

static size_t room(const struct client *client) {
  return OUTPUT_BYTES - client->end;
}

static void add(struct client *client, const void *bytes, size_t count) {
  memcpy(client->output + client->end, bytes, count);
  client->end += count;
}

static void add_header(struct client *client, uint8_t opcode, size_t count) {
  uint8_t header[HEADER_BYTES] = {0x80 | opcode, (uint8_t)count};
  if (count < 126) {
    add(client, header, 2);
    return;
  }
  header[1] = 126;
  header[2] = (uint8_t)(count >> 8);
  header[3] = (uint8_t)count;
  add(client, header, HEADER_BYTES);
}

static void add_parts(struct client *client, const char *head, const char *name, size_t name_count, const char *tail) {
  add_header(client, 1, strlen(head) + name_count + strlen(tail));
  add(client, head, strlen(head));
  add(client, name, name_count);
  add(client, tail, strlen(tail));
}

static void add_event(struct client *client, const struct stream *stream) {
  static const char head[] = "[\"EVENT\",\"";
  const struct event *event = &events[stream->next];
  add_header(client, 1, sizeof head - 1 + stream->name_count + 2 + event->count + 1);
  add(client, head, sizeof head - 1);
  add(client, stream->name, stream->name_count);
  add(client, "\",", 2);
  add(client, event->json, event->count);
  add(client, "]", 1);
  done.events++;
}

/* As much of the oldest REQ's answer as there is room for. */
static void fill(struct client *client) {
  while (client->stream_count > 0) {
    struct stream *stream = &client->streams[0];
    for (; stream->next < event_count; stream->next++) {
      if (room(client) < events[stream->next].count + 2 * REPLY_BYTES) return;
      add_event(client, stream);
    }
    if (room(client) < 2 * REPLY_BYTES) return;
    add_parts(client, "[\"EOSE\",\"", stream->name, stream->name_count, "\"]");
    memmove(stream, stream + 1, --client->stream_count * sizeof *stream);
  }
}

/* False when the client is gone. */
static bool write_output(struct client *client) {
  for (;;) {
    if (client->begin == client->end) {
      client->begin = client->end = 0;
      if (client->is_closing) return false;
      fill(client);
      if (client->end == 0) return true;
    }
    ssize_t written =
        send(client->fd, client->output + client->begin, client->end - client->begin, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (written < 0) return errno == EAGAIN || errno == EINTR;
    client->begin += (size_t)written;
  }
}

/* Input */

/* The string behind `count` quotes of a message; its length, 0 if there is none. */
static size_t quoted(const char *text, size_t size, int count, const char **start) {
  const char *end = text + size;
  *start = text;
  for (; count > 0; count--) {
    text = memchr(text, '"', (size_t)(end - text));
    if (!text) return 0;
    text++;
  }
  *start = text;
  const char *last = memchr(text, '"', (size_t)(end - text));
  return last ? (size_t)(last - text) : 0;
}

static void take_request(struct client *client, const char *name, size_t count) {
  if (count == 0 || count > NAME_MAXIMUM || client->stream_count == STREAM_MAXIMUM) {
    client->is_closing = true;
    return;
  }
  struct stream *stream = &client->streams[client->stream_count++];
  memcpy(stream->name, name, count);
  stream->name_count = count;
  stream->next = 0;
  done.requests++;
}

static void drop_request(struct client *client, const char *name, size_t count) {
  for (size_t i = 0; i < client->stream_count; i++) {
    struct stream *stream = &client->streams[i];
    if (stream->name_count != count || memcmp(stream->name, name, count) != 0) continue;
    memmove(stream, stream + 1, (--client->stream_count - i) * sizeof *stream);
    return;
  }
}

static void take_text(struct client *client, const char *text, size_t size) {
  const char *label, *name;
  size_t count = quoted(text, size, 1, &label);
  if (count == 3 && memcmp(label, "REQ", 3) == 0) {
    count = quoted(text, size, 3, &name);
    take_request(client, name, count);
  } else if (count == 5 && memcmp(label, "CLOSE", 5) == 0) {
    count = quoted(text, size, 3, &name);
    drop_request(client, name, count);
  } else if (count == 5 && memcmp(label, "EVENT", 5) == 0) {
    const char *id = memmem(text, size, "\"id\":\"", 6);
    if (!id || (size_t)(text + size - id) < 6 + 64) return;
    add_parts(client, "[\"OK\",\"", id + 6, 64, "\",true,\"\"]");
    done.publishes++;
  }
}

/* One frame from the front of the input: bytes used, 0 if it is not whole, -1 if it cannot be taken. */
static ssize_t take_frame(struct client *client) {
  uint8_t *bytes = (uint8_t *)client->input;
  if (client->input_count < 2) return 0;
  size_t count = bytes[1] & 0x7f, head = 2;
  if (count == 127 || !(bytes[1] & 0x80) || !(bytes[0] & 0x80)) return -1;
  if (count == 126) {
    if (client->input_count < 4) return 0;
    count = (size_t)bytes[2] << 8 | bytes[3];
    head = 4;
  }
  if (client->input_count < head + 4 + count) return 0;
  uint8_t *payload = bytes + head + 4;
  for (size_t i = 0; i < count; i++) payload[i] ^= bytes[head + i % 4];
  uint8_t opcode = bytes[0] & 0x0f;
  if (opcode == 1) {
    take_text(client, (char *)payload, count);
  } else if (opcode == 8 || opcode == 9) {
    if (count > 125) return -1;
    add_header(client, opcode == 8 ? 8 : 10, count);
    add(client, payload, count);
    if (opcode == 8) {
      client->is_closing = true;
      client->stream_count = 0;
    }
  }
  return (ssize_t)(head + 4 + count);
}

static ssize_t take_upgrade(struct client *client) {
  static const char field[] = "Sec-WebSocket-Key:", magic[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  const char *end = memmem(client->input, client->input_count, "\r\n\r\n", 4);
  if (!end) return 0;
  char head[4096], joined[128];
  size_t count = (size_t)(end - client->input);
  if (count >= sizeof head) return -1;
  memcpy(head, client->input, count);
  head[count] = 0;
  const char *key = strcasestr(head, field);
  if (!key) return -1;
  key += strlen(field);
  key += strspn(key, " ");
  int length = snprintf(joined, sizeof joined, "%.*s%s", (int)strcspn(key, " \r"), key, magic);
  if (length >= (int)sizeof joined) return -1;
  uint8_t digest[EVP_MAX_MD_SIZE], accept[64];
  if (!EVP_Digest(joined, (size_t)length, digest, NULL, EVP_sha1(), NULL)) return -1;
  EVP_EncodeBlock(accept, digest, 20);
  char answer[REPLY_BYTES];
  int size = snprintf(answer, sizeof answer,
                      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                      "Sec-WebSocket-Accept: %s\r\n\r\n", accept);
  add(client, answer, (size_t)size);
  client->is_upgraded = true;
  return (ssize_t)count + 4;
}

/* Takes what is whole in the input, as far as there is room for replies; false for what cannot be taken. */
static bool take_input(struct client *client) {
  while (room(client) >= REPLY_BYTES && !client->is_closing) {
    ssize_t used = client->is_upgraded ? take_frame(client) : take_upgrade(client);
    if (used <= 0) return used == 0;
    client->input_count -= (size_t)used;
    memmove(client->input, client->input + used, client->input_count);
  }
  return true;
}

static bool read_input(struct client *client) {
  ssize_t got =
      recv(client->fd, client->input + client->input_count, INPUT_BYTES - client->input_count, MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  client->input_count += (size_t)got;
  return take_input(client);
}

/* Connections */

static void take_connection(int listener) {
  int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  if (fd < 0) return;
  struct client *client = client_count < CLIENT_MAXIMUM ? calloc(1, sizeof *client) : NULL;
  if (!client) {
    close(fd);
    return;
  }
  int yes = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  client->fd = fd;
  clients[client_count++] = client;
  done.connections++;
}

/* False when the client is gone. */
static bool serve(struct client *client, short what) {
  if (what & (POLLERR | POLLNVAL)) return false;
  if (what & (POLLIN | POLLHUP) && !read_input(client)) return false;
  if (!write_output(client)) return false;
  return client->input_count == 0 || take_input(client);
}

static void run(int listener) {
  struct pollfd watched[CLIENT_MAXIMUM + 1];
  while (!is_over) {
    watched[0] = (struct pollfd){listener, POLLIN, 0};
    size_t count = client_count;
    for (size_t i = 0; i < count; i++) {
      const struct client *client = clients[i];
      bool reads = client->input_count < INPUT_BYTES, writes = client->end > 0 || client->stream_count > 0;
      watched[i + 1] = (struct pollfd){client->fd, (short)((reads ? POLLIN : 0) | (writes ? POLLOUT : 0)), 0};
    }
    if (poll(watched, count + 1, -1) < 0) continue;
    for (size_t i = count; i-- > 0;) {
      if (watched[i + 1].revents == 0 || serve(clients[i], watched[i + 1].revents)) continue;
      close(clients[i]->fd);
      free(clients[i]);
      clients[i] = clients[--client_count];
    }
    if (watched[0].revents) take_connection(listener);
  }
}

static void end(int number) {
  (void)number;
  is_over = 1;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: canned EVENTS.jsonl\n");
    return 2;
  }
  load(argv[1]);
  struct sigaction action = {.sa_handler = end};
  sigaction(SIGTERM, &action, NULL);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) < 0 || listen(listener, CLIENT_MAXIMUM) < 0 ||
      getsockname(listener, (struct sockaddr *)&address, &size) < 0) {
    fail("listen");
  }
  printf("ws://127.0.0.1:%d\n", ntohs(address.sin_port));
  fflush(stdout);
  run(listener);
  printf("{\"connections\": %lu, \"requests\": %lu, \"events\": %lu, \"publishes\": %lu}\n", done.connections,
         done.requests, done.events, done.publishes);
  return 0;
}
