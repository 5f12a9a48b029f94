/* Linux calls that Swift's Glibc module does not import: variadic prctl, system calls without a wrapper in
   glibc 2.36, unions and macros of siginfo, and structures hidden behind _GNU_SOURCE. Only LinuxSystem imports this.

   Every function returns its result, or the negative error number: Swift code between a call and the reading of errno
   may change errno. */
#pragma once
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

/* glibc 2.32 and later; static strings, safe in any thread. NULL for an unknown number. */
extern const char *strerrorname_np(int error);
extern const char *strerrordesc_np(int error);

static inline long roost_result(long result) { return result < 0 ? -(long)errno : result; }

/* Reads an attribute of a file. */
static inline int roost_attribute(const char *path, const char *name, void *value, size_t size) {
  return (int)roost_result(getxattr(path, name, value, size));
}

/* Locks */

static inline int roost_lock_exclusively(int descriptor) {
  return (int)roost_result(flock(descriptor, LOCK_EX | LOCK_NB));
}

/* Sockets: glibc's names of these kinds reach Swift in some builds only. */

static inline int roost_socket_diagnosis(void) {
  return (int)roost_result(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 4 /* NETLINK_SOCK_DIAG */));
}

static inline int roost_socket_stream(void) { return (int)roost_result(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

/* Processes */

static inline int roost_prctl(int option, unsigned long argument) {
  return (int)roost_result(prctl(option, argument, 0L, 0L, 0L));
}

static inline int roost_pidfd_open(int32_t process) { return (int)roost_result(syscall(SYS_pidfd_open, process, 0)); }

static inline int roost_pidfd_send_signal(int descriptor, int number) {
  return (int)roost_result(syscall(SYS_pidfd_send_signal, descriptor, number, NULL, 0));
}

struct roost_exit {
  int32_t process;
  int32_t is_exited; /* else killed by a signal */
  int32_t status;    /* exit code or signal number */
};

static inline int roost_wait(idtype_t type, id_t identity, int options, struct roost_exit *result) {
  siginfo_t information;
  memset(&information, 0, sizeof information);
  if (waitid(type, identity, &information, options | WNOHANG | WEXITED) != 0) return -errno;
  result->process = information.si_pid;
  result->is_exited = information.si_code == CLD_EXITED;
  result->status = information.si_status;
  return 0;
}

/* Reports a child that has ended, without reaping it; `process` is 0 if no child has. */
static inline int roost_wait_peek(struct roost_exit *result) { return roost_wait(P_ALL, 0, WNOWAIT, result); }

/* Reaps this child if it has ended; `process` is 0 if it has not. */
static inline int roost_wait_reap(int32_t process, struct roost_exit *result) {
  return roost_wait(P_PID, (id_t)process, 0, result);
}

/* Capabilities, as sets of bits; glibc wraps neither call. */

struct roost_capability_header {
  uint32_t version;
  int32_t process;
};

struct roost_capability_half {
  uint32_t effective, permitted, inheritable;
};

enum { ROOST_CAPABILITY_VERSION = 0x20080522 };

static inline int roost_capabilities_get(uint64_t *permitted) {
  struct roost_capability_header header = {.version = ROOST_CAPABILITY_VERSION};
  struct roost_capability_half halves[2] = {{0}};
  if (syscall(SYS_capget, &header, halves) != 0) return -errno;
  *permitted = (uint64_t)halves[1].permitted << 32 | halves[0].permitted;
  return 0;
}

/* Makes the set permitted and effective, and nothing inheritable. */
static inline int roost_capabilities_set(uint64_t set) {
  struct roost_capability_header header = {.version = ROOST_CAPABILITY_VERSION};
  uint32_t low = (uint32_t)set, high = (uint32_t)(set >> 32);
  struct roost_capability_half halves[2] = {{low, low, 0}, {high, high, 0}};
  return (int)roost_result(syscall(SYS_capset, &header, halves));
}

/* Limits; UINT64_MAX is "no limit" */

static inline int roost_limit_get(int resource, uint64_t *soft, uint64_t *hard) {
  struct rlimit limit;
  if (getrlimit(resource, &limit) != 0) return -errno;
  *soft = limit.rlim_cur;
  *hard = limit.rlim_max;
  return 0;
}

static inline int roost_limit_set(int resource, uint64_t soft, uint64_t hard) {
  struct rlimit limit = {.rlim_cur = soft, .rlim_max = hard};
  return (int)roost_result(setrlimit(resource, &limit));
}

enum {
  ROOST_LIMIT_ADDRESS_SPACE = RLIMIT_AS,
  ROOST_LIMIT_CORE = RLIMIT_CORE,
  ROOST_LIMIT_CPU = RLIMIT_CPU,
  ROOST_LIMIT_DATA = RLIMIT_DATA,
  ROOST_LIMIT_FILE_SIZE = RLIMIT_FSIZE,
  ROOST_LIMIT_LOCKED_MEMORY = RLIMIT_MEMLOCK,
  ROOST_LIMIT_OPEN_FILES = RLIMIT_NOFILE,
  ROOST_LIMIT_PROCESSES = RLIMIT_NPROC,
  ROOST_LIMIT_STACK = RLIMIT_STACK,
};

/* Sockets */

struct roost_peer {
  int32_t process;
  uint32_t user;
  uint32_t group;
};

static inline int roost_peer_credentials(int descriptor, struct roost_peer *peer) {
  enum { LINUX_SO_PEERCRED = 17 };
  socklen_t length = sizeof *peer;
  return (int)roost_result(getsockopt(descriptor, SOL_SOCKET, LINUX_SO_PEERCRED, peer, &length));
}

/* A process descriptor of the peer; kernel 6.5 and later. */
static inline int roost_peer_process(int descriptor) {
  enum { LINUX_SO_PEERPIDFD = 77 };
  int process = -1;
  socklen_t length = sizeof process;
  int result = getsockopt(descriptor, SOL_SOCKET, LINUX_SO_PEERPIDFD, &process, &length);
  return result == 0 ? process : -errno;
}

static inline int roost_socket_pair(int descriptors[2]) {
  return (int)roost_result(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, descriptors));
}

static inline int roost_pipe(int descriptors[2]) {
  enum { LINUX_O_CLOEXEC = 02000000 };
  return (int)roost_result(syscall(SYS_pipe2, descriptors, LINUX_O_CLOEXEC));
}

/* An unnamed file in memory, close-on-exec. */
static inline int roost_memory_file(const char *name) {
  enum { LINUX_MFD_CLOEXEC = 1 };
  return (int)roost_result(syscall(SYS_memfd_create, name, LINUX_MFD_CLOEXEC));
}

/* Closes this descriptor and all above it. */
static inline int roost_close_from(unsigned first) {
  return (int)roost_result(syscall(SYS_close_range, first, ~0U, 0U));
}

/* Sends one datagram to a unix address. A leading `@` means the abstract namespace. Never waits. */
static inline int roost_send_datagram(const char *address, const void *bytes, size_t count) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  size_t length = strlen(address);
  if (length == 0 || length >= sizeof name.sun_path) return -ENAMETOOLONG;
  memcpy(name.sun_path, address, length);
  if (address[0] == '@') name.sun_path[0] = '\0';
  socklen_t name_length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (address[0] != '@'));
  int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return -errno;
  ssize_t sent = sendto(descriptor, bytes, count, MSG_NOSIGNAL, (const struct sockaddr *)&name, name_length);
  int error = sent < 0 ? errno : 0;
  close(descriptor);
  return -error;
}

