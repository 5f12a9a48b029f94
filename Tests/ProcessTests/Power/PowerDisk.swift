import Clocks
import Glibc
import TestSupport

// The disk under a state directory, made again from its log as a loss of power may leave it.
//
// POSIX promises little, and no more than that is given here: a write is there for certain once its file was
// synchronized behind it, and a name once its directory was. All else may be there or not. What the cut takes is chosen
// by its ``Cut``; nothing is taken that was promised.

/// What is on a disk at a place of the log, and what is on its way there.
struct PowerDisk {
  /// What a loss of power does to what was not synchronized.
  enum Cut: String, CaseIterable {
    /// All of it is lost.
    case nothing
    /// It ends somewhere, names and data alike.
    case prefix
    /// It ends somewhere, in the middle of a write, at 512 bytes.
    case torn
    /// Any pages of 4 KiB of it are there.
    case pages
    /// Data is there, names are lost.
    case nameless
    /// All of it is there, as when a process is killed.
    case everything
  }

  private enum Change {
    case write(at: Int, data: Range<Int>)
    case truncate(Int)
    case extend(Int)
  }

  private struct File {
    var inode: UInt64
    var durable: [UInt8] = []
    var pending: [(place: Int, change: Change)] = []
  }

  private enum NameChange {
    case put(String, file: Int)
    case move(String, to: String, file: Int)
    case remove(String)
    case makeDirectory(String)
    case removeDirectory(String)

    /// The name by which its directory is found.
    var path: String {
      switch self {
      case .put(let path, _), .move(_, let path, _), .remove(let path), .makeDirectory(let path),
        .removeDirectory(let path):
        path
      }
    }
  }

  /// Names, each with its file, or nil for a directory.
  private typealias Names = [String: Int?]

  private let log: PowerLog
  private let root: String
  private var files: [File] = []
  private var byInode: [UInt64: Int] = [:]
  private var names: Names = [:]
  private var durableNames: Names = [:]
  private var pendingNames: [(place: Int, change: NameChange)] = []

  init(_ log: PowerLog, root: String) {
    self.log = log
    self.root = root
  }

  // MARK: Going on

  /// One more thing happens.
  mutating func apply(_ record: PowerLog.Record) {
    let other = String(decoding: record.data.isEmpty ? [] : Array(log[record.data].prefix(4_096)), as: UTF8.self)
    switch record.kind {
    case .create:
      if let known = names[record.path], let file = known, files[file].inode == record.inode { return }
      files.append(File(inode: record.inode))
      byInode[record.inode] = files.count - 1
      change(.put(record.path, file: files.count - 1), record)
    case .write: append(.write(at: record.first, data: record.data), record)
    case .truncate: append(.truncate(record.first), record)
    case .extend: append(.extend(record.first), record)
    case .rename:
      if let known = names[record.path], let file = known { change(.move(record.path, to: other, file: file), record) }
    case .unlink: change(.remove(record.path), record)
    case .makeDirectory: change(.makeDirectory(record.path), record)
    case .removeDirectory: change(.removeDirectory(record.path), record)
    case .sync: synchronize(record)
    }
  }

  private mutating func append(_ change: Change, _ record: PowerLog.Record) {
    guard let file = byInode[record.inode] else { return }
    files[file].pending.append((record.place, change))
  }

  private mutating func change(_ change: NameChange, _ record: PowerLog.Record) {
    Self.apply(change, to: &names)
    pendingNames.append((record.place, change))
  }

  private static func apply(_ change: NameChange, to names: inout Names) {
    switch change {
    case .put(let path, let file): names[path] = .some(file)
    case .move(let path, let target, let file):
      names[path] = nil
      names[target] = .some(file)
    case .remove(let path), .removeDirectory(let path): names[path] = nil
    case .makeDirectory(let path): names.updateValue(nil, forKey: path)
    }
  }

  private static func parent(_ path: String) -> String {
    path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
  }

  private mutating func synchronize(_ record: PowerLog.Record) {
    guard record.path.isEmpty else {
      pendingNames.removeAll { place, change in
        guard place < record.first, Self.parent(change.path) == record.path else { return false }
        Self.apply(change, to: &durableNames)
        return true
      }
      return
    }
    guard let file = byInode[record.inode] else { return }
    let count = files[file].pending.prefix { $0.place < record.first }.count
    for (_, change) in files[file].pending.prefix(count) { apply(change, to: &files[file].durable) }
    files[file].pending.removeFirst(count)
  }

