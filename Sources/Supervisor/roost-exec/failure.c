#include "failure.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Below PIPE_BUF, so that a line is written completely or not at all. */
enum { LINE_BYTE_COUNT_MAX = 1024 };

static int status_descriptor = -1;

void failure_use_status_descriptor(int descriptor) { status_descriptor = descriptor; }

static void write_line(int descriptor, char *line, int length) {
  if (length < 0) return;
  if (length > LINE_BYTE_COUNT_MAX - 2) length = LINE_BYTE_COUNT_MAX - 2;
  for (int index = 0; index < length; index++) {
    unsigned char byte = (unsigned char)line[index];
    if (byte < 0x20 || byte == 0x7f) line[index] = '?';
  }
  line[length] = '\n';
  ssize_t written;
  do written = write(descriptor, line, (size_t)length + 1);
  while (written < 0 && errno == EINTR);
}

_Noreturn void fail(const char *stage, int error, const char *subject, enum exit_status status) {
  /* The reader may be gone. SIGPIPE must not end this process, so that its exit status still tells what failed. */
  signal(SIGPIPE, SIG_IGN);
  char line[LINE_BYTE_COUNT_MAX];
  const char *separator = subject[0] == '\0' ? "" : ": ";
  int length;
  if (status_descriptor >= 0) {
    length = snprintf(line, sizeof line, "%s %d %s%s%s", stage, error, subject, separator, strerror(error));
    write_line(status_descriptor, line, length);
  } else {
    length = snprintf(line, sizeof line, "roost-exec: %s: %s%s%s", stage, subject, separator, strerror(error));
    write_line(STDERR_FILENO, line, length);
  }
  _exit(status);
}

_Noreturn void fail_usage(const char *format, ...) {
  signal(SIGPIPE, SIG_IGN);
  char text[LINE_BYTE_COUNT_MAX / 2];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);

  char line[LINE_BYTE_COUNT_MAX];
  int length = snprintf(line, sizeof line, "roost-exec: %s (roost-exec --help shows the options)", text);
  write_line(STDERR_FILENO, line, length);
  if (status_descriptor >= 0) fail("options", EINVAL, text, EXIT_USAGE);
  _exit(EXIT_USAGE);
}
