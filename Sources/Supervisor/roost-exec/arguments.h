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

  /* To launch: zero and null mean "not asked for". */
  pid_t parent;
  bool has_status_descriptor;
  struct limit limits[LIMIT_COUNT_MAX];
  size_t limit_count;
  char *environment[ENVIRONMENT_COUNT_MAX + 1]; /* the new environment, ended by a null pointer */
  size_t environment_count;
  const char *directory;
  char **program; /* its path, then its arguments, ended by a null pointer */

  /* To guard. */
  const char *instance;
  long grace_milliseconds;
};

/* Fills `arguments` or ends the process: 64 with a sentence on stderr, or 0 for --help. */
void arguments_parse(struct arguments *arguments, int count, char **values);
