#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

int session_lead(void) {
  if (setsid() >= 0) return 0;
  /* A spawner may have called setsid already; a mere group leader, such as a job of a shell, cannot. */
  return getsid(0) == getpid() ? 0 : errno;
}

int session_reset_signals(void) {
  struct sigaction action = {.sa_handler = SIG_DFL};
  for (int number = 1; number < NSIG; number++) {
    /* EINVAL: KILL and STOP, which have no other action, and the two that the C library keeps to itself. */
    if (sigaction(number, &action, NULL) != 0 && errno != EINVAL) return errno;
  }
  sigset_t none;
  sigemptyset(&none);
  return sigprocmask(SIG_SETMASK, &none, NULL) == 0 ? 0 : errno;
}

int session_fill_standard_descriptors(void) {
  for (int descriptor = 0; descriptor <= STDERR_FILENO; descriptor++) {
    if (fcntl(descriptor, F_GETFD) >= 0) continue;
    /* All lower ones are open, so the lowest free number is this one. */
    if (open("/dev/null", O_RDWR) != descriptor) return errno == 0 ? EBADF : errno;
  }
  return 0;
}
