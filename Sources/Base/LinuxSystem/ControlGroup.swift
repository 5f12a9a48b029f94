internal import CLinux
internal import Glibc

// A group of processes that the kernel counts and bounds together (cgroup v2). It is a folder, and its files control
// it; a group in a group is a folder in a folder. A process is in the group of its parent until it is moved, and no
// program can leave a group whose files it may not write.

/// One of the kernel's control groups.
public struct ControlGroup: Hashable, Sendable {
  /// What the kernel can bound in a group, if it was enabled.
  public enum Controller: String, CaseIterable, Hashable, Sendable, Codable {
    /// Memory: of processes, of their files in memory, of sockets.
    case memory
    /// Processes and threads.
    case pids
  }

  /// Its folder.
  public let path: String

  /// How long to wait for the processes of a killed group to end, and how often to check.
  private static let (endMilliseconds, endLookMilliseconds): (UInt32, UInt32) = (2_000, 5)
  /// The most groups below one that are visited.
  private static let innerCountMaximum = 10_000

  /// The group with this folder, which need not exist.
  public init(path: String) { self.path = path }

  /// A group below this one.
  public func inner(_ name: String) -> ControlGroup { ControlGroup(path: path + "/" + name) }

  /// The last component of its path.
  public var name: String { path.split(separator: "/").last.map(String.init) ?? "" }

  /// Creates the group; an existing one stays.
  public func make() throws(SystemFault) {
    guard mkdir(path, 0o755) == 0 || errno == EEXIST else {
      throw SystemFault(call: "mkdir", subject: path, code: errno)
    }
  }

  /// Writes one of its files.
  func write(_ text: String, to name: String) throws(SystemFault) {
    let file = open("\(path)/\(name)", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { throw SystemFault(call: "open", subject: "\(path)/\(name)", code: errno) }
    defer { Descriptors.close(file) }
    // In one call, or the kernel takes the pieces for several words.
    guard Glibc.write(file, text, text.utf8.count) == text.utf8.count else {
      throw SystemFault(call: "write", subject: "\(path)/\(name)", code: errno)
    }
  }

  private func words(of name: String) -> [String]? {
    KernelFiles.read("\(path)/\(name)").map {
      String(decoding: $0, as: UTF8.self).split(whereSeparator: \.isWhitespace).map(String.init)
    }
  }

  /// The number after a word in one of its files, as in `populated 1`; nil if it is missing.
  func number(behind word: String, in name: String) -> UInt64? {
    guard let words = words(of: name), let place = words.firstIndex(of: word), place + 1 < words.count else {
      return nil
    }
    return UInt64(words[place + 1])
  }

  // MARK: Processes

  /// Its processes, without those of groups below; nil if the group does not exist.
  public var processes: [Int32]? { words(of: "cgroup.procs").map { $0.compactMap { Int32($0) } } }

  /// Moves this process into the group; processes that it starts from now on are in it too.
  public func enter() throws(SystemFault) { try write("0", to: "cgroup.procs") }

  /// Kills all processes in the group and below, in one step; before Linux 5.14, one after the other.
  public func kill() {
    do throws(SystemFault) { try write("1", to: "cgroup.kill") } catch {
      for process in processes ?? [] where process > 1 { Glibc.kill(process, SIGKILL) }
    }
  }

  /// Kills everything in the group, and removes it with the groups below; a missing group is no fault. Waits for the
  /// last process, two seconds at most.
  public func end() throws(SystemFault) {
    for _ in 0..<Self.endMilliseconds / Self.endLookMilliseconds {
      for group in innerGroups { try group.end() }
      if rmdir(path) == 0 || errno == ENOENT { return }
      guard errno == EBUSY else { throw SystemFault(call: "rmdir", subject: path, code: errno) }
      kill()
      usleep(Self.endLookMilliseconds * 1_000)
    }
    throw SystemFault(call: "rmdir", subject: path, code: EBUSY, advice: "It has processes that do not end.")
  }

  /// The groups directly below it.
  public var innerGroups: [ControlGroup] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var groups: [ControlGroup] = []
    while let entry = readdir(folder), groups.count < Self.innerCountMaximum {
      guard entry.pointee.d_type == UInt8(DT_DIR) else { continue }
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name != "." && name != ".." { groups.append(inner(name)) }
    }
    return groups
  }

  // MARK: Bounds

  /// What can be bounded in the group.
  public var controllers: Set<Controller> {
    Set((words(of: "cgroup.controllers") ?? []).compactMap { Controller(rawValue: $0) })
  }

  /// Enables bounds for the groups below, as many as possible; the group itself must have no process.
  ///
  /// - Returns: what can be bounded below.
  public func boundInnerGroups() -> Set<Controller> {
    controllers.filter { controller in
      do throws(SystemFault) { try write("+\(controller.rawValue)", to: "cgroup.subtree_control") } catch {
        // The controller belongs to another hierarchy, or was not delegated: then it is not bounded.
        return false
      }
      return true
    }
  }

  /// Bounds the group.
  ///
  /// - Parameters:
  ///   - memoryByteCount: the memory of the whole group, sockets included; none of it goes to swap. Beyond it, the
  ///     kernel kills the whole group.
  ///   - processCount: processes and threads; beyond it, no new one is created.
  public func bound(memoryByteCount: Int, processCount: Int) throws(SystemFault) {
    let controllers = controllers
    if controllers.contains(.memory) {
      try write("\(memoryByteCount)", to: "memory.max")
      // A kernel without swap lacks the first file, and a kernel before 4.19 the second.
      for (name, text) in [("memory.swap.max", "0"), ("memory.oom.group", "1")] {
        do throws(SystemFault) { try write(text, to: name) } catch { guard error.code == ENOENT else { throw error } }
      }
    }
    if controllers.contains(.pids) { try write("\(processCount)", to: "pids.max") }
  }

  /// Whether a process of the group was killed because the group exceeded its memory.
  public var wasShortOfMemory: Bool { number(behind: "oom_kill", in: "memory.events") ?? 0 > 0 }

  /// Whether a process of the group was denied a process or a thread.
  public var wasShortOfProcesses: Bool { number(behind: "max", in: "pids.events") ?? 0 > 0 }
}
