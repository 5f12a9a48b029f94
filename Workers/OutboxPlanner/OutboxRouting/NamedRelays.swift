internal import Addresses

/// The relays that people's names lead to (NIP-05). One that was of no use three times in a row does not count for a
/// day: a name's server is no proof that a person writes there.
struct NamedRelays: Sendable {
  private struct Record {
    var failures = 0
    var sunkUntil: Int64?
  }
  private var records: [RelayURL: Record] = [:]

  /// How often a relay may be of no use.
  static let failureMaximum = 3
  /// How long it does not count afterwards, in seconds.
  static let sunkSeconds: Int64 = 86_400
  /// Relays that are remembered; of further ones failures are not counted.
  private static let countMaximum = 4_096

  /// A name leads to this relay: from now on its failures count.
  mutating func named(_ relay: RelayURL) {
    if records[relay] == nil, records.count < Self.countMaximum { records[relay] = Record() }
  }

  /// The relay had something of a person whose name leads to it, or it had not, or could not be reached.
  mutating func note(_ relay: RelayURL, wasUseful: Bool, at wall: Int64) {
    guard var record = records[relay] else { return }
    record.failures = wasUseful ? 0 : record.failures + 1
    if wasUseful { record.sunkUntil = nil }
    if record.failures >= Self.failureMaximum {
      record = Record(failures: 0, sunkUntil: wall + Self.sunkSeconds)
    }
    records[relay] = record
  }

  /// Whether the relay does not count at present. `wall` is in seconds since 1970.
  func isSunk(_ relay: RelayURL, at wall: Int64) -> Bool {
    records[relay]?.sunkUntil.map { wall < $0 && $0 - wall <= Self.sunkSeconds } ?? false
  }
}
