internal import Contracts
internal import Frames
internal import Glibc
internal import LinuxSystem

// The blocking half of the dead letters: one directory, one JSON file a letter, `20260301T120000000-000001.json`.
//
// A letter is a request that somebody has made and nobody has answered as meant; it is the only copy. So a file comes
// to be whole or not at all (written under another name, synchronised, renamed, the directory synchronised), no letter
// ever takes the place of another, and nothing is removed that could not be read: what we do not understand is not ours
// to throw away. The directory itself is the only state. A person may look into it, copy from it and remove from it at
// any time.

/// A file among the dead letters that could not be read.
public struct UnreadableLetter: Sendable, Hashable {
  /// Its name in the directory.
  public var name: String
  /// What is wrong with it.
  public var reason: String
}

/// Names of letters: the time to the millisecond and a running number. They sort as they were given.
struct DeadLetterNames: Sendable {
  private var last = ""

  /// Whether a text may be a letter's name: what a client sends never becomes another path.
  static func isValid(_ name: some StringProtocol) -> Bool {
    let parts = name.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1].utf8.count >= 6, parts[1].utf8.count < 12, parts[0].utf8.count == 18 else {
      return false
    }
    let isDigit = { (byte: UInt8) in byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
    return parts[1].utf8.allSatisfy(isDigit)
      && parts[0].utf8.enumerated().allSatisfy { $0 == 8 ? $1 == UInt8(ascii: "T") : isDigit($1) }
  }

  /// Later names will be greater than this one.
  mutating func observed(_ name: String) { last = max(last, name) }

  /// The next name: of this time, or just behind the last one if the clock was set back.
  mutating func next(_ time: WallTime) -> String {
    let fresh = time.compactText + "-000001"
    if fresh > last {
      last = fresh
      return fresh
    }
    let parts = last.split(separator: "-")
    let number = (Int(parts[1]) ?? 0) + 1
    // Beyond a million at one time a name has a digit more, and sorts early; it is still one of its own.
    let text = String(number)
    last = "\(parts[0])-" + String(repeating: "0", count: max(0, 6 - text.count)) + text
    return last
  }
}

/// Reads and writes the directory of dead letters.
struct DeadLetterArchive: Sendable {
  /// Largest file that is read: a payload of 16 MiB, each byte of it escaped.
  static let fileByteCountMaximum = 128 << 20
  private static let suffix = ".json"
  /// What the name of a file that is being written begins with.
  private static let unfinishedPrefix = ".unfinished-"

  /// What the directory holds.
  struct Listing: Sendable {
    var letters: [DeadLetterRecord] = []
    var unreadable: [UnreadableLetter] = []
  }

  let directory: String
  let files: any FileOperations

  /// Makes the directory if need be, gives whole letters that a crash has left unfinished their names, removes what it
  /// has left of changes to letters that are there, and tells all names, in order.
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

  /// Writes a letter under its id, then removes the oldest readable ones above the count. Returns the ids of those.
  ///
  /// - Throws: EEXIST for a name that is taken; else what the system said. The letter is not among the files then.
  func store(_ letter: DeadLetterRecord, countMaximum: Int) throws(SystemFault) -> [String] {
    try files.ensureDirectory(directory)
    guard !(try identifiers().contains(letter.id)) else {
      throw SystemFault(call: "rename", subject: path(letter.id), code: EEXIST)
    }
    try put(letter)
    // The letter has its name. What fails from here on is no reason to write it twice.
    do throws(SystemFault) {
      try files.synchronizeDirectory(directory)
      return try removeOldest(above: countMaximum, sparing: letter.id)
    } catch { return [] }
  }

  /// Writes down that a letter was delivered again, with the end it had before. Its file is the old one or the new one.
  ///
  /// - Throws: ENOENT when it was removed meanwhile; else what the system said, and the letter is as it was.
  func update(_ id: String, deliveries: UInt16, time: String) throws(SystemFault) {
    var letter = try load(id).get()
    letter.id = id
    letter.deliveries = deliveries
    letter.time = time
    try put(letter)
    try files.synchronizeDirectory(directory)
  }

  /// Writes a letter under another name, then gives it its own.
  private func put(_ letter: DeadLetterRecord) throws(SystemFault) {
    let unfinished = "\(directory)/\(Self.unfinishedPrefix)\(letter.id)\(Self.suffix)"
    // From an attempt that failed: the letter in hand is the same one.
    try files.remove(unfinished)
    do throws(SystemFault) {
      try write(JSONPayload.encode(letter), to: unfinished)
      try files.rename(unfinished, to: path(letter.id))
    } catch {
      // On a full disk the half of a letter is in the way of everything else; if even that fails, the next attempt does
      // it.
      do throws(SystemFault) { try files.remove(unfinished) } catch {}
      throw error
    }
  }

  /// Reads one letter.
  func load(_ id: String) -> Result<DeadLetterRecord, SystemFault> {
    DeadLetterNames.isValid(id) ? read(path(id)) : .failure(Self.unknown(id))
  }

  /// Reads all letters, without their payloads: those may be larger than memory.
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

  /// Removes one letter. One that cannot be read stays: the fault says what is wrong with it.
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
