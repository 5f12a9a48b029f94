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
    /// Whether it is verified also when its id is stored.
    var isAlone = false

    /// Whether the stored event of its id is looked at as well: not for what relays send, again and again.
    var looksAtStored: Bool { relay == nil }
  }

  let checks: [Check]
  /// How often events had been removed when it was begun.
  let removalCount: UInt64

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
    let known = lookUp(checks.map(\.id))
    let looked = zip(checks, known).compactMap { check, seq in check.looksAtStored ? seq : nil }
    let stored = looked.isEmpty ? [:] : stored(looked)
    let verifier = EventVerifier()
    return checks.indices.map { index in
      let check = checks[index]
      guard let seq = index < known.count ? known[index] : nil else { return Self.verify(check, verifier, keys) }
      let isDue = check.looksAtStored && Self.mayReplace(check, stored[seq], verifier, now: now)
      guard check.isAlone || isDue else { return .known(seq: seq) }
      let finding = Self.verify(check, verifier, keys)
      // A bad copy of what is stored changes nothing; only of one's own it is said.
      if case .valid = finding { return isDue ? finding : .known(seq: seq) }
      return check.isAlone ? finding : .known(seq: seq)
    }
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
  /// In order; may be empty, when only ephemeral events are in it. Then nothing need be written.
  public let entries: [ArchiveEntry]
}
