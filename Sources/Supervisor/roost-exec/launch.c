/* The order of the steps matters. The session comes first, so that no signal of a terminal ends a half-prepared
 * process. The parent is checked after the death signal is set: a parent that died before would never cause the signal.
 * Limits come before the descriptors are closed, so that no later step runs without them. The working directory comes
 * before no_new_privs, which comes last: it can fail only if the kernel is too old, and only exec may follow it. */

#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "failure.h"
#include "session.h"

enum { NUMBER_LENGTH_MAX = 64 };

static void check(const char *stage, int error) {
  if (error != 0) fail(stage, error, "", EXIT_SYSTEM);
}

static void open_status(const struct arguments *arguments) {
  if (!arguments->has_status_descriptor) return;
  if (fcntl(STATUS_DESCRIPTOR, F_SETFD, FD_CLOEXEC) != 0) {
    failure_use_status_descriptor(-1);
    fail_usage("--status-fd 5: the descriptor is not open");
  }
}

/* SIGKILL and not SIGTERM, because a worker that hangs, is stopped or ignores signals must not survive. A healthy
 * worker loses no more than in a crash. The kernel sends the signal when the parent's *thread* ends, so the supervisor
 * spawns from its main thread only. */
static void die_with_parent(pid_t parent) {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) fail("parent", errno, "", EXIT_SYSTEM);
  if (parent == 0 || getppid() == parent) return;
  char text[NUMBER_LENGTH_MAX];
  snprintf(text, sizeof text, "%ld is no longer the parent", (long)parent);
  fail("parent", ESRCH, text, EXIT_SYSTEM);
}

/* A limit is an upper bound: a lower hard limit stays as it is. So no limit ever rises, not even for root. */
static void set_limit(const struct limit *limit) {
  struct rlimit present;
  if (getrlimit(limit->resource, &present) != 0) fail("limit", errno, limit->name, EXIT_SYSTEM);
  rlim_t value = limit->value < present.rlim_max ? limit->value : present.rlim_max;
  struct rlimit wanted = {.rlim_cur = value, .rlim_max = value};
  if (setrlimit(limit->resource, &wanted) != 0) fail("limit", errno, limit->name, EXIT_SYSTEM);
}

static void close_others(const struct arguments *arguments) {
  unsigned first = arguments->has_status_descriptor ? STATUS_DESCRIPTOR + 1 : STATUS_DESCRIPTOR;
  if (arguments->listen_descriptor_count > 0) first = LISTEN_DESCRIPTOR_FIRST + arguments->listen_descriptor_count;
  if (close_range(first, UINT_MAX, 0) != 0) fail("descriptors", errno, "", EXIT_SYSTEM);
}

static enum exit_status status_for_exec_error(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return EXIT_NOT_FOUND;
    case EACCES:
    case EPERM:
    case ENOEXEC:
    case EISDIR:
      return EXIT_NOT_EXECUTABLE;
    default:
      return EXIT_SYSTEM;
  }
}

_Noreturn void launch(const struct arguments *arguments) {
  open_status(arguments);
  check("session", session_lead());
  check("signals", session_reset_signals());
  die_with_parent(arguments->parent);
  for (size_t index = 0; index < arguments->limit_count; index++) set_limit(&arguments->limits[index]);
  check("descriptors", session_fill_standard_descriptors());
  close_others(arguments);
  if (arguments->directory != NULL && chdir(arguments->directory) != 0) {
    fail("directory", errno, arguments->directory, EXIT_SYSTEM);
  }
  umask(S_IRWXG | S_IRWXO);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L) != 0) fail("privileges", errno, "", EXIT_SYSTEM);
  execve(arguments->program[0], arguments->program, arguments->environment);
  int error = errno;
  fail("exec", error, arguments->program[0], status_for_exec_error(error));
}
