/* The command line, read once into one structure. Nothing is allocated: strings point into argv and environ. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

enum {
  BUS_DESCRIPTOR = 3,
  LOCK_DESCRIPTOR = 4,
  STATUS_DESCRIPTOR = 5,
  /* Listening sockets of the worker, if it inherits some, are numbered from here on. */
  LISTEN_DESCRIPTOR_FIRST = 6,
  LISTEN_DESCRIPTOR_COUNT_MAX = 64,

  LIMIT_COUNT_MAX = 16,
  ENVIRONMENT_COUNT_MAX = 256,

  INSTANCE_LENGTH_MIN = 8,
  INSTANCE_LENGTH_MAX = 64,
  GRACE_MILLISECONDS_MAX = 60000,
};

struct limit {
  int resource;
  const char *name;
  rlim_t value;
};

struct arguments {
  bool is_guard;

  /* For a launch: zero and null mean that the option is absent. */
  pid_t parent;
  bool has_status_descriptor;
  unsigned listen_descriptor_count;
  struct limit limits[LIMIT_COUNT_MAX];
  size_t limit_count;
  char *environment[ENVIRONMENT_COUNT_MAX + 1]; /* the new environment, with a null pointer at the end */
  size_t environment_count;
  const char *directory;
  char **program; /* its path, its arguments, and a null pointer at the end */

  /* For the guardian. */
  const char *instance;
  long grace_milliseconds;
};

/* Fills `arguments`, or ends the process: with status 64 and a message on stderr, or with 0 for --help. */
void arguments_parse(struct arguments *arguments, int count, char **values);
