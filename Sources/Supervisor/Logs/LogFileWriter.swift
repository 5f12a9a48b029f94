internal import Contracts
internal import Frames
internal import LinuxSystem

/// The bounds of one log's files.
public struct RotationLimits: Sendable, Hashable {
  /// The size that no file exceeds, in bytes.
  public let rotateByteCount: Int
  /// How many closed files are kept beside the open one. All of them together never exceed
  /// `rotateByteCount × (keptFileCount + 1)`.
  public let keptFileCount: Int

  /// The least size of a file, in bytes: room for every line that a log writes about itself.
  public static let rotateByteCountMinimum = 4 << 10

  /// Limits. Sizes below ``rotateByteCountMinimum`` are raised to it, counts below 0 to 0.
  public init(rotateByteCount: Int = 8 << 20, keptFileCount: Int = 5) {
    self.rotateByteCount = max(Self.rotateByteCountMinimum, rotateByteCount)
    self.keptFileCount = max(0, keptFileCount)
  }
}

// The blocking half of a log file: a value that is on the thread pool while it works.
//
// Lines are appended to NAME.log. Before a line would exceed the limit, the file is renamed to NAME.log.1, the former
// .1 to .2, and so on, and the oldest is removed. The bound therefore holds at every instant, even while files are
// renamed.
//
// A file always ends with a whole line. A part of a line that was written before the disk was full is cut off again;
// where a crash has left half a line, the next line begins after a newline of its own. Nothing is synchronised: a log's
// last second is not worth a disk flush for each line, and the records are in memory too.

/// Writes one log's files.
struct LogFileWriter: Sendable {
  /// The result of a batch.
  struct Outcome: Sendable {
    /// Records from the beginning of the batch that are in the file or counted by `oversizeCount`.
    var handledCount = 0
    /// Records among these that were left out, because one alone would exceed the limit.
    var oversizeCount: UInt64 = 0
    /// Why the others are not in the file.
    var fault: SystemFault?
  }

  private let directory: String
  private let name: String
  private let files: any FileOperations
  private var path: String { "\(directory)/\(name)" }
  private var descriptor: Int32?
  private var byteCount = 0

  /// A writer for the file `name` in `directory`; nothing is opened before the first write.
  init(directory: String, name: String, files: any FileOperations) {
    self.directory = directory
    self.name = name
    self.files = files
  }

  /// Writes records, and rotates as needed. With `reopens` the file is first opened again by its name.
  mutating func write(_ records: [LogRecord], limits: RotationLimits, reopens: Bool) -> Outcome {
    var outcome = Outcome()
    if reopens { close() }
    do throws(SystemFault) {
      try prepare(limits)
      try append(records, limits, &outcome)
    } catch { outcome.fault = error }
    return outcome
  }

  /// Closes the file.
  mutating func close() {
    if let descriptor { files.close(descriptor) }
    descriptor = nil
  }

  private mutating func append(
    _ records: [LogRecord], _ limits: RotationLimits, _ outcome: inout Outcome
  ) throws(SystemFault) {
    var chunk: [UInt8] = []
    var chunkRecordCount = 0
    for record in records {
      let line = JSONPayload.encode(record) + [UInt8(ascii: "\n")]
      if line.count > limits.rotateByteCount {
        outcome.oversizeCount += 1
        chunkRecordCount += 1
        continue
      }
      if byteCount + chunk.count + line.count > limits.rotateByteCount {
        try writeWhole(chunk)
        outcome.handledCount += chunkRecordCount
        chunk.removeAll(keepingCapacity: true)
        chunkRecordCount = 0
        try rotate(limits)
      }
      chunk += line
      chunkRecordCount += 1
    }
    try writeWhole(chunk)
    outcome.handledCount += chunkRecordCount
  }

  private mutating func writeWhole(_ bytes: [UInt8]) throws(SystemFault) {
    guard let descriptor, !bytes.isEmpty else { return }
    var written = 0
    do throws(SystemFault) {
      while written < bytes.count {
        let rest = bytes[written...]
        let result = rest.withUnsafeBytes { buffer -> Result<Int, SystemFault> in
          do throws(SystemFault) { return .success(try files.write(buffer, to: descriptor, path: path)) } catch {
            return .failure(error)
          }
        }
        written += try result.get()
      }
    } catch {
      if written > 0 { takeBack() }
      throw error
    }
    byteCount += bytes.count
  }

  /// Cuts off the part of a line that a failed write has left.
  private mutating func takeBack() {
    guard let descriptor else { return }
    do throws(SystemFault) { try files.truncate(descriptor, byteCount: byteCount, path: path) } catch {
      // The next opening will find half a line, and put a newline after it.
      close()
    }
  }

  /// Makes sure that the file is open, is the one that its name leads to, ends with a whole line, and has room.
  private mutating func prepare(_ limits: RotationLimits) throws(SystemFault) {
    if let descriptor {
      let status = try files.status(of: descriptor)
      // Another program may have truncated or removed the file.
      byteCount = status.byteCount
      if !status.hasName { close() }
    }
    if descriptor == nil { try open(limits) }
    if byteCount >= limits.rotateByteCount { try rotate(limits) }
  }

  private mutating func open(_ limits: RotationLimits) throws(SystemFault) {
    try files.ensureDirectory(directory)
    let opened = try files.openForAppending(path)
    descriptor = opened
    do throws(SystemFault) { byteCount = try files.status(of: opened).byteCount } catch {
      close()
      throw error
    }
    if let last = files.lastByte(of: opened, byteCount: byteCount), last != UInt8(ascii: "\n") {
      guard byteCount < limits.rotateByteCount else { return }
      try writeWhole([UInt8(ascii: "\n")])
    }
  }

  private mutating func rotate(_ limits: RotationLimits) throws(SystemFault) {
    close()
    var numbers = Set(try closedFileNumbers())
    // Left from a time when more files were kept.
    for number in numbers where number > limits.keptFileCount {
      try files.remove("\(path).\(number)")
      numbers.remove(number)
    }
    guard limits.keptFileCount > 0 else {
      try files.remove(path)
      try open(limits)
      return
    }
    // Renames only up to the first free number: if an attempt fails half-way and is repeated, no file is lost.
    let free = (1...limits.keptFileCount).first { !numbers.contains($0) } ?? limits.keptFileCount
    for number in (1..<free).reversed() { try files.rename("\(path).\(number)", to: "\(path).\(number + 1)") }
    try files.rename(path, to: "\(path).1")
    try open(limits)
  }

  private func closedFileNumbers() throws(SystemFault) -> [Int] {
    let prefix = name + "."
    return try files.names(in: directory).compactMap { entry in
      guard entry.hasPrefix(prefix), let number = Int(entry.dropFirst(prefix.count)), number > 0 else { return nil }
      return number
    }
  }
}
