/* How many frames a second a hub carries from one client to another.

     flood [--seconds S] [--payload BYTES] [--write BYTES] SOCKET

   One process sends frames as fast as the hub takes them, many to a write; another receives and counts for S seconds, after a
   first tenth of a second that is not counted. The receiver checks that every frame is the next one, whole and from the
   sender's seat, so a hub cannot win by losing frames. Prints one line of JSON. */
#include "frame.h"
#include <getopt.h>
#include <signal.h>
#include <sys/wait.h>

enum { SENDER_SEAT = 1, RECEIVER_SEAT = 2, RECEIVE_BUFFER_BYTES = 256 << 10 };

struct options {
  const char *socket_path;
  double seconds;
  size_t payload_bytes;
  size_t write_bytes;
};

/* How a client comes to a hub and what it may send: the yardstick hub wants one frame and grants everything. */
struct protocol {
  /* Takes a seat on a fresh connection. */
  void (*join)(int fd, uint32_t seat);
  /* Waits until at least one frame may be sent; returns how many may be. */
  size_t (*await_allowance)(int fd, size_t wanted);
};

static void join_yardstick_hub(int fd, uint32_t seat) {
  uint8_t frame[FRAME_HEADER_BYTES + 8];
  write_header(frame, FRAME_TYPE_HELLO, 0, 0, 8);
  store64(frame + FRAME_HEADER_BYTES, seat);
  write_all(fd, frame, sizeof frame);
}

static size_t allow_everything(int fd, size_t wanted) {
  (void)fd;
  return wanted;
}

static const struct protocol yardstick_hub = {join_yardstick_hub, allow_everything};

static void run_sender(const struct options *options, const struct protocol *protocol) {
  int fd = connect_unix(options->socket_path);
  protocol->join(fd, SENDER_SEAT);
  size_t frame = FRAME_HEADER_BYTES + options->payload_bytes;
  size_t batch = options->write_bytes / frame ? options->write_bytes / frame : 1;
  uint8_t *bytes = calloc(batch, frame);
  if (!bytes) fail("calloc");
  uint64_t id = 0;
  for (;;) {
    size_t count = protocol->await_allowance(fd, batch);
    for (size_t i = 0; i < count; i++) {
      write_header(bytes + i * frame, FRAME_TYPE_EVENT, RECEIVER_SEAT, ++id, options->payload_bytes);
    }
    write_all(fd, bytes, count * frame);
  }
}

struct count {
  uint64_t frames;
  uint64_t last_id; /* 0 before the first frame */
};

/* Counts the whole frames at the start of `bytes`; returns how many bytes they take. */
static size_t count_frames(const uint8_t *bytes, size_t available, size_t frame, struct count *count) {
  size_t at = 0;
  for (; available - at >= frame; at += frame) {
    uint64_t id = load64(bytes + at + 16);
    if (frame_bytes(bytes + at) != frame || load32(bytes + at + 12) != SENDER_SEAT ||
        (count->last_id && id != count->last_id + 1)) {
      fprintf(stderr, "flood: frame %llu after %llu: lost, cut or from elsewhere\n", (unsigned long long)id,
              (unsigned long long)count->last_id);
      exit(1);
    }
    count->last_id = id;
    count->frames++;
  }
  return at;
}

static int run_receiver(const struct options *options, const struct protocol *protocol, int ready) {
  int fd = connect_unix(options->socket_path);
  protocol->join(fd, RECEIVER_SEAT);
  write_all(ready, (const uint8_t *)"r", 1);
  static uint8_t buffer[RECEIVE_BUFFER_BYTES];
  size_t frame = FRAME_HEADER_BYTES + options->payload_bytes, kept = 0;
  struct count count = {0};
  uint64_t begin = 0, frames_before = 0;
  for (;;) {
    ssize_t got = read(fd, buffer + kept, sizeof buffer - kept);
    if (got <= 0) fail("receiver");
    size_t available = kept + (size_t)got, used = count_frames(buffer, available, frame, &count);
    kept = available - used;
    memmove(buffer, buffer + used, kept);
    uint64_t now = now_nanoseconds();
    if (begin == 0) {
      begin = now + 100000000u;
    } else if (now < begin) {
      frames_before = count.frames;
    } else if ((double)(now - begin) >= options->seconds * 1e9) {
      double seconds = (double)(now - begin) / 1e9;
      printf("{\"framesPerSecond\": %.0f, \"seconds\": %.3f, \"payloadBytes\": %zu, \"writeBytes\": %zu}\n",
             (double)(count.frames - frames_before) / seconds, seconds, options->payload_bytes, options->write_bytes);
      return 0;
    }
  }
}

static struct options parse(int argc, char **argv) {
  struct options options = {.seconds = 1, .payload_bytes = 700, .write_bytes = 64 << 10};
  const struct option names[] = {
      {"seconds", required_argument, 0, 's'}, {"payload", required_argument, 0, 'p'},
      {"write", required_argument, 0, 'w'},   {0, 0, 0, 0},
  };
  for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
    switch (option) {
      case 's': options.seconds = atof(optarg); break;
      case 'p': options.payload_bytes = strtoul(optarg, NULL, 10); break;
      case 'w': options.write_bytes = strtoul(optarg, NULL, 10); break;
      default: exit(2);
    }
  }
  if (optind != argc - 1 || options.seconds <= 0 || options.payload_bytes > 64 << 10) {
    fprintf(stderr, "usage: flood [--seconds S] [--payload BYTES] [--write BYTES] SOCKET\n");
    exit(2);
  }
  options.socket_path = argv[optind];
  return options;
}

int main(int argc, char **argv) {
  struct options options = parse(argc, argv);
  int ready[2];
  if (pipe(ready) < 0) fail("pipe");
  pid_t receiver = fork();
  if (receiver == 0) {
    int status = run_receiver(&options, &yardstick_hub, ready[1]);
    fflush(stdout);
    _exit(status);
  }
  uint8_t byte;
  close(ready[1]);
  read_all(ready[0], &byte, 1);
  pid_t sender = fork();
  if (sender == 0) run_sender(&options, &yardstick_hub);
  int status = 0;
  waitpid(receiver, &status, 0);
  kill(sender, SIGKILL);
  waitpid(sender, NULL, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
