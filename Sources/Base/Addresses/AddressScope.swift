// Which addresses are on the public internet, and which belong to this machine or its network.
//
// A program that dials addresses named by others must know: a name on the internet may resolve to a router's page, a
// database that trusts its network, or a cloud service that hands out keys. The table is IANA's registry of
// special-purpose addresses (RFC 6890 and its successors), read strictly: an address that is not known to be public is
// not.
//
// IPv6 has four ways to carry an IPv4 address to a gateway that unpacks it: mapped (::ffff:0:0/96), NAT64
// (64:ff9b::/96), 6to4 (2002::/16) and compatible (::/96). Such an address is judged by the IPv4 address inside.

/// Where an address leads.
public enum AddressScope: String, Sendable, Hashable, CaseIterable {
  /// The internet.
  case global
  /// This machine: 127.0.0.0/8, ::1.
  case loopback
  /// A private network (RFC 1918): 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16.
  case privateNetwork = "private"
  /// The machines on the same link: 169.254.0.0/16, fe80::/10.
  case linkLocal = "link-local"
  /// A private network of IPv6: fc00::/7, and its predecessor fec0::/10.
  case uniqueLocal = "unique-local"
  /// A provider's own network behind its NAT (RFC 6598): 100.64.0.0/10.
  case shared
  /// A group of machines: 224.0.0.0/4, ff00::/8.
  case multicast
  /// No machine; most systems take it for this machine: 0.0.0.0/8, ::.
  case unspecified
  /// Any other address that is not assigned: documentation, benchmarks, tunnels, future use.
  case reserved
}

extension IPAddress {
  /// Where the address leads.
  public var scope: AddressScope { isVersion6 ? Self.scope(ofSixteen: octets) : Self.scope(ofFour: octets) }

  /// The IPv4 address that a gateway would find in an IPv6 address; without one, the address itself.
  public var destination: IPAddress {
    guard isVersion6, let bytes = Self.inside(octets) else { return self }
    return IPAddress(octets: bytes) ?? self
  }

  /// The IPv4 address in the 16 bytes, in one of the four ways.
  private static func inside(_ bytes: [UInt8]) -> [UInt8]? {
    let zeroCount = bytes.prefix { $0 == 0 }.count
    let isCompatible = zeroCount >= 12 && zeroCount < 16 && !(zeroCount == 15 && bytes[15] == 1)
    let isMapped = zeroCount == 10 && bytes[10] == 0xff && bytes[11] == 0xff
    let isTranslated = bytes.starts(with: [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0])
    if isCompatible || isMapped || isTranslated { return Array(bytes[12...]) }
    return bytes.starts(with: [0x20, 0x02]) ? Array(bytes[2..<6]) : nil
  }

  private static func scope(ofFour bytes: [UInt8]) -> AddressScope {
    switch (bytes[0], bytes[1], bytes[2]) {
    case (0, _, _): .unspecified
    case (10, _, _), (172, 16...31, _), (192, 168, _): .privateNetwork
    case (100, 64...127, _): .shared
    case (127, _, _): .loopback
    case (169, 254, _): .linkLocal
    case (192, 0, 0), (192, 0, 2), (192, 88, 99), (198, 18...19, _), (198, 51, 100), (203, 0, 113): .reserved
    case (224...239, _, _): .multicast
    case (240..., _, _): .reserved
    default: .global
    }
  }

  private static func scope(ofSixteen bytes: [UInt8]) -> AddressScope {
    let zeroCount = bytes.prefix { $0 == 0 }.count
    if zeroCount == 16 { return .unspecified }
    if zeroCount == 15, bytes[15] == 1 { return .loopback }
    if let inside = inside(bytes) { return scope(ofFour: inside) }
    switch (bytes[0], bytes[1]) {
    case (0xfc...0xfd, _), (0xfe, 0xc0...0xff): return .uniqueLocal
    case (0xfe, 0x80...0xbf): return .linkLocal
    case (0xff, _): return .multicast
    // 2001::/23 is for protocols, Teredo among them; 2001:db8::/32 and 3fff::/20 are for documentation.
    case (0x20, 0x01): return bytes[2] < 2 || (bytes[2] == 0x0d && bytes[3] == 0xb8) ? .reserved : .global
    case (0x3f, 0xff): return bytes[2] < 0x10 ? .reserved : .global
    case (0x20...0x3f, _): return .global
    default: return .reserved
    }
  }
}
