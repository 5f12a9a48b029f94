internal import Glibc

// Which addresses lead out into the internet, and which to this machine or its neighbours.
//
// A list of relays that a stranger has published is dialled by whoever reads it. Without a rule he could have every
// reader knock at `ws://192.168.1.1/reboot`, and learn from the time it takes what is there. So an address that was
// named by others is used only if it is public. A name is judged here by its looks; where it leads is known when it has
// been looked up, and whoever dials holds the result against ``InternetAddress`` once more.

extension RelayURL {
  /// Whether the address can be a relay of the public internet, as far as its text tells: a name with a dot that is not
  /// of a local network or of another network (`.onion`), or a public IP address.
  public var isPublic: Bool {
    if let address = InternetAddress(host) { return address.isPublic }
    let labels = host.split(separator: ".")
    guard labels.count > 1, let last = labels.last else { return false }
    return !Self.localDomains.contains(String(last)) && !host.hasSuffix(".home.arpa")
  }

  /// Last labels of names that no public name server knows (RFC 6761, 6762, 7686, 9476, and those in use at home).
  private static let localDomains: Set<String> = [
    "alt", "corp", "home", "i2p", "internal", "intranet", "invalid", "lan", "local", "localdomain",
    "localhost", "onion", "private", "test",
  ]
}

/// An IPv4 or IPv6 address.
public struct InternetAddress: Hashable, Sendable {
  /// 4 or 16 bytes, in the order of the network.
  public let octets: [UInt8]

  /// An address of these bytes; nil unless there are 4 or 16.
  public init?(octets: [UInt8]) {
    guard octets.count == 4 || octets.count == 16 else { return nil }
    self.octets = octets
  }

  /// Reads `192.0.2.1` or `2001:db8::1`, without brackets and zone; nil for anything else.
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

  /// Whether it is of the public internet: not this machine, not a private or shared network, not link-local, not
  /// multicast, not reserved (RFC 6890). An IPv4 address within an IPv6 one counts as itself.
  public var isPublic: Bool {
    if octets.count == 4 { return !Self.reservedVersion4.contains { $0.contains(octets) } }
    for (prefix, offset) in Self.embeddings where prefix.contains(octets) {
      return InternetAddress(octets: Array(octets[offset..<(offset + 4)]))?.isPublic ?? false
    }
    return Self.globalVersion6.contains(octets) && !Self.reservedVersion6.contains { $0.contains(octets) }
  }

  /// The first bits of addresses.
  private struct Prefix: Sendable {
    let octets: [UInt8]
    let bitCount: Int

    func contains(_ address: [UInt8]) -> Bool {
      for bit in 0..<bitCount {
        let mask: UInt8 = 0x80 >> UInt8(bit % 8)
        guard address[bit / 8] & mask == (bit / 8 < octets.count ? octets[bit / 8] & mask : 0) else { return false }
      }
      return true
    }
  }

  private static let reservedVersion4 = [
    Prefix(octets: [0], bitCount: 8), Prefix(octets: [10], bitCount: 8), Prefix(octets: [100, 64], bitCount: 10),
    Prefix(octets: [127], bitCount: 8), Prefix(octets: [169, 254], bitCount: 16),
    Prefix(octets: [172, 16], bitCount: 12), Prefix(octets: [192, 0, 0], bitCount: 24),
    Prefix(octets: [192, 0, 2], bitCount: 24), Prefix(octets: [192, 88, 99], bitCount: 24),
    Prefix(octets: [192, 168], bitCount: 16), Prefix(octets: [198, 18], bitCount: 15),
    Prefix(octets: [198, 51, 100], bitCount: 24), Prefix(octets: [203, 0, 113], bitCount: 24),
    Prefix(octets: [224], bitCount: 3),
  ]

  /// Where an IPv4 address stands within an IPv6 one, and from which byte: mapped, NAT64, 6to4.
  private static let embeddings = [
    (Prefix(octets: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], bitCount: 96), 12),
    (Prefix(octets: [0x00, 0x64, 0xFF, 0x9B], bitCount: 96), 12), (Prefix(octets: [0x20, 0x02], bitCount: 16), 2),
  ]

  private static let globalVersion6 = Prefix(octets: [0x20], bitCount: 3)
  /// Of those: Teredo and other special purposes, and what stands in documents.
  private static let reservedVersion6 = [
    Prefix(octets: [0x20, 0x01, 0x00], bitCount: 23), Prefix(octets: [0x20, 0x01, 0x0D, 0xB8], bitCount: 32),
    Prefix(octets: [0x3F, 0xFF], bitCount: 20),
  ]
}
