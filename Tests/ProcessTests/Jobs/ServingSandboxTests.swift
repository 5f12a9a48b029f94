import Contracts
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

// What a job's program cannot reach, and cannot take without being seen, whoever runs roostd.

extension ProcessTests.ServingHostileTests {
  /// For `sh`: a program in Python.
  private func python(_ text: String) -> String { "exec /usr/bin/python3 -c '\(text)'" }

  @Test("One that roostd runs as root has no powers, and reads nothing of other processes")
  func powers() throws {
    let script = """
      while read word value; do case "$word$value" in
        CapInh:0000000000000000|CapPrm:0000000000000000|CapEff:0000000000000000|CapAmb:0000000000000000) ;;
        CapBnd:*) ;;
        Cap*) echo "$word $value" ;;
      esac; done < /proc/self/status
      for file in environ cmdline maps status; do
        for process in 1 $PPID; do ( : < /proc/$process/$file ) 2>/dev/null && echo read $file of $process; done
      done
      echo fine
      """
    try ServingRig.run(script: script, worker: ["sandbox": "\"required\""]) { rig in
      let result = try rig.awaitResult(rig.ask())
      #expect(result.content.text == "fine")
    }
  }

  @Test("One that hides what it writes is ended: in removed files, in closed folders, under odd names")
  func hiding() throws {
    let write = "f.write(b\"x\" * (3 << 20)); f.flush(); held.append(f)"
    let removed = """
      import os, time
      held = []
      for i in range(4):
          f = open("f", "wb"); os.unlink("f"); \(write)
      time.sleep(600)
      """
    #expect(try reason(python(removed)).contains("bytes of files"))
    let closed = """
      import os, time
      held = []
      os.mkdir("a", 0o300); os.mkdir("a/b", 0o700)
      for i in range(4):
          f = open("a/b/%d" % i, "wb"); \(write)
      time.sleep(600)
      """
    #expect(try reason(python(closed)).contains("bytes of files"))
    let odd = """
      import os, time
      held = []
      for i in range(4):
          f = open(b"\\xff%d" % i, "wb"); \(write)
      time.sleep(600)
      """
    #expect(try reason(python(odd)).contains("bytes of files"))
  }

  @Test("One whose files cannot be counted is ended: mapped ones without a name, folders without end")
  func uncountable() throws {
    let mapped = """
      import mmap, os, time
      f = os.open("f", os.O_RDWR | os.O_CREAT); os.write(f, b"x" * 4096)
      m = mmap.mmap(f, 4096, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ)
      os.unlink("f"); os.close(f)
      for n in range(3, 256):
          try:
              if os.fstat(n).st_nlink == 0: os.close(n)
          except OSError: pass
      time.sleep(600)
      """
    #expect(try reason(python(mapped)).contains("removed and closed"))
    let deep = """
      import os, time
      for i in range(100):
          os.mkdir("d"); os.chdir("d")
      time.sleep(600)
      """
    #expect(try reason(python(deep)).contains("too deep"))
  }

  @Test("One whose sockets can hold more than the memory that it may have is ended")
  func sockets() throws {
    let sockets = """
      import os, socket, time
      for i in range(5):
          if os.fork() == 0: break
      held = [socket.socketpair() for i in range(100)]
      time.sleep(600)
      """
    #expect(try reason(python(sockets)).contains("sockets"))
  }

  @Test("A stranger's program is in the sandbox, or does not run, where the worker's own is switched off")
  func strangersSandbox() throws {
    let folder = try TemporaryDirectory()
    let file = folder.path + "/file"
    Descriptors.close(open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600))
    let script = "( : < \(file) ) 2>/dev/null && echo read; echo fine"
    try ServingRig.run(script: script, worker: ["sandbox": "\"off\""]) { rig in
      let result = try rig.awaitResult(rig.ask())
      #expect(result.content.text == "fine")
    }
  }

  @Test("One cannot change the modes of its user's files")
  func modes() throws {
    let folder = try TemporaryDirectory()
    let file = folder.path + "/file"
    Descriptors.close(open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600))
    try ServingRig.run(script: "chmod 777 \(file); chown 1 \(file); echo done") { rig in
      let result = try rig.awaitResult(rig.ask())
      #expect(result.content.text == "done")
    }
    var status = stat()
    #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600 && status.st_uid == getuid())
  }

  @Test("What is empty, or has not the form of its kind, is no result, and its customer hears of it")
  func formless() throws {
    #expect(try reason(":").contains("has written nothing"))
    #expect(try reason("printf '\\n \\n'").contains("has written nothing"))
    let jobs = [5_300: ["program": "[\"/bin/echo\", \"hello\"]"]]
    try ServingRig.run(ServingRig.layout(jobs: jobs)) { rig in
      let reason = try rig.awaitError(rig.ask(5_300))
      #expect(reason.contains("a list of tags a or e"))
    }
  }
}
