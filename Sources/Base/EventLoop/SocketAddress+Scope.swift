public import Addresses
internal import Glibc

extension SocketAddress {
  /// Whether only this machine reaches it.
  public var isLoopback: Bool { address.scope == .loopback }

  /// Why it is not dialled on the word of other people: `192.168.1.5, a private address`; nil if it may be.
  public func objection(in reach: ForeignReach) -> String? { reach.objection(to: address).map { "\(host), \($0)" } }

  /// The same of a connection's other end; `local` is ours.
  public func objection(in reach: ForeignReach, from local: SocketAddress) -> String? {
    reach.objection(to: address, from: local.address).map { "\(host), \($0)" }
  }
}

extension ForeignReach {
  /// As this machine's interfaces are now, down to those without a carrier. They are asked for at each dial that
  /// strangers cause: a lease may have changed since the last one, and to ask takes less than looking up a name.
  public static func present() -> ForeignReach {
    var first: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&first) == 0 else { return ForeignReach(interfaces: nil) }
    defer { freeifaddrs(first) }
    var interfaces: [Interface] = []
    var next = first
    while let entry = next {
      next = entry.pointee.ifa_next
      guard let own = SocketAddress(entry.pointee.ifa_addr) else { continue }
      let mask = SocketAddress(entry.pointee.ifa_netmask)
      interfaces.append(Interface(own.address, mask: mask?.address))
    }
    return ForeignReach(interfaces: interfaces)
  }
}
