/* How a step that failed is told, and with which exit status the process ends. */
#pragma once

enum exit_status {
  EXIT_USAGE = 64,
  EXIT_SYSTEM = 71,
  EXIT_NOT_EXECUTABLE = 126,
  EXIT_NOT_FOUND = 127,
};

/* Where failures are written from now on: a pipe that nobody else writes to. Until then it is stderr. */
void failure_use_status_descriptor(int descriptor);

/* Writes `STAGE ERRNO TEXT` as one line and ends the process. `subject` says on what the step worked (a path, a number)
 * and may be empty. Control characters in it become `?`, so that it stays one line in any log. */
_Noreturn void fail(const char *stage, int error, const char *subject, enum exit_status status);

/* Says on stderr what is wrong with the command line, and ends the process with 64. */
_Noreturn void fail_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
