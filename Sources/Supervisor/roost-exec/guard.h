/* The guardian: ends the processes that a dead supervisor left behind. */
#pragma once

#include "arguments.h"

/* Waits for the end of the supervisor and cleans up after it. Returns the exit status: 0 after an orderly end or when
 * no process is left, 71 if processes remain. If descriptor 3 is unusable, ends the process with 71. */
int guard_run(const struct arguments *arguments);
