internal import Glibc

/// An IPv4 or IPv6 address, without a port and without a zone.
///
/// It holds only the bytes: it resolves no name and dials nothing.
public struct IPAddress: Hashable, Sendable, CustomStringConvertible {
  /// 4 or 16 bytes, in network order.
  public let octets: [UInt8]

  /// An address of these bytes; nil unless there are 4 or 16.
  public init?(octets: some Collection<UInt8>) {
    guard octets.count == 4 || octets.count == 16 else { return nil }
    self.octets = Array(octets)
  }

  /// Reads `192.0.2.1` or `2001:db8::1`, without brackets; nil for anything else, such as a name.
  public init?(_ text: String) {
    var version4 = in_addr()
    var version6 = in6_addr()
    if inet_pton(AF_INET, text, &version4) == 1 {
      octets = withUnsafeBytes(of: version4) { Array($0) }
    } else if inet_pton(AF_INET6, text, &version6) == 1 {
      octets = withUnsafeBytes(of: version6) { Array($0) }
    } else {
      return nil
    }
  }

  /// Whether it is an IPv6 address.
  public var isVersion6: Bool { octets.count == 16 }

  /// `::ffff:192.0.2.1` as `192.0.2.1`: this is how a socket for both versions reports a peer that connected by IPv4.
  /// Any other address is unchanged.
  public var unmapped: IPAddress {
    let prefix: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
    return isVersion6 && octets.starts(with: prefix) ? IPAddress(octets: octets.dropFirst(prefix.count)) ?? self : self
  }

  /// `0.0.0.0`, `::`: a program that listens there listens on all addresses; one that connects there reaches this
  /// machine.
  public var isUnspecified: Bool { octets.allSatisfy { $0 == 0 } }

  /// The usual notation: the shortest form (RFC 5952), without brackets.
  public var description: String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    let made = inet_ntop(isVersion6 ? AF_INET6 : AF_INET, octets, &text, socklen_t(text.count))
    precondition(made != nil, "an address of 4 or 16 bytes has a text, and there is room for it")
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
