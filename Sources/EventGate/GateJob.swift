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
  ///   - keys: shared by all threads.
  public func run(lookUp: ([EventID]) -> [Int64?], keys: ParsedKeyCache) -> [Finding] {
    let known = lookUp(checks.map(\.id))
    let verifier = EventVerifier()
    return checks.indices.map { index in
      let seq = index < known.count ? known[index] : nil
      if let seq, !checks[index].isAlone { return .known(seq: seq) }
      let finding = Self.verify(checks[index], verifier, keys)
      if let seq, case .valid = finding { return .known(seq: seq) }
      return finding
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
