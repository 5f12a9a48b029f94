internal import CLinux
internal import Glibc

// A file that was removed while a process has it open still takes space on the disk, but is in no folder. `/proc` shows
// which process holds it: through a descriptor, or, if that was closed, through a mapping. Of a mapping it shows only
// that it exists, not the size of the file.

/// Files without a name that some processes hold.
public struct NamelessFiles: Hashable, Sendable {
  /// Bytes on the disk of the files that are open; each file is counted once.
  public private(set) var byteCount: Int64 = 0
  /// Whether a process maps a file that none of them has open, so that its size is unknown.
  public private(set) var mapsUnseen = false
  /// Whether all processes that have not ended could be examined.
  public private(set) var isWhole = true
  /// Open sockets, each counted once: bytes that wait in them are in the kernel's memory and count for no process.
  public var socketCount: Int { socketNumbers.count }
  /// The inodes of those sockets.
  public private(set) var socketNumbers: Set<UInt64> = []
  /// Descriptors in messages that wait in those sockets: files or sockets that no process has open, so no one can count
  /// them.
  public private(set) var descriptorsInMessages = 0

  private struct Identity: Hashable {
    let device: UInt
    let number: UInt
  }
  private var seen: Set<Identity> = []

  /// The most bytes read of a process's list of mappings, some ten thousand mappings.
  static let mappingByteCountMaximum = 1 << 20

  /// Examines what the processes have open.
  ///
  /// - Parameters:
  ///   - processes: those of one user, ours.
  ///   - device: files on this device, numbered as by `stat`, do not count.
  public init(of processes: [Int32], except device: UInt64?) {
    for process in processes { look(at: process, except: device) }
  }

  private mutating func look(at process: Int32, except device: UInt64?) {
    let path = "/proc/\(process)/fd"
    let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else {
      if errno != ENOENT, errno != ESRCH { missed(process) }
      return
    }
    defer { Descriptors.close(folder) }
    guard let names = KernelFiles.names(in: path) else { return missed(process) }
    for name in names {
      var status = stat()
      // A descriptor that was closed meanwhile is missing.
      guard fstatat(folder, name, &status, 0) == 0 else { continue }
      if status.st_mode & S_IFMT == S_IFSOCK,
        seen.insert(Identity(device: UInt(status.st_dev), number: UInt(status.st_ino))).inserted
      {
        socketNumbers.insert(UInt64(status.st_ino))
        let facts = KernelFiles.read("/proc/\(process)/fdinfo/\(name)") ?? []
        descriptorsInMessages += Self.descriptorsInMessages(in: facts)
      }
      guard status.st_nlink == 0, status.st_mode & S_IFMT == S_IFREG, device != UInt64(status.st_dev),
        seen.insert(Identity(device: UInt(status.st_dev), number: UInt(status.st_ino))).inserted
      else { continue }
      byteCount += Int64(status.st_blocks) * 512
    }
  }

  /// The number after `scm_fds:` in the kernel's facts about a descriptor (unix sockets since Linux 5.6); otherwise 0.
  static func descriptorsInMessages(in facts: [UInt8]) -> Int {
    let label = Array("scm_fds:".utf8)
    let line = facts.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: label) }
    return line.flatMap { KernelFiles.number(in: $0.dropFirst(label.count)) }.map { Int(clamping: $0) } ?? 0
  }

  /// The most bytes that the kernel keeps in one socket, sent or received, as it counts them: the limit in `net.core`.
  public static func socketByteCountMaximum() -> Int {
    let limits = ["rmem_max", "wmem_max"].map { name in
      KernelFiles.read("/proc/sys/net/core/\(name)").flatMap { KernelFiles.number(in: $0) } ?? standardBufferByteCount
    }
    // The kernel doubles the requested size, for its own bookkeeping.
    return 2 * Int(clamping: limits.max() ?? standardBufferByteCount)
  }

  /// The default of the kernel.
  private static let standardBufferByteCount: UInt64 = 212_992

  /// A process that is ending belongs to root for a moment.
  private mutating func missed(_ process: Int32) {
    if let entry = ProcessTable.entry(of: process), entry.state != .ended { isWhole = false }
  }

  /// Examines what the processes map, which takes longer.
  ///
  /// - Parameters:
  ///   - processes: their ids.
  ///   - folder: the path, without links, of the folder in which the files had their names.
  public mutating func lookAtMappings(of processes: [Int32], below folder: String) {
    // This includes sockets: a file whose inode equals a socket's counts as open, and is then not unseen.
    let numbers = Set(seen.map(\.number))
    for process in processes {
      guard let bytes = KernelFiles.read("/proc/\(process)/maps", byteCountMaximum: Self.mappingByteCountMaximum)
      else {
        missed(process)
        continue
      }
      if bytes.count == Self.mappingByteCountMaximum { isWhole = false }
      if Self.namelessNumbers(in: bytes, below: folder).contains(where: { !numbers.contains($0) }) {
        mapsUnseen = true
      }
    }
  }

  /// The inodes of removed files in a list of mappings:
  /// `7f3a00000000-7f3a00001000 rw-s 00000000 fe:00 1234   /srv/jobs/1/name (deleted)`.
  static func namelessNumbers(in list: [UInt8], below folder: String) -> [UInt] {
    let (mark, start) = (Array(" (deleted)".utf8), Array((folder + "/").utf8))
    var numbers: [UInt] = []
    for line in list.split(separator: UInt8(ascii: "\n")) where line.suffix(mark.count).elementsEqual(mark) {
      let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
      guard fields.count == 6, let number = KernelFiles.number(in: fields[4]) else { continue }
      let path = fields[5].drop { $0 == UInt8(ascii: " ") }
      if path.starts(with: start) { numbers.append(UInt(number)) }
    }
    return numbers
  }
}
