/* roost-exec: what must happen between the birth of a worker's process and the worker's own first instruction.
 *
 * The supervisor runs threads, and its event loop forks without a hook for the child. Between fork and exec of a
 * threaded program almost nothing is safe to call. So the supervisor spawns this program instead, which has one thread,
 * does in plain order what a child needs, and becomes the worker by execve: same process id, no extra process.
 *
 *     roost-exec [options] -- PROGRAM ARGUMENT...
 *
 * Descriptors, by position: 0 1 2 as given, 3 the bus, 4 the worker's lock, 5 the status pipe. All others are closed.
 * The status pipe closes by itself when exec succeeds: its reader sees the end without a byte. If a step fails, it
 * reads one line, `STAGE ERRNO TEXT`, instead.
 *
 *     roost-exec --guard --instance HEX --grace MILLISECONDS
 *
 * is the guardian, which outlives a killed supervisor just long enough to end what its workers left behind: guard.c.
 *
 * Exit status: 64 usage, 71 the system refused a step, 126 the program may not be executed, 127 it is not there;
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
