public import Contracts
public import EventLoop
internal import Glibc
public import LinuxSystem

/// A dead letter could not be written; it is kept in memory and tried again.
public struct DeadLetterFault: Error, Sendable, CustomStringConvertible {
  /// The letter's id: it can be listed, loaded and dropped like any other while the supervisor lives.
  public let id: String
  /// Why.
  public let cause: SystemFault
  /// Letters that memory had no room for any more, the oldest; these are lost.
  public let lost: [String]

  /// What happened, and what it means.
  public var description: String {
    let loss = lost.isEmpty ? "" : " No room for \(lost.joined(separator: ", ")): lost."
    return "dead letter \(id) is in memory only and is tried again: \(cause)\(loss)"
  }
}

/// Messages that killed their worker too often, kept for a person to see.
///
/// On disk, one file a letter, as `DeadLetterArchive` says. What cannot be written stays in memory, bounded, and is
/// tried again, first after a second, then less and less often up to once a minute, and whenever another letter was
/// written.
@EventLoopActor
public final class DeadLetterStore {
  /// Most letters kept in memory while the disk refuses them.
  public static let memoryCountMaximum = 64
  /// Most bytes of payloads kept so. The newest letter is kept whatever its size.
  public static let memoryByteCountMaximum = 32 << 20
  /// The first wait before another attempt, in milliseconds; it doubles with each one that fails.
  public static let firstRetryMilliseconds: UInt64 = 1_000
  /// The longest wait, in milliseconds.
  public static let lastRetryMilliseconds: UInt64 = 60_000

  /// A letter was kept.
  public struct Kept: Sendable {
    /// Its id.
    public let id: String
    /// Older letters removed to make room.
    public let removed: [String]
  }

  /// All letters.
  public struct Listing: Sendable {
    /// The oldest first, without their payloads; ``DeadLetterStore/load(_:)`` reads one whole.
    public let letters: [DeadLetterRecord]
    /// Files that are no letters, and are left alone.
    public let unreadable: [UnreadableLetter]
    /// Letters among them that are in memory only.
    public let inMemory: [String]
  }

  /// Most letters on disk, at least 1. Takes effect with the next letter.
  public var countMaximum: Int
  /// Letters that wait in memory for a disk that takes them.
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

  /// The letters in `directory`, an absolute path; made when it is not there.
  public init(
    directory: String, countMaximum: Int = 1_000, files: any FileOperations = SystemFiles(),
    wallClock: @escaping @EventLoopActor () -> WallTime = { WallTime.now }
  ) {
    self.countMaximum = countMaximum
    self.wallClock = wallClock
    archive = PoolOwned(DeadLetterArchive(directory: directory, files: files))
  }

  /// Keeps a letter; its id is given here, and what the record has as id is not looked at.
  ///
  /// When this returns, the letter is on the disk.
  /// - Throws: ``DeadLetterFault`` when it could only be kept in memory.
  public func keep(_ letter: DeadLetterRecord) async throws(DeadLetterFault) -> Kept {
    await learnNames()
    var letter = letter
    letter.id = names.next(wallClock())
    // In memory first: whoever lists while it is being written finds it.
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
  /// - Throws: what the system said of the directory.
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
  /// - Throws: ENOENT when there is none of that name, EBADMSG when its file cannot be understood.
  public func load(_ id: String) async throws(SystemFault) -> DeadLetterRecord {
    if let letter = waiting.first(where: { $0.id == id }) { return letter }
    return try await archive.use { $0.load(id) }.get()
  }

  /// Writes down that a letter was delivered again and has killed again.
  ///
  /// - Throws: ENOENT when there is none of that name; what the system said when it could not be written, and the
  ///   letter is as it was.
  public func update(_ id: String, deliveries: UInt16, time: String) async throws(SystemFault) {
    if let index = waiting.firstIndex(where: { $0.id == id }) {
      waiting[index].deliveries = deliveries
      waiting[index].time = time
      // One that is just being written goes to the disk as it was: this work comes after that.
      guard writing.contains(id) else { return }
    }
    try await archive.use { archive in
      Self.result { () throws(SystemFault) in try archive.update(id, deliveries: deliveries, time: time) }
    }.get()
  }

  /// Removes one letter.
  ///
  /// - Throws: ENOENT when there is none of that name; EBADMSG when its file cannot be understood, which then stays.
  public func drop(_ id: String) async throws(SystemFault) {
    let count = waiting.count
    waiting.removeAll { $0.id == id }
    let wasWaiting = waiting.count < count
    // If it is just being written, this work comes after that and finds the file.
    let result = await archive.use { archive in Self.result { () throws(SystemFault) in try archive.drop(id) } }
    if case .failure(let fault) = result, !(wasWaiting && fault.code == ENOENT) { throw fault }
  }

  /// Removes every letter that can be read; returns how many.
  ///
  /// - Throws: what the system said; some may be removed then.
  public func dropAll() async throws(SystemFault) -> Int {
    let ids = try await list().letters.map(\.id)
    for id in ids { try await drop(id) }
    return ids.count
  }

  // MARK: Writing

  /// The names on disk, once: new ones are to be greater.
  private func learnNames() async {
    guard !isOpen else { return }
    let result = await archive.use { archive in Self.result { () throws(SystemFault) in try archive.open() } }
    // If the directory cannot be read, it is asked again next time; a name that is taken is refused meanwhile.
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

  /// A letter named before the names on disk were known may bear one of them. Returns whether that was the trouble.
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
