/* A relay that says what was prepared: so fast that whoever asks it is what is measured.

     canned EVENTS.jsonl [--cap N] [--delay MILLISECONDS]

   Listens on a port of 127.0.0.1 and prints its URL. To a REQ it sends the events that match, the newest first, and
   EOSE, and keeps the connection; an EVENT has OK at once, a ping its pong. CLOSE ends a REQ that is still being
   answered. At SIGTERM it prints what it has done as one line of JSON.

   A filter may have `authors`, `kinds`, `since`, `until` and `limit`; one with another member gets CLOSED. With --cap it
   sends so many events, at most, to one filter. With --delay an answer begins so long after its REQ, as from a relay
   that is far away.

   One thread and poll(2). An event's frame is its JSON between a header and the subscription's name, copied into an
   output buffer that is filled when the socket has emptied it: a memory copy for each event, and a write for 256 KiB.
   Which events match is looked up when the REQ comes: the events are sorted by time, and those of each author are
   linked. It compresses nothing, and takes what its few known peers say: messages in one frame, below 128 KiB. */
#include "matching.h"
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <poll.h>
#include <signal.h>

enum {
  CLIENT_MAXIMUM = 512,
  STREAM_MAXIMUM = 32, /* REQs of one client that are being answered */
  NAME_MAXIMUM = 64,   /* bytes of a subscription's name, NIP-01 */
  INPUT_BYTES = 1 << 20, /* a list of 10,000 people has 700 KB */
  OUTPUT_BYTES = 256 << 10,
  HEADER_BYTES = 4,   /* of a frame from 126 to 65,535 bytes; smaller ones are sent with fewer */
  REPLY_BYTES = 256,  /* an OK, a pong, an EOSE, with its header */
};

struct stream {
  char name[NAME_MAXIMUM];
  size_t name_count;
  uint32_t *matches; /* events, in the order in which they go */
  size_t match_count, next;
  uint64_t due; /* nanoseconds: not before */
};

struct client {
  int fd;
  bool is_upgraded, is_closing;
  struct stream streams[STREAM_MAXIMUM];
  size_t stream_count;
  size_t input_count;
  size_t begin, end; /* what is unwritten in `output` */
  char input[INPUT_BYTES + 1];
  uint8_t output[OUTPUT_BYTES];
};

static size_t cap = SIZE_MAX;
static uint64_t delay; /* nanoseconds */
static struct client *clients[CLIENT_MAXIMUM];
static size_t client_count;
static struct { unsigned long connections, requests, events, publishes; } done;
static volatile sig_atomic_t is_over;

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
  const struct event *event = &events[stream->matches[stream->next]];
  add_header(client, 1, sizeof head - 1 + stream->name_count + 2 + event->count + 1);
  add(client, head, sizeof head - 1);
  add(client, stream->name, stream->name_count);
  add(client, "\",", 2);
  add(client, event->json, event->count);
  add(client, "]", 1);
  done.events++;
}

static void end_stream(struct client *client, struct stream *stream) {
  free(stream->matches);
  size_t place = (size_t)(stream - client->streams);
  memmove(stream, stream + 1, (--client->stream_count - place) * sizeof *stream);
}

