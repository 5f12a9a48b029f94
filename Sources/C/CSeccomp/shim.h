/* libseccomp, with its macros as functions: Swift imports neither macros that take arguments nor variadic functions.
   Each function returns 0 or a negative error number. Only LinuxSystem imports this. */
#pragma once
#include <errno.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>

enum { ROOST_CLONE_THREAD = 0x00010000 };

/* SOCK_STREAM, SOCK_DGRAM and SOCK_SEQPACKET: glibc's own names come from one of two modules, and which one depends on
   the order in which they were built. */
enum { ROOST_SOCKET_STREAM = 1, ROOST_SOCKET_DATAGRAM = 2, ROOST_SOCKET_SEQPACKET = 5 };

/* A filter that allows what no rule denies, covers all threads, and kills a process that calls through another
   architecture's table. NULL if there is no memory. */
static inline scmp_filter_ctx roost_seccomp_start(void) {
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  if (filter == NULL) return NULL;
  int result = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  if (result == 0) result = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
  if (result == 0) return filter;
  seccomp_release(filter);
  return NULL;
}

/* Denies a call; with error 0 the call is skipped, and reports success. A call that this machine does not have is no
   error: it needs no rule. */
static inline int roost_seccomp_deny(scmp_filter_ctx filter, const char *name, uint16_t error) {
  int number = seccomp_syscall_resolve_name(name);
  if (number < 0) return 0;
  return seccomp_rule_add(filter, SCMP_ACT_ERRNO(error), number, 0);
}

/* Denies a call when an argument, masked, equals a value. */
static inline int roost_seccomp_deny_masked(scmp_filter_ctx filter, const char *name, uint16_t error, unsigned argument,
                                            uint64_t mask, uint64_t value) {
  int number = seccomp_syscall_resolve_name(name);
  if (number < 0) return 0;
  struct scmp_arg_cmp comparison = {.arg = argument, .op = SCMP_CMP_MASKED_EQ, .datum_a = mask, .datum_b = value};
  return seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(error), number, 1, &comparison);
}

/* Denies a call when an argument is above a value. */
static inline int roost_seccomp_deny_above(scmp_filter_ctx filter, const char *name, uint16_t error, unsigned argument,
                                           uint64_t value) {
  int number = seccomp_syscall_resolve_name(name);
  if (number < 0) return 0;
  struct scmp_arg_cmp comparison = {.arg = argument, .op = SCMP_CMP_GT, .datum_a = value};
  return seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(error), number, 1, &comparison);
}

static inline int roost_seccomp_load(scmp_filter_ctx filter) { return seccomp_load(filter); }

static inline void roost_seccomp_release(scmp_filter_ctx filter) { seccomp_release(filter); }
