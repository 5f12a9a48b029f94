/* Requests and their answers through a hub: how many a second, and how long each takes.

     ask [--roostd] [--in-flight N] [--seconds S] [--payload BYTES] SOCKET

   One process asks and keeps N requests unanswered; another answers each with as many bytes. To roostd they are REQUEST
   and RESPONSE of a client and an attached worker, whose one-time token is in ROOST_TOKEN; the hub in C carries an
   EVENT each way. Both sides write once for everything one read brought. The asker checks that each answer is to a
   request of its own and comes once. Prints one line of JSON; times are from before the write to after the read. */
#include "peer.h"
#include <getopt.h>
#include <sys/wait.h>

enum { IN_FLIGHT_MAXIMUM = 1024, TIMES_MAXIMUM = 4 << 20 };
static const double WARM_UP_SECONDS = 0.1;

struct options {
  const char *socket_path;
  bool is_roostd;
  size_t in_flight;
  double seconds;
  size_t payload_bytes;
};

/* Frames written together. */
struct batch {
  uint8_t bytes[PEER_BUFFER_BYTES];
  size_t count;
};

static void flush(struct peer *peer, struct batch *batch) {
  write_all(peer->fd, batch->bytes, batch->count);
  batch->count = 0;
}

static uint8_t *append(struct peer *peer, struct batch *batch, size_t frame) {
  if (batch->count + frame > sizeof batch->bytes) flush(peer, batch);
  batch->count += frame;
  return batch->bytes + batch->count - frame;
}

static void run_answerer(struct peer *peer, void *context) {
  (void)context;
  struct batch *batch = calloc(1, sizeof *batch);
  if (!batch) fail("calloc");
  for (;;) {
    peer_read(peer);
    for (const uint8_t *request; (request = peer_next(peer));) {
      size_t payload = frame_bytes(request) - FRAME_HEADER_BYTES;
      uint8_t *answer = append(peer, batch, FRAME_HEADER_BYTES + payload);
      uint8_t type = peer->is_roostd ? FRAME_TYPE_RESPONSE : FRAME_TYPE_EVENT;
      write_header(answer, type, load32(request + 12), 0, payload);
      store64(answer + 24, load64(request + 16));
      memcpy(answer + 36, request + 36, 4); /* attempt and method */
      memcpy(answer + FRAME_HEADER_BYTES, request + FRAME_HEADER_BYTES, payload);
      peer_did_consume(peer, 1, payload);
    }
    flush(peer, batch);
  }
}

/* The asker: what is unanswered, and how long the answers took. */
struct asker {
  struct peer *peer;
  uint32_t destination;
  size_t payload_bytes;
  uint64_t last_id;
  uint64_t sent_at[IN_FLIGHT_MAXIMUM]; /* by id modulo; 0 once answered */
  struct batch batch;
  uint64_t *times;
  size_t time_count;
};

static void ask(struct asker *asker, uint64_t now) {
  size_t frame = FRAME_HEADER_BYTES + asker->payload_bytes;
  while (peer_allowance(asker->peer, asker->payload_bytes) == 0) {
    flush(asker->peer, &asker->batch);
    peer_read(asker->peer);
    if (peer_next(asker->peer)) {
      fprintf(stderr, "ask: more in flight than the hub's window\n");
      exit(1);
    }
  }
  uint64_t id = ++asker->last_id;
  uint8_t *request = append(asker->peer, &asker->batch, frame);
  uint8_t type = asker->peer->is_roostd ? FRAME_TYPE_REQUEST : FRAME_TYPE_EVENT;
  write_header(request, type, asker->destination, id, asker->payload_bytes);
  store16(request + 38, asker->peer->method);
  peer_did_send(asker->peer, 1, asker->payload_bytes);
  asker->sent_at[id % IN_FLIGHT_MAXIMUM] = now;
}

