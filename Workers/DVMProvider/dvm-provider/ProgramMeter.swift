import Contracts
import Glibc
import LinuxSystem

// Limits that the kernel does not keep for a group: how many processes and threads it has, how much memory they take
// together, in their sockets too, and how much they have written. (RLIMIT_NPROC counts all that the user has, and
// nothing for root.) They are looked at ten times a second; in between, the kernel's limits for each process hold.
//
// What is written counts where it has a name, in the run's folder, and where it has lost its name and is still open. A
// mapped file that has neither is a way around the count, and so is a folder, or a process, that cannot be looked into:
// nobody needs these, and who does them is ended; likewise descriptors that stay in messages between sockets. Whatever
// is missed all the same is bounded by the last rule: a part of the disk is left to the rest of the machine, first of
// all to the ledgers beside the folder. (Where roostd has a delegated group, the kernel bounds processes and memory.)

/// Looks at what a running program takes.
struct ProgramMeter {
  private let plan: ProgramPlan
  /// The group's number, that of its first process.
  private let group: Int32
  /// The device of the request's memory file, which the program has open and which is no file of its own.
  private let inputDevice: UInt64?
  /// The run's folder without links.
  private let folder: String
  /// Most bytes that wait in one socket, but for a connection.
  private let socketByteCount = NamelessFiles.socketByteCountMaximum()
  private var lookCount = 0
  /// Looks one after the other that have not seen everything.
  private var partialLookCount = 0
  /// Looks one after the other at which descriptors were in messages.
  private var messageLookCount = 0

  /// Files and folders that a program may make.
  private static let entryMaximum = 10_000
  /// Sockets that do not count as memory.
  private static let freeSocketCount = 8
  /// Every so manieth look is at mappings too.
  private static let mappingLookInterval = 10
  /// A process that is ending, and a folder that is being removed, cannot be looked into for a moment.
  private static let partialLookMaximum = 3

  init(_ plan: ProgramPlan, group: Int32, inputDevice: UInt64?) {
    self.plan = plan
    self.group = group
    self.inputDevice = inputDevice
    let resolved = realpath(plan.folder, nil)
    folder = resolved.map { String(cString: $0) } ?? plan.folder
    free(resolved)
  }

  /// Looks once.
  ///
  /// - Returns: which bound was gone beyond; nil while all is well.
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
    // Every message is on its way for a moment.
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
    // A few belong to every program: an event loop's, a resolver's.
    let possible = max(0, count - Self.freeSocketCount) * socketByteCount
    if UInt64(possible) + residentByteCount > UInt64(plan.memoryByteCount) {
      return "its \(count) sockets can hold more than the \(plan.memoryByteCount) bytes of memory it may"
    }
    // Connections grow beyond that, and those that nobody has open count too.
    guard plan.mayUseNetwork,
      let actual = SocketMemory.byteCount(of: nameless.socketNumbers, beyond: socketByteCount)
    else { return nil }
    return UInt64(possible + actual) + residentByteCount > UInt64(plan.memoryByteCount)
      ? "its sockets hold more than the \(plan.memoryByteCount) bytes of memory it may" : nil
  }

  private func freeComplaint() -> String? {
    var status = statvfs()
    guard statvfs(plan.folder, &status) == 0 else { return nil }
    let free = UInt64(status.f_bavail) * UInt64(status.f_frsize)
    return free < ServingBounds.freeByteCountMinimum ? "the disk is nearly full" : nil
  }
}
