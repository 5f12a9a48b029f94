internal import CLinux
internal import Glibc

// A file that was removed while somebody has it open takes its place on the disk, and is in no folder any more. Who
// holds it can be seen in `/proc`: a descriptor, or, when that was closed, a mapping. Of a mapping the size of the file
// is not told, only that there is one.

/// Files without a name that some processes hold.
public struct NamelessFiles: Hashable, Sendable {
  /// Bytes on the disk of those that are open, each counted once.
  public private(set) var byteCount: Int64 = 0
  /// Whether a process maps one that none of them has open, so that its size cannot be told.
  public private(set) var mapsUnseen = false
  /// Whether all processes that have not ended could be looked at.
  public private(set) var isWhole = true
  /// Sockets that are open, each counted once: what waits in them is in the kernel's memory and in no process's.
  public var socketCount: Int { socketNumbers.count }
  /// The inodes of those sockets.
  public private(set) var socketNumbers: Set<UInt64> = []
  /// Descriptors in messages that wait in those sockets: files or sockets, which nobody has open and nobody can count.
  public private(set) var descriptorsInMessages = 0

  private struct Identity: Hashable {
    let device: UInt
    let number: UInt
  }
  private var seen: Set<Identity> = []

  /// Most bytes that are read of a process's list of mappings, some ten thousand.
  static let mappingByteCountMaximum = 1 << 20

  /// Looks at what the processes have open.
  ///
  /// - Parameters:
  ///   - processes: those of one user, ours.
  ///   - device: files of this device do not count, as `stat` numbers it.
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
      // One that has been closed since is not there.
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

  /// The number behind `scm_fds:` in what the kernel tells of a descriptor, as of unix sockets since Linux 5.6; else 0.
  static func descriptorsInMessages(in facts: [UInt8]) -> Int {
    let label = Array("scm_fds:".utf8)
    let line = facts.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: label) }
    return line.flatMap { KernelFiles.number(in: $0.dropFirst(label.count)) }.map { Int(clamping: $0) } ?? 0
  }

  /// Most bytes that the kernel keeps in one socket, sent or received, as it counts them: what `net.core` allows.
  public static func socketByteCountMaximum() -> Int {
    let limits = ["rmem_max", "wmem_max"].map { name in
      KernelFiles.read("/proc/sys/net/core/\(name)").flatMap { KernelFiles.number(in: $0) } ?? standardBufferByteCount
    }
    // The kernel doubles what it is asked for, for its own books.
    return 2 * Int(clamping: limits.max() ?? standardBufferByteCount)
  }

  /// What kernels come with.
  private static let standardBufferByteCount: UInt64 = 212_992

  /// One that is ending is root's for a moment.
  private mutating func missed(_ process: Int32) {
    if let entry = ProcessTable.entry(of: process), entry.state != .ended { isWhole = false }
  }

  /// Looks at what the processes map, which takes longer.
  ///
  /// - Parameters:
  ///   - processes: their numbers.
  ///   - folder: the path, without links, of the folder in which the files had their names.
  public mutating func lookAtMappings(of processes: [Int32], below folder: String) {
    // Sockets among them: an inode that is one of theirs too is taken for the file, which is then not unseen.
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
