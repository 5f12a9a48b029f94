public import Addresses
internal import Glibc

extension SocketAddress {
  /// Whether the address can be reached only from this machine.
  public var isLoopback: Bool { address.scope == .loopback }

  /// Why the address is not dialled when other people name it: `192.168.1.5, a private address`; nil if it may be.
  public func objection(in reach: ForeignReach) -> String? { reach.objection(to: address).map { "\(host), \($0)" } }

  /// The same for the other end of a connection; `local` is this end.
  public func objection(in reach: ForeignReach, from local: SocketAddress) -> String? {
    reach.objection(to: address, from: local.address).map { "\(host), \($0)" }
  }
}

extension ForeignReach {
  /// This machine's interfaces as they are now, including those without a carrier. They are read for each dial that
  /// strangers cause: a lease may have changed since the last one, and reading them takes less time than resolving a
  /// name.
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
