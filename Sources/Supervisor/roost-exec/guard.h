/* The guardian: what ends a dead supervisor's leftovers. */
#pragma once

#include "arguments.h"

/* Waits for the supervisor's end and cleans up after it. Returns the exit status: 0 after an orderly end or when
 * nothing is left, 71 if descriptor 3 is unusable or processes remained. */
int guard_run(const struct arguments *arguments);
