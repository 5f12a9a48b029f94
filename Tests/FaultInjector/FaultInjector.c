// Makes chosen system calls of roostd fail, while a test says so.
//
// Loaded with LD_PRELOAD, it stands before the C library's functions, which libuv and Swift call by name. What fails is
// told by a file that the variable ROOST_TEST_FAULTS names; the file is mapped, so a test changes its mind at any time
// and sees how often it had its way. The variable is inherited, hence the look at the program's name: workers, the exec
// shim and the guardian live in peace. Of a provider of jobs one call can be held up: the look into a folder. Of a push
// relay and of link-feed the reads and writes of their databases can fail, and the taking of connections. The wall clock
// of all three can be set.
// Besides it is the recorder of PowerRecorder.c, of every program, where a test asks for that.
//
// Rejected: seccomp with SECCOMP_RET_ERRNO, which cannot be taken back, and ptrace, which makes everything slow.
#include "include/FaultInjector.h"
#include "include/PowerRecorder.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static struct roost_fault *faults;         // of roostd
static struct roost_fault *provider_faults;  // of a provider of jobs
static struct roost_fault *ledger_faults;    // of a push relay, or of link-feed

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("ROOST_TEST_FAULTS");
  char name[16] = "";
  if (!path || prctl(PR_GET_NAME, name) != 0) return;
  int is_provider = strcmp(name, "dvm-provider") == 0;
  int has_ledger = strcmp(name, "push-relay") == 0 || strcmp(name, "link-feed") == 0;
  if (!is_provider && !has_ledger && strcmp(name, "roostd") != 0) return;
  int (*real_open)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
  int file = real_open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) abort();
  void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) abort();
  if (is_provider) {
    provider_faults = memory;
  } else if (has_ledger) {
    ledger_faults = memory;
  } else {
    faults = memory;
  }
}

// Whether this call fails; errno is set then.
static int fails_in(struct roost_fault *table, enum roost_faulty_call call) {
  if (!table) return 0;
  struct roost_fault *fault = &table[call];
  int32_t code = __atomic_load_n(&fault->code, __ATOMIC_ACQUIRE);
  uint32_t count = __atomic_add_fetch(&fault->calls, 1, __ATOMIC_RELAXED);
  if (code == 0 || fault->every == 0 || count % fault->every != 0) return 0;
  __atomic_add_fetch(&fault->hits, 1, __ATOMIC_RELEASE);
  errno = code;
  return 1;
}

static int fails(enum roost_faulty_call call) { return fails_in(faults, call); }

static int is_file(int descriptor) {
  struct stat facts;
  return fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode);
}

static enum roost_faulty_call write_kind(int descriptor) {
  return is_file(descriptor) ? ROOST_FILE_WRITE : ROOST_SOCKET_WRITE;
}

// Declares the pointer `real` to the C library's own function.
#define REAL(name)                      \
  static __typeof__(&name) real = NULL; \
  if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

int accept(int socket, __SOCKADDR_ARG address, socklen_t *length) {
  REAL(accept);
  return fails(ROOST_ACCEPT) || fails_in(ledger_faults, ROOST_PUSH_ACCEPT) ? -1 : real(socket, address, length);
}

int accept4(int socket, __SOCKADDR_ARG address, socklen_t *length, int flags) {
  REAL(accept4);
  return fails(ROOST_ACCEPT) || fails_in(ledger_faults, ROOST_PUSH_ACCEPT) ? -1 : real(socket, address, length, flags);
}

ssize_t read(int descriptor, void *bytes, size_t count) {
  REAL(read);
  return fails(ROOST_READ) ? -1 : real(descriptor, bytes, count);
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
  REAL(write);
  ssize_t result = fails(write_kind(descriptor)) ? -1 : real(descriptor, bytes, count);
  roost_power_wrote(descriptor, bytes, result, -1);
  return result;
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
  REAL(writev);
  return fails(write_kind(descriptor)) ? -1 : real(descriptor, parts, count);
}

ssize_t sendmsg(int socket, const struct msghdr *message, int flags) {
  REAL(sendmsg);
  return fails(ROOST_SOCKET_WRITE) ? -1 : real(socket, message, flags);
}

int fsync(int descriptor) {
  REAL(fsync);
  if (fails(ROOST_FSYNC) || fails_in(ledger_faults, ROOST_DATABASE_SYNC)) return -1;
  uint64_t mark = roost_power_mark();
  int result = real(descriptor);
  if (result == 0) roost_power_synced(descriptor, mark);
  return result;
}

