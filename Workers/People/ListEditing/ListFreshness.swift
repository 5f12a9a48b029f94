public import Addresses

/// Whether the newest known version of a list is proven to be the newest: the relays that its author writes to were
/// asked, and have answered.
public struct ListFreshness: Hashable, Sendable {
  /// What a relay did.
  public enum Answer: Hashable, Sendable {
    /// It answered, seconds since 1970.
    case answered(at: Int64)
    /// It cannot be reached.
    case unreachable
    /// It was asked, and has not answered yet.
    case silent
  }

  /// The relays that have not answered, in the order of the list.
  public let missing: [RelayURL]
  /// Those of them that can be reached, as it seems.
  public let silent: [RelayURL]
  /// How many relays were to be asked.
  public let relayCount: Int

  /// How long an answer counts, in seconds.
  public static let validSeconds: Int64 = 300
  /// The most relays that a sentence names.
  public static let namedMaximum = 3

  /// - Parameters:
  ///   - relays: the relays that the account writes to.
  ///   - answers: what each did; a relay without an entry was not asked, and counts as silent.
  ///   - now: seconds since 1970. An answer of another time counts as none, also one from the future.
  public init(relays: [RelayURL], answers: [RelayURL: Answer], now: Int64) {
    var seen: Set<RelayURL> = []
    let relays = relays.filter { seen.insert($0).inserted }
    var missing: [RelayURL] = []
    var silent: [RelayURL] = []
    for relay in relays {
      switch answers[relay] ?? .silent {
      case .answered(let at) where at <= now && now - at <= Self.validSeconds: break
      case .unreachable: missing.append(relay)
      case .answered, .silent:
        missing.append(relay)
        silent.append(relay)
      }
    }
    self.missing = missing
    self.silent = silent
    relayCount = relays.count
  }

  /// Whether it is proven: every relay that can be reached has answered, and at least half of all.
  public var isFresh: Bool { relayCount > 0 && silent.isEmpty && (relayCount - missing.count) * 2 >= relayCount }

  /// What is missing, without a full stop; nil if all have answered.
  public var sentence: String? {
    guard relayCount > 0 else { return "your account writes to no relay, so no relay can say which list is the newest" }
    guard !missing.isEmpty else { return nil }
    // Those that hinder it come first.
    let named = silent + missing.filter { !silent.contains($0) }
    let more = named.count > Self.namedMaximum ? " and \(named.count - Self.namedMaximum) more" : ""
    let names = named.prefix(Self.namedMaximum).map(\.text).joined(separator: ", ")
    return "\(names)\(more) sent no answer in the last \(Self.validSeconds / 60) minutes "
      + "(\(relayCount - missing.count) of \(relayCount) relays did)"
  }
}
