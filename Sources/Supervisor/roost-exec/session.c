#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

int session_lead(void) {
  if (setsid() >= 0) return 0;
  /* setsid fails for a group leader. That is fine if the spawner has called setsid already, but not for a job of a
   * shell, which leads only its group. */
  return getsid(0) == getpid() ? 0 : errno;
}

/* In the kernel's own layout a default action is all zeros, at most this many bytes on any architecture. */
enum { KERNEL_ACTION_BYTE_COUNT = 64, KERNEL_MASK_BYTE_COUNT = _NSIG / 8 };

/* The C library reserves signals 32 and 33, and its functions refuse to change them. But a process can inherit them as
 * ignored, and threads in the worker depend on them. So this calls the kernel directly. */
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
    /* All lower descriptors are open, so open() returns this one, the lowest free number. */
    if (open("/dev/null", O_RDWR) != descriptor) return errno == 0 ? EBADF : errno;
  }
  return 0;
}
