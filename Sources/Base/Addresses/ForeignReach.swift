// Which addresses may be dialled when other people name them.
//
// An address can be public by the registry (AddressScope) and still belong to this machine: a server in a data centre
// has its public address on its interface, and an IPv6 home gives a public address to each of its machines. A service
// that listens there for the owner or the owner's network must not be reachable through a name in a stranger's list of
// relays. So the address of an interface is not foreign, and neither is an address in the same network.
//
// The prefix says how large a network is, except for IPv6: every customer has at least 2^64 addresses there, and a home
// gets up to a /48, of which an interface shows a part. A prefix that covers nearly everything (a tunnel's) says
// nothing about the network.

/// The interfaces of this machine, and the rule for addresses that strangers name.
public struct ForeignReach: Sendable, Hashable {
  /// An address of an interface.
  public struct Interface: Sendable, Hashable {
    /// The address.
    public var address: IPAddress
    /// Number of leading bits that all addresses of its network share.
    public var prefixBitCount: Int

    /// An address with the prefix of its network.
    public init(_ address: IPAddress, prefixBitCount: Int) {
      self.address = address
      self.prefixBitCount = prefixBitCount
    }

    /// An address with the mask of its network, such as `255.255.255.0`; nil if the mask is not known.
    public init(_ address: IPAddress, mask: IPAddress?) {
      let whole = address.octets.count * 8
      let bits = mask.map { $0.octets.reduce(0) { $0 + $1.nonzeroBitCount } }
      self.init(address, prefixBitCount: bits ?? whole)
    }
  }

  private let interfaces: [Interface]?

  /// - Parameter interfaces: all interfaces of this machine; nil if they cannot be determined: then nothing is dialled.
  public init(interfaces: [Interface]?) { self.interfaces = interfaces }

  /// Why strangers may not have an address dialled, as a phrase to follow the address: `a private address`; nil if they
  /// may.
  public func objection(to address: IPAddress) -> String? {
    let scope = address.scope
    guard scope == .global else { return "\(scope == .unspecified ? "an" : "a") \(scope.rawValue) address" }
    guard let interfaces else { return "of which cannot be told whether it is this machine's" }
    let (inner, places) = (address.destination, interfaces.map { ($0, $0.address.destination) })
    if places.contains(where: { $0.address == address || $1 == inner }) { return "an address of this machine" }
    let isNear = places.contains { interface, own in
      interface.holds(address) || own.isVersion6 == inner.isVersion6 && interface.holds(inner)
    }
    return isNear ? "an address in a network of this machine" : nil
  }

  /// The same for the two ends of a connection: a connection from an address to itself does not leave this machine,
  /// whatever its interfaces say.
  public func objection(to peer: IPAddress, from local: IPAddress) -> String? {
    peer.destination == local.destination ? "an address of this machine" : objection(to: peer)
  }
}

extension ForeignReach.Interface {
  /// Shorter prefixes belong to tunnels that lead everywhere.
  private static let bitCountMinimum = (four: 8, six: 32)
  /// Prefix lengths of one customer's IPv6 network: the longest to assume, and the one to assume for public addresses.
  private static let sixBitCount = (least: 64, global: 48)

  /// Whether an address of the same version is in the interface's network.
  fileprivate func holds(_ other: IPAddress) -> Bool {
    guard other.isVersion6 == address.isVersion6 else { return false }
    var bits = prefixBitCount
    if address.isVersion6 {
      bits = min(bits < Self.bitCountMinimum.six ? 128 : bits, Self.sixBitCount.least)
      if address.scope == .global { bits = min(bits, Self.sixBitCount.global) }
    } else if bits < Self.bitCountMinimum.four {
      bits = 32
    }
    return zip(address.octets, other.octets).enumerated().allSatisfy { index, pair in
      let shared = min(max(bits - index * 8, 0), 8)
      return (pair.0 ^ pair.1) & ~UInt8(truncatingIfNeeded: 0xFF >> shared) == 0
    }
  }
}
