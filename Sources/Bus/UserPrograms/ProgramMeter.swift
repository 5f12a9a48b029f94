internal import Glibc
internal import LinuxSystem

// Limits that the kernel does not enforce for a process group: how many processes and threads it has, how much memory
// they use together, sockets included, and how much they have written. (RLIMIT_NPROC counts all processes of the user,
// and does not limit root.) The meter checks them ten times a second; in between, the kernel's limits for each process
// hold.
//
// Written bytes are counted in files that have a name in the run's folder, and in files that have lost their name and
// are still open. A mapped file that is neither would escape the count, and so would a folder or process that cannot be
// inspected. No program needs these, so a program that has them is ended. The same holds for descriptors that stay in
// messages between sockets. The last rule bounds what is missed all the same: a part of the disk is left free for the
// rest of the machine, above all for the ledgers beside the folder. (Where roostd has a delegated group, the kernel
// limits processes and memory.)

/// Checks what a running program uses.
struct ProgramMeter {
  private let plan: ProgramPlan
  /// The number of the process group, which is that of its first process.
  private let group: Int32
  /// The device of the memory file with the request. The program has it open, but did not make it.
  private let inputDevice: UInt64?
  /// The run's folder, with links resolved.
  private let folder: String
  /// Most bytes that wait in one socket; a connection may have more.
  private let socketByteCount = NamelessFiles.socketByteCountMaximum()
  private var lookCount = 0
  /// Consecutive checks that did not see everything.
  private var partialLookCount = 0
  /// Consecutive checks that found descriptors in messages.
  private var messageLookCount = 0

  /// Most files and folders that a program may make.
  private static let entryMaximum = 10_000
  /// Sockets that do not count as memory.
  private static let freeSocketCount = 8
  /// One check in this many also looks at mappings.
  private static let mappingLookInterval = 10
  /// Consecutive failures that end the program. Fewer are normal: a process that is ending, or a folder that is being
  /// removed, cannot be inspected for a moment.
  private static let partialLookMaximum = 3

  init(_ plan: ProgramPlan, group: Int32, inputDevice: UInt64?) {
    self.plan = plan
    self.group = group
    self.inputDevice = inputDevice
    let resolved = realpath(plan.folder, nil)
    folder = resolved.map { String(cString: $0) } ?? plan.folder
    free(resolved)
  }

  /// Checks once.
  ///
  /// - Returns: which limit was exceeded; nil if none was.
  mutating func complaint() -> String? {
    lookCount += 1
    let group = ProcessTable.group(of: group)
    if let group {
      if group.processes.count > plan.processMaximum {
        return "it had \(group.processes.count) processes, and \(plan.processMaximum) are allowed"
      }
      if group.threadCount > plan.processMaximum {
        return "it had \(group.threadCount) threads, and \(plan.processMaximum) processes and threads are allowed"
      }
      if group.residentByteCount > UInt64(plan.memoryByteCount) {
        return "it took more than the \(plan.memoryByteCount) bytes of memory that it may"
      }
    }
    return openComplaint(group) ?? freeComplaint()
  }

  private mutating func openComplaint(_ group: ProcessTable.Group?) -> String? {
    let processes = group?.processes ?? []
    var nameless = NamelessFiles(of: processes, except: inputDevice)
    if let complaint = socketComplaint(nameless, group?.residentByteCount ?? 0) { return complaint }
    if lookCount.isMultiple(of: Self.mappingLookInterval) { nameless.lookAtMappings(of: processes, below: folder) }
    let usage = FolderTree.usage(of: plan.folder, entryMaximum: Self.entryMaximum)
    if usage.byteCount + nameless.byteCount > Int64(plan.diskByteCount) {
      return "it wrote more than the \(plan.diskByteCount) bytes of files that it may"
    }
    if usage.entryCount > Self.entryMaximum { return "it made more than \(Self.entryMaximum) files" }
    if nameless.mapsUnseen { return "it maps a file that it has removed and closed, which cannot be counted" }
    // Every message is in transit for a moment.
    messageLookCount = nameless.descriptorsInMessages == 0 ? 0 : messageLookCount + 1
    if messageLookCount >= Self.partialLookMaximum {
      return "it keeps files or sockets in messages between its sockets, where they cannot be counted"
    }
    partialLookCount = usage.isWhole && nameless.isWhole ? 0 : partialLookCount + 1
    guard partialLookCount < Self.partialLookMaximum else {
      return usage.isWhole
        ? "one of its processes cannot be looked into" : "its folder cannot be counted: it is too deep, or closed"
    }
    return nil
  }

  private func socketComplaint(_ nameless: NamelessFiles, _ residentByteCount: UInt64) -> String? {
    let count = nameless.socketCount + nameless.descriptorsInMessages
    // Every program has a few: an event loop's, a resolver's.
    let possible = max(0, count - Self.freeSocketCount) * socketByteCount
    if UInt64(possible) + residentByteCount > UInt64(plan.memoryByteCount) {
      return "its \(count) sockets can hold more than the \(plan.memoryByteCount) bytes of memory it may"
    }
    // A connection can hold more than that. Connections that no process has open count too.
    guard plan.network == .internet,
      let actual = SocketMemory.byteCount(of: nameless.socketNumbers, beyond: socketByteCount)
    else { return nil }
    return UInt64(possible + actual) + residentByteCount > UInt64(plan.memoryByteCount)
      ? "its sockets hold more than the \(plan.memoryByteCount) bytes of memory it may" : nil
  }

  private func freeComplaint() -> String? {
    var status = statvfs()
    guard statvfs(plan.folder, &status) == 0 else { return nil }
    let free = UInt64(status.f_bavail) * UInt64(status.f_frsize)
    return free < plan.freeByteCountMinimum ? "the disk is nearly full" : nil
  }
}
