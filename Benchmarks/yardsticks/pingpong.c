/* What a round trip A, hub, B, hub, A costs when nobody does more than it must: three processes, socketpairs, blocking
   reads and writes, one frame in flight.

     pingpong [--count N] [--payload BYTES]

   Prints one line of JSON with the median and the 99th percentile in microseconds. */
#include "frame.h"
#include <getopt.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { WARM_UP = 1000, BUFFER_BYTES = 64 << 10 };

static uint8_t buffer[BUFFER_BYTES];

/* One read and one write for each frame: a frame of this size arrives in one piece. */
static void pass(int from, int to, size_t frame) {
  read_all(from, buffer, frame);
  write_all(to, buffer, frame);
}

static pid_t start(void) {
  pid_t child = fork();
  if (child < 0) fail("fork");
  if (child == 0) prctl(PR_SET_PDEATHSIG, SIGKILL);
  return child;
}

static int compare(const void *left, const void *right) {
  uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return (a > b) - (a < b);
}

int main(int argc, char **argv) {
  size_t count = 20000, payload = 700;
  const struct option names[] = {
      {"count", required_argument, 0, 'c'}, {"payload", required_argument, 0, 'p'}, {0, 0, 0, 0}};
  for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
    switch (option) {
      case 'c': count = strtoul(optarg, NULL, 10); break;
      case 'p': payload = strtoul(optarg, NULL, 10); break;
      default: return 2;
    }
  }
  size_t frame = FRAME_HEADER_BYTES + payload;
  if (frame > BUFFER_BYTES || count == 0) {
    fprintf(stderr, "usage: pingpong [--count N] [--payload BYTES], at most %d bytes\n",
            BUFFER_BYTES - FRAME_HEADER_BYTES);
    return 2;
  }
  int a[2], b[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, a) < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, b) < 0) fail("socketpair");
  pid_t hub = start();
  if (hub == 0) {
    for (;;) {
      pass(a[1], b[0], frame);
      pass(b[0], a[1], frame);
    }
  }
  pid_t answerer = start();
  if (answerer == 0) {
    for (;;) pass(b[1], b[1], frame);
  }
  uint64_t *times = calloc(count, sizeof *times);
  if (!times) fail("calloc");
  for (size_t i = 0; i < WARM_UP + count; i++) {
    write_header(buffer, FRAME_TYPE_EVENT, 2, i + 1, payload);
    uint64_t begin = now_nanoseconds();
    write_all(a[0], buffer, frame);
    read_all(a[0], buffer, frame);
    if (i >= WARM_UP) times[i - WARM_UP] = now_nanoseconds() - begin;
  }
  kill(hub, SIGKILL);
  kill(answerer, SIGKILL);
  while (wait(NULL) > 0) {}
  qsort(times, count, sizeof *times, compare);
  printf("{\"p50Microseconds\": %.2f, \"p99Microseconds\": %.2f, \"count\": %zu, \"payloadBytes\": %zu}\n",
         (double)times[count / 2] / 1e3, (double)times[count * 99 / 100] / 1e3, count, payload);
  return 0;
}
