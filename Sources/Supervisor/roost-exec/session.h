/* The steps that a launched worker and the guardian both begin with. */
#pragma once

/* Makes this process the leader of its own session, so that no signals of a terminal reach it, and its process group
 * contains only itself and its children. Returns 0 or an error number. */
int session_lead(void);

/* Gives all signals their default action and unblocks them. Ignored and blocked signals would survive exec: a worker
 * that inherits a blocked SIGTERM cannot be stopped in good order. Returns 0 or an error number. */
int session_reset_signals(void);

/* Opens /dev/null on each of 0, 1 and 2 that is closed. Otherwise a file that the worker opens could become its stdout.
 * Returns 0 or an error number. */
int session_fill_standard_descriptors(void);
