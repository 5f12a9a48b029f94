/* One client of a Nostr relay, the same for all relays that are compared, and cheap enough not to be what is measured.

     client publish URL EVENTS.jsonl FIRST COUNT IN_FLIGHT   events of the file, so many without an answer at a time
     client read URL COUNT                                   stored events of kind 1, until so many have come
     client trip URL EVENTS.jsonl FIRST COUNT                asks for one event by its id, again when it has come
     client idle URL COUNT                                   so many connections, until standard input ends

   Each prints one line of JSON; `idle` prints it when all stand. URL is ws://127.0.0.1:PORT.

   Frames are made before the clock runs, masked with zeros. What one read brings is answered with one write, as a client
   does that has a loop; the socket has TCP_NODELAY. It offers no compression, and takes messages in one frame. */
#include "frame.h"
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <sys/resource.h>

enum {
  INPUT_BYTES = 1 << 20,
  IDLE_INPUT_BYTES = 4 << 10, /* of a connection that is asked little */
  MESSAGE_MAXIMUM = 64 << 10, /* bytes of what we say */
  ID_BYTES = 64,
  IDLE_SILENCE_SECONDS = 5,
};

struct connection {
  int fd;
  size_t begin, end, room;
  uint8_t *input;
};

struct frame {
  uint8_t *bytes;
  size_t count;
};

static bool send_all(int fd, const uint8_t *bytes, size_t count) {
  while (count > 0) {
    ssize_t written = send(fd, bytes, count, MSG_NOSIGNAL);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes += written;
    count -= (size_t)written;
  }
  return true;
}

_Noreturn static void give_up(const char *what) {
  fprintf(stderr, "client: %s\n", what);
  exit(1);
}

/* Reads more; false when the other side is gone. */
static bool fill(struct connection *connection) {
  if (connection->begin > 0) {
    memmove(connection->input, connection->input + connection->begin, connection->end - connection->begin);
    connection->end -= connection->begin;
    connection->begin = 0;
  }
  if (connection->end == connection->room) give_up("a message is too long");
  ssize_t got;
  do {
    got = recv(connection->fd, connection->input + connection->end, connection->room - connection->end, 0);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return false;
  connection->end += (size_t)got;
  return true;
}

/* Connects and upgrades; false when the relay does not want it. */
static bool open_connection(struct connection *connection, int port, size_t room) {
  static const char request[] =
      "GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)port)};
  *connection = (struct connection){.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), .room = room};
  int yes = 1;
  if (connection->fd < 0) return false;
  setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  if (connect(connection->fd, (struct sockaddr *)&address, sizeof address) < 0) return false;
  if (!(connection->input = malloc(room))) fail("malloc");
  char text[sizeof request + 8];
  int count = snprintf(text, sizeof text, request, port);
  if (!send_all(connection->fd, (uint8_t *)text, (size_t)count)) return false;
  uint8_t *end;
  while (!(end = memmem(connection->input, connection->end, "\r\n\r\n", 4))) {
    if (!fill(connection)) return false;
  }
  connection->begin = (size_t)(end - connection->input) + 4;
  return memcmp(connection->input, "HTTP/1.1 101", 12) == 0;
}

/* The next message that has come whole; false when more must be read. */
static bool next_frame(struct connection *connection, struct frame *frame) {
  for (;;) {
    uint8_t *bytes = connection->input + connection->begin;
    size_t here = connection->end - connection->begin, head = 2;
    if (here < head) return false;
    uint64_t count = bytes[1] & 0x7f;
    if (count >= 126) {
      size_t size = count == 126 ? 2 : 8;
      head += size;
      if (here < head) return false;
      count = 0;
      for (size_t i = 0; i < size; i++) count = count << 8 | bytes[2 + i];
    }
    if (here - head < count) return false;
    connection->begin += head + count;
    uint8_t opcode = bytes[0] & 0x0f;
    if (opcode == 8) give_up("the relay has closed the connection");
    if (opcode > 8) continue; /* pings: nobody here stays for long */
    if (bytes[0] != 0x81) give_up("a message in parts, or not of text");
    *frame = (struct frame){bytes + head, count};
    return true;
  }
}

static struct frame await_frame(struct connection *connection) {
  struct frame frame;
  while (!next_frame(connection, &frame)) {
    if (!fill(connection)) give_up("the relay has left");
  }
  return frame;
}

