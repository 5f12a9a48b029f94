/* roost-exec: the steps between the start of a worker's process and the worker's own first instruction.
 *
 * The supervisor runs threads, and its event loop forks without a hook for the child. In a threaded program almost no
 * function is safe to call between fork and exec. So the supervisor spawns this program instead. It has one thread,
 * prepares the process step by step, and becomes the worker by execve: same process id, no extra process.
 *
 *     roost-exec [options] -- PROGRAM ARGUMENT...
 *
 * Descriptors, by position: 0 1 2 as given, 3 the bus, 4 the worker's lock, 5 the status pipe. All others are closed.
 * The kernel closes the status pipe when exec succeeds: its reader sees the end of the pipe without a byte. If a step
 * fails, the reader receives one line instead, `STAGE ERRNO TEXT`.
 *
 *     roost-exec --guard --instance HEX --grace MILLISECONDS
 *
 * is the guardian, which outlives a killed supervisor just long enough to end the processes that its workers started:
 * guard.c.
 *
 * Exit status: 64 usage, 71 the system refused a step, 126 the program cannot be executed, 127 it does not exist;
 * otherwise the program's own. */

#include "arguments.h"
#include "guard.h"
#include "launch.h"

int main(int count, char **values) {
  static struct arguments arguments;
  arguments_parse(&arguments, count, values);
  if (arguments.is_guard) return guard_run(&arguments);
  launch(&arguments);
}
