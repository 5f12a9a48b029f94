/* The steps from a fresh process to the worker. */
#pragma once

#include "arguments.h"

/* Becomes the program, or reports the step that failed and ends the process. */
_Noreturn void launch(const struct arguments *arguments);
