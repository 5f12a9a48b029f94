import Glibc
import TestSupport
import Testing

@testable import LinuxSystem

@Suite("Groups of processes, which the kernel bounds")
struct ControlGroupTests {
  /// A folder that looks like a group.
  private func lookalike(_ path: String, processes: String = "") throws {
    mkdir(path, 0o700)
    for (name, text) in [
      ("cgroup.procs", processes), ("cgroup.controllers", "cpu memory pids\n"), ("cgroup.subtree_control", ""),
      ("cgroup.kill", ""), ("memory.max", "max\n"), ("memory.swap.max", "max\n"), ("memory.oom.group", "0\n"),
      ("pids.max", "max\n"), ("memory.events", "low 0\nmax 3\noom 1\noom_kill 0\n"), ("pids.events", "max 2\n"),
    ] { try write(text, to: "\(path)/\(name)") }
  }

  private func write(_ text: String, to path: String) throws {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    defer { Descriptors.close(file) }
    try Descriptors.writeAll(text, to: file)
  }

  private func text(_ path: String) -> String { String(decoding: KernelFiles.read(path) ?? [], as: UTF8.self) }

  @Test("The group that was given is found by what the kernel tells of mounts and of this process")
  func place() {
    func found(_ mounts: String, _ groups: String) -> String? {
      DelegatedGroup.place(mounts: Array(mounts.utf8), groups: Array(groups.utf8))
    }
    let mount = "30 24 0:27 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
    let disk = "24 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
    let service = "/user.slice/app.slice/roost.service"
    #expect(found(disk + mount, "0::\(service)\n") == "/sys/fs/cgroup" + service)
    #expect(found(disk + mount, "0::\(service)/roostd\n") == "/sys/fs/cgroup" + service, "it has moved already")
    #expect(found(mount, "3:pids:/x\n0::/\n") == "/sys/fs/cgroup")
    let part = mount.replacing("0:27 / ", with: "0:27 /docker/ab ")
    #expect(found(part, "0::/docker/ab/x\n") == "/sys/fs/cgroup/x")
    #expect(found(part, "0::/docker/abc\n") == nil, "outside of what is mounted")
    #expect(found(mount, "0::/../other\n") == nil)
    #expect(found(disk, "0::/x\n") == nil)
    #expect(found(mount, "3:pids:/x\n") == nil)
  }

  @Test("A group is taken only where it was delegated, may be written, and has no other process")
  func claim() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/group"
    try lookalike(path, processes: "77\n")
    try lookalike(path + "/roostd")
    for (path, process, isTrusted) in [(path, Int32(77), false), (path, 78, true), (path + "/no", 77, true)] {
      #expect(throws: DelegatedGroup.Missing.self) {
        try DelegatedGroup.claim(path, process: process, isTrusted: isTrusted)
      }
    }
    #expect(text(path + "/roostd/cgroup.procs").isEmpty && text(path + "/cgroup.subtree_control").isEmpty)
    let group = try DelegatedGroup.claim(path, process: 77, isTrusted: true)
    #expect(text(path + "/roostd/cgroup.procs") == "0", "this process has moved")
    #expect(group.controllers == [.memory, .pids])
    #expect(text(path + "/cgroup.subtree_control").hasPrefix("+"))
    // After a restart in place, it has moved already.
    try write("", to: path + "/cgroup.procs")
    try write("77\n", to: path + "/roostd/cgroup.procs")
    #expect(try DelegatedGroup.claim(path, process: 77, isTrusted: true) == group)
    #expect(text(path + "/roostd/cgroup.procs") == "77\n")
    try lookalike(path + "/jobs-dvm-provider")
    let jobs = try group.jobs(of: "dvm-provider")
    #expect(text(jobs.path + "/cgroup.subtree_control").hasPrefix("+"))
    #expect(Set(jobs.innerGroups) == [] && group.base.innerGroups.count == 2)
  }

  @Test("Bounds are written as the kernel reads them, those that it has; and what it tells of them is read")
  func bounds() throws {
    let directory = try TemporaryDirectory()
    let group = ControlGroup(path: directory.path + "/group")
    try lookalike(group.path)
    for name in ["memory.max", "memory.swap.max", "memory.oom.group", "pids.max"] {
      try write("", to: "\(group.path)/\(name)")
    }
    try group.bound(memoryByteCount: 1 << 20, processCount: 8)
    #expect(text(group.path + "/memory.max") == "1048576" && text(group.path + "/pids.max") == "8")
    #expect(text(group.path + "/memory.swap.max") == "0" && text(group.path + "/memory.oom.group") == "1")
    #expect(!group.wasShortOfMemory && group.wasShortOfProcesses)
    try write("oom 2\noom_kill 1\n", to: group.path + "/memory.events")
    #expect(group.wasShortOfMemory)
    // A kernel without swap; and a group that has no controller is bounded by nothing.
    unlink(group.path + "/memory.swap.max")
    try group.bound(memoryByteCount: 2 << 20, processCount: 8)
    unlink(group.path + "/pids.max")
    #expect(throws: SystemFault.self) { try group.bound(memoryByteCount: 2 << 20, processCount: 8) }
    try write("cpu\n", to: group.path + "/cgroup.controllers")
    try group.bound(memoryByteCount: 2 << 20, processCount: 8)
  }

  /// A group below that of this process, on a machine that lets us make one.
  private static let real: ControlGroup? = {
    guard let mounts = KernelFiles.read("/proc/self/mountinfo", byteCountMaximum: 1 << 20),
      let groups = KernelFiles.read("/proc/self/cgroup"),
      let place = DelegatedGroup.place(mounts: mounts, groups: groups)
    else { return nil }
    let group = ControlGroup(path: place).inner("roost-test-\(getpid())")
    do throws(SystemFault) {
      try group.make()
      try group.end()
    } catch { return nil }
    return group
  }()

  @Test(
    "All that is in a group ends at one instant, in whatever session, and the group goes with those below it",
    .enabled(if: real != nil, "no group of version 2 can be made here"))
  func end() throws {
    let group = try #require(Self.real)
    try group.make()
    defer { do throws(SystemFault) { try group.end() } catch { Issue.record(error) } }
    let inner = group.inner("run")
    try inner.make()
    let text = "echo 0 > \(inner.path)/cgroup.procs; setsid sleep 600 & env -i sleep 600 & sleep 600"
    let shell = try SpawnedProcess("/bin/sh", ["-c", text], environment: ["PATH=/usr/bin:/bin"])
    try awaitSoon("all are in the group") { inner.processes?.count == 4 }
    #expect(group.innerGroups == [inner] && inner.number(behind: "populated", in: "cgroup.events") == 1)
    try inner.end()
    #expect(try shell.waitForEnd() == .signalled(SIGKILL))
    #expect(inner.processes == nil && access(inner.path, F_OK) != 0)
    // Once more does no harm.
    try inner.end()
  }
}
