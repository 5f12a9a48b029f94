internal import Contracts
internal import Frames
internal import Glibc
internal import LinuxSystem

// The blocking half of the dead letters: one directory, one JSON file a letter, `20260301T120000000-000001.json`.
//
// A letter is a request that never got its proper answer, and its file is the only copy. So a file appears whole or not
// at all (written under another name, synchronised, renamed, the directory synchronised), no letter ever overwrites
// another, and a file that could not be read is never removed: the supervisor must not delete what it does not
// understand. The directory is the only state. A person may read it, copy from it and remove from it at any time.

/// A file among the dead letters that could not be read.
public struct UnreadableLetter: Sendable, Hashable {
  /// Its name in the directory.
  public var name: String
  /// What is wrong with it.
  public var reason: String
}

/// Names of letters: the time to the millisecond and a running number. They sort in the order in which they were given.
struct DeadLetterNames: Sendable {
  private var last = ""

  /// Whether a text may be a letter's name: what a client sends can never become another path.
  static func isValid(_ name: some StringProtocol) -> Bool {
    let parts = name.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1].utf8.count >= 6, parts[1].utf8.count < 12, parts[0].utf8.count == 18 else {
      return false
    }
    let isDigit = { (byte: UInt8) in byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
    return parts[1].utf8.allSatisfy(isDigit)
      && parts[0].utf8.enumerated().allSatisfy { $0 == 8 ? $1 == UInt8(ascii: "T") : isDigit($1) }
  }

  /// Every later name will be greater than this one.
  mutating func observed(_ name: String) { last = max(last, name) }

  /// The next name: of this time, or directly after the last one if the clock was set back.
  mutating func next(_ time: WallTime) -> String {
    let fresh = time.compactText + "-000001"
    if fresh > last {
      last = fresh
      return fresh
    }
    let parts = last.split(separator: "-")
    let number = (Int(parts[1]) ?? 0) + 1
    // Above a million at one time a name has one digit more and sorts too early, but it is still unique.
    let text = String(number)
    last = "\(parts[0])-" + String(repeating: "0", count: max(0, 6 - text.count)) + text
    return last
  }
}

/// Reads and writes the directory of dead letters.
struct DeadLetterArchive: Sendable {
  /// The largest file that is read: a payload of 16 MiB, with each byte escaped.
  static let fileByteCountMaximum = 128 << 20
  private static let suffix = ".json"
  /// The prefix of a file that is still being written.
  private static let unfinishedPrefix = ".unfinished-"

  /// What the directory holds.
  struct Listing: Sendable {
    var letters: [DeadLetterRecord] = []
    var unreadable: [UnreadableLetter] = []
  }

  let directory: String
  let files: any FileOperations

  /// Makes the directory if it is missing. Gives whole letters that a crash left unfinished their names, and removes
  /// leftovers of changes to letters that exist. Returns all names, in order.
  func open() throws(SystemFault) -> [String] {
    try files.ensureDirectory(directory)
    for name in try files.names(in: directory) where name.hasPrefix(Self.unfinishedPrefix) {
      let id = name.dropFirst(Self.unfinishedPrefix.count).dropLast(Self.suffix.count)
      guard DeadLetterNames.isValid(id) else { continue }
      guard !(try identifiers().contains(String(id))) else {
        if case .success = load(String(id)) { try files.remove("\(directory)/\(name)") }
        continue
      }
      guard case .success = read("\(directory)/\(name)") else { continue }
      try files.rename("\(directory)/\(name)", to: path(String(id)))
    }
    return try identifiers()
  }

  /// The names of all letters, the oldest first.
  func identifiers() throws(SystemFault) -> [String] {
    try files.names(in: directory).compactMap { name in
      guard name.hasSuffix(Self.suffix) else { return nil }
      let id = name.dropLast(Self.suffix.count)
      return DeadLetterNames.isValid(id) ? String(id) : nil
    }.sorted()
  }

  /// Writes a letter under its id, then removes the oldest readable letters above the count. Returns the ids of those.
  ///
  /// - Throws: EEXIST for a name that is taken; otherwise the system's error. The letter is then not among the files.
  func store(_ letter: DeadLetterRecord, countMaximum: Int) throws(SystemFault) -> [String] {
    try files.ensureDirectory(directory)
    guard !(try identifiers().contains(letter.id)) else {
      throw SystemFault(call: "rename", subject: path(letter.id), code: EEXIST)
    }
    try put(letter)
    // The letter has its name. A failure after this point is no reason to write it twice.
    do throws(SystemFault) {
      try files.synchronizeDirectory(directory)
      return try removeOldest(above: countMaximum, sparing: letter.id)
    } catch { return [] }
  }