static bool is(struct frame frame, const char *label) {
  size_t count = strlen(label);
  return frame.count > count + 3 && memcmp(frame.bytes + 2, label, count) == 0 && frame.bytes[2 + count] == '"';
}

/* Whether an OK says true: behind its second string. */
static bool is_accepted(struct frame frame) {
  const uint8_t *at = frame.bytes, *end = frame.bytes + frame.count;
  for (int quotes = 0; at && quotes < 4; quotes++) {
    at = memchr(at, '"', (size_t)(end - at));
    if (at) at++;
  }
  while (at && at < end && (*at == ',' || *at == ' ')) at++;
  return at && at < end && *at == 't';
}

static void check_words(struct frame frame) {
  if (is(frame, "CLOSED") || is(frame, "NOTICE")) {
    fprintf(stderr, "client: %.*s\n", (int)frame.count, (char *)frame.bytes);
    exit(1);
  }
}

/* Appends a masked frame of text. */
static size_t write_frame(uint8_t *out, const char *text, size_t count) {
  size_t head = 2;
  out[0] = 0x81;
  if (count < 126) {
    out[1] = 0x80 | (uint8_t)count;
  } else if (count < 65536) {
    out[1] = 0x80 | 126;
    out[2] = (uint8_t)(count >> 8);
    out[3] = (uint8_t)count;
    head = 4;
  } else {
    give_up("what is to be said is too long");
  }
  memset(out + head, 0, 4);
  memcpy(out + head + 4, text, count);
  return head + 4 + count;
}

static void say(struct connection *connection, const char *text) {
  uint8_t bytes[256];
  if (!send_all(connection->fd, bytes, write_frame(bytes, text, strlen(text)))) give_up("the relay has left");
}

/* Lines of a file, handed over one by one. */
static void each_line(const char *path, size_t first, size_t count, void (*take)(size_t, const char *, size_t)) {
  FILE *file = fopen(path, "r");
  if (!file) fail(path);
  char *line = NULL;
  size_t room = 0;
  for (size_t number = 0; number < first + count; number++) {
    ssize_t length = getline(&line, &room, file);
    if (length <= 1) give_up("the file has too few events");
    if (number >= first) take(number - first, line, (size_t)length - 1);
  }
  free(line);
  fclose(file);
}

/* publish */

static struct frame *messages;

static void prepare_event(size_t number, const char *line, size_t count) {
  static char text[MESSAGE_MAXIMUM];
  if (count + 16 > sizeof text) give_up("an event is too long");
  int size = snprintf(text, sizeof text, "[\"EVENT\",%.*s]", (int)count, line);
  messages[number].bytes = malloc((size_t)size + 8);
  if (!messages[number].bytes) fail("malloc");
  messages[number].count = write_frame(messages[number].bytes, text, (size_t)size);
}

static void publish(struct connection *connection, const char *path, size_t first, size_t count, size_t in_flight) {
  messages = calloc(count, sizeof *messages);
  uint8_t *out = malloc(in_flight * MESSAGE_MAXIMUM);
  if (!messages || !out) fail("malloc");
  each_line(path, first, count, prepare_event);
  size_t sent = 0, answered = 0, refused = 0;
  uint64_t start = now_nanoseconds();
  while (answered < count) {
    size_t size = 0;
    for (; sent < count && sent - answered < in_flight; sent++) {
      memcpy(out + size, messages[sent].bytes, messages[sent].count);
      size += messages[sent].count;
    }
    if (size > 0 && !send_all(connection->fd, out, size)) give_up("the relay has left");
    struct frame frame = await_frame(connection);
    do {
      check_words(frame);
      if (!is(frame, "OK")) continue;
      answered++;
      refused += !is_accepted(frame);
    } while (next_frame(connection, &frame));
  }
  printf("{\"seconds\": %.6f, \"refused\": %zu}\n", (double)(now_nanoseconds() - start) / 1e9, refused);
}

/* read */

static void read_stored(struct connection *connection, size_t count) {
  size_t events = 0, requests = 0;
  char request[128];
  snprintf(request, sizeof request, "[\"REQ\",\"read\",{\"kinds\":[1],\"limit\":%zu}]", count);
  uint64_t start = now_nanoseconds();
  while (events < count) {
    size_t before = events;
    say(connection, request);
    for (requests++;;) {
      struct frame frame = await_frame(connection);
      if (is(frame, "EVENT")) events++;
      if (is(frame, "EOSE")) break;
      check_words(frame);
    }
    if (events == before) give_up("the relay has nothing");
  }
  printf("{\"seconds\": %.6f, \"events\": %zu, \"requests\": %zu}\n", (double)(now_nanoseconds() - start) / 1e9, events,
         requests);
}