/* As much of the oldest REQ's answer as there is room for. */
static void fill(struct client *client) {
  while (client->stream_count > 0) {
    struct stream *stream = &client->streams[0];
    if (delay > 0 && stream->due > now_nanoseconds()) return;
    for (; stream->next < stream->match_count; stream->next++) {
      if (room(client) < events[stream->matches[stream->next]].count + 2 * REPLY_BYTES) return;
      add_event(client, stream);
    }
    if (room(client) < 2 * REPLY_BYTES) return;
    add_parts(client, "[\"EOSE\",\"", stream->name, stream->name_count, "\"]");
    end_stream(client, stream);
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

static void add_match(struct stream *stream, uint32_t event) {
  if ((stream->match_count & (stream->match_count + 1)) == 0) {
    stream->matches = realloc(stream->matches, 2 * (stream->match_count + 1) * sizeof *stream->matches);
    if (!stream->matches) fail("realloc");
  }
  stream->matches[stream->match_count++] = event;
}

/* Adds what matches a filter, the newest first. */
static void look_up(struct stream *stream, const struct filter *filter) {
  size_t most = filter->limit < 0 ? 0 : (size_t)filter->limit, end = stream->match_count;
  most = most < cap ? most : cap;
  if (!filter->names_authors || filter->author_count > FEW_AUTHORS) {
    for (size_t i = first_until(filter->until); i < event_count && stream->match_count - end < most; i++) {
      if (events[i].created_at < filter->since) break;
      if (is_match(&events[i], filter)) add_match(stream, (uint32_t)i);
    }
    return;
  }
  uint32_t next[FEW_AUTHORS];
  for (size_t i = 0; i < filter->author_count; i++) next[i] = authors[filter->few[i]].newest;
  while (stream->match_count - end < most) {
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < filter->author_count; i++) {
      while (next[i] != UINT32_MAX && !is_match(&events[next[i]], filter)) next[i] = events[next[i]].older;
      if (next[i] != UINT32_MAX && (best == SIZE_MAX || next[i] < next[best])) best = i;
    }
    if (best == SIZE_MAX) return;
    add_match(stream, next[best]);
    next[best] = events[next[best]].older;
  }
}

/* A REQ: `text` is what follows its name, `,{…},{…}]`, and ends with a 0. */
static void take_request(struct client *client, const char *name, size_t count, const char *text) {
  if (count == 0 || count > NAME_MAXIMUM || client->stream_count == STREAM_MAXIMUM) {
    client->is_closing = true;
    return;
  }
  struct stream *stream = &client->streams[client->stream_count++];
  *stream = (struct stream){.name_count = count, .due = delay > 0 ? now_nanoseconds() + delay : 0};
  memcpy(stream->name, name, count);
  done.requests++;
  while (text && text[0] == ',' && text[1] == '{') {
    struct filter filter;
    text = read_filter(text + 1, &filter);
    if (!text || !filter.is_known) break;
    look_up(stream, &filter);
  }
  if (text && strcmp(text, "]") == 0) return;
  add_parts(client, "[\"CLOSED\",\"", name, count, "\",\"unsupported: canned does not know this filter\"]");
  end_stream(client, stream);
}

static void drop_request(struct client *client, const char *name, size_t count) {
  for (size_t i = 0; i < client->stream_count; i++) {
    struct stream *stream = &client->streams[i];
    if (stream->name_count != count || memcmp(stream->name, name, count) != 0) continue;
    end_stream(client, stream);
    return;
  }
}

static void take_text(struct client *client, const char *text, size_t size) {
  const char *label, *name;
  size_t count = quoted(text, size, 1, &label);
  if (count == 3 && memcmp(label, "REQ", 3) == 0) {
    count = quoted(text, size, 3, &name);
    take_request(client, name, count, name + count + 1);
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
  size_t count = bytes[1] & 0x7f, head = count == 126 ? 4 : count == 127 ? 10 : 2;
  if (!(bytes[1] & 0x80) || !(bytes[0] & 0x80)) return -1;
  if (client->input_count < head) return 0;
  if (head > 2) {
    count = 0;
    for (size_t i = 2; i < head; i++) count = count << 8 | bytes[i];
  }
  if (count > INPUT_BYTES - head - 4) return -1;
  if (client->input_count < head + 4 + count) return 0;
  uint8_t *payload = bytes + head + 4;
  for (size_t i = 0; i < count; i++) payload[i] ^= bytes[head + i % 4];
  uint8_t opcode = bytes[0] & 0x0f;
  if (opcode == 1) {
    /* Behind the payload is the next frame's first byte, or the buffer's spare one. */
    uint8_t after = payload[count];
    payload[count] = 0;
    take_text(client, (char *)payload, count);
    payload[count] = after;
  } else if (opcode == 8 || opcode == 9) {
    if (count > 125) return -1;
    add_header(client, opcode == 8 ? 8 : 10, count);
    add(client, payload, count);
    if (opcode == 8) {
      client->is_closing = true;
      while (client->stream_count > 0) end_stream(client, client->streams);
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
    int wait = -1;
    for (size_t i = 0; i < count; i++) {
      const struct client *client = clients[i];
      bool reads = client->input_count < INPUT_BYTES, writes = client->end > 0 || client->stream_count > 0;
      if (client->end == 0 && client->stream_count > 0 && delay > 0) {
        uint64_t now = now_nanoseconds(), due = client->streams[0].due;
        int milliseconds = due > now ? (int)((due - now) / 1000000 + 1) : 0;
        if (milliseconds > 0 && (wait < 0 || milliseconds < wait)) wait = milliseconds;
        writes = milliseconds == 0;
      }
      watched[i + 1] = (struct pollfd){client->fd, (short)((reads ? POLLIN : 0) | (writes ? POLLOUT : 0)), 0};
    }
    if (poll(watched, count + 1, wait) < 0) continue;
    for (size_t i = count; i-- > 0;) {
      if (watched[i + 1].revents == 0 || serve(clients[i], watched[i + 1].revents)) continue;
      close(clients[i]->fd);
      while (clients[i]->stream_count > 0) end_stream(clients[i], clients[i]->streams);
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
  int option = 2;
  for (; option + 1 < argc; option += 2) {
    unsigned long value = strtoul(argv[option + 1], NULL, 10);
    if (strcmp(argv[option], "--cap") == 0 && value > 0) cap = value;
    else if (strcmp(argv[option], "--delay") == 0) delay = value * 1000000;
    else break;
  }
  if (argc < 2 || option != argc) {
    fprintf(stderr, "usage: canned EVENTS.jsonl [--cap N] [--delay MILLISECONDS]\n");
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