/* Landlock. The header of Debian 12 knows interface version 2, so the later parts are defined here; the kernel
   takes the size of the structure and refuses fields that it does not know. */

struct roost_landlock_ruleset {
  uint64_t handled_files;
  uint64_t handled_network; /* version 4 */
  uint64_t scoped;          /* version 6 */
};

struct roost_landlock_path {
  uint64_t allowed;
  int32_t parent;
} __attribute__((packed));

struct roost_landlock_port {
  uint64_t allowed;
  uint64_t port;
};

enum {
  ROOST_LANDLOCK_RULE_PATH = 1,
  ROOST_LANDLOCK_RULE_PORT = 2,
  /* O_PATH: a descriptor that only names a file, without the right to read it. */
  ROOST_OPEN_NAME_ONLY = 010000000,
};

/* The interface version, or -ENOSYS (not built in) or -EOPNOTSUPP (switched off at boot). */
static inline int roost_landlock_version(void) {
  return (int)roost_result(syscall(SYS_landlock_create_ruleset, NULL, 0, 1U));
}

static inline int roost_landlock_create(const struct roost_landlock_ruleset *ruleset, size_t size) {
  return (int)roost_result(syscall(SYS_landlock_create_ruleset, ruleset, size, 0U));
}

static inline int roost_landlock_add(int descriptor, int type, const void *rule) {
  return (int)roost_result(syscall(SYS_landlock_add_rule, descriptor, type, rule, 0U));
}

static inline int roost_landlock_restrict(int descriptor) {
  return (int)roost_result(syscall(SYS_landlock_restrict_self, descriptor, 0U));
}
