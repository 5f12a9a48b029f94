/* When the supervisor is killed, the kernel kills its workers (PR_SET_PDEATHSIG). But the kernel clears that setting in
 * every child of a worker, so a program started by a worker would survive, hold its ports and databases, and continue
 * to work for a supervisor that no longer exists. The guardian ends such programs.
 *
 * It holds the reading end of a pipe; only the supervisor has the writing end. However the supervisor ends, the kernel
 * closes that end. If a byte `q` came before, the supervisor has stopped its workers itself, and the guardian exits. If
 * not, the guardian waits for the grace period, in which programs that notice the death of their worker can finish in
 * good order. Then it kills all processes with the mark that descendants inherit: the variable ROOST_INSTANCE in their
 * environment. A process can leave its process group, session and parent with a fork or two, but it does not lose its
 * initial environment by accident.
 *
 * Known limits: the guardian does not find a program that was started with an empty environment, nor one that may not
 * be inspected (not dumpable). Of our own workers, the latter is only the one that may not spawn programs, and the
 * death signal ends it. */

#include "guard.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "failure.h"
#include "processes.h"
#include "session.h"

enum {
  CLEANING_MILLISECONDS = 5000,
  SCAN_INTERVAL_MILLISECONDS = 50,
  /* A scan misses a process that is inside execve, which shows no environment, and one that was forked with a process
   * id that the scan had already passed. So one empty scan proves nothing. */
  EMPTY_SCAN_COUNT_NEEDED = 2,
};

static int64_t now_milliseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void sleep_milliseconds(long milliseconds) {
  struct timespec left = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) continue;
}

/* Writes a message to stderr if that does not block: the reader of stderr may have died with the supervisor. */
static void say(const char *text, long number) {
  struct pollfd descriptor = {.fd = STDERR_FILENO, .events = POLLOUT};
  if (poll(&descriptor, 1, 0) != 1 || (descriptor.revents & POLLOUT) == 0) return;
  dprintf(STDERR_FILENO, "roost-exec: guardian: %s (%ld)\n", text, number);
}

/* Ignores signals that a terminal, a service manager or killall often sends to all processes that look like the
 * supervisor. */
static void ignore_common_signals(void) {
  static const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2};
  for (size_t index = 0; index < sizeof numbers / sizeof numbers[0]; index++) signal(numbers[index], SIG_IGN);
}

/* Gives up all descriptors except 3 and stderr, and the working directory, which would keep its file system mounted. */
static int keep_only_the_pipe(void) {
  int error = session_fill_standard_descriptors();
  if (error != 0) return error;
  int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return errno;
  if (dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0) return errno;
  if (close_range(BUS_DESCRIPTOR + 1, UINT_MAX, 0) != 0) return errno;
  return chdir("/") == 0 ? 0 : errno;
}

enum wait_result { SUPERVISOR_DIED, SUPERVISOR_LEFT, PIPE_UNUSABLE };

/* Only the end of the pipe, or ECONNRESET, counts as the supervisor's death. After any other error no process is
 * killed: a wrong guess would end a healthy system. */
static enum wait_result wait_for_end(void) {
  for (;;) {
    struct pollfd pipe = {.fd = BUS_DESCRIPTOR, .events = POLLIN};
    if (poll(&pipe, 1, -1) < 0 && errno != EINTR) return PIPE_UNUSABLE;
    char byte;
    ssize_t count = read(BUS_DESCRIPTOR, &byte, 1);
    if (count == 0) return SUPERVISOR_DIED;
    if (count == 1 && byte == 'q') return SUPERVISOR_LEFT;
    if (count == 1 || errno == EINTR || errno == EAGAIN) continue;
    return errno == ECONNRESET ? SUPERVISOR_DIED : PIPE_UNUSABLE;
  }
}

/* Kills until scans find nothing. Returns how many processes the last scan found; -1 if a scan is impossible. */
static long clean_up(const char *instance) {
  int64_t deadline = now_milliseconds() + CLEANING_MILLISECONDS;
  int empty_scan_count = 0;
  long found;
  for (;;) {
    found = processes_kill_instance(instance);
    if (found < 0) return found;
    if (found > 0) say("ending processes left by a supervisor that died", found);
    empty_scan_count = found == 0 ? empty_scan_count + 1 : 0;
    if (empty_scan_count == EMPTY_SCAN_COUNT_NEEDED || now_milliseconds() >= deadline) return found;
    sleep_milliseconds(SCAN_INTERVAL_MILLISECONDS);
  }
}

/* Checks that descriptor 3 is open for reading: a writing end would never show the end of the pipe. */
static void check_pipe(void) {
  int flags = fcntl(BUS_DESCRIPTOR, F_GETFL);
  if (flags < 0) fail("guard", errno, "descriptor 3", EXIT_SYSTEM);
  if ((flags & O_ACCMODE) == O_WRONLY) fail("guard", EBADF, "descriptor 3 is not for reading", EXIT_SYSTEM);
}

int guard_run(const struct arguments *arguments) {
  check_pipe();
  int error = session_lead();
  if (error == 0) error = session_reset_signals();
  if (error == 0) error = keep_only_the_pipe();
  if (error != 0) fail("guard", error, "", EXIT_SYSTEM);
  ignore_common_signals();
  prctl(PR_SET_NAME, "roost-guard");
  prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L);

  switch (wait_for_end()) {
    case SUPERVISOR_LEFT:
      return 0;
    case PIPE_UNUSABLE:
      fail("guard", errno, "descriptor 3", EXIT_SYSTEM);
    case SUPERVISOR_DIED:
      break;
  }
  sleep_milliseconds(arguments->grace_milliseconds);
  long left = clean_up(arguments->instance);
  if (left != 0) say("processes do not end; giving up", left);
  return left == 0 ? 0 : EXIT_SYSTEM;
}
