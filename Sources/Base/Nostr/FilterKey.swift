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

  /// The names of one filter with each kind in turn, 0 to 65,535, in their order. Its text is made once.
  ///
  /// - Parameters:
  ///   - filter: the filter; its own kinds do not count.
  ///   - body: gets each name.
  public static func forEachKind(of filter: Filter, _ body: (FilterKey) throws -> Void) rethrows {
    var one = filter
    one.kinds = [0]
    let text = one.canonical.json
    // No key, id or tag has this text without escapes in it.
    let mark = Array("\"kinds\":[".utf8)
    guard let place = text.indices.first(where: { text[$0...].starts(with: mark) }) else {
      preconditionFailure("a filter with kinds has them in its JSON")
    }
    let (head, tail) = (text[..<(place + mark.count)], text[(place + mark.count + 1)...] + [0x0A])
    for kind in UInt16.min...UInt16.max {
      try body(FilterKey(digest: SHA256.hash(head + Array(String(kind).utf8) + tail)))
    }
  }

  private init(digest: Octets32) { self.digest = digest }

  /// A name from its stored bytes; nil if it does not have 32 bytes.
  public init?(bytes: some Collection<UInt8>) {
    guard let digest = Octets32(bytes) else { return nil }
    self.digest = digest
  }

  /// 64 hexadecimal digits.
  public var description: String { digest.description }
}
