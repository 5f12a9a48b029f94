/* What a launched worker and the guardian both need first. */
#pragma once

/* Makes this process the leader of a session of its own, so that no terminal's signals reach it and its process group
 * holds nothing but itself and its children. Returns 0 or an error number. */
int session_lead(void);

/* Gives all signals their default action and unblocks them. Ignored and blocked signals would survive exec: a worker
 * whose SIGTERM is blocked because the spawner's was cannot be stopped in good order. Returns 0 or an error number. */
int session_reset_signals(void);

/* Opens /dev/null on whichever of 0, 1 and 2 is closed. Otherwise the first file the worker opens becomes its stdout.
 * Returns 0 or an error number. */
int session_fill_standard_descriptors(void);
