#include "arguments.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "failure.h"

static const char help[] =
    "usage: roost-exec [OPTION...] -- PROGRAM [ARGUMENT...]\n"
    "       roost-exec --guard --instance HEX --grace MILLISECONDS\n"
    "\n"
    "Prepares this process for a worker, then becomes PROGRAM (a path with a slash).\n"
    "\n"
    "  --parent PID        end at once unless PID is still the parent\n"
    "  --limit NAME=N      resource limit, soft and hard, never above the present one: as, core, cpu,\n"
    "                      data, fsize, memlock, nofile, nproc, stack; N in bytes, seconds or pieces\n"
    "  --env NAME          keep this environment variable; all others are removed\n"
    "  --set NAME=VALUE    set this environment variable; other users can see it, so never a secret\n"
    "  --directory DIR     working directory\n"
    "  --listen-fds N      leave the N descriptors from 6 on open, at most 64: sockets that listen\n"
    "  --status-fd 5       report a failed step on descriptor 5 as one line: STAGE ERRNO TEXT\n"
    "\n"
    "  --guard             wait for the end of descriptor 3, then kill what carries ROOST_INSTANCE=HEX\n"
    "  --instance HEX      8 to 64 hexadecimal digits\n"
    "  --grace N           milliseconds to wait before the first kill, at most 60000\n";

static const struct {
  const char *name;
  int resource;
} resources[] = {
    {"as", RLIMIT_AS},         {"core", RLIMIT_CORE},       {"cpu", RLIMIT_CPU},
    {"data", RLIMIT_DATA},     {"fsize", RLIMIT_FSIZE},     {"memlock", RLIMIT_MEMLOCK},
    {"nofile", RLIMIT_NOFILE}, {"nproc", RLIMIT_NPROC},     {"stack", RLIMIT_STACK},
};

/* Parses a whole decimal number without a sign, spaces or trailing characters. */
static bool parse_number(const char *text, unsigned long long maximum, unsigned long long *number) {
  if (!isdigit((unsigned char)text[0])) return false;
  char *end;
  errno = 0;
  *number = strtoull(text, &end, 10);
  return errno == 0 && *end == '\0' && *number <= maximum;
}

/* The length of the variable's name at the start of `text`; 0 without a name. */
static size_t name_length(const char *text) {
  if (!isalpha((unsigned char)text[0]) && text[0] != '_') return 0;
  size_t length = 1;
  while (isalnum((unsigned char)text[length]) || text[length] == '_') length++;
  return length;
}

/* Puts `NAME=VALUE` into the new environment. A later mention of the same name replaces the earlier one. */
static void put_variable(struct arguments *arguments, char *entry, size_t length) {
  for (size_t index = 0; index < arguments->environment_count; index++) {
    if (strncmp(arguments->environment[index], entry, length + 1) == 0) {
      arguments->environment[index] = entry;
      return;
    }
  }
  if (arguments->environment_count == ENVIRONMENT_COUNT_MAX) {
    fail_usage("more than %d environment variables", ENVIRONMENT_COUNT_MAX);
  }
  arguments->environment[arguments->environment_count++] = entry;
}

static void keep_variable(struct arguments *arguments, const char *name) {
  size_t length = name_length(name);
  if (length == 0 || name[length] != '\0') fail_usage("--env %s: not the name of a variable", name);
  for (char **entry = environ; *entry != NULL; entry++) {
    if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') {
      put_variable(arguments, *entry, length);
      return;
    }
  }
}

static void set_variable(struct arguments *arguments, char *entry) {
  size_t length = name_length(entry);
  /* The message does not repeat the value, which may be private. */
  if (length == 0 || entry[length] != '=') fail_usage("--set needs NAME=VALUE");
  put_variable(arguments, entry, length);
}

static void add_limit(struct arguments *arguments, const char *text) {
  const char *equals = strchr(text, '=');
  unsigned long long value;
  if (equals == NULL || !parse_number(equals + 1, RLIM_INFINITY - 1, &value)) {
    fail_usage("--limit %s: needs NAME=N with a whole number N", text);
  }
  size_t length = (size_t)(equals - text);
  for (size_t index = 0; index < sizeof resources / sizeof resources[0]; index++) {
    if (strlen(resources[index].name) == length && strncmp(resources[index].name, text, length) == 0) {
      if (arguments->limit_count == LIMIT_COUNT_MAX) fail_usage("more than %d limits", LIMIT_COUNT_MAX);
      arguments->limits[arguments->limit_count++] =
          (struct limit){resources[index].resource, resources[index].name, (rlim_t)value};
      return;
    }
  }
  fail_usage("--limit %s: no such resource", text);
}

static void set_parent(struct arguments *arguments, const char *text) {
  unsigned long long number;
  if (!parse_number(text, INT_MAX, &number) || number == 0) fail_usage("--parent %s: not a process id", text);
  arguments->parent = (pid_t)number;
}

