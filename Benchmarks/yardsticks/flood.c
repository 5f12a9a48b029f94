/* How many frames a second a hub carries from one client to another.

     flood [--roostd] [--seconds S] [--payload BYTES] [--write BYTES] SOCKET

   One process sends EVENTs as fast as the hub takes them, many to a write; another receives and counts for S seconds,
   after a first tenth of a second that is not counted. The receiver checks that every frame is the next one, whole and
   from one sender, so a hub cannot win by losing frames. With --roostd the sender is a client and the receiver an
   attached worker, whose one-time token is in ROOST_TOKEN. Prints one line of JSON. */
#include "peer.h"
#include <getopt.h>
#include <sys/wait.h>

struct options {
  const char *socket_path;
  bool is_roostd;
  double seconds;
  size_t payload_bytes;
  size_t write_bytes;
};

static void run_sender(const struct options *options, uint32_t destination) {
  struct peer *peer = peer_connect(options->socket_path, options->is_roostd, false);
  size_t frame = FRAME_HEADER_BYTES + options->payload_bytes;
  size_t batch = options->write_bytes / frame ? options->write_bytes / frame : 1;
  uint8_t *bytes = calloc(batch, frame);
  if (!bytes) fail("calloc");
  uint64_t id = 0;
  for (;;) {
    uint64_t allowance = peer_allowance(peer, options->payload_bytes);
    if (allowance == 0) {
      peer_read(peer);
      peer_next(peer);
      continue;
    }
    size_t count = allowance < batch ? allowance : batch;
    for (size_t i = 0; i < count; i++) {
      write_header(bytes + i * frame, FRAME_TYPE_EVENT, destination, ++id, options->payload_bytes);
      store16(bytes + i * frame + 38, peer->method);
    }
    write_all(peer->fd, bytes, count * frame);
    peer_did_send(peer, count, options->payload_bytes);
  }
}

struct count {
  uint64_t frames;
  uint64_t last_id; /* 0 before the first frame */
  uint32_t source;
};

static void count_frame(const uint8_t *bytes, size_t frame, struct count *count) {
  uint64_t id = load64(bytes + 16);
  uint32_t source = load32(bytes + 12);
  bool is_first = count->last_id == 0;
  if (frame_bytes(bytes) != frame || (!is_first && (source != count->source || id != count->last_id + 1))) {
    fprintf(stderr, "flood: frame %llu after %llu: lost, cut or from elsewhere\n", (unsigned long long)id,
            (unsigned long long)count->last_id);
    exit(1);
  }
  count->source = source;
  count->last_id = id;
  count->frames++;
}

static void run_receiver(struct peer *peer, void *context) {
  const struct options *options = context;
  size_t frame = FRAME_HEADER_BYTES + options->payload_bytes;
  struct count count = {0};
  uint64_t begin = 0, frames_before = 0;
  for (;;) {
    peer_read(peer);
    uint64_t counted = count.frames;
    for (const uint8_t *next; (next = peer_next(peer));) count_frame(next, frame, &count);
    if (count.frames == 0) continue; /* nothing but news of the registry yet */
    peer_did_consume(peer, count.frames - counted, options->payload_bytes);
    uint64_t now = now_nanoseconds();
    if (begin == 0) {
      begin = now + 100000000u;
    } else if (now < begin) {
      frames_before = count.frames;
    } else if ((double)(now - begin) >= options->seconds * 1e9) {
      double seconds = (double)(now - begin) / 1e9;
      printf("{\"framesPerSecond\": %.0f, \"seconds\": %.3f, \"payloadBytes\": %zu, \"writeBytes\": %zu}\n",
             (double)(count.frames - frames_before) / seconds, seconds, options->payload_bytes, options->write_bytes);
      return;
    }
  }
}

static struct options parse(int argc, char **argv) {
  struct options options = {.seconds = 1, .payload_bytes = 700, .write_bytes = 64 << 10};
  const struct option names[] = {
      {"roostd", no_argument, 0, 'r'},        {"seconds", required_argument, 0, 's'},
      {"payload", required_argument, 0, 'p'}, {"write", required_argument, 0, 'w'},
      {0, 0, 0, 0},
  };
  for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
    switch (option) {
      case 'r': options.is_roostd = true; break;
      case 's': options.seconds = atof(optarg); break;
      case 'p': options.payload_bytes = strtoul(optarg, NULL, 10); break;
      case 'w': options.write_bytes = strtoul(optarg, NULL, 10); break;
      default: exit(2);
    }
  }
  if (optind != argc - 1 || options.seconds <= 0 || options.payload_bytes > 64 << 10) {
    fprintf(stderr, "usage: flood [--roostd] [--seconds S] [--payload BYTES] [--write BYTES] SOCKET\n");
    exit(2);
  }
  options.socket_path = argv[optind];
  return options;
}

int main(int argc, char **argv) {
  struct options options = parse(argc, argv);
  pid_t receiver;
  uint32_t destination =
      peer_start_receiver(options.socket_path, options.is_roostd, run_receiver, &options, &receiver);
  pid_t sender = fork();
  if (sender == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    run_sender(&options, destination);
  }
  int status = 0;
  waitpid(receiver, &status, 0);
  kill(sender, SIGKILL);
  waitpid(sender, NULL, 0);
  if (WIFSIGNALED(status)) fprintf(stderr, "flood: the receiver was ended by %s\n", strsignal(WTERMSIG(status)));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
