/* The kernel may give a process id to another process between reading the environment and killing. So this file first
 * opens a descriptor of the process (pidfd), which belongs to the process and not to the number, and reads the
 * environment afterwards. If another process had the number by then, the signal goes to the dead process and fails. */

#include "processes.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arguments.h"

enum {
  CHUNK_BYTE_COUNT = 4096,
  /* The kernel passes at most 6 MiB of arguments and environment to a program. */
  ENVIRONMENT_BYTE_COUNT_MAX = 8 << 20,
  PATH_LENGTH_MAX = 64,
};

/* Takes an environment byte by byte, and detects an entry that equals the mark. */
struct matcher {
  const char *mark;
  size_t length;
  size_t matched;   /* bytes of the mark seen in this entry */
  bool is_possible; /* whether this entry equals the mark so far */
};

static bool matcher_take(struct matcher *matcher, char byte) {
  if (byte == '\0') {
    bool is_match = matcher->is_possible && matcher->matched == matcher->length;
    matcher->matched = 0;
    matcher->is_possible = true;
    return is_match;
  }
  matcher->is_possible =
      matcher->is_possible && matcher->matched < matcher->length && matcher->mark[matcher->matched] == byte;
  if (matcher->is_possible) matcher->matched++;
  return false;
}

static bool environment_holds(pid_t process, const char *mark) {
  char path[PATH_LENGTH_MAX];
  snprintf(path, sizeof path, "/proc/%ld/environ", (long)process);
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  struct matcher matcher = {.mark = mark, .length = strlen(mark), .is_possible = true};
  bool is_found = false;
  char chunk[CHUNK_BYTE_COUNT];
  long total = 0;
  while (!is_found && total < ENVIRONMENT_BYTE_COUNT_MAX) {
    ssize_t count = read(descriptor, chunk, sizeof chunk);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    for (ssize_t index = 0; index < count && !is_found; index++) is_found = matcher_take(&matcher, chunk[index]);
    total += count;
  }
  close(descriptor);
  return is_found;
}

static bool is_ours(pid_t process) {
  char path[PATH_LENGTH_MAX];
  snprintf(path, sizeof path, "/proc/%ld", (long)process);
  struct stat status;
  return stat(path, &status) == 0 && status.st_uid == geteuid();
}

/* Kills the process if its environment has the mark. Returns whether it has the mark and was alive. */
static bool kill_if_marked(pid_t process, const char *mark) {
  if (!is_ours(process)) return false;
  int descriptor = (int)syscall(SYS_pidfd_open, process, 0);
  if (descriptor < 0) return false;
  bool is_found = environment_holds(process, mark);
  if (is_found) {
    bool is_gone = syscall(SYS_pidfd_send_signal, descriptor, SIGKILL, NULL, 0) != 0 && errno == ESRCH;
    is_found = !is_gone;
  }
  close(descriptor);
  return is_found;
}

long processes_kill_instance(const char *instance) {
  char mark[sizeof "ROOST_INSTANCE=" + INSTANCE_LENGTH_MAX];
  snprintf(mark, sizeof mark, "ROOST_INSTANCE=%s", instance);
  DIR *directory = opendir("/proc");
  if (directory == NULL) return -1;
  long found = 0;
  struct dirent *entry;
  while ((entry = readdir(directory)) != NULL) {
    if (!isdigit((unsigned char)entry->d_name[0])) continue;
    pid_t process = (pid_t)strtol(entry->d_name, NULL, 10);
    if (process > 1 && process != getpid() && kill_if_marked(process, mark)) found++;
  }
  closedir(directory);
  return found;
}