static void take_answer(struct asker *asker, const uint8_t *answer, uint64_t now, bool is_counted) {
  uint64_t id = load64(answer + 24);
  uint64_t *sent = &asker->sent_at[id % IN_FLIGHT_MAXIMUM];
  if (*sent == 0 || id > asker->last_id || frame_bytes(answer) != FRAME_HEADER_BYTES + asker->payload_bytes) {
    fprintf(stderr, "ask: an answer to %llu, which is not asked or answered already\n", (unsigned long long)id);
    exit(1);
  }
  if (is_counted && asker->time_count < TIMES_MAXIMUM) asker->times[asker->time_count++] = now - *sent;
  *sent = 0;
}

static int compare(const void *left, const void *right) {
  uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return (a > b) - (a < b);
}

static void run_asker(struct asker *asker, const struct options *options) {
  uint64_t begin = now_nanoseconds() + (uint64_t)(WARM_UP_SECONDS * 1e9);
  uint64_t end = begin + (uint64_t)(options->seconds * 1e9), now = begin, answered = 0;
  for (size_t i = 0; i < options->in_flight; i++) ask(asker, now_nanoseconds());
  flush(asker->peer, &asker->batch);
  while (now < end) {
    peer_read(asker->peer);
    now = now_nanoseconds();
    for (const uint8_t *answer; (answer = peer_next(asker->peer));) {
      take_answer(asker, answer, now, now >= begin);
      if (now >= begin) answered++;
      ask(asker, now_nanoseconds());
    }
    flush(asker->peer, &asker->batch);
  }
  qsort(asker->times, asker->time_count, sizeof *asker->times, compare);
  printf("{\"requestsPerSecond\": %.0f, \"p50Microseconds\": %.2f, \"p99Microseconds\": %.2f, \"seconds\": %.3f}\n",
         (double)answered / ((double)(now - begin) / 1e9), (double)asker->times[asker->time_count / 2] / 1e3,
         (double)asker->times[asker->time_count * 99 / 100] / 1e3, (double)(now - begin) / 1e9);
}

static struct options parse(int argc, char **argv) {
  struct options options = {.in_flight = 32, .seconds = 1, .payload_bytes = 700};
  const struct option names[] = {
      {"roostd", no_argument, 0, 'r'},        {"in-flight", required_argument, 0, 'n'},
      {"seconds", required_argument, 0, 's'}, {"payload", required_argument, 0, 'p'},
      {0, 0, 0, 0},
  };
  for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
    switch (option) {
      case 'r': options.is_roostd = true; break;
      case 'n': options.in_flight = strtoul(optarg, NULL, 10); break;
      case 's': options.seconds = atof(optarg); break;
      case 'p': options.payload_bytes = strtoul(optarg, NULL, 10); break;
      default: exit(2);
    }
  }
  if (optind != argc - 1 || options.seconds <= 0 || options.payload_bytes > 64 << 10 || options.in_flight == 0 ||
      options.in_flight > IN_FLIGHT_MAXIMUM / 2) {
    fprintf(stderr, "usage: ask [--roostd] [--in-flight N] [--seconds S] [--payload BYTES] SOCKET\n");
    exit(2);
  }
  options.socket_path = argv[optind];
  return options;
}

int main(int argc, char **argv) {
  struct options options = parse(argc, argv);
  pid_t answerer;
  struct asker *asker = calloc(1, sizeof *asker);
  if (!asker) fail("calloc");
  asker->times = calloc(TIMES_MAXIMUM, sizeof *asker->times);
  if (!asker->times) fail("calloc");
  asker->destination = peer_start_receiver(options.socket_path, options.is_roostd, run_answerer, NULL, &answerer);
  asker->peer = peer_connect(options.socket_path, options.is_roostd, false);
  asker->payload_bytes = options.payload_bytes;
  run_asker(asker, &options);
  kill(answerer, SIGKILL);
  waitpid(answerer, NULL, 0);
  return 0;
}
