public import Contracts
public import EventLoop
internal import Glibc
public import LinuxSystem

/// A dead letter could not be written; it is kept in memory and written later.
public struct DeadLetterFault: Error, Sendable, CustomStringConvertible {
  /// The letter's id: while the supervisor lives, it can be listed, loaded and dropped like any other.
  public let id: String
  /// Why.
  public let cause: SystemFault
  /// The oldest letters, for which memory had no room; they are lost.
  public let lost: [String]

  /// What happened, and what it means.
  public var description: String {
    let loss = lost.isEmpty ? "" : " No room for \(lost.joined(separator: ", ")): lost."
    return "dead letter \(id) is in memory only and is tried again: \(cause)\(loss)"
  }
}

/// Messages that killed their worker too often, kept for a person to see.
///
/// They are on disk, one file a letter, as `DeadLetterArchive` says. What cannot be written stays in memory, within
/// bounds. The store tries to write it again: after a second, then less and less often up to once a minute, and after
/// each successful write of another letter.
@EventLoopActor
public final class DeadLetterStore {
  /// The maximum number of letters in memory while the disk refuses them.
  public static let memoryCountMaximum = 64
  /// The maximum of their payloads, in bytes. The newest letter is kept whatever its size.
  public static let memoryByteCountMaximum = 32 << 20
  /// The first wait before another attempt, in milliseconds; each failed attempt doubles it.
  public static let firstRetryMilliseconds: UInt64 = 1_000
  /// The longest wait, in milliseconds.
  public static let lastRetryMilliseconds: UInt64 = 60_000

  /// A letter was kept.
  public struct Kept: Sendable {
    /// Its id.
    public let id: String
    /// Older letters that were removed to make room.
    public let removed: [String]
  }

  /// All letters.
  public struct Listing: Sendable {
    /// The oldest first, without their payloads; ``DeadLetterStore/load(_:)`` reads one whole.
    public let letters: [DeadLetterRecord]
    /// Files that are not letters; they are left alone.
    public let unreadable: [UnreadableLetter]
    /// The letters above that are in memory only.
    public let inMemory: [String]
  }

  /// The maximum number of letters on disk, at least 1. Takes effect with the next letter.
  public var countMaximum: Int
  /// The number of letters that wait in memory for the disk.
  public var memoryCount: Int { waiting.count }

  private let archive: PoolOwned<DeadLetterArchive>
  private let wallClock: @EventLoopActor () -> WallTime
  private var names = DeadLetterNames()
  private var isOpen = false
  private var waiting: [DeadLetterRecord] = []
  private var writing: Set<String> = []
  private let retryTimer = LoopTimer()
  private var retryMilliseconds = firstRetryMilliseconds
  private var isRetrying = false

  /// The letters in `directory`, an absolute path; it is made if it does not exist.
  public init(
    directory: String, countMaximum: Int = 1_000, files: any FileOperations = SystemFiles(),
    wallClock: @escaping @EventLoopActor () -> WallTime = { WallTime.now }
  ) {
    self.countMaximum = countMaximum
    self.wallClock = wallClock
    archive = PoolOwned(DeadLetterArchive(directory: directory, files: files))
  }

  /// Keeps a letter under a new id; the id in the record is ignored.
  ///
  /// When this returns, the letter is on the disk.
  /// - Throws: ``DeadLetterFault`` if the letter could only be kept in memory.
  public func keep(_ letter: DeadLetterRecord) async throws(DeadLetterFault) -> Kept {
    await learnNames()
    var letter = letter
    letter.id = names.next(wallClock())
    // In memory first, so that it is listed while it is being written.
    waiting.append(letter)
    switch await write(letter) {
    case .success(let removed):
      retrySoon(afterMilliseconds: 0)
      return Kept(id: letter.id, removed: removed)
    case .failure(let cause):
      retrySoon(afterMilliseconds: retryMilliseconds)
      throw DeadLetterFault(id: letter.id, cause: cause, lost: boundMemory())
    }
  }

  /// All letters, on disk and in memory.
  ///
  /// - Throws: the system's error about the directory.
  public func list() async throws(SystemFault) -> Listing {
    await learnNames()
    let found = try await archive.use { archive in Self.result { () throws(SystemFault) in try archive.list() } }.get()
    let onDisk = Set(found.letters.map(\.id))
    let others = waiting.filter { !onDisk.contains($0.id) }.map { letter in
      var letter = letter
      letter.payload = ""
      return letter
    }
    return Listing(
      letters: (found.letters + others).sorted { $0.id < $1.id }, unreadable: found.unreadable,
      inMemory: others.map(\.id))
  }

