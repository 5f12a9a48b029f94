// Writes down what happens to the state directory, so that a test can make the disk that a loss of power leaves.
//
// The log is a mapped file: a sandboxed worker needs neither a descriptor nor a right for it, and records of all
// processes stand in one order. A write is recorded when it has been done, a sync with the place at which the log was
// before it began: what stood there by then, it has brought to the disk. A write that another thread was still doing is
// taken for one that it has not, which is what its caller may expect.
//
// Memory that is mapped and shared is not recorded: SQLite's -shm is made anew after a crash, and nothing else here
// relies on such memory beyond the process.
#include "include/PowerRecorder.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name)                      \
  static __typeof__(&name) real = NULL; \
  if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

enum { DESCRIPTOR_MAXIMUM = 4096, HEADER = 40, FIRST_RECORD = 4096 };

static unsigned char *record_log;
static uint64_t record_capacity;
static char record_root[PATH_MAX];
static size_t record_root_length;
// The inode of a descriptor of the state directory; 0 of all others. Directories have their path besides.
static uint64_t inodes[DESCRIPTOR_MAXIMUM];
static char *directories[DESCRIPTOR_MAXIMUM];

// ROOST_TEST_POWER is "LOG:ROOT": the log's file and the directory of which it tells.
__attribute__((constructor)) static void begin(void) {
  const char *text = getenv("ROOST_TEST_POWER");
  const char *colon = text ? strchr(text, ':') : NULL;
  if (!colon || (size_t)(colon - text) >= sizeof record_root || strlen(colon + 1) >= sizeof record_root) return;
  char path[PATH_MAX];
  memcpy(path, text, (size_t)(colon - text));
  path[colon - text] = 0;
  int (*real_open)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
  int (*real_close)(int) = dlsym(RTLD_NEXT, "close");
  int file = real_open(path, O_RDWR | O_CLOEXEC);
  struct stat facts;
  if (file < 0 || fstat(file, &facts) != 0) abort();
  void *memory = mmap(NULL, (size_t)facts.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  real_close(file);
  if (memory == MAP_FAILED) abort();
  strcpy(record_root, colon + 1);
  record_root_length = strlen(record_root);
  record_capacity = (uint64_t)facts.st_size;
  record_log = memory;
}

static uint64_t *tail(void) { return (uint64_t *)record_log; }

static int is_ours(const char *path) {
  return record_log && path && strncmp(path, record_root, record_root_length) == 0 &&
         (path[record_root_length] == '/' || path[record_root_length] == 0);
}

static void record(enum roost_power_kind kind, const char *path, uint64_t inode, int64_t first, int64_t second,
                   const struct iovec *parts, int part_count, size_t byte_count) {
  size_t path_length = path ? strlen(path) : 0;
  uint64_t length = (HEADER + path_length + byte_count + 7) & ~7ull;
  uint64_t place = __atomic_fetch_add(tail(), length, __ATOMIC_ACQ_REL);
  if (place + length > record_capacity) {
    __atomic_store_n(tail() + 1, 1, __ATOMIC_RELEASE);
    return;
  }
  unsigned char *at = record_log + place;
  uint32_t words[2] = {(uint32_t)length, (uint32_t)kind | (uint32_t)path_length << 16};
  memcpy(at, words, 8);
  memcpy(at + 8, &inode, 8);
  memcpy(at + 16, &first, 8);
  memcpy(at + 24, &second, 8);
  uint32_t count = (uint32_t)byte_count;
  memcpy(at + 32, &count, 4);
  if (path) memcpy(at + HEADER, path, path_length);
  size_t done = 0;
  for (int i = 0; i < part_count && done < byte_count; i++) {
    size_t share = parts[i].iov_len < byte_count - done ? parts[i].iov_len : byte_count - done;
    memcpy(at + HEADER + path_length + done, parts[i].iov_base, share);
    done += share;
  }
  __atomic_store_n((uint32_t *)(at + 36), 1, __ATOMIC_RELEASE);
}

static void record_names(enum roost_power_kind kind, const char *path, const char *other, uint64_t inode) {
  struct iovec part = {(void *)other, other ? strlen(other) : 0};
  record(kind, path, inode, 0, 0, &part, 1, part.iov_len);
}

void roost_power_opened(int descriptor, const char *path, int flags) {
  if (descriptor < 0 || descriptor >= DESCRIPTOR_MAXIMUM || !is_ours(path)) return;
  struct stat facts;
  if (fstat(descriptor, &facts) != 0) return;
  if (S_ISDIR(facts.st_mode)) {
    directories[descriptor] = strdup(path);
  } else if (!S_ISREG(facts.st_mode)) {
    return;
  } else if (flags & O_CREAT) {
    record(ROOST_POWER_CREATE, path, facts.st_ino, 0, 0, NULL, 0, 0);
  }
  if (flags & O_TRUNC) record(ROOST_POWER_TRUNCATE, NULL, facts.st_ino, 0, 0, NULL, 0, 0);
  __atomic_store_n(&inodes[descriptor], facts.st_ino, __ATOMIC_RELEASE);
}

static uint64_t inode_of(int descriptor) {
  if (!record_log || descriptor < 0 || descriptor >= DESCRIPTOR_MAXIMUM) return 0;
  return __atomic_load_n(&inodes[descriptor], __ATOMIC_ACQUIRE);
}

void roost_power_closing(int descriptor) {
  if (!inode_of(descriptor)) return;
  __atomic_store_n(&inodes[descriptor], 0, __ATOMIC_RELEASE);
  free(directories[descriptor]);
  directories[descriptor] = NULL;
}

static void wrote(int descriptor, const struct iovec *parts, int part_count, ssize_t count, off_t offset) {
  uint64_t inode = inode_of(descriptor);
  if (!inode || count <= 0) return;
  if (offset < 0) offset = lseek(descriptor, 0, SEEK_CUR) - count;
  record(ROOST_POWER_WRITE, NULL, inode, offset, 0, parts, part_count, (size_t)count);
}

void roost_power_wrote(int descriptor, const void *bytes, ssize_t count, off_t offset) {
  struct iovec part = {(void *)bytes, count > 0 ? (size_t)count : 0};
  wrote(descriptor, &part, 1, count, offset);
}

uint64_t roost_power_mark(void) { return record_log ? __atomic_load_n(tail(), __ATOMIC_ACQUIRE) : 0; }

void roost_power_synced(int descriptor, uint64_t mark) {
  uint64_t inode = inode_of(descriptor);
  if (inode) record(ROOST_POWER_SYNC, directories[descriptor], inode, (int64_t)mark, 0, NULL, 0, 0);
}

static int truncated(int descriptor, int result, off_t length) {
  if (result == 0 && inode_of(descriptor))
    record(ROOST_POWER_TRUNCATE, NULL, inode_of(descriptor), length, 0, NULL, 0, 0);
  return result;
}

int ftruncate(int descriptor, off_t length) {
  REAL(ftruncate);
  return truncated(descriptor, real(descriptor, length), length);
}

int ftruncate64(int descriptor, off64_t length) {
  REAL(ftruncate64);
  return truncated(descriptor, real(descriptor, length), length);
}

static int extended(int descriptor, int result, off_t length) {
  if (result == 0 && inode_of(descriptor))
    record(ROOST_POWER_EXTEND, NULL, inode_of(descriptor), length, 0, NULL, 0, 0);
  return result;
}

int posix_fallocate(int descriptor, off_t offset, off_t length) {
  REAL(posix_fallocate);
  return extended(descriptor, real(descriptor, offset, length), offset + length);
}

int posix_fallocate64(int descriptor, off64_t offset, off64_t length) {
  REAL(posix_fallocate64);
  return extended(descriptor, real(descriptor, offset, length), offset + length);
}

int rename(const char *path, const char *target) {
  REAL(rename);
  int result = real(path, target);
  if (result == 0 && is_ours(target)) record_names(ROOST_POWER_RENAME, path, target, 0);
  return result;
}

int unlink(const char *path) {
  REAL(unlink);
  int result = real(path);
  if (result == 0 && is_ours(path)) record_names(ROOST_POWER_UNLINK, path, NULL, 0);
  return result;
}

int mkdir(const char *path, mode_t mode) {
  REAL(mkdir);
  int result = real(path, mode);
  if (result == 0 && is_ours(path)) record_names(ROOST_POWER_MAKE_DIRECTORY, path, NULL, 0);
  return result;
}

int rmdir(const char *path) {
  REAL(rmdir);
  int result = real(path);
  if (result == 0 && is_ours(path)) record_names(ROOST_POWER_REMOVE_DIRECTORY, path, NULL, 0);
  return result;
}