  private func apply(_ change: Change, to bytes: inout [UInt8], upTo limit: Int = .max) {
    switch change {
    case .truncate(let count):
      if count < bytes.count { bytes.removeLast(bytes.count - count) }
      bytes += [UInt8](repeating: 0, count: max(0, count - bytes.count))
    case .extend(let count): bytes += [UInt8](repeating: 0, count: max(0, count - bytes.count))
    case .write(let place, let data): write(log[data.prefix(limit)], at: place, to: &bytes)
    }
  }

  private func write(_ data: UnsafeRawBufferPointer, at place: Int, to bytes: inout [UInt8]) {
    guard !data.isEmpty else { return }
    bytes += [UInt8](repeating: 0, count: max(0, place + data.count - bytes.count))
    bytes.withUnsafeMutableBytes { target in
      UnsafeMutableRawBufferPointer(rebasing: target[place..<place + data.count]).copyMemory(from: data)
    }
  }

  /// Bytes written to the file of a name that were not synchronized since.
  func pendingByteCount(of path: String) -> Int {
    guard let known = names[path], let file = known else { return 0 }
    return files[file].pending.reduce(0) { count, entry in
      guard case .write(_, let data) = entry.change else { return count }
      return count + data.count
    }
  }

  // MARK: Cutting

  /// Writes what is left into a directory, which is made.
  ///
  /// - Returns: how many bytes of data were lost.
  func cut(_ cut: Cut, into target: String, _ random: inout SeededGenerator) throws -> Int {
    var places = pendingNames.map(\.place)
    for file in files { places += file.pending.map(\.place) }
    let end: Int =
      switch cut {
      case .nothing: 0
      case .prefix, .torn, .pages: places.randomElement(using: &random) ?? 0
      case .nameless: 0
      case .everything: .max
      }
    var left = durableNames
    for (place, change) in pendingNames where place < end { Self.apply(change, to: &left) }
    try make(target)
    var lostCount = 0
    for (path, file) in left.sorted(by: { $0.key < $1.key }) where path != root {
      guard path.hasPrefix(root + "/"), exists(path, in: left) else { continue }
      let place = target + path.dropFirst(root.count)
      guard let file else {
        try make(place)
        continue
      }
      // Made anew by whoever opens the database first.
      if path.hasSuffix("-shm") { continue }
      let bytes = content(files[file], cut, upTo: end, &random, &lostCount)
      let descriptor = open(place, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      defer { close(descriptor) }
      var written = 0
      while written < bytes.count {
        let count = bytes[written...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { throw DeadlinePassed(description: "\(place) cannot be written") }
        written += count
      }
    }
    return lostCount
  }

  /// Whether all directories above are there.
  private func exists(_ path: String, in names: Names) -> Bool {
    let parent = Self.parent(path)
    return parent == root || (names[parent] != nil && exists(parent, in: names))
  }

  private func make(_ path: String) throws {
    guard mkdir(path, 0o700) == 0 else { throw DeadlinePassed(description: "\(path) cannot be made") }
  }

  private func content(
    _ file: File, _ cut: Cut, upTo end: Int, _ random: inout SeededGenerator, _ lostCount: inout Int
  ) -> [UInt8] {
    var bytes = file.durable
    for (place, change) in file.pending {
      guard case .write(let start, let data) = change else {
        // Sizes are metadata, and those come in their order.
        if place < end || cut == .nameless { apply(change, to: &bytes) }
        continue
      }
      switch cut {
      case .everything, .nameless: apply(change, to: &bytes)
      case .nothing: lostCount += data.count
      case .prefix, .torn:
        let isTorn = cut == .torn && place == end
        let kept = place < end ? data.count : isTorn ? Int.random(in: 0...data.count, using: &random) / 512 * 512 : 0
        apply(change, to: &bytes, upTo: kept)
        lostCount += data.count - kept
      case .pages:
        var offset = 0
        while offset < data.count {
          let count = min(4_096 - (start + offset) % 4_096, data.count - offset)
          let part = data.lowerBound + offset..<data.lowerBound + offset + count
          if Bool.random(using: &random) {
            write(log[part], at: start + offset, to: &bytes)
          } else {
            lostCount += count
          }
          offset += count
        }
      }
    }
    return bytes
  }
}
