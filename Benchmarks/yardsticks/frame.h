/* What the yardsticks share: the 48-byte header of RBP/1, blocking sockets, and the clock. */
#pragma once
#include <endian.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
  FRAME_HEADER_BYTES = 48,
  FRAME_LENGTH_MINIMUM = 44,
  FRAME_TYPE_HELLO = 1,
  FRAME_TYPE_EVENT = 24,
  FRAME_FLAG_RAW = 1 << 8,
};

static inline uint32_t load32(const uint8_t *bytes) {
  uint32_t value;
  memcpy(&value, bytes, sizeof value);
  return le32toh(value);
}

static inline uint64_t load64(const uint8_t *bytes) {
  uint64_t value;
  memcpy(&value, bytes, sizeof value);
  return le64toh(value);
}

static inline void store16(uint8_t *bytes, uint16_t value) {
  value = htole16(value);
  memcpy(bytes, &value, sizeof value);
}

static inline void store32(uint8_t *bytes, uint32_t value) {
  value = htole32(value);
  memcpy(bytes, &value, sizeof value);
}

static inline void store64(uint8_t *bytes, uint64_t value) {
  value = htole64(value);
  memcpy(bytes, &value, sizeof value);
}

/* Bytes of the whole frame whose header begins here. */
static inline size_t frame_bytes(const uint8_t *header) {
  return 4 + (size_t)load32(header);
}

/* Writes a header; source, re, ttl, attempt, method and trace are 0. */
static inline void write_header(uint8_t *bytes, uint8_t type, uint32_t destination, uint64_t id, size_t payload_bytes) {
  memset(bytes, 0, FRAME_HEADER_BYTES);
  store32(bytes, (uint32_t)(FRAME_LENGTH_MINIMUM + payload_bytes));
  bytes[4] = 1;
  bytes[5] = type;
  store16(bytes + 6, FRAME_FLAG_RAW);
  store32(bytes + 8, destination);
  store64(bytes + 16, id);
}

static inline uint64_t now_nanoseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

_Noreturn static inline void fail(const char *what) {
  perror(what);
  exit(1);
}

static inline void write_all(int fd, const uint8_t *bytes, size_t count) {
  while (count > 0) {
    ssize_t written = write(fd, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write");
    bytes += written;
    count -= (size_t)written;
  }
}

static inline void read_all(int fd, uint8_t *bytes, size_t count) {
  while (count > 0) {
    ssize_t got = read(fd, bytes, count);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      fprintf(stderr, "read: the other side is gone\n");
      exit(1);
    }
    bytes += got;
    count -= (size_t)got;
  }
}

static inline int connect_unix(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) {
    fprintf(stderr, "socket path too long: %s\n", path);
    exit(2);
  }
  strcpy(address.sun_path, path);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) < 0) fail(path);
  return fd;
}