/* trip */

static char (*ids)[ID_BYTES];

static void take_id(size_t number, const char *line, size_t count) {
  const char *id = memmem(line, count, "\"id\":\"", 6);
  if (!id || (size_t)(line + count - id) < 6 + ID_BYTES) give_up("an event without an id");
  memcpy(ids[number], id + 6, ID_BYTES);
}

static void trip(struct connection *connection, const char *path, size_t first, size_t count) {
  if (!(ids = calloc(count, sizeof *ids))) fail("calloc");
  each_line(path, first, count, take_id);
  printf("{\"milliseconds\": [");
  for (size_t number = 0; number < count; number++) {
    char request[160], name[32], end[48];
    snprintf(name, sizeof name, "\"trip%zu\"", number);
    snprintf(request, sizeof request, "[\"REQ\",%s,{\"ids\":[\"%.64s\"]}]", name, ids[number]);
    size_t events = 0;
    uint64_t start = now_nanoseconds();
    say(connection, request);
    for (;;) {
      struct frame frame = await_frame(connection);
      if (is(frame, "EVENT")) events++;
      /* Some relays answer a CLOSE: that is of the trip before, and may come now. */
      if (!memmem(frame.bytes, frame.count, name, strlen(name))) continue;
      if (is(frame, "EOSE")) break;
      check_words(frame);
    }
    printf("%s%.4f", number ? ", " : "", (double)(now_nanoseconds() - start) / 1e6);
    if (events != 1) give_up("the event did not come");
    snprintf(end, sizeof end, "[\"CLOSE\",%s]", name);
    say(connection, end);
  }
  printf("]}\n");
}

/* idle */

static void idle(int port, size_t count) {
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  struct connection *connections = calloc(count, sizeof *connections);
  if (!connections) fail("calloc");
  size_t held = 0;
  while (held < count && open_connection(&connections[held], port, IDLE_INPUT_BYTES)) {
    /* One that falls silent has been taken by the kernel alone. */
    struct timeval silence = {.tv_sec = IDLE_SILENCE_SECONDS};
    setsockopt(connections[held].fd, SOL_SOCKET, SO_RCVTIMEO, &silence, sizeof silence);
    say(&connections[held++], "[\"REQ\",\"idle\",{\"kinds\":[65535],\"limit\":1}]");
  }
  size_t answered = 0;
  for (size_t number = 0; number < held; number++) {
    for (struct frame frame;;) {
      if (!next_frame(&connections[number], &frame)) {
        if (!fill(&connections[number])) break;
        continue;
      }
      if (!is(frame, "EOSE")) continue;
      answered++;
      say(&connections[number], "[\"CLOSE\",\"idle\"]");
      break;
    }
  }
  printf("{\"connections\": %zu}\n", answered);
  fflush(stdout);
  while (getchar() != EOF) continue;
}

static size_t number(const char *text) {
  char *end;
  unsigned long value = strtoul(text, &end, 10);
  if (*end || end == text) give_up("that is no number");
  return value;
}

int main(int argc, char **argv) {
  static const char scheme[] = "ws://127.0.0.1:";
  if (argc < 4 || strncmp(argv[2], scheme, sizeof scheme - 1) != 0) {
    fprintf(stderr, "usage: client publish|read|trip|idle ws://127.0.0.1:PORT …; see the head of client.c\n");
    return 2;
  }
  int port = atoi(argv[2] + sizeof scheme - 1);
  if (strcmp(argv[1], "idle") == 0 && argc == 4) {
    idle(port, number(argv[3]));
    return 0;
  }
  struct connection connection;
  if (!open_connection(&connection, port, INPUT_BYTES)) give_up("the relay does not take the connection");
  if (strcmp(argv[1], "publish") == 0 && argc == 7) {
    publish(&connection, argv[3], number(argv[4]), number(argv[5]), number(argv[6]));
  } else if (strcmp(argv[1], "read") == 0 && argc == 4) {
    read_stored(&connection, number(argv[3]));
  } else if (strcmp(argv[1], "trip") == 0 && argc == 6) {
    trip(&connection, argv[3], number(argv[4]), number(argv[5]));
  } else {
    give_up("no such measurement");
  }
  return 0;
}
