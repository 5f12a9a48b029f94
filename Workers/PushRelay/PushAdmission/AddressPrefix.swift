public import Addresses

/// What a provider gives to one customer: an IPv4 address, or an IPv6 network of /64, in which the customer has any
/// number of addresses.
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
