/* Reports a failed step and ends the process with an exit status. */
#pragma once

enum exit_status {
  EXIT_USAGE = 64,
  EXIT_SYSTEM = 71,
  EXIT_NOT_EXECUTABLE = 126,
  EXIT_NOT_FOUND = 127,
};

/* Makes failures go to this descriptor, a pipe without another writer, instead of stderr. */
void failure_use_status_descriptor(int descriptor);

/* Writes `STAGE ERRNO TEXT` as one line and ends the process. On stderr the line has no number. `subject` is what the
 * step worked on (a path, a number), and may be empty. Control characters become `?`, so that it stays one line in any
 * log. */
_Noreturn void fail(const char *stage, int error, const char *subject, enum exit_status status);

/* Reports a fault of the command line on stderr, and on the status pipe if there is one. Ends the process with 64. */
_Noreturn void fail_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
