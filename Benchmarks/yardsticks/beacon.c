/* A child for supervisors to restart: it tells at once that it runs, then waits to be killed.

     beacon SOCKET      a datagram socket; gets one datagram, "PID NANOSECONDS" on the monotonic clock

   Compiled, because an interpreter's own start would be most of what is measured. */
#include "frame.h"
#include <signal.h>
#include <sys/prctl.h>

int main(int argc, char **argv) {
  uint64_t now = now_nanoseconds();
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (argc != 2 || strlen(argv[1]) >= sizeof address.sun_path) return 2;
  strcpy(address.sun_path, argv[1]);
  char text[64];
  int count = snprintf(text, sizeof text, "%d %llu", getpid(), (unsigned long long)now);
  int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || sendto(fd, text, (size_t)count, 0, (struct sockaddr *)&address, sizeof address) < 0) fail(argv[1]);
  /* After the report, so that it costs nothing there: no manager leaves this child behind. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (;;) pause();
}