int fdatasync(int descriptor) {
  REAL(fdatasync);
  if (fails(ROOST_FSYNC) || fails_in(ledger_faults, ROOST_DATABASE_SYNC)) return -1;
  uint64_t mark = roost_power_mark();
  int result = real(descriptor);
  if (result == 0) roost_power_synced(descriptor, mark);
  return result;
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
  REAL(pwrite);
  ssize_t result = fails_in(ledger_faults, ROOST_DATABASE_WRITE) ? -1 : real(descriptor, bytes, count, offset);
  roost_power_wrote(descriptor, bytes, result, offset);
  return result;
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
  REAL(pwrite64);
  ssize_t result = fails_in(ledger_faults, ROOST_DATABASE_WRITE) ? -1 : real(descriptor, bytes, count, offset);
  roost_power_wrote(descriptor, bytes, result, offset);
  return result;
}

ssize_t pread(int descriptor, void *bytes, size_t count, off_t offset) {
  REAL(pread);
  return fails_in(ledger_faults, ROOST_DATABASE_READ) ? -1 : real(descriptor, bytes, count, offset);
}

ssize_t pread64(int descriptor, void *bytes, size_t count, off64_t offset) {
  REAL(pread64);
  return fails_in(ledger_faults, ROOST_DATABASE_READ) ? -1 : real(descriptor, bytes, count, offset);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  REAL(clock_gettime);
  int result = real(clock, time);
  struct roost_fault *table = ledger_faults ? ledger_faults : provider_faults;
  if (table && clock == CLOCK_REALTIME && result == 0)
    time->tv_sec += __atomic_load_n(&table[ROOST_CLOCK].code, __ATOMIC_ACQUIRE);
  return result;
}

#define OPEN_LIKE(name)                                               \
  int name(const char *path, int flags, ...) {                        \
    REAL(name);                                                       \
    va_list rest;                                                     \
    va_start(rest, flags);                                            \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; \
    va_end(rest);                                                     \
    int result = fails(ROOST_OPEN) ? -1 : real(path, flags, mode);    \
    roost_power_opened(result, path, flags);                          \
    return result;                                                    \
  }

OPEN_LIKE(open)
OPEN_LIKE(open64)

// What open becomes in programs built with checks of their arguments.
int __open64_2(const char *path, int flags);
int __open64_2(const char *path, int flags) {
  REAL(__open64_2);
  int result = fails(ROOST_OPEN) ? -1 : real(path, flags);
  roost_power_opened(result, path, flags);
  return result;
}

// Whoever closes a descriptor twice closes another thread's the next time.
int close(int descriptor) {
  REAL(close);
  roost_power_closing(descriptor);
  int result = real(descriptor);
  if (result < 0 && errno == EBADF && faults) __atomic_add_fetch(&faults[ROOST_CLOSE].hits, 1, __ATOMIC_RELEASE);
  return result;
}

pid_t fork(void) {
  REAL(fork);
  return fails(ROOST_FORK) ? -1 : real();
}

int pipe2(int ends[2], int flags) {
  REAL(pipe2);
  return fails(ROOST_PIPE) ? -1 : real(ends, flags);
}

int socketpair(int domain, int type, int protocol, int ends[2]) {
  REAL(socketpair);
  return fails(ROOST_SOCKET_PAIR) ? -1 : real(domain, type, protocol, ends);
}

int epoll_wait(int poll, struct epoll_event *events, int count, int milliseconds) {
  REAL(epoll_wait);
  return fails(ROOST_WAIT_EVENTS) ? -1 : real(poll, events, count, milliseconds);
}

int epoll_pwait(int poll, struct epoll_event *events, int count, int milliseconds, const sigset_t *mask) {
  REAL(epoll_pwait);
  return fails(ROOST_WAIT_EVENTS) ? -1 : real(poll, events, count, milliseconds, mask);
}

int epoll_ctl(int poll, int operation, int descriptor, struct epoll_event *event) {
  REAL(epoll_ctl);
  if (operation == EPOLL_CTL_ADD && fails(ROOST_WATCH)) return -1;
  return real(poll, operation, descriptor, event);
}

// Held up, as by a disk that does not answer, until the test ends it.
DIR *fdopendir(int descriptor) {
  REAL(fdopendir);
  if (provider_faults) {
    struct roost_fault *fault = &provider_faults[ROOST_FOLDER];
    if (__atomic_load_n(&fault->code, __ATOMIC_ACQUIRE) != 0) __atomic_add_fetch(&fault->hits, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&fault->code, __ATOMIC_ACQUIRE) != 0) poll(NULL, 0, 5);
  }
  return real(descriptor);
}
