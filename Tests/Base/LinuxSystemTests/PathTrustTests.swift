import Glibc
import LinuxSystem
import TestSupport
import Testing

@Suite struct PathTrustTests {
  private func make(_ path: String, mode: mode_t = 0o600) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    #expect(descriptor >= 0)
    Descriptors.close(descriptor)
    #expect(chmod(path, mode) == 0)
  }

  /// The step that was refused; nil if the path is trusted.
  private func refused(_ path: String, _ kind: PathTrust.Kind, owner: UInt32? = nil) -> String? {
    do throws(SystemFault) {
      try PathTrust.check(path, is: kind, owner: owner)
      return nil
    } catch {
      return "\(error.name) \(error.subject)"
    }
  }

  @Test("A file of ours in a directory of ours is trusted, below a sticky /tmp too")
  func trusted() throws {
    let directory = try TemporaryDirectory()
    let file = "\(directory.path)/supervisor.conf"
    make(file, mode: 0o644)
    #expect(refused(file, .file) == nil)
    #expect(
      refused("\(directory.path)/./../\(directory.path.split(separator: "/").last!)//supervisor.conf", .file) == nil)
    #expect(refused(directory.path, .privateDirectory) == nil)
    #expect(refused("/etc/passwd", .file) == nil)
    #expect(refused("/", .directory) == nil)
    #expect(refused(file, .secretFile) == "EPERM \(file)")
    #expect(refused(file, .directory) == "ENOTDIR \(file)")
    #expect(refused(directory.path, .file) == "EPERM \(directory.path)")
    #expect(refused("\(directory.path)/absent", .file) == "ENOENT \(directory.path)/absent")
    #expect(refused("\(file)/below", .file)?.hasPrefix("ENOTDIR") == true)
  }

  @Test("What is said of it names the step and the remedy, without the words of a system call")
  func wording() throws {
    let directory = try TemporaryDirectory()
    let file = "\(directory.path)/supervisor.conf"
    make(file, mode: 0o622)
    do throws(SystemFault) {
      try PathTrust.check(file, is: .file)
      Issue.record("it was trusted")
    } catch {
      #expect("\(error)" == "\(file): Others may write to it: chmod go-w \(file)")
    }
  }

  @Test("What others may write is refused, at the end and on the way", arguments: [0o770, 0o707, 0o722] as [mode_t])
  func writable(mode: mode_t) throws {
    let directory = try TemporaryDirectory()
    let middle = "\(directory.path)/middle"
    #expect(mkdir(middle, 0o700) == 0)
    let file = "\(middle)/supervisor.conf"
    make(file, mode: mode)
    #expect(refused(file, .file) == "EPERM \(file)")
    #expect(chmod(file, 0o600) == 0 && chmod(middle, mode) == 0)
    #expect(refused(file, .file) == "EPERM \(middle)")
    #expect(chmod(middle, mode | S_ISVTX) == 0)
    #expect(refused(file, .file) == nil)
    #expect(refused(middle, .directory) == "EPERM \(middle)")
  }

  @Test("A link is followed, and the directory it stands in counts")
  func links() throws {
    let directory = try TemporaryDirectory()
    let (open, safe) = ("\(directory.path)/open", "\(directory.path)/safe")
    #expect(mkdir(open, 0o700) == 0 && mkdir(safe, 0o700) == 0)
    make("\(safe)/file")
    #expect(symlink("../safe/file", "\(open)/link") == 0)
    #expect(symlink("\(open)/link", "\(safe)/chain") == 0)
    #expect(refused("\(open)/link", .secretFile) == nil)
    #expect(refused("\(safe)/chain", .secretFile) == nil)
    #expect(chmod(open, 0o777) == 0)
    #expect(refused("\(safe)/file", .secretFile) == nil)
    #expect(refused("\(safe)/chain", .secretFile) == "EPERM \(open)")
    #expect(symlink("loop", "\(safe)/loop") == 0)
    #expect(refused("\(safe)/loop", .file)?.hasPrefix("ELOOP") == true)
  }

  @Test("What belongs to somebody else is refused")
  func owner() throws {
    let directory = try TemporaryDirectory()
    let file = "\(directory.path)/file"
    make(file)
    // Rather than giving the file away, which only root may, the one we trust is somebody else.
    if geteuid() == 0 {
      #expect(chown(file, 4_711, 4_711) == 0)
      #expect(refused(file, .file) == "EPERM \(file)")
      #expect(refused(file, .file, owner: 4_711) == nil)
    } else {
      #expect(refused(file, .file, owner: geteuid() + 1) == "EPERM \(directory.path)")
    }
  }

  @Test("A private directory is made with its parents, and tightened when it is there")
  func privateDirectory() throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/state/roost/run"
    try PrivateDirectory.ensure(path)
    #expect(refused(path, .privateDirectory) == nil)
    #expect(refused("\(directory.path)/state", .privateDirectory) == nil)
    #expect(chmod(path, 0o755) == 0)
    try PrivateDirectory.ensure(path)
    #expect(refused(path, .privateDirectory) == nil)

    #expect(symlink(path, "\(directory.path)/link") == 0)
    #expect(throws: SystemFault.self) { try PrivateDirectory.ensure("\(directory.path)/link") }
    make("\(directory.path)/file")
    #expect(throws: SystemFault.self) { try PrivateDirectory.ensure("\(directory.path)/file") }
    #expect(throws: SystemFault.self) { try PrivateDirectory.ensure("relative") }
    #expect(throws: SystemFault.self) { try PrivateDirectory.ensure("/proc/roost") }
  }

  @Test("A fault says which call failed, on what, why, and what to do")
  func sentence() {
    let fault = SystemFault(call: "open", subject: "/x/lock", code: EACCES, advice: "Check its owner.")
    #expect(fault.description == "open /x/lock: Permission denied (EACCES). Check its owner.")
    #expect(SystemFault(call: "pipe2", subject: "", code: 99_999).description == "pipe2: unknown error (error 99999)")
  }
}
