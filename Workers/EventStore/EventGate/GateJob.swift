public import EventArchive
public import Nostr

/// Some events to be looked up and verified, on any thread.
public struct GateJob: Sendable {
  struct Check: Sendable {
    let item: UInt64
    let id: EventID
    let run: [UInt8]
    let bytes: Range<Int>
    let relay: Int64?
    /// Whether its signature is looked at whatever it is; else only if it could put other events away.
    let checksSignature: Bool
    /// Whether it is one's own: verified whatever is stored under its id, which is not looked up.
    var isAlone = false

    /// Whether the stored event of its id is looked at as well: not for what relays send, again and again.
    var looksAtStored: Bool { relay == nil }
  }

  let checks: [Check]
  /// How often events had been removed when it was begun.
  let removalCount: UInt64
  /// Whether it is sooner done than handed to a thread and taken back: one short event of one's own, for which nothing
  /// is read, while nothing else is on its way.
  public let isBrief: Bool

  /// Bytes of an event that is short: hashing it costs little beside its signature.
  static let briefByteCountMaximum = 4_096

  init(checks: [Check], removalCount: UInt64, isAloneInGate: Bool = false) {
    self.checks = checks
    self.removalCount = removalCount
    isBrief =
      isAloneInGate && checks.count == 1
      && checks.allSatisfy { $0.isAlone && $0.bytes.count <= Self.briefByteCountMaximum }
  }

  /// How many events.
  public var count: Int { checks.count }

  /// What was found of one event.
  public enum Finding: Sendable {
    /// It is stored.
    case known(seq: Int64)
    /// It is what its author signed.
    case valid(VerifiedEvent)
    /// It is not; why.
    case invalid(EventFault)
  }

  /// Does it.
  ///
  /// - Parameters:
  ///   - lookUp: the seqs of ids that are stored.
  ///   - stored: the JSON of seqs, those left out that are gone or cannot be read.
  ///   - now: seconds since 1970.
  ///   - keys: shared by all threads.
  public func run(
    lookUp: ([EventID]) -> [Int64?], stored: ([Int64]) -> [Int64: [UInt8]] = { _ in [:] }, now: Int64 = .min,
    keys: ParsedKeyCache
  ) -> [Finding] {
    let known = known(lookUp)
    let looked = checks.compactMap { check in check.looksAtStored ? known[check.item] : nil }
    let stored = looked.isEmpty ? [:] : stored(looked)
    let verifier = EventVerifier()
    return checks.map { check in
      guard let seq = known[check.item] else { return Self.verify(check, verifier, keys) }
      guard check.looksAtStored, Self.mayReplace(check, stored[seq], verifier, now: now) else {
        return .known(seq: seq)
      }
      // A bad copy of what is stored changes nothing.
      guard case .valid(let event) = Self.verify(check, verifier, keys) else { return .known(seq: seq) }
      return .valid(event)
    }
  }

  /// The seqs of items whose ids are stored. One's own are verified in any case, and whether they are stored the writer
  /// finds out by itself: for them nothing is read.
  private func known(_ lookUp: ([EventID]) -> [Int64?]) -> [UInt64: Int64] {
    let asked = checks.filter { !$0.isAlone }
    guard !asked.isEmpty else { return [:] }
    var known: [UInt64: Int64] = [:]
    for (check, seq) in zip(asked, lookUp(asked.map(\.id))) { known[check.item] = seq }
    return known
  }

  /// Whether a stored event counts as none beside a copy that came: because it is damaged, or because its time is over
  /// and it only waits to be removed.
  private static func mayReplace(_ check: Check, _ stored: [UInt8]?, _ verifier: EventVerifier, now: Int64) -> Bool {
    guard let stored else { return false }
    return stored.withUnsafeBytes { bytes in
      do throws(EventFault) {
        let event = try ScannedEvent(bytes)
        if let end = event.expiration(in: bytes), end <= now { return true }
        // Most copies are the same bytes, and need no second look.
        if check.run[check.bytes].elementsEqual(stored) { return false }
        return event.id != check.id || verifier.fault(of: event, in: bytes) != nil
      } catch { return true }
    }
  }

  /// Whether an event of this kind changes nothing that is stored, so that removing it undoes it.
  static func onlyAdds(_ kind: UInt16) -> Bool {
    KindClass(kind) == .regular && kind != EventKind.deletion && kind != EventKind.vanish
  }

  private static func verify(_ check: Check, _ verifier: EventVerifier, _ keys: ParsedKeyCache) -> Finding {
    check.run.withUnsafeBytes { run in
      let bytes = UnsafeRawBufferPointer(rebasing: run[check.bytes])
      do throws(EventFault) {
        let scanned = try ScannedEvent(bytes)
        if !check.checksSignature, let relay = check.relay, onlyAdds(scanned.kind) {
          return .valid(try VerifiedEvent(unchecked: bytes, scanned, verifier: verifier, relay: relay, receivedAt: 0))
        }
        return .valid(
          try VerifiedEvent(bytes, scanned, verifier: verifier, key: keys.parsed(scanned.pubkey), receivedAt: 0))
      } catch {
        return .invalid(error)
      }
    }
  }
}

/// What is written in the next transaction.
public struct GateBatch: Sendable {
  /// In order; may be empty, when only ephemeral events are in it, or known ones. Then nothing need be written, unless
  /// it is synced: what is known may not be on the disk.
  public internal(set) var entries: [ArchiveEntry] = []
  /// Whether a caller of this machine handed in something in it. That caller is answered only when the event, or the
  /// stored copy that it duplicates, would survive a loss of power.
  public internal(set) var isSynced = false
}
