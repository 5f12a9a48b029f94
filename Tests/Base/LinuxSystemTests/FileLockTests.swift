import Glibc
import LinuxSystem
import TestSupport
import Testing

@Suite struct FileLockTests {
  private func acquired(_ attempt: FileLock.Attempt) -> FileLock? {
    if case .acquired(let lock) = attempt { return lock }
    return nil
  }

  private func holder(_ attempt: FileLock.Attempt) -> String? {
    if case .held(let information) = attempt { return information }
    return nil
  }

  @Test("A second attempt is told who holds the lock, and succeeds when the holder has gone")
  func exclusion() throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/lock"
    var lock = acquired(try FileLock.attempt(path: path, information: "roostd\npid 4711"))
    #expect(lock != nil)
    #expect(holder(try FileLock.attempt(path: path, information: "other")) == "roostd pid 4711")
    #expect(lock?.path == path)
    lock = nil
    // Another test's spawn may hold a copy of the descriptor between its fork and its exec.
    try awaitSoon("the lock to be free") { self.holder(try FileLock.attempt(path: path, information: "x")) == nil }
    let other = acquired(try FileLock.attempt(path: path, information: ""))
    #expect(holder(try FileLock.attempt(path: path, information: "")) == "")
    _ = other
  }

  @Test("A child that was given a copy holds the lock after we let go, until it is killed")
  func handOver() throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/lock"
    let child: SpawnedProcess
    do {
      let lock = try #require(acquired(try FileLock.attempt(path: path, information: "first")))
      let copy = try lock.duplicate()
      defer { Descriptors.close(copy) }
      child = try SpawnedProcess("/bin/sleep", ["1000"], descriptors: [4: copy])
    }
    #expect(holder(try FileLock.attempt(path: path, information: "second")) == "first")
    child.send(SIGKILL)
    _ = try child.waitForEnd()
    try awaitSoon("the lock to be free") { self.holder(try FileLock.attempt(path: path, information: "third")) == nil }
  }

  @Test("A long line of information is cut")
  func longInformation() throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/lock"
    let lock = try FileLock.attempt(path: path, information: String(repeating: "x", count: 2_000))
    let line = holder(try FileLock.attempt(path: path, information: "y"))
    #expect(line?.count == FileLock.informationByteCountMaximum - 1)
    _ = lock
  }

  @Test("A lock file is ours alone, and a link in its place is refused")
  func linkRefused() throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/lock"
    let lock = try FileLock.attempt(path: path, information: "")
    let listing = try SpawnedProcess("/usr/bin/stat", ["-c", "%a", path]).readAllOutput()
    #expect(listing == "600\n")
    let link = "\(directory.path)/link"
    #expect(symlink(path, link) == 0)
    let fault = #expect(throws: SystemFault.self) { try FileLock.attempt(path: link, information: "") }
    #expect(fault?.code == ELOOP)
    #expect(throws: SystemFault.self) { try FileLock.attempt(path: "/nonexistent/lock", information: "") }
    _ = lock
  }
}
