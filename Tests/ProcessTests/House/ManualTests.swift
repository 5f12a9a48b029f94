import Glibc
import TestSupport
import Testing

/// `make manuals`: the pages of the built programs, as a reader and mandoc see them.
@Suite(
  "Manual pages",
  .enabled(
    if: access("/usr/bin/mandoc", X_OK) == 0 && access("/usr/bin/man", X_OK) == 0,
    "mandoc or man is missing: apt-get install mandoc man-db"))
struct ManualTests {
  @Test("Each page is clean mdoc that man shows, and each command, worker and key has one")
  func pages() throws {
    let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(separator: "/")
    let folder = try TemporaryDirectory()
    let made = try SpawnedProcess(
      "/usr/bin/env",
      [
        "python3", "\(root)/Scripts/manuals.py", folder.path, SpawnedProcess.builtProgram("roost"),
        SpawnedProcess.builtProgram("roostd"),
      ])
    #expect(try made.readAllOutput(within: 60) == "")
    #expect(try made.waitForEnd() == .exited(0))
    let script = """
      cd "$1"
      export LC_ALL=C.UTF-8
      # That a page of this set is not installed is no fault of it.
      mandoc -Tlint -Wstyle man?/* | grep -v 'referenced manual not found'
      for page in man1/roost.1 man1/roost-query.1 man5/supervisor.conf.5 man8/roost-signer.8; do
        MANWIDTH=80 man -l "$page" >shown || exit
        grep -q DESCRIPTION shown || echo "$page is empty"
      done
      MANWIDTH=200 man -l man1/roost-query.1 | grep -q 'roost query -k 1 -a alice' || echo 'no example'
      for command in $("$2" --help | sed -n 's/^  \\([a-z][a-z-]*\\) .*/\\1/p' | grep -v '^help$'); do
        [ -e "man1/roost-$command.1" ] || echo "no page for $command"
      done
      for worker in $(sed -n 's/^\\[worker\\.\\([a-z-]*\\)\\]$/\\1/p' "$3/supervisor.conf"); do
        [ -e "man8/roost-$worker.8" ] || [ "$worker" = ephemeral-connector ] || echo "no page for $worker"
      done
      for key in $(sed -n 's/^#\\{0,1\\}\\([a-z][a-z-]*\\) = .*/\\1/p' "$3/supervisor.conf"); do
        grep -q "^\\.It Li .*$key = " man5/supervisor.conf.5 || echo "no key $key"
      done
      bash -n completions/bash/roost && grep -q query completions/fish/roost.fish && grep -q query completions/zsh/_roost
      """
    let read = try SpawnedProcess(
      "/bin/bash", ["-c", script, "-", folder.path, SpawnedProcess.builtProgram("roost"), root])
    #expect(try read.readAllOutput(within: 60) == "")
    #expect(try read.waitForEnd() == .exited(0))
  }
}