static void set_instance(struct arguments *arguments, const char *text) {
  size_t length = strlen(text);
  bool is_hexadecimal = text[strspn(text, "0123456789abcdefABCDEF")] == '\0';
  if (!is_hexadecimal || length < INSTANCE_LENGTH_MIN || length > INSTANCE_LENGTH_MAX) {
    fail_usage("--instance needs %d to %d hexadecimal digits", INSTANCE_LENGTH_MIN, INSTANCE_LENGTH_MAX);
  }
  arguments->instance = text;
}

static void set_grace(struct arguments *arguments, const char *text) {
  unsigned long long number;
  if (!parse_number(text, GRACE_MILLISECONDS_MAX, &number)) {
    fail_usage("--grace %s: needs milliseconds, at most %d", text, GRACE_MILLISECONDS_MAX);
  }
  arguments->grace_milliseconds = (long)number;
}

static void set_status_descriptor(struct arguments *arguments, const char *text) {
  if (strcmp(text, "5") != 0) fail_usage("--status-fd %s: the status pipe is descriptor 5", text);
  arguments->has_status_descriptor = true;
}

static void set_listen_descriptors(struct arguments *arguments, const char *text) {
  char *end = NULL;
  errno = 0;
  unsigned long count = strtoul(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0' || count > LISTEN_DESCRIPTOR_COUNT_MAX) {
    fail_usage("--listen-fds %s: a number from 0 to %d", text, LISTEN_DESCRIPTOR_COUNT_MAX);
  }
  arguments->listen_descriptor_count = (unsigned)count;
}

/* Takes one option and its value. */
static void take_option(struct arguments *arguments, const char *option, char *value) {
  if (strcmp(option, "--parent") == 0) set_parent(arguments, value);
  else if (strcmp(option, "--limit") == 0) add_limit(arguments, value);
  else if (strcmp(option, "--env") == 0) keep_variable(arguments, value);
  else if (strcmp(option, "--set") == 0) set_variable(arguments, value);
  else if (strcmp(option, "--directory") == 0) arguments->directory = value;
  else if (strcmp(option, "--status-fd") == 0) set_status_descriptor(arguments, value);
  else if (strcmp(option, "--listen-fds") == 0) set_listen_descriptors(arguments, value);
  else if (strcmp(option, "--instance") == 0) set_instance(arguments, value);
  else if (strcmp(option, "--grace") == 0) set_grace(arguments, value);
  else fail_usage("%s: no such option", option);
}

/* Finds the status pipe before the options are parsed: an empty status pipe means success, so a wrong option must be
 * reported there too. */
static void find_status_descriptor(int count, char **values) {
  for (int index = 1; index + 1 < count && strcmp(values[index], "--") != 0; index++) {
    if (strcmp(values[index], "--status-fd") == 0 && strcmp(values[index + 1], "5") == 0) {
      failure_use_status_descriptor(STATUS_DESCRIPTOR);
    }
  }
}

static void check_together(const struct arguments *arguments) {
  if (arguments->is_guard) {
    if (arguments->instance == NULL) fail_usage("--guard needs --instance");
    if (arguments->grace_milliseconds < 0) fail_usage("--guard needs --grace");
    if (arguments->program != NULL) fail_usage("--guard runs no program");
    bool has_launch_option = arguments->parent != 0 || arguments->has_status_descriptor || arguments->limit_count > 0 ||
                             arguments->listen_descriptor_count > 0 || arguments->environment_count > 0 ||
                             arguments->directory != NULL;
    if (has_launch_option) fail_usage("--guard takes --instance and --grace only");
    return;
  }
  if (arguments->instance != NULL || arguments->grace_milliseconds >= 0) {
    fail_usage("--instance and --grace belong to --guard");
  }
  if (arguments->program == NULL) fail_usage("no program: it follows after --");
  if (strchr(arguments->program[0], '/') == NULL) {
    fail_usage("%s: the program must be a path with a slash; PATH is not searched", arguments->program[0]);
  }
}

void arguments_parse(struct arguments *arguments, int count, char **values) {
  *arguments = (struct arguments){.grace_milliseconds = -1};
  find_status_descriptor(count, values);
  int index = 1;
  while (index < count) {
    char *option = values[index++];
    if (strcmp(option, "--") == 0) {
      if (index < count) arguments->program = values + index;
      break;
    }
    if (strcmp(option, "--help") == 0) {
      fputs(help, stdout);
      exit(fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_SYSTEM);
    }
    if (strcmp(option, "--guard") == 0) {
      arguments->is_guard = true;
      continue;
    }
    if (strncmp(option, "--", 2) != 0) fail_usage("%s: options come first, the program after --", option);
    if (index == count || strcmp(values[index], "--") == 0) {
      fail_usage("%s: no such option, or no value for it", option);
    }
    take_option(arguments, option, values[index++]);
  }
  check_together(arguments);
}
