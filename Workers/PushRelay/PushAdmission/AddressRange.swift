public import Addresses

/// A network, as an operator writes it: `10.0.0.0/8`, `::1`, `2001:db8::/32`.
public struct AddressRange: Hashable, Sendable {
  private let octets: [UInt8]
  private let bitCount: Int

  /// Reads a network; without `/` it is one address. Nil for anything else, also if bits after the prefix are not zero:
  /// `10.0.0.1/8` could mean one of two things.
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

  /// Whether an address is in the network. An IPv4 address in IPv6 notation counts as the IPv4 address.
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
