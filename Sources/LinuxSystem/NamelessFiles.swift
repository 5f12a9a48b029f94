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
      guard fstatat(folder, name, &status, 0) == 0, status.st_nlink == 0, status.st_mode & S_IFMT == S_IFREG,
        device != UInt64(status.st_dev),
        seen.insert(Identity(device: UInt(status.st_dev), number: UInt(status.st_ino))).inserted
      else { continue }
      byteCount += Int64(status.st_blocks) * 512
    }
  }

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