  /// One letter, whole.
  ///
  /// - Throws: ENOENT if no letter has this name, EBADMSG if its file cannot be understood.
  public func load(_ id: String) async throws(SystemFault) -> DeadLetterRecord {
    if let letter = waiting.first(where: { $0.id == id }) { return letter }
    return try await archive.use { $0.load(id) }.get()
  }

  /// Records that a letter was delivered again and killed its worker again.
  ///
  /// - Throws: ENOENT if no letter has this name; the system's error if it could not be written, and the letter is then
  ///   unchanged.
  public func update(_ id: String, deliveries: UInt16, time: String) async throws(SystemFault) {
    if let index = waiting.firstIndex(where: { $0.id == id }) {
      waiting[index].deliveries = deliveries
      waiting[index].time = time
      // A letter that is just being written reaches the disk without the change, so the change is written after it.
      guard writing.contains(id) else { return }
    }
    try await archive.use { archive in
      Self.result { () throws(SystemFault) in try archive.update(id, deliveries: deliveries, time: time) }
    }.get()
  }

  /// Removes one letter.
  ///
  /// - Throws: ENOENT if no letter has this name; EBADMSG if its file cannot be understood, which then stays.
  public func drop(_ id: String) async throws(SystemFault) {
    let count = waiting.count
    waiting.removeAll { $0.id == id }
    let wasWaiting = waiting.count < count
    // If it is just being written, this removal runs after the write and finds the file.
    let result = await archive.use { archive in Self.result { () throws(SystemFault) in try archive.drop(id) } }
    if case .failure(let fault) = result, !(wasWaiting && fault.code == ENOENT) { throw fault }
  }

  /// Removes every letter that can be read; returns how many.
  ///
  /// - Throws: the system's error; some letters may be removed by then.
  public func dropAll() async throws(SystemFault) -> Int {
    let ids = try await list().letters.map(\.id)
    for id in ids { try await drop(id) }
    return ids.count
  }

  // MARK: Writing

  /// Reads the names on disk, once: every new name must be greater.
  private func learnNames() async {
    guard !isOpen else { return }
    let result = await archive.use { archive in Self.result { () throws(SystemFault) in try archive.open() } }
    // If the directory cannot be read, the next call tries again; until then a name that is taken is refused.
    guard case .success(let known) = result else { return }
    isOpen = true
    if let last = known.last { names.observed(last) }
  }

  private func write(_ letter: DeadLetterRecord) async -> Result<[String], SystemFault> {
    let countMaximum = max(1, countMaximum)
    writing.insert(letter.id)
    let result = await archive.use { archive in
      Self.result { () throws(SystemFault) in try archive.store(letter, countMaximum: countMaximum) }
    }
    writing.remove(letter.id)
    if case .success = result { waiting.removeAll { $0.id == letter.id } }
    return result
  }

  private func boundMemory() -> [String] {
    var lost: [String] = []
    while waiting.count > 1,
      waiting.count > Self.memoryCountMaximum
        || waiting.reduce(0, { $0 + $1.payload.utf8.count }) > Self.memoryByteCountMaximum
    {
      lost.append(waiting.removeFirst().id)
    }
    return lost
  }

  private func retrySoon(afterMilliseconds delay: UInt64) {
    guard !waiting.isEmpty, !isRetrying, delay == 0 || !retryTimer.isSet else { return }
    retryTimer.set(afterMilliseconds: delay) { [weak self] in
      guard let self else { return }
      isRetrying = true
      EventLoopActor.task { await self.retry() }
    }
  }

  private func retry() async {
    await learnNames()
    var didFail = false
    while !didFail, let index = waiting.firstIndex(where: { !writing.contains($0.id) }) {
      let letter = waiting[index]
      if case .failure(let cause) = await write(letter) { didFail = !giveAnotherName(to: letter.id, after: cause) }
    }
    isRetrying = false
    retryMilliseconds = didFail ? min(retryMilliseconds * 2, Self.lastRetryMilliseconds) : Self.firstRetryMilliseconds
    retrySoon(afterMilliseconds: retryMilliseconds)
  }

  /// A letter that was named before the names on disk were known may have one of those names. Returns whether that was
  /// the cause.
  private func giveAnotherName(to id: String, after cause: SystemFault) -> Bool {
    guard cause.code == EEXIST, isOpen else { return false }
    if let index = waiting.firstIndex(where: { $0.id == id }) { waiting[index].id = names.next(wallClock()) }
    return true
  }

  private nonisolated static func result<Value>(
    _ body: () throws(SystemFault) -> Value
  ) -> Result<Value, SystemFault> {
    do throws(SystemFault) { return .success(try body()) } catch { return .failure(error) }
  }
}
