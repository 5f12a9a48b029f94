#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

int session_lead(void) {
  if (setsid() >= 0) return 0;
  /* A spawner may have called setsid already; a mere group leader, such as a job of a shell, cannot. */
  return getsid(0) == getpid() ? 0 : errno;
}

/* The kernel's own form of a default action is all zeros; it takes at most this much on any machine. */
enum { KERNEL_ACTION_BYTE_COUNT = 64, KERNEL_MASK_BYTE_COUNT = _NSIG / 8 };

/* The C library keeps 32 and 33 to itself and lets nobody change them, but they may be ignored like all others, and
 * threads in the worker would rely on them. So the kernel is asked directly. */
int session_reset_signals(void) {
  static const _Alignas(8) char action[KERNEL_ACTION_BYTE_COUNT];
  for (int number = 1; number < _NSIG; number++) {
    if (number == SIGKILL || number == SIGSTOP) continue;
    if (syscall(SYS_rt_sigaction, number, action, NULL, KERNEL_MASK_BYTE_COUNT) != 0) return errno;
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