  /// Records that a letter was delivered again and ended in the same way. The file holds the old record or the new one.
  ///
  /// - Throws: ENOENT if the letter was removed meanwhile; otherwise the system's error, and the letter is unchanged.
  func update(_ id: String, deliveries: UInt16, time: String) throws(SystemFault) {
    var letter = try load(id).get()
    letter.id = id
    letter.deliveries = deliveries
    letter.time = time
    try put(letter)
    try files.synchronizeDirectory(directory)
  }

  /// Writes a letter under another name, then renames it.
  private func put(_ letter: DeadLetterRecord) throws(SystemFault) {
    let unfinished = "\(directory)/\(Self.unfinishedPrefix)\(letter.id)\(Self.suffix)"
    // A leftover of an attempt that failed; this letter is the same one.
    try files.remove(unfinished)
    do throws(SystemFault) {
      try write(JSONPayload.encode(letter), to: unfinished)
      try files.rename(unfinished, to: path(letter.id))
    } catch {
      // On a full disk half a letter takes space from everything else. If even the removal fails, the next attempt
      // removes it.
      do throws(SystemFault) { try files.remove(unfinished) } catch {}
      throw error
    }
  }

  /// Reads one letter.
  func load(_ id: String) -> Result<DeadLetterRecord, SystemFault> {
    DeadLetterNames.isValid(id) ? read(path(id)) : .failure(Self.unknown(id))
  }

  /// Reads all letters, without their payloads, which may be larger than memory.
  func list() throws(SystemFault) -> Listing {
    var listing = Listing()
    for name in try files.names(in: directory).sorted() {
      switch read("\(directory)/\(name)") {
      case .success(var letter):
        letter.id = String(name.dropLast(Self.suffix.count))
        letter.payload = ""
        if DeadLetterNames.isValid(letter.id), name.hasSuffix(Self.suffix) {
          listing.letters.append(letter)
        } else {
          listing.unreadable.append(UnreadableLetter(name: name, reason: "its name is not that of a letter"))
        }
      case .failure(let fault):
        listing.unreadable.append(UnreadableLetter(name: name, reason: fault.description))
      }
    }
    return listing
  }

  /// Removes one letter. A letter that cannot be read stays, and the fault says what is wrong with it.
  func drop(_ id: String) throws(SystemFault) {
    _ = try load(id).get()
    try files.remove(path(id))
    try files.synchronizeDirectory(directory)
  }

  private func removeOldest(above countMaximum: Int, sparing spared: String) throws(SystemFault) -> [String] {
    let ids = try identifiers()
    var surplus = ids.count - countMaximum
    var removed: [String] = []
    for id in ids where surplus > 0 && id != spared {
      guard case .success = load(id) else { continue }
      try files.remove(path(id))
      removed.append(id)
      surplus -= 1
    }
    return removed
  }

  private func path(_ id: String) -> String { "\(directory)/\(id)\(Self.suffix)" }

  private func write(_ bytes: [UInt8], to path: String) throws(SystemFault) {
    let descriptor = try files.create(path)
    defer { files.close(descriptor) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let written = rest.withUnsafeBytes { buffer -> Result<Int, SystemFault> in
        do throws(SystemFault) { return .success(try files.write(buffer, to: descriptor, path: path)) } catch {
          return .failure(error)
        }
      }
      rest = rest.dropFirst(try written.get())
    }
    try files.synchronize(descriptor, path: path)
  }

  private func read(_ path: String) -> Result<DeadLetterRecord, SystemFault> {
    do throws(SystemFault) {
      let bytes = try files.contents(of: path, byteCountMaximum: Self.fileByteCountMaximum)
      do throws(Refusal) { return .success(try JSONPayload.decode(DeadLetterRecord.self, from: bytes)) } catch {
        return .failure(
          SystemFault(
            call: "read", subject: path, code: EBADMSG,
            advice:
              "It is no dead letter (\(error.message)) and is left alone. Look at the file, and remove it by hand."))
      }
    } catch { return .failure(error) }
  }

  static func unknown(_ id: String) -> SystemFault {
    SystemFault(call: "read", subject: "dead letter \(id)", code: ENOENT, advice: "There is no letter of that name.")
  }
}
