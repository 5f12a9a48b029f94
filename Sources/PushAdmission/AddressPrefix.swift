public import Addresses

/// What is given to one customer: an IPv4 address, or an IPv6 network of /64, in which he has as many addresses as he
/// likes.
public struct AddressPrefix: Hashable, Sendable, CustomStringConvertible {
  /// `4` and four bytes, or `6` and eight.
  public let bytes: [UInt8]

  /// The prefix of an address. `::ffff:192.0.2.1` is `192.0.2.1`.
  public init(_ address: IPAddress) {
    let address = address.unmapped
    bytes = address.isVersion6 ? [6] + address.octets.prefix(8) : [4] + address.octets
  }

  /// `192.0.2.1/32`, `2001:db8::/64`.
  public var description: String {
    let isVersion6 = bytes.first == 6
    let octets = Array(bytes.dropFirst()) + [UInt8](repeating: 0, count: isVersion6 ? 8 : 0)
    return (IPAddress(octets: octets).map(\.description) ?? "?") + (isVersion6 ? "/64" : "/32")
  }
}

/// A network, as an operator writes it: `10.0.0.0/8`, `::1`, `2001:db8::/32`.
public struct AddressRange: Hashable, Sendable {
  private let octets: [UInt8]
  private let bitCount: Int

  /// Reads a network; without `/` one address. Nil for anything else, bits behind the prefix that are not zero
  /// included: whoever writes `10.0.0.1/8` means one of two things.
  public init?(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let address = parts.first.flatMap({ IPAddress(String($0)) }) else { return nil }
    let bitMaximum = address.octets.count * 8
    var bitCount = bitMaximum
    if parts.count == 2 {
      guard (1...3).contains(parts[1].utf8.count), parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
        let given = Int(parts[1]), given <= bitMaximum
      else { return nil }
      bitCount = given
    }
    guard Self.masked(address.octets, bitCount) == address.octets else { return nil }
    octets = address.octets
    self.bitCount = bitCount
  }

  /// Whether an address lies in it. An IPv4 address in IPv6's writing lies where it lies in its own.
  public func contains(_ address: IPAddress) -> Bool {
    let given = address.unmapped.octets
    return given.count == octets.count && Self.masked(given, bitCount) == octets
  }

  private static func masked(_ octets: [UInt8], _ bitCount: Int) -> [UInt8] {
    octets.enumerated().map { index, octet in
      let left = min(max(bitCount - index * 8, 0), 8)
      return octet & UInt8(truncatingIfNeeded: 0xFF00 >> left)
    }
  }
}
