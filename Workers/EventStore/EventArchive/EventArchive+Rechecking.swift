internal import Cryptography
public import Nostr
public import Storage

// Events that were taken without a look at their signatures, and what becomes of them when the relay that brought them
// is found out: each is checked after all, a slice at a time, and removed if it was forged. Which relay brought an
// event is kept until then. A list of relays found out is kept for ever: what is left to be checked outlives the
// process, and so does the distrust.

/// What a slice of checking has come to.
public struct RecheckSlice: Sendable {
  /// Ids of forgeries, which are removed.
  public let removed: [EventID]
  /// Events found good.
  public let soundCount: Int
  /// Whether nothing is left to be checked.
  public let isComplete: Bool
}

extension EventArchive {
  /// Events checked in one transaction: some 5 ms.
  static let recheckCount = 128

  /// Checks a slice of what distrusted relays have brought unchecked.
  public func recheck() async throws(StorageFault) -> RecheckSlice {
    try await file.write({ [self] session in try recheck(session) }, onCommit: { [self] in apply($0.written) }).slice
  }

  /// The same, waiting on this thread.
  public func recheckNow() throws(StorageFault) -> RecheckSlice {
    try file.writeNow({ session in try recheck(session) }, onCommit: { apply($0.written) }).slice
  }

  /// Relays that brought forgeries while they were sampled. Waits on this thread.
  public func distrustedNow() throws(StorageFault) -> [Int64] {
    try file.readNow { session in
      return try session.rows("SELECT relay FROM distrust ORDER BY relay") { $0.number(0) }
    }
  }

  private struct Rechecked: Sendable {
    let written: Written
    let slice: RecheckSlice
  }

  private func recheck(_ session: StorageSession) throws -> Rechecked {
    var writer = writer(session)
    let (soundCount, count) = try writer.recheck(limit: Self.recheckCount)
    try writer.finish()
    let slice = RecheckSlice(
      removed: writer.change.gone, soundCount: soundCount, isComplete: count < Self.recheckCount)
    return Rechecked(written: Written(outcomes: [], change: writer.change), slice: slice)
  }
}

extension ArchiveWriter {
  /// Remembers who brought an event unchecked.
  func noteUnchecked(_ seq: Int64, relay: Int64) throws {
    try run("INSERT OR REPLACE INTO unchecked (seq, relay) VALUES (?, ?)", seq, relay)
  }

  /// A relay has brought a forgery.
  func distrust(_ relay: Int64, at time: Int64) throws {
    try run("INSERT OR IGNORE INTO distrust (relay, time) VALUES (?, ?)", relay, time)
  }

  /// Checks events that distrusted relays have brought. Returns how many were good, and how many were looked at.
  mutating func recheck(limit: Int) throws -> (soundCount: Int, count: Int) {
    let statement = try session.statement(
      "SELECT seq FROM distrust JOIN unchecked ON unchecked.relay = distrust.relay LIMIT ?", limit)
    var seqs: [Int64] = []
    while try statement.step() { seqs.append(statement.number(0)) }
    let verifier = EventVerifier()
    var soundCount = 0
    for seq in seqs {
      try run("DELETE FROM unchecked WHERE seq = ?", seq)
      guard let event = try stored(seq) else { continue }
      if try isSound(seq, verifier) { soundCount += 1 } else { try remove(seq, event) }
    }
    return (soundCount, seqs.count)
  }

  private func isSound(_ seq: Int64, _ verifier: EventVerifier) throws -> Bool {
    try session.event(seq) { event, bytes in verifier.fault(of: event, in: bytes) == nil } ?? false
  }
}
