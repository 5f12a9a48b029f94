// What may be dialled on the word of other people.
//
// An address may be everybody's by the registry (AddressScope) and be this machine's all the same: a server in a data
// centre has its public address on its interface, and an IPv6 home gives a public address to each of its machines.
// What listens there for the owner, or for his network, must not be reached by a name in a stranger's list of relays.
// So an address of an interface is not foreign, nor is one in the same network.
//
// How large a network is its prefix says, but for IPv6: whoever has an address there has at least 2^64, and a home gets
// up to a /48, of which an interface shows a part. A prefix that names nearly everything (a tunnel's) names no network.

/// The interfaces of this machine, and what follows for addresses that strangers name.
public struct ForeignReach: Sendable, Hashable {
  /// An address of an interface.
  public struct Interface: Sendable, Hashable {
    /// The address.
    public var address: IPAddress
    /// Bits of it that its network has in common.
    public var prefixBitCount: Int

    /// An address with its network.
    public init(_ address: IPAddress, prefixBitCount: Int) {
      self.address = address
      self.prefixBitCount = prefixBitCount
    }

    /// An address with its network's mask, `255.255.255.0`; nil: none is known.
    public init(_ address: IPAddress, mask: IPAddress?) {
      let whole = address.octets.count * 8
      let bits = mask.map { $0.octets.reduce(0) { $0 + $1.nonzeroBitCount } }
      self.init(address, prefixBitCount: bits ?? whole)
    }
  }

  private let interfaces: [Interface]?

  /// - Parameter interfaces: all that this machine has; nil when that cannot be found out: then nothing is dialled.
  public init(interfaces: [Interface]?) { self.interfaces = interfaces }

  /// Why strangers may not have an address dialled, as it stands behind it: `a private address`; nil if they may.
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

  /// The same for the two ends of a connection: one to itself does not leave this machine, whatever its interfaces say.
  public func objection(to peer: IPAddress, from local: IPAddress) -> String? {
    peer.destination == local.destination ? "an address of this machine" : objection(to: peer)
  }
}

extension ForeignReach.Interface {
  /// Shorter prefixes are of tunnels that lead everywhere.
  private static let bitCountMinimum = (four: 8, six: 32)
  /// What one customer has of IPv6: at least, and where its addresses are public.
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
