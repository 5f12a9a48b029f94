internal import Cryptography
public import Nostr
public import Storage

// Events that were stored without a check of their signatures, and what happens when the relay that brought them is
// caught with a forgery: each of its events is then checked, a slice at a time, and removed if it is forged. The
// archive keeps which relay brought an event until then. It keeps the list of caught relays for ever, because both the
// unchecked events and the distrust must survive the process.

/// The result of one slice of checks.
public struct RecheckSlice: Sendable {
  /// Ids of forgeries, which are removed.
  public let removed: [EventID]
  /// Events whose signatures are right.
  public let soundCount: Int
  /// Whether nothing is left to check.
  public let isComplete: Bool
}

extension EventArchive {
  /// How many events one transaction checks: about 5 ms.
  static let recheckCount = 128

  /// Checks a slice of the unchecked events that distrusted relays have brought.
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
  /// Remembers which relay brought an event unchecked.
  func noteUnchecked(_ seq: Int64, relay: Int64) throws {
    try run("INSERT OR REPLACE INTO unchecked (seq, relay) VALUES (?, ?)", seq, relay)
  }

  /// A relay has brought a forgery.
  func distrust(_ relay: Int64, at time: Int64) throws {
    try run("INSERT OR IGNORE INTO distrust (relay, time) VALUES (?, ?)", relay, time)
  }

  /// Checks events that distrusted relays have brought. Returns how many were right, and how many were looked at.
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
