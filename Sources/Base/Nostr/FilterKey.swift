public import Cryptography

/// A short name for filters: the SHA-256 of their canonical form.
public struct FilterKey: Hashable, Sendable, CustomStringConvertible {
  /// The digest.
  public let digest: Octets32

  /// The name of some filters, in any order, and of whatever else is part of the query.
  ///
  /// - Parameters:
  ///   - filters: the filters.
  ///   - others: texts that distinguish the query from others, such as relays.
  public init(_ filters: [Filter], _ others: [String] = []) {
    var text: [UInt8] = []
    for json in filters.map(\.canonical.json).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      text += json
      text.append(0x0A)
    }
    for other in others {
      // The JSON of a filter never begins with a zero byte, so a text cannot be mistaken for a filter.
      text.append(0)
      text += Array(other.utf8)
    }
    digest = SHA256.hash(text)
  }

  /// A name from its stored bytes; nil if it does not have 32 bytes.
  public init?(bytes: some Collection<UInt8>) {
    guard let digest = Octets32(bytes) else { return nil }
    self.digest = digest
  }

  /// 64 hexadecimal digits.
  public var description: String { digest.description }
}
